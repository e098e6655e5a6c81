//! The order of the parts of a `ConcatBitcast`.
//!
//! Memory space assignment copies an array in slices, each to its offset in one buffer, and a `ConcatBitcast` names
//! that buffer. Its operands are in the order in which the copies start, which may differ from the order in memory: if
//! `a` has `slice={[4:8]}` of an array and `b` has `slice={[0:4]}`, `ConcatBitcast(a, b)` is the array, with `b` before
//! `a`.

use super::raw::{Inputs, RawComputation, RawInstruction};
use super::rules::ranges;

/// Sorts the operands of each `ConcatBitcast` by offset, if they are slices that together form a range of one array.
pub(super) fn order(raw: &RawComputation, inputs: &mut [Inputs]) {
    for i in (0..raw.instructions.len()).filter(|i| joins(&raw.instructions[*i])) {
        let parts = &inputs[i].operands;
        let Some(mut slices) = parts.iter().map(|part| slice(raw, inputs, *part)).collect::<Option<Vec<_>>>() else {
            continue;
        };
        slices.sort_by(|a, b| a.ranges.cmp(&b.ranges));
        if slices.windows(2).all(|pair| follow(&pair[0], &pair[1])) {
            for (k, slice) in slices.iter().enumerate() {
                inputs[i].operands[k] = slice.made;
            }
        }
    }
}

/// Whether an instruction is a `ConcatBitcast` without a list that has an entry for each operand.
fn joins(instruction: &RawInstruction) -> bool {
    let has = |name: &str| instruction.attributes.iter().find(|attribute| attribute.name == name);
    instruction.opcode == "custom-call"
        && has("custom_call_target").is_some_and(|target| target.text == "\"ConcatBitcast\"")
        && has("operand_layout_constraints").is_none()
}

/// A slice of an array.
struct CopiedPart {
    /// The instructions that define the slice, and (`of`) the array.
    made: usize,
    of: usize,
    /// The start and the limit in each dimension.
    ranges: Vec<(i64, i64)>,
}

/// The slice that an instruction takes; `None` if it is no slice, or has strides.
fn slice(raw: &RawComputation, inputs: &[Inputs], made: usize) -> Option<CopiedPart> {
    let operand = |i: usize| inputs[i].operands.first().copied();
    let start = if raw.instructions[made].opcode == "slice-done" { operand(made)? } else { made };
    let instruction = &raw.instructions[start];
    if !matches!(instruction.opcode, "slice" | "slice-start") {
        return None;
    }
    let attribute = instruction.attributes.iter().find(|attribute| attribute.name == "slice")?;
    let rank = attribute.text.matches('[').count();
    let found = attribute.read(|cursor| ranges(cursor, rank)).ok()?;
    let range = |[start, limit, stride]: &[(i64, usize); 3]| (stride.0 == 1).then_some((start.0, limit.0));
    Some(CopiedPart { made, of: operand(start)?, ranges: found.iter().map(range).collect::<Option<_>>()? })
}

/// Whether the second slice begins where the first ends in one dimension, with equal ranges in all others.
fn follow(first: &CopiedPart, second: &CopiedPart) -> bool {
    let mut others = first.ranges.iter().zip(&second.ranges).filter(|(a, b)| a != b);
    let next = others.next().is_some_and(|(a, b)| a.1 == b.0);
    first.of == second.of && first.ranges.len() == second.ranges.len() && next && others.next().is_none()
}
