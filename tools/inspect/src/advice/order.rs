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

use super::{AdviceKind, Advised, BufferPlace, Candidate, elide, leaves_mut};
use layout_plan::memory::{Buffer, Footprint, Role, RunsAs};
use std::collections::{BTreeMap, BTreeSet};
use tensor_layout::hlo::{Computation, Instruction, Module};
use tensor_layout::operations::{Array, leaves};
use tensor_layout::sets::DisjointSets;
use tensor_layout::targets::Target;
use tensor_layout::tiled::Layout;

/// The least ratio of padded to logical bytes at which another order is tried.
const LEAST_WASTE: i64 = 4;

/// A candidate for each group of temporaries that waste so much, if one is live at the peak, and if no product makes or
/// reads one of them. What one instruction reads and makes is of one group.
pub fn candidates<'p>(program: &'p Advised) -> Vec<Candidate<'p>> {
    let (entry, found) = (program.entry(), program.entry_buffers());
    let is_wasted = |own: &Buffer| {
        let array = leaves(&entry.instructions[own.made.0].shape)[own.made.1];
        let is_ours = own.role == Role::Temporary && own.space == 0 && is_in_order(array);
        is_ours && reordered(program.target, array).is_some()
    };
    let wasted: Vec<bool> = found.buffers.iter().map(is_wasted).collect();
    let (readers, sources) = (program.readers(), sources(entry));
    let mut sets = DisjointSets::new(wasted.len());
    for (k, instruction) in entry.instructions.iter().enumerate() {
        let arrays = instruction.operands.iter().chain([&k]).flat_map(|own| found.of[*own].iter().flatten());
        let copied = found.of[sources[k]].iter().flatten();
        let together: Vec<usize> = arrays.chain(copied).copied().filter(|own| wasted[*own]).collect();
        together.windows(2).for_each(|pair| sets.join(pair[0], pair[1]));
    }
    let mut groups: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for number in (0..wasted.len()).filter(|number| wasted[*number]) {
        groups.entry(sets.find(number)).or_default().insert(number);
    }
    let live: BTreeSet<_> =
        program.temporaries().filter(|own| own.frame == RunsAs::Entry).map(|own| own.buffer.made).collect();
    let made = |number: &usize| found.buffers[*number].made;
    let is_free = |number: &usize| {
        let k = made(number).0;
        is_free(program, k, sources[k], &readers[k])
    };
    groups.retain(|_, group| group.iter().any(|own| live.contains(&made(own))) && group.iter().all(is_free));
    groups.into_values().filter_map(|group| candidate(program, group)).collect()
}

/// For each instruction the one whose result it copies, in several steps where XLA stores a value in a smaller layout for a
/// while; itself for any other.
fn sources(entry: &Computation) -> Vec<usize> {
    let mut sources: Vec<usize> = (0..entry.instructions.len()).collect();
    for (k, own) in entry.instructions.iter().enumerate().filter(|(_, own)| own.opcode == "copy") {
        sources[k] = own.operands.first().map_or(k, |operand| sources[*operand]);
    }
    sources
}

/// Whether an array lies as the source has its dimensions.
fn is_in_order(array: &Array) -> bool {
    array.layout.is_tiled() && array.layout.minor_to_major.windows(2).all(|pair| pair[0] > pair[1])
}

/// Whether no order is fixed by an instruction, its operands or its readers.
fn is_free(program: &Advised, k: usize, source: usize, readers: &[usize]) -> bool {
    let instructions = &program.entry().instructions;
    let mut near = readers.iter().chain(&instructions[k].operands).chain([&k]).map(|own| &instructions[*own]);
    // A copy lies so by XLA's choice, unless it is one of a value in this layout.
    instructions[source].shape == instructions[k].shape && !near.any(|own| is_product(program.module, own))
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

fn candidate<'p>(program: &'p Advised, group: BTreeSet<usize>) -> Option<Candidate<'p>> {
    let origin = |own: &usize| program.origin(program.entry_buffers().buffers[*own].made.0);
    let origin = group.iter().map(origin).find(|own| own.source.is_some())?;
    let line = origin.source.clone()?;
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
    // Copies between layouts that are now the same do nothing.
    for (k, before) in program.entry().instructions.iter().enumerate().filter(|(_, own)| own.opcode == "copy") {
        let of = |instructions: &[Instruction]| instructions[before.operands[0]].shape == instructions[k].shape;
        if of(&entry.instructions) && !of(&program.entry().instructions) {
            elide(&mut entry.instructions[k]);
        }
    }
    Some(changed)
}
