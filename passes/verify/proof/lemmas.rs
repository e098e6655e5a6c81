//! Elements that are equal wherever they are asked for: each pair is shown once for all values of the variables in its
//! addresses, in no case but theirs.
//!
//! ```text
//! row 0 <= r < 8    packed[64 k + j] = b[k, j]
//! row 8 <= r < 16   packed[64 k + j] = b[k, j]    is known: no row is in it
//! ```

use crate::proof::follow::Proof;
use crate::proof::linear::{Linear, Shown, Space, Var};
use crate::proof::pairs::Lemma;
use crate::proof::statements::{BlockId, BufferId, Maker, Statement};
use crate::proof::value::{ElementIn, LoopPosition, Thunk};
use std::collections::BTreeMap;

/// The variables of a lemma.
pub fn space_of(lemma: &Lemma) -> Space {
    let mut space = Space::default();
    for (low, high) in &lemma.ranges {
        space.within(*low, *high);
    }
    space
}

/// Two elements with variables that have their numbers from the order in which they appear.
pub fn numbered(space: &Space, mut elements: [ElementIn; 2]) -> Shown<Lemma> {
    let mut numbers: BTreeMap<Var, Var> = BTreeMap::new();
    let mut ranges = vec![];
    for e in elements.iter_mut().flat_map(ElementIn::expressions) {
        let known = space.normal(e)?;
        *e = Linear::constant(known.constant);
        for (var, factor) in known.terms.iter() {
            let number = *numbers.entry(var).or_insert_with(|| {
                ranges.push(space.range_of(var));
                ranges.len() - 1
            });
            e.gain(&Linear::var(number), factor)?;
        }
    }
    Ok(Lemma { elements, ranges })
}

impl Proof<'_> {
    /// Whether two values are elements that are equal for all values of the variables in their addresses. `false` says nothing.
    // Comparisons are deep in each other: what they need between times is not to be on the stack.
    #[inline(never)]
    pub(super) fn is_lemma(&mut self, a: &Thunk, b: &Thunk) -> Shown<bool> {
        let (Some(a), Some(b)) = (self.loaded(a)?, self.loaded(b)?) else { return Ok(false) };
        if [&a, &b].iter().all(|element| element.at == (0, 0)) {
            return Ok(false);
        }
        let blocks = [a.at.0, b.at.0];
        if !self.are_at_once(blocks) {
            return Ok(false);
        }
        let lemma = numbered(&self.space, [a, b])?;
        let wide = self.widened(&lemma)?;
        if wide.iter().any(|wide| self.facts.lemmas.get(wide) == Some(&true)) {
            return Ok(true);
        }
        if let Some(is_shown) = self.facts.lemmas.get(&lemma) {
            return Ok(*is_shown);
        }
        // What depends on itself is not shown.
        self.facts.lemmas.insert(lemma.clone(), false);
        let [first, second] = [0, 1].map(|k| lemma.elements[k].thunk());
        let is_shown = self.elsewhere(space_of(&lemma), blocks, |proof| proof.equal(&first, &second)).is_ok();
        if let Some(wide) = wide.filter(|_| is_shown && self.is_of_all(&lemma)) {
            self.facts.lemmas.insert(wide, true);
        }
        self.facts.lemmas.insert(lemma, is_shown);
        Ok(is_shown)
    }

    /// Whether the address of the second element is that of each element of its buffer: a number whose digits are variables.
    fn is_of_all(&self, Lemma { elements: [_, second], ranges }: &Lemma) -> bool {
        let mut digits: Vec<(i64, Var)> = second.address.terms.iter().map(|(var, factor)| (factor, var)).collect();
        digits.sort_unstable();
        let next = |size: i64, (factor, var): (i64, Var)| match ranges[var] {
            (0, end) if factor == size => size.checked_mul(end),
            _ => None,
        };
        let count = digits.into_iter().try_fold(1, next);
        second.address.constant == 0 && count == Some(self.programs[second.side].buffers[second.buffer].0)
    }

    /// The same for all elements of the second buffer, where the address of the first one goes along with that of the second.
    fn widened(&self, lemma: &Lemma) -> Shown<Option<Lemma>> {
        let (mut space, [mut first, mut second]) = (space_of(lemma), lemma.elements.clone());
        let size = self.programs[second.side].buffers[second.buffer].0;
        let (low, high) = space.range(&second.address)?;
        let rest = first.address.minus(&second.address)?;
        let is_inside = |e: &Linear| e.terms.vars().any(|var| second.address.terms.get(var).is_some());
        let goes_along = ![&first, &second].iter().any(|element| element.iterations.values().any(is_inside));
        if low < 0 || high >= size || is_inside(&rest) || !goes_along {
            return Ok(None);
        }
        second.address = Linear::var(space.var(size));
        first.address = rest.plus(&second.address)?;
        numbered(&space, [first, second]).map(Some)
    }

    /// The element that a value is loaded from, at the point behind what was written to its buffer last.
    fn loaded(&mut self, thunk: &Thunk) -> Shown<Option<ElementIn>> {
        let mut thunk = thunk.clone();
        loop {
            let (side, value, lane, place) = match thunk {
                Thunk::Memory { side, buffer, address, at, place } => {
                    return Ok(self.element_at((side, buffer), address, at, &place));
                }
                Thunk::Value { side, value, lane, place } => (side, value, lane, place),
                _ => return Ok(None),
            };
            let (maker, at) = &self.programs[side].values[value];
            thunk = match maker {
                Maker::Load { buffer, address, stride, .. } => {
                    let first = self.subscript(side, address, &Linear::default(), &place)?;
                    Thunk::Memory { side, buffer: *buffer, address: first.plus(&lane.times(*stride)?)?, at: *at, place }
                }
                Maker::Lanes(sources) => {
                    let (value, lane) = self.source_of(sources, &lane)?;
                    Thunk::Value { side, value, lane, place }
                }
                _ => return Ok(None),
            };
        }
    }

    fn element_at(
        &self,
        (side, buffer): (usize, BufferId),
        address: Linear,
        (mut block, mut index): (BlockId, usize),
        place: &LoopPosition,
    ) -> Option<ElementIn> {
        let program = self.programs[side];
        let writes = |statement: &Statement| match statement {
            Statement::Allocate(other) | Statement::Store { buffer: other, .. } => *other == buffer,
            Statement::Loop(inner) => self.stored[side][*inner].contains(&buffer),
            Statement::Value(_) => false,
        };
        let at = loop {
            let before = &program.blocks[block].statements[..index];
            match (before.iter().rposition(writes), program.blocks[block].parent) {
                (Some(last), _) => break (block, last + 1),
                (None, Some(_)) if self.stored[side][block].contains(&buffer) => break (block, 0),
                (None, Some(parent)) => (block, index) = parent,
                (None, None) => break (0, 0),
            }
        };
        let around = &self.around[side][at.0];
        let depends = place.carried.keys().any(|(block, _)| around.contains(block))
            || place.kept.iter().any(|kept| kept.2.iter().any(|block| around.contains(block)));
        let inside = place.at.iter().filter(|(block, _)| around.contains(block));
        let iterations = inside.map(|(block, e)| (*block, e.clone())).collect();
        (!depends).then_some(ElementIn { side, buffer, at, iterations, address })
    }
}
