//! Arguments whose memory an output takes.
//!
//! JAX donates whole arguments of a function: `donate(k, v)` of `f32[8] k`, `f32[8] v` and the outputs `f32[2], f32[8],
//! f32[8]` gives output 1 the memory of `k` and output 2 that of `v`. Donating `v` alone gives it to output 1.

use super::{AdviceKind, Advised, BufferPlace, Candidate, elide, forget_overwritten};
use crate::hlo::origins::Provenance;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use tensor_layout::hlo::{Instruction, Module};
use tensor_layout::operations::{Array, Shape};

/// A pair of an output and a parameter's number.
type Donation = (usize, usize);

/// The number of a parameter, its instruction and its array.
type Part<'m> = (usize, usize, &'m Array);

/// The number of an output, and its array.
type Output<'m> = (usize, &'m Array);

/// The arrays of an argument of the function.
struct Argument<'m> {
    name: String,
    parts: Vec<Part<'m>>,
}

/// A candidate for each argument, and one for the large ones together.
pub fn candidates<'p>(program: &'p Advised) -> Vec<Candidate<'p>> {
    let given: BTreeSet<usize> = program.entry_buffers().donated.iter().map(|pair| pair.operand).collect();
    let (mut arguments, mut places) = (Vec::<Argument>::new(), HashMap::new());
    for (number, k, array) in program.arguments().filter(|(number, ..)| !given.contains(number)) {
        let (name, _) = program.argument(k);
        let place = *places.entry(name.clone()).or_insert(arguments.len());
        if place == arguments.len() {
            arguments.push(Argument { name, parts: Vec::new() });
        }
        arguments[place].parts.push((number, k, array));
    }
    let taking = taking(program);
    let shapes: HashSet<&Array> = taking.iter().map(|(_, array)| *array).collect();
    let bytes = |own: &Argument| -> i64 {
        let parts = own.parts.iter().filter(|(.., array)| shapes.contains(array));
        parts.filter_map(|(_, k, _)| Some(program.buffer((*k, 0))?.footprint.padded)).sum()
    };
    let sizes: Vec<i64> = arguments.iter().map(bytes).collect();
    let most = sizes.iter().max().copied().unwrap_or(0);
    let mut groups: Vec<Vec<&Argument>> = arguments.iter().map(|own| vec![own]).collect();
    let large = arguments.iter().zip(&sizes).filter(|(_, size)| **size > 0 && **size >= most / LEAST_SHARE);
    groups.push(large.map(|(own, _)| own).collect());
    groups.iter().filter_map(|group| candidate(program, &taking, group)).collect()
}

/// An argument smaller than this part of the largest is not donated with it.
const LEAST_SHARE: i64 = 10;

fn candidate<'p>(program: &'p Advised, taking: &[Output], group: &[&Argument]) -> Option<Candidate<'p>> {
    let pairs = pairs(taking, group.iter().flat_map(|own| &own.parts));
    let entry = program.entry();
    let number = program.module.entry;
    let ends = |(output, parameter): &Donation| {
        [(entry.parameters[*parameter], 0), (entry.root, *output)]
            .map(|leaf| (number, program.buffer(leaf).map_or(leaf, |own| own.made)))
    };
    let things: BTreeSet<BufferPlace> = pairs.iter().flat_map(ends).collect();
    let names: Vec<&str> = group.iter().map(|own| &*own.name).collect();
    let quoted: String = names.iter().map(|name| format!("\"{name}\",")).collect::<Vec<_>>().join(" ");
    (!pairs.is_empty()).then(|| Candidate {
        kind: AdviceKind::Donate,
        change: format!("donate `{}`, which the caller must not use afterwards", names.join("`, `")),
        code: format!("jax.jit(f, donate_argnames=({quoted}))"),
        things,
        origin: Provenance { source: None, op_name: Some(names.join(", ")) },
        ends: Vec::new(),
        changed: Box::new(move || donated(program, &pairs)),
    })
}

/// The outputs that no argument is donated to.
fn taking<'m>(program: &Advised<'m>) -> Vec<Output<'m>> {
    let taken: BTreeSet<usize> = program.entry_buffers().donated.iter().map(|pair| pair.result).collect();
    program.outputs().into_iter().filter(|(output, _)| !taken.contains(output)).collect()
}

/// The donations that JAX makes of parameters: each output in order takes the first of them that has its shape.
fn pairs<'m>(taking: &[Output], parts: impl Iterator<Item = &'m Part<'m>>) -> Vec<Donation> {
    let mut left: HashMap<&Array, VecDeque<usize>> = HashMap::new();
    parts.for_each(|(number, _, array)| left.entry(*array).or_default().push_back(*number));
    taking.iter().filter_map(|(output, array)| Some((*output, left.get_mut(array)?.pop_front()?))).collect()
}

/// The module with more donations.
fn donated(program: &Advised, pairs: &[Donation]) -> Option<Module> {
    const NAME: &str = "input_output_alias";
    let module = program.module;
    let mut changed = module.clone();
    let entry = &module.computations[module.entry];
    let given: HashSet<usize> = pairs.iter().map(|(_, number)| entry.parameters[*number]).collect();
    let is_same = |own: &Instruction| match own.operands[..] {
        [k] => given.contains(&k) && entry.instructions[k].shape == own.shape,
        _ => false,
    };
    let of = &program.entry_buffers().of;
    let ends = |(output, number): &Donation| [of[entry.parameters[*number]][0], of[entry.root][*output]];
    let shared: HashSet<Option<usize>> = pairs.iter().flat_map(ends).collect();
    for (k, own) in changed.computations[module.entry].instructions.iter_mut().enumerate() {
        // The copy is there because the argument must not be overwritten.
        if own.opcode == "copy" && is_same(own) {
            elide(own);
        }
        if own.operands.iter().chain([&k]).any(|near| of[*near].iter().any(|buffer| shared.contains(buffer))) {
            forget_overwritten(own);
        }
    }
    let is_tuple = matches!(module.computations[module.entry].result().shape, Shape::Tuple(_));
    let pair = |(output, number): &Donation| {
        let output = if is_tuple { output.to_string() } else { String::new() };
        format!("{{{output}}}: ({number}, {{}}, may-alias)")
    };
    let more = pairs.iter().map(pair).collect::<Vec<_>>().join(", ");
    match changed.attributes.iter_mut().find(|attribute| attribute.name == NAME) {
        Some(own) => {
            let inside = own.text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
            let comma = if inside.is_empty() { "" } else { ", " };
            own.text = format!("{{ {inside}{comma}{more} }}");
        }
        None => {
            let mut own = changed.attributes.first()?.clone();
            (own.name, own.text) = (NAME.to_string(), format!("{{ {more} }}"));
            changed.attributes.push(own);
        }
    }
    Some(changed)
}
