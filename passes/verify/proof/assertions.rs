//! Assertions: `cf.assert` ends the program where its condition is false.
//!
//! For each message there is a buffer of one element, the conjunction of all conditions with that message. Both programs end in
//! the same cases where these elements are equal, in whatever order the conditions are asked:
//!
//! ```text
//! cf.assert %c, "m"      asserted["m"] = asserted["m"] and c
//! ```

use crate::proof::equations;
use crate::proof::flatten::{Flat, Flatten, Known};
use crate::proof::follow::Proof;
use crate::proof::index_range::{IndexRange, Place};
use crate::proof::linear::{Linear, Shown, Space, Undecided};
use crate::proof::operation::Operation;
use crate::proof::pairs::Pair;
use crate::proof::statements::{BlockId, BufferId, Contents, Maker, Statement, Statements};
use crate::proof::subscript::{Subscript, ValueId};
use crate::proof::value::{Head, LoopPosition, Thunk};
use crate::reader::calc::Calc;
use crate::reader::model::Slot;
use std::collections::BTreeSet;

/// The condition that holds.
const TRUE: &str = "i1 1";

impl Flatten<'_> {
    /// Takes a condition into the conjunction of its message; one that is not asked counts as true.
    pub(super) fn assert(&mut self, condition: Slot, message: &str) -> Flat<Vec<Known>> {
        let mut condition = self.value_of(condition)?;
        let buffer = self.asserted(message);
        if let Some(mask) = self.mask {
            let yes = self.make(Maker::Constant(vec![1], "i1".to_owned(), false));
            condition = self.make(Maker::Select(mask, condition, yes));
        }
        let address = Subscript::Constant(0);
        let before = self.make(Maker::Load { buffer, address: address.clone(), stride: 0, lanes: 1, mask: None });
        let value =
            self.make(Maker::Elements { operation: Operation::conjunction(), operands: vec![before, condition] });
        let store = Statement::Store { buffer, address, stride: 0, lanes: 1, value, mask: None };
        self.program.blocks[self.block].statements.push(store);
        Ok(vec![])
    }

    /// The buffer of a message.
    fn asserted(&mut self, message: &str) -> BufferId {
        if let Some(buffer) = self.program.asserted.get(message) {
            return *buffer;
        }
        let buffer = self.program.buffers.len();
        self.program.buffers.push((1, Some(Contents::Splat(TRUE.to_owned()))));
        self.program.shapes.push(None);
        self.homes.push(0);
        self.program.asserted.insert(message.to_owned(), buffer);
        buffer
    }
}

impl Statements {
    /// The conditions of the assertions that are asked before a statement, in the same iterations.
    fn asserted_before(&self, at: (BlockId, usize)) -> Vec<ValueId> {
        let (mut conditions, mut at) = (vec![], Some(at));
        while let Some((block, end)) = at {
            conditions.extend(self.blocks[block].statements[..end].iter().filter_map(|one| self.asserted_by(one)));
            at = self.blocks[block].parent;
        }
        conditions
    }

    /// The last statement of the function in which an assertion is asked, or a loop may run forever.
    pub(super) fn last_asserted(&self) -> Option<usize> {
        let all = self.blocks.iter().enumerate().flat_map(|(block, body)| {
            body.statements.iter().enumerate().map(move |(number, statement)| ((block, number), statement))
        });
        let may_end = |statement: &Statement| match statement {
            Statement::Loop(block) => self.blocks[*block].exit.is_some(),
            statement => self.asserted_by(statement).is_some(),
        };
        let asserted = all.filter(|(_, statement)| may_end(statement));
        asserted.map(|(at, _)| self.outermost(at)).max()
    }

    fn asserted_by(&self, statement: &Statement) -> Option<ValueId> {
        let Statement::Store { buffer, value, .. } = statement else { return None };
        let Maker::Elements { operands, .. } = &self.values[*value].0 else { return None };
        self.asserted.values().any(|asserted| asserted == buffer).then(|| operands[1])
    }
}

impl Proof<'_> {
    /// Proves that the same assertions fail in both programs. What accesses promise does not hold where one of them fails, so
    /// this comes before it is known.
    pub(super) fn same_assertions(&mut self) -> Shown<()> {
        let messages: BTreeSet<&String> = self.programs.iter().flat_map(|program| program.asserted.keys()).collect();
        let shown = messages.into_iter().try_for_each(|message| {
            let nothing = [0; 2];
            self.elsewhere(Space::default(), nothing, |proof| {
                let [meant, made] = [0, 1].map(|side| proof.assertion(side, message));
                proof.equal(&meant, &made)
            })
        });
        self.facts.pairs.retain(|_, pair| !matches!(pair, Pair::Open));
        shown
    }

    /// Notes the ranges of indices that the assertions before a statement say, in an iteration of the loops around it; whether
    /// none of them is known to fail.
    pub(super) fn assume_asserted(&mut self, side: usize, at: (BlockId, usize), place: &LoopPosition) -> Shown<bool> {
        for value in self.programs[side].asserted_before(at) {
            if let Maker::AtLeastZero(s) = &self.programs[side].values[value].0
                && let Some(found) = self.asserted_index(side, s, place)?
            {
                self.index_ranges.push(found);
                continue;
            }
            match self.head(Thunk::Value { side, value, lane: Linear::default(), place: place.clone() }) {
                Ok(Head::Constant(bits)) if bits != TRUE => return Ok(false),
                Ok(Head::Elements(compare, sides)) => {
                    let found = self.asserted_range(&compare, &sides)?;
                    self.index_ranges.extend(found);
                }
                Ok(_) | Err(Undecided::Unproved(_)) => {}
                Err(stop) => return Err(stop),
            }
        }
        Ok(true)
    }

    /// The range of the one index of data in an expression that is at least 0.
    fn asserted_index(&mut self, side: usize, s: &Subscript, place: &LoopPosition) -> Shown<Option<IndexRange>> {
        let (mark, vars, known) = (self.space.mark(), self.space.len(), self.memo.len());
        let was_finding = std::mem::replace(&mut self.is_finding_ranges, true);
        let found = self.subscript(side, s, &Linear::default(), place).and_then(|e| self.space.normal(&e));
        self.is_finding_ranges = was_finding;
        let range = found.map(|e| {
            let mut terms = e.terms.iter();
            let (Some((var, times)), None) = (terms.next(), terms.next()) else { return None };
            let data = self.space.data_of(var)?;
            let (low, high) = self.space.range_of(var);
            let range = match (times, times.checked_neg()) {
                (1.., _) => (low.max(e.constant.div_euclid(times).saturating_neg()), high),
                (_, Some(less)) => (low, high.min(e.constant.div_euclid(less).saturating_add(1))),
                _ => return None,
            };
            let is_known = data.places.iter().flat_map(|place| place.terms.vars()).all(|var| var < vars);
            let places = data.places.iter().cloned().map(Place::At).collect();
            (is_known && range.0 < range.1).then(|| IndexRange { term: data.term.clone(), places, range })
        });
        self.space.undo(mark);
        self.memo.forget(known);
        // A case would be one of a variable that is no longer there.
        Ok(range.unwrap_or(None))
    }

    /// The range of an integer as an index where it compares so with a constant.
    fn asserted_range(&mut self, compare: &Operation, sides: &[Thunk]) -> Shown<Option<IndexRange>> {
        let (Calc::Compare(predicate), [integer, bound]) = (compare.calc(), sides) else { return Ok(None) };
        let bound = self.head(bound.clone())?;
        let bound = self.integer(&bound)?.and_then(|bound| bound.as_constant());
        let Some(range) = bound.and_then(|bound| equations::compared_range(predicate, bound)) else { return Ok(None) };
        let from = &compare.operator.0.from;
        let cast = equations::operation("arith.index_cast", (&from.text, from.bits), ("index", 64));
        let (term, places) = self.term(&Head::Elements(cast, vec![integer.clone()]))?;
        let places = places.iter().map(|place| self.space.normal(place).map(Place::At)).collect::<Shown<_>>()?;
        Ok(Some(IndexRange { term: term.to_string(), places, range }))
    }

    /// Whether all conditions of a message hold at the end of a program.
    fn assertion(&self, side: usize, message: &str) -> Thunk {
        let program = self.programs[side];
        match program.asserted.get(message) {
            Some(buffer) => Thunk::Memory {
                side,
                buffer: *buffer,
                address: Linear::default(),
                at: (0, program.blocks[0].statements.len()),
                place: LoopPosition::default(),
            },
            None => Thunk::Known(Box::new(Head::Constant(TRUE.to_owned()))),
        }
    }
}
