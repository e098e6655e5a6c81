//! Operands that an `async-update` binds.
//!
//! `s = ((), (), s32[]) call-start(), to_apply=f` starts without operands, and
//! `u = ((f32[2]), f32[2]) async-update(s, x)` binds `x`. The operation runs once all operands are bound: here `u` is
//! the start of `f` with `x`, and `s` only a name for later operands.

use super::opcodes::find;
use super::raw::{Inputs, RawComputation, RawInstruction};
use std::collections::BTreeMap;

/// The instructions that bind operands, each as the start it continues, with the operands bound so far. `inputs` and
/// `calls` are updated to match.
pub(super) fn bind<'a>(
    raw: &RawComputation<'a>,
    inputs: &mut [Inputs],
    calls: &mut BTreeMap<usize, Vec<usize>>,
) -> BTreeMap<usize, RawInstruction<'a>> {
    let mut bound = BTreeMap::new();
    let binds = |i: &usize| raw.instructions[*i].opcode.ends_with("-update") && inputs[*i].operands.len() > 1;
    let updates: Vec<usize> = (0..raw.instructions.len()).filter(binds).collect();
    // An operand of an update may come after it in the text, and may bind operands itself.
    let written: Vec<Inputs> = updates.iter().map(|i| inputs[*i].clone()).collect();
    for (update, &i) in updates.iter().enumerate() {
        let Some((start, operands)) = chain(raw, inputs, (&updates, &written), update) else { continue };
        let instruction = &raw.instructions[i];
        let begin = &raw.instructions[start];
        let named = |operand: &usize| instruction.operand(&raw.instructions[*operand].name);
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
        let Inputs { operands: own, control } = &written[update];
        inputs[i] = Inputs { operands, control: control.iter().copied().chain([own[0]]).collect() };
        if let Some(called) = calls.get(&start).cloned() {
            calls.insert(i, called);
        }
    }
    bound
}

/// The start that an update continues, and all operands bound up to it; `None` if there is no such start.
fn chain(
    raw: &RawComputation,
    inputs: &[Inputs],
    (updates, written): (&[usize], &[Inputs]),
    update: usize,
) -> Option<(usize, Vec<usize>)> {
    let mut operands = Vec::new();
    let mut at = updates[update];
    for _ in 0..=raw.instructions.len() {
        let own = &updates.binary_search(&at).map_or(&inputs[at], |update| &written[update]).operands;
        let opcode = raw.instructions[at].opcode;
        if find(opcode)?.wrapped.is_some() {
            operands.extend(own.iter().rev());
            operands.reverse();
            return Some((at, operands));
        }
        if !opcode.ends_with("-update") || own.is_empty() {
            return None;
        }
        operands.extend(own[1..].iter().rev());
        at = own[0];
    }
    None
}
