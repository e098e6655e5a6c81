//! Instructions that only move bytes: copies between layouts or memories, and transposes and reshapes that are no
//! bitcasts.

use super::footprint::Footprint;
use super::names::Names;
use tensor_layout::analysis::{Movement, movement};
use tensor_layout::hlo::{Computation, Instruction};
use tensor_layout::operations::operation::Operation;
use tensor_layout::operations::shape::{Array, Shape};
use tensor_layout::text::Error;
use tensor_layout::tiled::layout::Layout;

/// The kind of a relayout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelayoutKind {
    /// Elements move to other offsets.
    Layout,
    /// All elements move to another memory space, each to its offset.
    Space {
        /// The memory space of the operand.
        from: u8,
        /// The memory space of the result.
        to: u8,
    },
    /// Elements keep their offsets in another buffer.
    Same,
}

/// An instruction that only moves bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Relayout {
    /// The kind of the relayout.
    pub kind: RelayoutKind,
    /// The arrays of the operand and of the result.
    pub arrays: Box<(Array, Array)>,
    /// The bytes read and written, together.
    pub moved: Footprint,
    /// A layout of the result with which nothing would move, if one was found.
    pub free: Option<Layout>,
}

/// The relayout that an instruction performs; `None` if it computes, or moves nothing.
///
/// # Errors
/// Bytes that overflow 64 bits.
pub fn relayout(computation: &Computation, instruction: &Instruction) -> Result<Option<Relayout>, Error> {
    let Some((operation, from, to)) = sides(computation, instruction) else { return Ok(None) };
    let (Some(read), Some(written)) = (Footprint::of(from)?, Footprint::of(to)?) else { return Ok(None) };
    let there = Layout { memory_space: to.layout.memory_space, ..from.layout.clone() };
    let spaces = (from.layout.memory_space, to.layout.memory_space);
    let of_space =
        if spaces.0 == spaces.1 { RelayoutKind::Same } else { RelayoutKind::Space { from: spaces.0, to: spaces.1 } };
    let (kind, free) = if *operation == Operation::Elementwise && there == to.layout {
        (of_space, None)
    } else {
        // Placed in the result's memory, since only offsets are compared.
        let operand = Shape::Array(Array { layout: there, ..from.clone() });
        match movement(operation, &operand, &Shape::Array(to.clone())) {
            Ok(Movement::Free) if *operation == Operation::Elementwise => (of_space, None),
            Ok(Movement::Free) | Err(_) => return Ok(None),
            Ok(Movement::Moves { nearest, .. }) => (RelayoutKind::Layout, nearest.ok()),
            Ok(Movement::Unknown { .. }) => (RelayoutKind::Layout, None),
        }
    };
    let moved = read.plus(written)?;
    Ok(Some(Relayout { kind, arrays: Box::new((from.clone(), to.clone())), moved, free }))
}

/// The relayouts inside a fusion that read or write memory, each with its instruction: the operand is a parameter, or
/// the result leaves the fusion. The bytes are those of memory alone.
///
/// # Errors
/// Bytes that overflow 64 bits.
pub fn fused_relayouts(fused: &Computation) -> Result<Vec<(usize, Relayout)>, Error> {
    let mut names = Names::new(fused);
    let results = names.sources(fused.root);
    let mut found = Vec::new();
    for (k, instruction) in fused.instructions.iter().enumerate() {
        let Some(moved) = relayout(fused, instruction)?.filter(|own| own.kind == RelayoutKind::Layout) else {
            continue;
        };
        let from = names.source((instruction.operands[0], 0)).0;
        let reads = fused.instructions[from].opcode == "parameter";
        let sides = [(reads, &moved.arrays.0), (results.contains(&(k, 0)), &moved.arrays.1)];
        let mut bytes = None;
        for (_, array) in sides.into_iter().filter(|(is_memory, _)| *is_memory) {
            bytes = Some(Footprint::of(array)?.unwrap_or_default().plus(bytes.unwrap_or_default())?);
        }
        found.extend(bytes.map(|bytes| (k, Relayout { moved: bytes, ..moved })));
    }
    Ok(found)
}

/// The operation, and the arrays before and after.
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
