//! Other layouts of arguments and outputs, which `jax.jit` takes in `in_shardings` and `out_shardings`.
//!
//! An argument that is only ever copied into one layout may have that layout, and an output that is a copy of another
//! layout may have that one: the copies do nothing then. JAX asks for an order of dimensions; the tiles are the machine's,
//! so a layout with other tiles cannot be asked for.

use super::{AdviceKind, Advised, AdvisedEnd, BufferPlace, Candidate, elide, leaves_mut};
use crate::hlo::origins::Provenance;
use layout_plan::memory::{RelayoutKind, relayout};
use std::collections::{BTreeSet, HashMap};
use tensor_layout::hlo::Module;
use tensor_layout::operations::{Array, Shape};
use tensor_layout::tiled::Layout;

/// An end of the program in another layout, with the copies that do nothing then.
#[derive(Clone)]
struct OtherEnd {
    /// The instruction of the parameter, or the root.
    k: usize,
    /// The number of the result; of an argument `None`.
    output: Option<usize>,
    array: Array,
    layout: Layout,
    copies: Vec<usize>,
}

/// The candidates: each argument, each output, and an argument with the outputs of its sizes that want the same layout.
pub fn candidates<'p>(program: &'p Advised) -> Vec<Candidate<'p>> {
    let mut readers = program.readers();
    let argument = |(_, k, array): (usize, usize, &Array)| argument(program, k, array, std::mem::take(&mut readers[k]));
    let arguments: Vec<OtherEnd> = program.arguments().filter_map(argument).collect();
    let outputs: Vec<OtherEnd> = program.outputs().into_iter().filter_map(|(leaf, _)| output(program, leaf)).collect();
    let together = |argument: &OtherEnd| {
        let like = |own: &&OtherEnd| own.array.dims == argument.array.dims && own.layout == argument.layout;
        let mut ends = vec![argument.clone()];
        ends.extend(outputs.iter().filter(like).cloned());
        (ends.len() > 1).then_some(ends)
    };
    let pairs: Vec<Vec<OtherEnd>> = arguments.iter().filter_map(together).collect();
    let single = arguments.iter().chain(&outputs).map(|end| vec![end.clone()]);
    // An argument and the output that takes its memory change together: XLA donates none of another layout.
    let partners = partners(program);
    let keeps_donations = |ends: &Vec<OtherEnd>| {
        let changes = |other| ends.iter().any(|end| (end.k, end.output) == other);
        ends.iter().all(|end| partners.get(&(end.k, end.output)).is_none_or(|other| changes(*other)))
    };
    single.chain(pairs).filter(keeps_donations).map(|ends| candidate(program, ends)).collect()
}

/// An end of the program: the instruction of a parameter or the root, and the number of a result.
type End = (usize, Option<usize>);

/// For each end that shares memory by a donation, the other one.
fn partners(program: &Advised) -> HashMap<End, End> {
    let entry = program.entry();
    let donated = program.entry_buffers().donated.iter();
    let pairs = donated.map(|own| ((entry.parameters[own.operand], None), (entry.root, Some(own.result))));
    pairs.flat_map(|(argument, output)| [(argument, output), (output, argument)]).collect()
}

/// The layout that an argument is copied into by all that read it.
fn argument(program: &Advised, k: usize, array: &Array, readers: Vec<usize>) -> Option<OtherEnd> {
    let entry = program.entry();
    let wanted = |own: &usize| {
        let moved = relayout(entry, &entry.instructions[*own]).ok()??;
        (moved.kind == RelayoutKind::Layout && moved.arrays.1.dims == array.dims).then_some(moved.arrays.1.layout)
    };
    let layout = Layout { memory_space: 0, ..wanted(readers.first()?)? };
    let is_that = |own: &usize| wanted(own).is_some_and(|own| Layout { memory_space: 0, ..own } == layout);
    (readers.iter().all(is_that) && can_be_asked(program, array, &layout)).then(|| OtherEnd {
        k,
        output: None,
        array: array.clone(),
        layout,
        copies: readers,
    })
}

/// The layout that an output is copied from.
fn output(program: &Advised, leaf: usize) -> Option<OtherEnd> {
    let entry = program.entry();
    let root = &entry.instructions[entry.root];
    let copy = if matches!(root.shape, Shape::Tuple(_)) { *root.operands.get(leaf)? } else { entry.root };
    let moved = relayout(entry, &entry.instructions[copy]).ok()??;
    let (from, to) = *moved.arrays;
    let is_of_layout = moved.kind == RelayoutKind::Layout && from.dims == to.dims && from.layout.memory_space == 0;
    (is_of_layout && can_be_asked(program, &to, &from.layout)).then(|| OtherEnd {
        k: entry.root,
        output: Some(leaf),
        array: to,
        layout: from.layout,
        copies: vec![copy],
    })
}

/// Whether the tiles of a layout are those that the machine has for its order.
fn can_be_asked(program: &Advised, array: &Array, layout: &Layout) -> bool {
    let Some(sizes) = array.sizes().filter(|_| layout.is_tiled()) else { return false };
    program.target.layout(array.element, &sizes, &layout.minor_to_major).is_ok_and(|own| own == *layout)
}

fn candidate<'p>(program: &'p Advised, ends: Vec<OtherEnd>) -> Candidate<'p> {
    let place = |end: &OtherEnd, leaf| {
        (program.module.entry, program.buffer((end.k, leaf)).map_or((end.k, leaf), |own| own.made))
    };
    let things: BTreeSet<BufferPlace> = ends
        .iter()
        .flat_map(|end| {
            let copies = end.copies.iter().filter_map(|k| Some((program.module.entry, program.buffer((*k, 0))?.made)));
            copies.chain([place(end, end.output.unwrap_or(0))]).collect::<Vec<_>>()
        })
        .collect();
    let name = |end: &OtherEnd| match end.output {
        None => format!("the argument `{}`", program.argument(end.k).1),
        Some(leaf) => format!("output {leaf}"),
    };
    let names: Vec<String> = ends.iter().map(name).collect();
    let layout = &ends[0].layout;
    let parameters = &program.entry().parameters;
    let advised = |end: &OtherEnd| AdvisedEnd {
        is_result: end.output.is_some(),
        number: end.output.or_else(|| parameters.iter().position(|own| *own == end.k)).unwrap_or(0),
        layout: end.layout.to_string(),
    };
    Candidate {
        kind: AdviceKind::Layout,
        change: format!("lay out {} as {layout}", names.join(" and ")),
        code: code(program, &ends),
        things,
        ends: ends.iter().map(advised).collect(),
        origin: Provenance { source: None, op_name: ends[0].output.is_none().then(|| program.argument(ends[0].k).1) },
        changed: Box::new(move || changed(program.module, &ends)),
    }
}

/// `jax.jit` with the layouts of the ends; `None` leaves an argument as it is.
fn code(program: &Advised, ends: &[OtherEnd]) -> String {
    let order: Vec<String> = ends[0].layout.minor_to_major.iter().rev().map(ToString::to_string).collect();
    let comma = if order.len() == 1 { "," } else { "" };
    let mut names: Vec<String> = Vec::new();
    for k in &program.entry().parameters {
        let (name, _) = program.argument(*k);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let tuple = |parts: Vec<&str>| format!("({}{})", parts.join(", "), if parts.len() == 1 { "," } else { "" });
    let mut sides = Vec::new();
    let wanted: Vec<String> =
        ends.iter().filter(|end| end.output.is_none()).map(|end| program.argument(end.k).0).collect();
    if !wanted.is_empty() {
        let parts = names.iter().map(|name| if wanted.contains(name) { "o" } else { "None" });
        sides.push(format!("in_shardings={}", tuple(parts.collect())));
    }
    let wanted: Vec<usize> = ends.iter().filter_map(|end| end.output).collect();
    if !wanted.is_empty() {
        let parts: Vec<&str> =
            program.outputs().iter().map(|(leaf, _)| if wanted.contains(leaf) { "o" } else { "None" }).collect();
        let is_tuple = matches!(program.entry().result().shape, Shape::Tuple(_));
        sides.push(format!("out_shardings={}", if is_tuple { tuple(parts) } else { "o".to_string() }));
    }
    let layout = format!("Layout(major_to_minor=({}{comma}))", order.join(", "));
    format!("o = Format({layout}, sharding); jax.jit(f, {})", sides.join(", "))
}

/// The module with the ends in their layouts.
fn changed(module: &Module, ends: &[OtherEnd]) -> Option<Module> {
    let mut changed = module.clone();
    let entry = &mut changed.computations[module.entry];
    for end in ends {
        for copy in &end.copies {
            let instruction = &mut entry.instructions[*copy];
            for array in leaves_mut(&mut instruction.shape) {
                if array.layout.memory_space == 0 {
                    array.layout = end.layout.clone();
                }
            }
            // A move into another memory stays one.
            if matches!(&instruction.shape, Shape::Array(array) if array.layout.memory_space == 0) {
                elide(instruction);
            }
        }
        let leaf = end.output.unwrap_or(0);
        leaves_mut(&mut entry.instructions[end.k].shape).into_iter().nth(leaf)?.layout = end.layout.clone();
    }
    Some(changed)
}
