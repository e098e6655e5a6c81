//! Shardings of HLO text: a module's, as spreads over devices, and a plan's, as text.

use layout_plan::plan::sharding::Spread;
use layout_plan::plan::{ArrayName, Unplanned};
use std::collections::BTreeMap;
use tensor_layout::element::ElementType;
use tensor_layout::hlo::{Module, shardings};
use tensor_layout::notations::{Described, Description, Notation, read, write};
use tensor_layout::operations::leaves;
use tensor_layout::places::{Broadcast, Machine, Part, Placement, TensorLayout};
use tensor_layout::text::Error;

/// The axis that shardings number devices along.
const DEVICE: &str = "Device";

/// The sharding of a layout over devices, with its braces; `None` where it has none.
pub fn text(layout: &TensorLayout) -> Option<String> {
    // A sharding does not depend on parts inside of a device, nor on their extents.
    let along = |part: &&Part| part.axis.is_some() && part.extent > 1;
    let named = |part: &Part| Part { axis: Some(DEVICE.to_string()), ..part.clone() };
    let dims: Vec<Vec<Part>> =
        layout.dims.iter().map(|parts| parts.iter().filter(along).map(named).collect()).collect();
    let sizes: Vec<i64> = dims.iter().map(|parts| parts.iter().map(|part| part.extent).product()).collect();
    let mut own = TensorLayout::new(dims).ok()?;
    own.broadcast = layout
        .broadcast
        .iter()
        .map(|copies| match copies {
            Broadcast::Part { extent, stride, .. } => {
                Broadcast::Part { extent: *extent, axis: DEVICE.to_string(), stride: *stride }
            }
            Broadcast::Axis(_) => Broadcast::Axis(DEVICE.to_string()),
        })
        .collect();
    let placement = Placement::new(&own, Some(&sizes)).ok()?;
    let described = Described::new(Description::Parts(Box::new(placement)));
    let text = write(&described, Notation::Sharding, ElementType::F32).ok()?;
    text.split_once("sharding=").map(|(_, sharding)| sharding.to_string())
}

/// The spreads of the arrays with shardings in a module.
///
/// # Errors
/// A sharding that does not fit the devices of the machine; the first one.
pub fn given(module: &Module, machine: &Machine) -> Result<BTreeMap<ArrayName, Spread>, Unplanned> {
    let mut found = BTreeMap::new();
    for (c, computation) in module.computations.iter().enumerate() {
        for (k, instruction) in computation.instructions.iter().enumerate() {
            let Some(said) = instruction.attribute("sharding") else { continue };
            let arrays = leaves(&instruction.shape);
            let wrong = |error: Error| Unplanned::Wrong(Some((c, k)), Error::new(error.message));
            for (leaf, (text, array)) in shardings(said, &instruction.shape).iter().zip(arrays).enumerate() {
                let Some(sizes) = array.sizes().filter(|sizes| !sizes.is_empty()) else { continue };
                let spread = spread(text, &sizes, machine).map_err(wrong)?;
                // An array that a tuple packs has the sharding of its part.
                let at = match (&*instruction.opcode, instruction.operands.get(leaf)) {
                    ("tuple", Some(operand)) if leaves(&computation.instructions[*operand].shape).len() == 1 => {
                        (c, *operand, 0)
                    }
                    _ => (c, k, leaf),
                };
                found.entry(at).or_insert(spread);
            }
        }
    }
    Ok(found)
}

/// The spread of a sharding for an array of these sizes over the devices of a machine.
fn spread(text: &str, sizes: &[i64], machine: &Machine) -> Result<Spread, Error> {
    let list = sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let order = (0..sizes.len()).rev().map(|dim| dim.to_string()).collect::<Vec<_>>().join(",");
    let described = read(&format!("f32[{list}]{{{order}}} sharding={text}"))?;
    let mut layout = described.placement()?.layout().clone();
    let axis = machine.axes.first().ok_or_else(|| Error::new("the machine must have devices"))?;
    let parts = layout.dims.iter_mut().flatten().filter_map(|part| part.axis.as_mut());
    let copies = layout.broadcast.iter_mut().map(|copies| match copies {
        Broadcast::Part { axis, .. } | Broadcast::Axis(axis) => axis,
    });
    parts.chain(copies).filter(|name| *name == DEVICE).for_each(|name| name.clone_from(&axis.name));
    let spread = Spread::of(&layout, machine)?;
    let used = spread.used(0);
    if used != axis.extent {
        let message = format!("the sharding {text} is of {used} devices, and the machine has {}", axis.extent);
        return Err(Error::new(message));
    }
    match (0..sizes.len()).find(|dim| sizes[*dim] % spread.pieces(*dim) != 0) {
        Some(dim) => Err(Error::new(format!(
            "the sharding {text} must divide dimension {dim} of {} elements evenly, found {} parts",
            sizes[dim],
            spread.pieces(dim)
        ))),
        None => Ok(spread),
    }
}
