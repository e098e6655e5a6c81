//! Arguments whose memory an output takes.
//!
//! JAX donates whole arguments of a function: `donate(k, v)` of `f32[8] k`, `f32[8] v` and the outputs `f32[2], f32[8],
//! f32[8]` gives output 1 the memory of `k` and output 2 that of `v`. Donating `v` alone gives it to output 1.

use super::{AdviceKind, Advised, BufferPlace, Candidate};
use crate::hlo::origins::Provenance;
use std::collections::BTreeSet;
use tensor_layout::hlo::Module;
use tensor_layout::operations::{Operation, Shape};

/// A pair of an output and a parameter's number.
type Donation = (usize, usize);

/// The arrays of an argument of the function.
struct Argument {
    name: String,
    /// The parameters, with their numbers.
    parts: Vec<(usize, usize)>,
}

/// A candidate for each argument, and one for the large ones together.
pub fn candidates<'p>(program: &'p Advised) -> Vec<Candidate<'p>> {
    let given: BTreeSet<usize> = program.entry_buffers().donated.iter().map(|pair| pair.operand).collect();
    let mut arguments: Vec<Argument> = Vec::new();
    for (k, _) in program.arguments() {
        let Some(number) = program.entry().parameters.iter().position(|own| *own == k) else { continue };
        let (name, _) = program.argument(k);
        if given.contains(&number) {
            continue;
        }
        match arguments.iter_mut().find(|own| own.name == name) {
            Some(own) => own.parts.push((k, number)),
            None => arguments.push(Argument { name, parts: vec![(k, number)] }),
        }
    }
    let bytes = |own: &Argument| -> i64 {
        let parts = own.parts.iter().filter(|part| !pairs(program, &[**part]).is_empty());
        parts.filter_map(|(k, _)| Some(program.buffer((*k, 0))?.footprint.padded)).sum()
    };
    let sizes: Vec<i64> = arguments.iter().map(bytes).collect();
    let most = sizes.iter().max().copied().unwrap_or(0);
    let mut groups: Vec<Vec<&Argument>> = arguments.iter().map(|own| vec![own]).collect();
    let large = arguments.iter().zip(&sizes).filter(|(_, size)| **size > 0 && **size >= most / LEAST_SHARE);
    groups.push(large.map(|(own, _)| own).collect());
    groups.iter().filter_map(|group| candidate(program, group)).collect()
}

/// An argument smaller than this part of the largest is not donated with it.
const LEAST_SHARE: i64 = 10;

fn candidate<'p>(program: &'p Advised, group: &[&Argument]) -> Option<Candidate<'p>> {
    let parts: Vec<(usize, usize)> = group.iter().flat_map(|own| own.parts.iter().copied()).collect();
    let pairs = pairs(program, &parts);
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
        changed: Box::new(move || donated(program.module, &pairs)),
    })
}

/// The donations that JAX makes of parameters: each output in order takes the first of them that has its shape.
fn pairs(program: &Advised, parts: &[(usize, usize)]) -> Vec<Donation> {
    let taken: BTreeSet<usize> = program.entry_buffers().donated.iter().map(|pair| pair.result).collect();
    let mut left = parts.to_vec();
    let mut found = Vec::new();
    for (output, array) in program.outputs().into_iter().filter(|(output, _)| !taken.contains(output)) {
        let fits = |(k, _): &(usize, usize)| matches!(&program.entry().instructions[*k].shape, Shape::Array(own) if own == array);
        if let Some(place) = left.iter().position(fits) {
            found.push((output, left.remove(place).1));
        }
    }
    found
}

/// The module with more donations.
fn donated(module: &Module, pairs: &[Donation]) -> Option<Module> {
    const NAME: &str = "input_output_alias";
    let mut changed = module.clone();
    let entry = &mut changed.computations[module.entry];
    for (_, number) in pairs {
        let k = entry.parameters[*number];
        let shape = entry.instructions[k].shape.clone();
        for copy in entry.instructions.iter_mut().filter(|own| own.opcode == "copy" && own.operands == [k]) {
            // It is there because the argument must not be overwritten.
            if copy.shape == shape {
                (copy.opcode, copy.operation) = ("bitcast".to_string(), Operation::Bitcast);
            }
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
