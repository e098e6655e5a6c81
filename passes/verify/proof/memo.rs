//! Facts found in a case, which hold in all cases inside of it, and are forgotten behind it.

use crate::proof::linear::Linear;
use crate::proof::pairs::ElementAt;
use crate::proof::statements::BlockId;
use crate::proof::subscript::ValueId;
use crate::proof::value::{Dim, Head, LoopPosition, TermText, Thunk};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// A store that does not reach an address: the program, the store, the loops whose iterations are free, the address, and the
/// iterations around.
pub type Miss = (usize, (BlockId, usize), Vec<BlockId>, Linear, BTreeMap<BlockId, Linear>);

/// A value of a program at a lane, under names of elements of this number.
type ValueAt = (usize, ValueId, Linear, usize);

/// The outermost operation of a value, and the last element on the way to it.
type Followed = (LoopPosition, Head, Option<ElementAt>);

/// The value that a term's last operand is, under names of elements of this number, and whether it is of the second program.
pub type TermAt = (ValueId, Linear, usize, bool);

#[derive(Debug)]
enum Entry {
    Miss(Miss),
    Head(ValueAt),
    Term(TermAt),
    Loop((usize, BlockId)),
    Points(Vec<Dim>),
}

/// The facts found, in the order in which they were.
#[derive(Debug, Default)]
pub struct Memo {
    misses: FxHashSet<Miss>,
    heads: FxHashMap<ValueAt, Vec<Followed>>,
    terms: FxHashMap<TermAt, Vec<(Head, TermText)>>,
    loops: FxHashMap<(usize, BlockId), Vec<(LoopPosition, Dim)>>,
    points: FxHashMap<Vec<Dim>, Vec<Vec<Dim>>>,
    entries: Vec<Entry>,
}

impl Memo {
    /// How much is found.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Forgets what was found later.
    pub fn forget(&mut self, known: usize) {
        for entry in self.entries.drain(known..).rev() {
            match entry {
                Entry::Miss(miss) => drop(self.misses.remove(&miss)),
                Entry::Head(value) => drop(self.heads.get_mut(&value).and_then(Vec::pop)),
                Entry::Loop(of) => drop(self.loops.get_mut(&of).and_then(Vec::pop)),
                Entry::Points(of) => drop(self.points.get_mut(&of).and_then(Vec::pop)),
                Entry::Term(value) => drop(self.terms.get_mut(&value).and_then(Vec::pop)),
            }
        }
    }

    pub fn is_miss(&self, miss: &Miss) -> bool {
        self.misses.contains(miss)
    }

    pub fn note_miss(&mut self, miss: Miss) {
        self.misses.insert(miss.clone());
        self.entries.push(Entry::Miss(miss));
    }

    /// The head to which a value was followed.
    pub fn head(&self, thunk: &Thunk, names: usize) -> Option<(Head, Option<ElementAt>)> {
        let Thunk::Value { side, value, lane, place } = thunk else { return None };
        let known = self.heads.get(&(*side, *value, lane.clone(), names))?;
        known.iter().find(|(at, ..)| at == place).map(|(_, head, element)| (head.clone(), element.clone()))
    }

    pub fn note_head(&mut self, thunk: Thunk, names: usize, head: &Head, element: Option<&ElementAt>) {
        let Thunk::Value { side, value, lane, place } = thunk else { return };
        let value = (side, value, lane, names);
        self.heads.entry(value.clone()).or_default().push((place, head.clone(), element.cloned()));
        self.entries.push(Entry::Head(value));
    }

    /// The terms with the same last operand.
    pub fn terms(&self, at: &TermAt) -> &[(Head, TermText)] {
        self.terms.get(at).map_or(&[], |terms| terms)
    }

    pub fn note_term(&mut self, at: TermAt, head: &Head, term: &TermText) {
        self.terms.entry(at.clone()).or_default().push((head.clone(), term.clone()));
        self.entries.push(Entry::Term(at));
    }

    /// The iterations of a loop at a place.
    pub fn iterations(&self, of: (usize, BlockId), place: &LoopPosition) -> Option<Dim> {
        self.loops.get(&of)?.iter().find(|(at, _)| at == place).map(|(_, dim)| *dim)
    }

    pub fn note_iterations(&mut self, of: (usize, BlockId), place: LoopPosition, dim: Dim) {
        self.loops.entry(of).or_default().push((place, dim));
        self.entries.push(Entry::Loop(of));
    }

    /// The points that stand for the iterations of these dimensions.
    pub fn points(&self, of: &[Dim]) -> Option<Vec<Dim>> {
        self.points.get(of)?.last().cloned()
    }

    pub fn note_points(&mut self, of: Vec<Dim>, points: Vec<Dim>) {
        self.points.entry(of.clone()).or_default().push(points);
        self.entries.push(Entry::Points(of));
    }
}
