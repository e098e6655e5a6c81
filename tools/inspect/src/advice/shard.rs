//! Arguments that every device has whole, cut over the devices.
//!
//! A device keeps its part and gathers the whole for those that read it: from the first to the last of them the whole is
//! there, too.

use super::{AdviceKind, Advised, Candidate};
use crate::hlo::origins::Provenance;
use std::collections::BTreeMap;
use tensor_layout::hlo::Module;
use tensor_layout::operations::{Array, Dim, Operation, Shape};

/// A parameter, and the part of it that a device keeps.
type Cut = (usize, Array);

/// A candidate for each argument of the function with arrays that are replicated over the partitions of the module.
pub fn candidates<'p>(program: &'p Advised) -> Vec<Candidate<'p>> {
    let devices = program.module.attribute("num_partitions").and_then(|text| text.parse().ok()).unwrap_or(1);
    let replicated = |k: usize| {
        program.entry().instructions[k].attribute("sharding").is_some_and(|text| text.contains("replicated"))
    };
    let mut groups: BTreeMap<String, Vec<Cut>> = BTreeMap::new();
    for (k, array) in program.arguments().filter(|(k, _)| devices > 1 && replicated(*k)) {
        if let Some(part) = part(array, devices) {
            groups.entry(program.argument(k).0).or_default().push((k, part));
        }
    }
    groups.into_iter().map(|(name, cuts)| candidate(program, name, cuts, devices)).collect()
}

/// The part of an array, cut along the largest dimension that the devices divide.
fn part(array: &Array, devices: i64) -> Option<Array> {
    let sizes = array.sizes()?;
    let divided = (0..sizes.len()).filter(|dim| sizes[*dim] % devices == 0);
    let dim = divided.max_by_key(|dim| (sizes[*dim], std::cmp::Reverse(*dim)))?;
    let mut part = array.clone();
    part.dims[dim] = Dim::Exact(sizes[dim] / devices);
    Some(part)
}

fn candidate<'p>(program: &'p Advised, name: String, cuts: Vec<Cut>, devices: i64) -> Candidate<'p> {
    Candidate {
        kind: AdviceKind::Shard,
        change: format!("cut the arrays of `{name}` over {devices} devices"),
        code: format!(
            "in_shardings for {name}: NamedSharding(mesh, P(\"x\")), with the axis at the largest dimension of each array"
        ),
        things: cuts.iter().map(|(k, _)| (program.module.entry, (*k, 0))).collect(),
        origin: Provenance { source: None, op_name: Some(name) },
        ends: Vec::new(),
        changed: Box::new(move || {
            let mut changed = program.module.clone();
            cuts.iter().try_for_each(|(k, part)| cut(&mut changed, program.module, *k, part))?;
            Some(changed)
        }),
    }
}

/// Gives the parameter `k` of the module its part, and gathers the whole before it is read.
fn cut(changed: &mut Module, module: &Module, k: usize, part: &Array) -> Option<()> {
    let number = module.computations[module.entry].parameters.iter().position(|own| *own == k)?;
    let entry = &mut changed.computations[module.entry];
    let k = entry.parameters[number];
    let first = entry.instructions.iter().position(|own| own.operands.contains(&k))?;
    let mut gathered = entry.instructions[k].clone();
    gathered.name += ".gathered";
    (gathered.opcode, gathered.operation) = ("all-gather".to_string(), Operation::Elementwise);
    gathered.operands = vec![k];
    let moved = |own: usize| if own >= first { own + 1 } else { own };
    for instruction in &mut entry.instructions {
        let operand = |own: usize| if own == k { first } else { moved(own) };
        instruction.operands.iter_mut().for_each(|own| *own = operand(*own));
        instruction.control.iter_mut().for_each(|own| *own = moved(*own));
    }
    entry.parameters.iter_mut().for_each(|own| *own = moved(*own));
    entry.root = moved(entry.root);
    entry.instructions[k].shape = Shape::Array(part.clone());
    entry.instructions.insert(first, gathered);
    Some(())
}
