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
use crate::proof::linear::{Linear, Shown, Space};
use crate::proof::statements::{BufferId, Contents, Maker, Statement};
use crate::proof::subscript::Subscript;
use crate::proof::value::{Head, LoopPosition, Thunk};
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
        let operation = equations::operation("arith.andi", ("i1", 1), ("i1", 1));
        let value = self.make(Maker::Elements { operation, operands: vec![before, condition] });
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

impl Proof<'_> {
    /// Proves that the same assertions fail in both programs. What accesses promise does not hold where one of them fails.
    pub(super) fn same_assertions(&mut self) -> Shown<()> {
        let messages: BTreeSet<&String> = self.programs.iter().flat_map(|program| program.asserted.keys()).collect();
        let index_ranges = std::mem::take(&mut self.index_ranges);
        let shown = messages.into_iter().try_for_each(|message| {
            let nothing = [0; 2];
            self.elsewhere(Space::default(), nothing, |proof| {
                let [meant, made] = [0, 1].map(|side| proof.assertion(side, message));
                proof.equal(&meant, &made)
            })
        });
        self.index_ranges = index_ranges;
        shown
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
