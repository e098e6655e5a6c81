//! The instructions that only move bytes: copies between layouts or memories, and transposes and reshapes that are no
//! bitcasts.

use super::footprint::Footprint;
use crate::analysis::{Movement, movement};
use crate::hlo::{Computation, Instruction};
use crate::operations::operation::Operation;
use crate::operations::shape::{Array, Shape};
use crate::text::Error;
use crate::tiled::layout::Layout;

/// What moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shift {
    /// Elements go to other offsets.
    Layout,
    /// All elements go to another memory space, each to its offset.
    Space {
        /// The operand's.
        from: u8,
        /// The result's.
        to: u8,
    },
    /// Elements have the same offsets in another buffer.
    Same,
}

/// An instruction that only moves bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Relayout {
    /// What moves.
    pub shift: Shift,
    /// The operand's array and the result's.
    pub arrays: Box<(Array, Array)>,
    /// Of the operand and of the result together: what is read and what is written.
    pub moved: Footprint,
    /// The result's layout with which nothing would move, where one was found.
    pub free: Option<Layout>,
}

/// The instruction as one that only moves bytes; `None` where it computes, or moves nothing.
///
/// # Errors
/// 64 bits do not hold the bytes.
pub fn relayout(computation: &Computation, instruction: &Instruction) -> Result<Option<Relayout>, Error> {
    let Some((operation, from, to)) = sides(computation, instruction) else { return Ok(None) };
    let (Some(read), Some(written)) = (Footprint::of(from)?, Footprint::of(to)?) else { return Ok(None) };
    let there = Layout { memory_space: to.layout.memory_space, ..from.layout.clone() };
    let spaces = (from.layout.memory_space, to.layout.memory_space);
    let of_space = if spaces.0 == spaces.1 { Shift::Same } else { Shift::Space { from: spaces.0, to: spaces.1 } };
    let (shift, free) = if *operation == Operation::Elementwise && there == to.layout {
        (of_space, None)
    } else {
        // In the memory of the result, since what is asked is whether offsets change.
        let operand = Shape::Array(Array { layout: there, ..from.clone() });
        match movement(operation, &operand, &Shape::Array(to.clone())) {
            Ok(Movement::Free) if *operation == Operation::Elementwise => (of_space, None),
            Ok(Movement::Free) | Err(_) => return Ok(None),
            Ok(Movement::Moves { nearest, .. }) => (Shift::Layout, nearest.ok()),
            Ok(Movement::Unknown { .. }) => (Shift::Layout, None),
        }
    };
    let moved = read.plus(written)?;
    Ok(Some(Relayout { shift, arrays: Box::new((from.clone(), to.clone())), moved, free }))
}

/// What is moved: the operation, and the arrays before and after.
fn sides<'m>(
    computation: &'m Computation,
    instruction: &'m Instruction,
) -> Option<(&'m Operation, &'m Array, &'m Array)> {
    let operand = instruction.operands.first().map(|k| &computation.instructions[*k].shape);
    let (operation, to) = match (&*instruction.opcode, &instruction.operation, &instruction.shape) {
        ("copy" | "transpose" | "reshape", operation, shape) => (operation, shape),
        ("copy-start", Operation::Start(start), Shape::Tuple(parts)) => (&start.operation, parts.first()?),
        _ => return None,
    };
    match (operand?, to) {
        (Shape::Array(from), Shape::Array(to)) => Some((operation, from, to)),
        _ => None,
    }
}
