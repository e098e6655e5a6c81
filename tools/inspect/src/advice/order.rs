//! Another order of dimensions in the source, for what a reshape or its readers make in the source's order.
//!
//! XLA lays most arrays out as it likes, but the result of a reshape in the order of the text: the dimension that is
//! last there fills the lanes. With the largest dimension last, little of them is wasted:
//!
//! ```text
//! x.reshape(1048576, 8, 4)    {2,1,0:T(8,128)}    4096 MiB
//! x.reshape(8, 4, 1048576)    {2,1,0:T(4,128)}     128 MiB
//! ```
//!
//! Products and convolutions, and what they read, are in XLA's order whatever the text says.

use super::{AdviceKind, Advised, BufferPlace, Candidate, leaves_mut};
use crate::hlo::origins::Provenance;
use layout_plan::memory::{Footprint, Role, RunsAs};
use std::collections::{BTreeMap, BTreeSet};
use tensor_layout::hlo::{Instruction, Module};
use tensor_layout::operations::{Array, leaves};
use tensor_layout::targets::Target;
use tensor_layout::tiled::Layout;

/// The least ratio of padded to logical bytes at which another order is tried.
const LEAST_WASTE: i64 = 4;

/// A candidate for each line whose temporaries waste so much, if no product makes or reads one of them.
pub fn candidates<'p>(program: &'p Advised) -> Vec<Candidate<'p>> {
    let mut groups: BTreeMap<String, (BTreeSet<usize>, Provenance)> = BTreeMap::new();
    let mut fixed = BTreeSet::new();
    let entry = program.module.entry;
    let origin = |k: usize| program.origins.get(&program.entry().instructions[k], (entry, k));
    let at_peak = program.temporaries().filter(|own| own.frame == RunsAs::Entry);
    let lines: BTreeSet<String> = at_peak.filter_map(|own| origin(own.buffer.made.0).source).collect();
    for (number, own) in program.entry_buffers().buffers.iter().enumerate() {
        let (k, leaf) = own.made;
        let array = leaves(&program.entry().instructions[k].shape)[leaf];
        let is_wasted = own.role == Role::Temporary && own.space == 0 && is_in_order(array);
        if !is_wasted || reordered(program.target, array).is_none() {
            continue;
        }
        let origin = origin(k);
        let Some(line) = origin.source.clone().filter(|line| lines.contains(line)) else { continue };
        if !is_free(program, k) {
            fixed.insert(line.clone());
        }
        groups.entry(line).or_insert_with(|| (BTreeSet::new(), origin)).0.insert(number);
    }
    let free = groups.into_iter().filter(|(line, _)| !fixed.contains(line));
    free.filter_map(|(line, (group, origin))| candidate(program, &line, group, origin)).collect()
}

/// Whether an array lies as the source has its dimensions.
fn is_in_order(array: &Array) -> bool {
    array.layout.is_tiled() && array.layout.minor_to_major.windows(2).all(|pair| pair[0] > pair[1])
}

/// Whether no order is fixed by an instruction, its operands or its readers.
fn is_free(program: &Advised, k: usize) -> bool {
    let instructions = &program.entry().instructions;
    let readers = instructions.iter().filter(|own| own.operands.contains(&k));
    let operands = instructions[k].operands.iter().map(|own| &instructions[*own]);
    instructions[k].opcode != "copy"
        && !readers.chain(operands).chain([&instructions[k]]).any(|own| is_product(program.module, own))
}

/// Whether an instruction fixes its layouts, as products do, or runs one that does.
fn is_product(module: &Module, instruction: &Instruction) -> bool {
    let inside = |called: &usize| module.computations[*called].instructions.iter().any(|own| is_product(module, own));
    matches!(&*instruction.opcode, "dot" | "convolution" | "custom-call") || instruction.called.iter().any(inside)
}

/// The array with its largest dimension in the lanes; `None` where that takes as much.
fn reordered(target: &Target, array: &Array) -> Option<Array> {
    let (sizes, bytes) = (array.sizes()?, |array: &Array| Footprint::of(array).ok()?);
    let largest = (0..sizes.len()).max_by_key(|dim| sizes[*dim])?;
    let mut order = vec![largest];
    order.extend((0..sizes.len()).rev().filter(|dim| *dim != largest));
    let layout = target.layout(array.element, &sizes, &order).ok()?;
    let layout = Layout { memory_space: array.layout.memory_space, ..layout };
    let other = Array { layout, ..array.clone() };
    let (before, after) = (bytes(array)?, bytes(&other)?);
    let is_less = after.padded < before.padded && before.padded / LEAST_WASTE >= before.logical;
    is_less.then_some(other)
}

fn candidate<'p>(
    program: &'p Advised,
    line: &str,
    group: BTreeSet<usize>,
    origin: Provenance,
) -> Option<Candidate<'p>> {
    let buffers = &program.entry_buffers().buffers;
    let largest = group.iter().map(|own| &buffers[*own]).max_by_key(|own| own.footprint.padded)?;
    let array = leaves(&program.entry().instructions[largest.made.0].shape)[largest.made.1];
    let mut sizes = array.sizes()?;
    let place = (0..sizes.len()).max_by_key(|dim| sizes[*dim])?;
    let most = sizes.remove(place);
    sizes.push(most);
    let sizes = sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let things: BTreeSet<BufferPlace> = group.iter().map(|own| (program.module.entry, buffers[*own].made)).collect();
    Some(Candidate {
        kind: AdviceKind::Order,
        change: format!("put the dimension of {most} last in what {line} makes"),
        code: format!(".reshape({sizes}) at {line}, with the data in that order, and its axes in what reads it"),
        things,
        ends: Vec::new(),
        origin,
        changed: Box::new(move || changed(program, &group)),
    })
}

/// The module with the buffers in the other order.
fn changed(program: &Advised, group: &BTreeSet<usize>) -> Option<Module> {
    let mut changed = program.module.clone();
    let entry = &mut changed.computations[program.module.entry];
    for (instruction, of) in entry.instructions.iter_mut().zip(&program.entry_buffers().of) {
        for (array, own) in leaves_mut(&mut instruction.shape).into_iter().zip(of) {
            if own.is_some_and(|own| group.contains(&own)) {
                *array = reordered(program.target, array)?;
            }
        }
    }
    Some(changed)
}
