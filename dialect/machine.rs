//! The attributes that this dialect has on operations, by their names: `layout.machine`, the machine that a module is for,
//! and whether its layouts fit it; and what passes attach. And `#layout.axis`.

use crate::ffi::{encoding, memref_parts, pending, shape, walk};
use crate::{machine, memory_space, tensor_layout};
use ::tensor_layout::places::Machine;
use ::tensor_layout::places::Placement;
use ::tensor_layout::places::check_axis;
use ::tensor_layout::text::instead;
use melior::ir::attribute::TypeAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::r#type::{FunctionType, MemRefType, RankedTensorType, ShapedTypeLike};
use melior::ir::{Attribute, BlockLike, OperationRef, RegionLike, Type, ValueLike};
use std::collections::HashSet;

/// On a module: the machine that it is for.
pub const MACHINE: &str = "layout.machine";
/// On an operation with tensors, by `layout-indexing-analysis`: what its results read of its operands.
pub const READS: &str = "layout.reads";
/// Beside [`READS`]: what its operands feed into its results.
pub const FEEDS: &str = "layout.feeds";
/// On a function, while bufferization runs: it frees its buffers itself.
pub const MANUAL_DEALLOCATION: &str = "layout.manual_deallocation";

const NAMES: [&str; 4] = [MACHINE, READS, FEEDS, MANUAL_DEALLOCATION];

/// Checks an attribute of this dialect on an operation; says which operation is wrong, and why.
pub fn verify_attribute<'c>(
    op: OperationRef<'c, 'c>,
    name: &str,
    attribute: Attribute,
) -> Result<(), (OperationRef<'c, 'c>, String)> {
    let wrong = |message| Err((op, message));
    if !NAMES.contains(&name) {
        let own = |name: &'static str| name.trim_start_matches("layout.");
        let hint = instead(name.trim_start_matches("layout."), &NAMES.map(own));
        return wrong(format!("unknown attribute `{name}`{hint}"));
    }
    if name != MACHINE {
        // What the passes of this project attach is theirs to check.
        return Ok(());
    }
    // (C16) `layout.machine` is on a module and holds a machine.
    let Some(machine) = machine(attribute) else {
        return wrong(format!("`{MACHINE}` must be a #layout.machine, got {attribute}"));
    };
    if op.name().as_string_ref().as_str() != Ok("builtin.module") {
        return wrong(format!("`{MACHINE}` stands on a module"));
    }
    let mut checked: HashSet<Type> = HashSet::new();
    let mut wrong = Ok(());
    walk(op, |op| {
        for t in types(op) {
            if wrong.is_ok() && checked.insert(t) {
                // (C17) Every TensorLayout in the module fits the machine.
                wrong = fits(&machine, t).map_err(|reason| (op, format!("{t} does not fit the machine: {reason}")));
            }
        }
    });
    wrong
}

/// The types that an operation gives to its results and to the arguments of its blocks, and those of a function.
fn types<'c>(op: OperationRef<'c, 'c>) -> Vec<Type<'c>> {
    let mut types: Vec<Type> = op.results().map(|v| v.r#type()).collect();
    for region in op.regions() {
        let mut block = region.first_block();
        while let Some(current) = block {
            let arguments = (0..current.argument_count()).filter_map(|k| current.argument(k).ok());
            types.extend(arguments.map(|v| v.r#type()));
            block = current.next_in_region();
        }
    }
    let function = op.attribute("function_type").ok().and_then(|a| TypeAttribute::try_from(a).ok());
    if let Some(function) = function.and_then(|a| FunctionType::try_from(a.value()).ok()) {
        types.extend((0..function.input_count()).filter_map(|k| function.input(k).ok()));
        types.extend((0..function.result_count()).filter_map(|k| function.result(k).ok()));
    }
    types
}

/// Whether the layout of a type, if it is a TensorLayout on static sizes, fits.
fn fits(machine: &Machine, t: Type) -> Result<(), String> {
    let (layout, space, element) = if let Ok(tensor) = RankedTensorType::try_from(t) {
        (encoding(tensor), None, tensor.element())
    } else if let Ok(memref) = MemRefType::try_from(t) {
        let (layout, space) = memref_parts(memref);
        (Some(layout), space, memref.element())
    } else {
        return Ok(());
    };
    let Some(layout) = layout.map(|a| pending(a).unwrap_or(a)).and_then(tensor_layout) else { return Ok(()) };
    let Some(sizes) = shape(t).into_iter().collect::<Option<Vec<i64>>>() else { return Ok(()) };
    let placement = Placement::new(&layout, Some(&sizes)).map_err(|e| e.error.message)?;
    let bits = crate::tiled::bits(element).unwrap_or(8);
    let space = space.and_then(memory_space).and_then(|n| u8::try_from(n).ok());
    machine.check(&placement, bits.max(1), space).map(|_| ()).map_err(|e| e.message)
}

/// Checks the parts of a `#layout.axis`.
pub fn verify_axis(name: &str, level: i64) -> Result<(), String> {
    // (C19) The name is one that a TensorLayout can give to an axis.
    check_axis(name)?;
    // (C20) The level is 0 or more.
    if level < 0 { Err(format!("the level of an axis is 0 or more, got {level}")) } else { Ok(()) }
}
