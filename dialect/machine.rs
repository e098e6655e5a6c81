//! The attributes of this dialect on operations, `layout.NAME`: their names, and their checks.
//!
//! One is written by users: `layout.machine` on a module is the machine that the module runs on. Every TensorLayout in
//! the module, with static sizes, has to fit it. On a machine with the axes `(4_PE)` and 64 bytes at each place,
//! `tensor<12x8xf32, #layout.tensor_layout<((4_PE, 3:8), (8:1))>>` does not: a place holds 3 × 8 elements, 96 bytes. The
//! buffers of a program are checked one by one; whether all of them fit at the same time is not.
//!
//! `layout.padding` on an argument is a number, and `layout.trip_count` on a loop an `i64` of at least 0. A function may have
//! `layout.model`, the name of an operation, and `layout.cost`, an `i64` of at least 0. The passes of this project attach
//! the other names; their contents are not checked.

use crate::element::{alike, bits, least_bits, not_a_number};
use crate::imports::{encoding, memref_parts, shape, walk};
use crate::tensor_layout_rules::static_placement;
use crate::values::{machine, memory_space, pending, tensor_layout};
use ::tensor_layout::places::Machine;
use ::tensor_layout::places::{Placement, TensorLayout};
use ::tensor_layout::targets::Target;
use ::tensor_layout::text::instead;
use ::tensor_layout::tiled::Layout;
use melior::ir::attribute::{AttributeLike, IntegerAttribute, StringAttribute, TypeAttribute};
use melior::ir::operation::OperationLike;
use melior::ir::r#type::{FunctionType, MemRefType, RankedTensorType, ShapedTypeLike};
use melior::ir::{Attribute, BlockLike, OperationRef, RegionLike, Type, ValueLike};
use std::collections::HashSet;
use std::ops::ControlFlow;

/// On a module: the machine that it is for.
pub const MACHINE: &str = "layout.machine";
/// On an operation with tensors, from `layout-indexing-analysis`: the elements of operands that its results read.
pub const READS: &str = "layout.reads";
/// Beside [`READS`]: the elements of results that its operands feed.
pub const FEEDS: &str = "layout.feeds";
/// On a function, while bufferization runs: it frees its buffers itself.
pub const MANUAL_DEALLOCATION: &str = "layout.manual_deallocation";
/// On an operation, while verification runs: the numbers of the operations of the program before that it implements.
pub const ORIGINS: &str = "layout.origins";

/// On an argument of a function: the value in the padding of its tiles, which the function must preserve.
pub const PADDING: &str = "layout.padding";

/// On a loop whose operands do not say it: how often its body runs.
pub const TRIP_COUNT: &str = "layout.trip_count";

/// The operations that may have a [`TRIP_COUNT`].
const LOOPS: [&str; 4] = ["scf.for", "scf.forall", "scf.parallel", "scf.while"];

/// On a function: the name of the operation that it computes.
pub const MODEL: &str = "layout.model";
/// Beside [`MODEL`]: the cost of the operation, in the unit of the machine.
pub const COST: &str = "layout.cost";

/// Whether operations of a name cannot have a model: constants, and the dialects that models are made with.
pub fn has_no_model(name: &str) -> bool {
    let dialect = name.split_once('.').map_or(name, |(dialect, _)| dialect);
    matches!(dialect, "builtin" | "func" | "layout" | "llvm") || name == "arith.constant"
}

const NAMES: [&str; 9] = [MACHINE, READS, FEEDS, MANUAL_DEALLOCATION, PADDING, ORIGINS, TRIP_COUNT, MODEL, COST];

/// Checks an attribute of this dialect on an operation. The error is at that operation, or at one inside it whose type is
/// wrong.
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
    if name == PADDING && !(attribute.is_float() || attribute.is_integer()) {
        return wrong(format!("`{PADDING}` must be a number such as 0.0 : f32, found {attribute}"));
    }
    let is_count = |count: IntegerAttribute| count.value() >= 0 && count.r#type().to_string() == "i64";
    if matches!(name, TRIP_COUNT | COST) && !IntegerAttribute::try_from(attribute).is_ok_and(is_count) {
        return wrong(format!("`{name}` must be an i64 of at least 0, such as 32 : i64, found {attribute}"));
    }
    if name == MODEL && !attribute.is_string() {
        return wrong(format!(
            "`{MODEL}` must be the name of an operation, such as \"mini.product\", found {attribute}"
        ));
    }
    let named = StringAttribute::try_from(attribute).ok().filter(|_| name == MODEL).map(|name| name.value());
    if let Some(named) = named.filter(|named| has_no_model(named)) {
        return wrong(format!("`{MODEL}` must be the name of an operation that can have a model, found \"{named}\""));
    }
    let found = op.name();
    let found = found.as_string_ref().as_str().unwrap_or("another operation");
    if name == TRIP_COUNT && !LOOPS.contains(&found) {
        return wrong(format!("`{TRIP_COUNT}` must be on one of {}, found it on '{found}'", LOOPS.join(", ")));
    }
    if matches!(name, MODEL | COST) && found != "func.func" {
        return wrong(format!("`{name}` must be on a func.func, found it on '{found}'"));
    }
    if name != MACHINE {
        return Ok(());
    }
    // (machine_c2) `layout.machine` is on a module and holds a machine.
    let Some(machine) = machine(attribute) else {
        return wrong(format!("`{MACHINE}` must be a #layout.machine, found {attribute}"));
    };
    if found != "builtin.module" {
        return wrong(format!("`{MACHINE}` must be on a module, found it on '{found}'"));
    }
    let mut checked: HashSet<Type> = HashSet::new();
    let outcome = walk(op, |op| {
        for t in types(op) {
            // (machine_c3) Every TensorLayout in the module fits the machine.
            if checked.insert(t)
                && let Err(reason) = fits(&machine, t)
            {
                return ControlFlow::Break((op, format!("{t} does not fit the machine: {reason}")));
            }
        }
        ControlFlow::Continue(())
    });
    outcome.break_value().map_or(Ok(()), Err)
}

/// The default layout of a tensor on a machine.
///
/// # Errors
/// An element type without a size that the machine knows, sizes that are not static, and those of
/// [`Target::default_layout`].
pub fn default_layout(machine: &Machine, element: Type, sizes: &[Option<i64>]) -> Result<Layout, String> {
    let found = bits(element).ok_or_else(|| not_a_number("by default", element))?;
    let of = alike(found).ok_or_else(|| format!("a machine has no layout for elements of {found} bits"))?;
    let sizes: Option<Vec<i64>> = sizes.iter().copied().collect();
    let sizes = sizes.ok_or("the sizes must be static, found one that is dynamic")?;
    let target = Target::new(machine.clone()).map_err(|error| error.message)?;
    target.default_layout(of, &sizes).map_err(|error| error.message)
}

/// The bytes of a tensor in each memory of a machine that holds a part of it.
///
/// # Errors
/// An element type that is no number, sizes that are not static, and those of [`Machine::check`]: among them a memory that
/// has less room.
pub fn local_bytes(
    machine: &Machine,
    layout: &TensorLayout,
    sizes: &[Option<i64>],
    element: Type,
) -> Result<i64, String> {
    let placement = static_placement(layout, sizes)?;
    let bits = bits(element).ok_or_else(|| not_a_number(&layout.to_string(), element))?;
    machine.check(&placement, bits, None).map(|fit| fit.bytes).map_err(|error| error.message)
}

/// The types of an operation's results and of its blocks' arguments, and of a function's arguments and results.
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

/// Whether the layout of a type fits the machine; only TensorLayouts with static sizes are checked.
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
    let Some(sizes) = shape(t).and_then(|sizes| sizes.into_iter().collect::<Option<Vec<i64>>>()) else { return Ok(()) };
    let placement = Placement::new(&layout, Some(&sizes)).map_err(|e| e.error.message)?;
    let space = space.and_then(memory_space).and_then(|n| u8::try_from(n).ok());
    machine.check(&placement, least_bits(element), space).map(|_| ()).map_err(|e| e.message)
}
