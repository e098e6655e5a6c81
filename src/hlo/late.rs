//! Operands that an `async-update` binds.
//!
//! `s = ((), (), s32[]) call-start(), to_apply=f` starts without operands, and
//! `u = ((f32[2]), f32[2]) async-update(s, x)` binds `x`. The operation runs once all operands are bound: here `u` is
//! the start of `f` with `x`, and `s` only a name for later operands.

use super::opcodes::find;
use super::raw::{RawComputation, RawInstruction};
use std::collections::BTreeMap;

/// The instructions that bind operands, each as the start it continues, with the operands bound so far. `uses` and
/// `calls` are updated to match.
pub(super) fn bind<'a>(
    raw: &RawComputation<'a>,
    uses: &mut [(usize, Vec<usize>)],
    calls: &mut BTreeMap<usize, Vec<usize>>,
) -> BTreeMap<usize, RawInstruction<'a>> {
    let mut bound = BTreeMap::new();
    let is_late =
        |i: usize, uses: &[(usize, Vec<usize>)]| raw.instructions[i].opcode.ends_with("-update") && uses[i].0 > 1;
    let late: Vec<usize> = (0..raw.instructions.len()).filter(|i| is_late(*i, uses)).collect();
    // An operand of an update may come after it in the text, and may bind operands itself.
    let written: Vec<(usize, Vec<usize>)> = late.iter().map(|i| uses[*i].clone()).collect();
    for (place, &i) in late.iter().enumerate() {
        let Some((start, operands)) = chain(raw, uses, (&late, &written), place) else { continue };
        let instruction = &raw.instructions[i];
        let begin = &raw.instructions[start];
        let named = |used: &usize| instruction.operand(&raw.instructions[*used].name);
        bound.insert(
            i,
            RawInstruction {
                shape_at: instruction.shape_at,
                opcode: begin.opcode,
                opcode_at: instruction.opcode_at,
                operands: operands.iter().map(named).collect(),
                attributes: begin.attributes.clone(),
                broken: false,
                ..RawInstruction::new(instruction.name.clone(), instruction.at)
            },
        );
        let (count, own) = &written[place];
        let control = own[*count..].iter().copied().chain([own[0]]);
        uses[i] = (operands.len(), operands.iter().copied().chain(control).collect());
        if let Some(called) = calls.get(&start).cloned() {
            calls.insert(i, called);
        }
    }
    bound
}

/// The start that an update continues, and all operands bound up to it; `None` if there is no such start.
fn chain(
    raw: &RawComputation,
    uses: &[(usize, Vec<usize>)],
    (late, written): (&[usize], &[(usize, Vec<usize>)]),
    place: usize,
) -> Option<(usize, Vec<usize>)> {
    let mut operands = Vec::new();
    let mut at = late[place];
    for _ in 0..=raw.instructions.len() {
        let (count, own) = late.binary_search(&at).map_or(&uses[at], |place| &written[place]);
        let opcode = raw.instructions[at].opcode;
        if find(opcode)?.wrapped.is_some() {
            operands.extend(own[..*count].iter().rev());
            operands.reverse();
            return Some((at, operands));
        }
        if !opcode.ends_with("-update") || *count == 0 {
            return None;
        }
        operands.extend(own[1..*count].iter().rev());
        at = own[0];
    }
    None
}
