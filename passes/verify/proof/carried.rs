//! Tensors that loops carry: each is a buffer, whose elements are the tensor's at the beginning of each iteration.
//!
//! ```text
//! %r = scf.for .. iter_args(%t = %s) {     copy %s to T; for .. {
//!   %u = tensor.insert_slice %p into %t      store %p to T
//!   scf.yield %u }                         }
//! ```
//!
//! A tensor with one use, in an operation that makes another tensor of it, is overwritten by that operation. Any other
//! tensor that an iteration yields is copied at the end of it.

use crate::proof::flatten::{Flat, Flatten};
use crate::proof::view::MemoryView;
use crate::reader::model::{Action, End, Kind, Region, Slot, Step, Type};
use crate::reader::uses::{region_uses, uses};

/// The tensor that a step makes of one that nothing else has to see any longer; none where it makes none.
fn successor(step: &Step, of: Slot) -> Option<Slot> {
    let number = match &step.action {
        Action::Slice { source, insert: Some(_), .. } if *source == of => 0,
        Action::Insert { into, .. } if *into == of => 0,
        Action::Nest(nest) => nest.outputs.iter().position(|output| *output == of)?,
        Action::Loop { carried, .. } => carried.iter().position(|slot| *slot == of)?,
        _ => return None,
    };
    step.results.get(number).copied()
}

/// The tensors that the body of a loop makes one of the other, of what it carries to what it yields in the same place; none
/// where one of them is used by anything else.
fn successors(body: &Region, number: usize) -> Option<Vec<Slot>> {
    let [block] = &body.blocks[..] else { return None };
    let End::Yield { values, .. } = &block.end else { return None };
    let (mut at, used) = (*block.arguments.get(number + 1)?, region_uses(body));
    let mut all = vec![];
    while used.iter().filter(|slot| **slot == at).count() == 1 {
        if values.get(number) == Some(&at) {
            return Some(all);
        }
        at = successor(block.steps.iter().find(|step| uses(step).contains(&at))?, at)?;
        all.push(at);
    }
    None
}

impl Flatten<'_> {
    fn is_tensor(&self, slot: Slot) -> bool {
        matches!(self.type_of(slot), Type::Shaped { kind: Kind::Tensor, .. })
    }

    /// The buffer of a tensor that is made of another one: that of the other, where nothing else has to see it.
    pub(super) fn made_of(&mut self, result: Slot, source: &MemoryView) -> Flat<MemoryView> {
        if self.overwriting.contains(&result) {
            return Ok(source.clone());
        }
        self.copied(result, source)
    }

    /// A new buffer of a value's type, with the elements of another one.
    pub(super) fn copied(&mut self, slot: Slot, source: &MemoryView) -> Flat<MemoryView> {
        let to = self.fresh(slot, None, false)?;
        self.copy(source, &to, &|index| index.to_vec())?;
        Ok(to)
    }

    /// The buffers of the tensors that a loop carries, by their numbers, filled with the first ones.
    pub(super) fn carried_tensors(
        &mut self,
        results: &[Slot],
        carried: &[Slot],
        body: &Region,
    ) -> Flat<Vec<Option<MemoryView>>> {
        let mut buffers = vec![];
        for (number, slot) in carried.iter().enumerate() {
            if !self.is_tensor(*slot) {
                buffers.push(None);
                continue;
            }
            let first = self.view_of(*slot)?;
            buffers.push(Some(self.made_of(results[number], &first)?));
            self.overwriting.extend(successors(body, number).unwrap_or_default());
        }
        Ok(buffers)
    }

    /// Leaves what an iteration yields in the buffers of what its loop carries. All of it is read before any of it is written.
    pub(super) fn yield_tensors(&mut self, buffers: &[MemoryView], yields: &[(MemoryView, Slot)]) -> Flat<()> {
        let mut left = vec![];
        for (to, (from, slot)) in buffers.iter().zip(yields) {
            if from.buffer == to.buffer {
                if from.layout != to.layout || from.sizes != to.sizes {
                    return Err("a loop that carries a part of a tensor".to_owned());
                }
                continue;
            }
            let is_written = buffers.iter().any(|other| other.buffer == from.buffer);
            let from = if is_written { self.copied(*slot, from)? } else { from.clone() };
            left.push((from, to));
        }
        left.into_iter().try_for_each(|(from, to)| self.copy(&from, to, &|index| index.to_vec()))
    }
}
