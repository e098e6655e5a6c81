//! Single operations, as the planner sees them: structured ones as products or loops, slices, constants.

use super::structured::{self, Reading};
use crate::buffers::operations::{ELEMENTWISE, is};
use crate::choose::indexing_analysis::{SiteOperand, reads, shape, site};
use layout_ir::{self as ir, Op};
use melior::ir::{Type, ValueLike};
use tensor_layout::limits;
use tensor_layout::operations::{Array, Loops, Operation, Shape};

/// A structured operation.
pub enum Computed<'c> {
    /// A scalar everywhere.
    Fill,
    /// Loops, and the numbers of the operands that they read, in order.
    Loops(Loops, Vec<usize>),
    /// Operations of HLO.
    Read(Reading<'c>),
}

/// The computation of a structured operation; none for any other, and where a loop has an unknown size. Over places, an
/// operation that is no product is loops, which are spread there.
pub fn computed<'c>(op: Op<'c>, places: bool) -> Option<Computed<'c>> {
    ir::indexing_maps(op)?;
    let Some(Operation::Loops(mut loops)) = site(op).map(|site| site.operation) else { return None };
    if ir::name(op) == "linalg.fill" && !reads(op, 1) {
        return Some(Computed::Fill);
    }
    if let Some(reading) = structured::read(op, &loops, places) {
        return Some(Computed::Read(reading));
    }
    let read: Vec<usize> = (0..loops.operands.len()).filter(|k| loops.operands[*k].is_some()).collect();
    loops.operands.retain(Option::is_some);
    Some(Computed::Loops(*loops, read))
}

/// Whether an operation goes through its operands in loops of its own, as what is elementwise does when it is written down.
pub fn has_loops(op: Op) -> bool {
    ir::indexing_maps(op).is_some() || is(ir::name(op), ELEMENTWISE)
}

/// A slice that keeps the rank.
pub fn slice(op: Op) -> Option<(Operation, Vec<SiteOperand>)> {
    let (source, result) = (ir::tensor(ir::operands(op)[0].r#type())?, ir::tensor(ir::result(op, 0).r#type())?);
    if ir::name(op) != "tensor.extract_slice" || source.shape.len() != result.shape.len() {
        return None;
    }
    let known = |name| ir::sizes(op, name).into_iter().collect::<Option<Vec<i64>>>();
    let (sizes, strides) = (known("static_sizes")?, known("static_strides")?);
    let operation = match known("static_offsets") {
        Some(starts) => {
            let last = |k: usize| (sizes[k] - 1).checked_mul(strides[k])?.checked_add(starts[k])?.checked_add(1);
            let limits = (0..sizes.len()).map(last).collect::<Option<_>>()?;
            Operation::Slice { starts, limits, strides }
        }
        None => Operation::DynamicSlice { sizes },
    };
    Some((operation, vec![SiteOperand::Own(0)]))
}

/// Loops whose offsets are no operands.
pub fn without_offsets(operation: Operation) -> Operation {
    match operation {
        Operation::Loops(mut loops) => {
            loops.operands.truncate(1);
            loops.offsets.clear();
            Operation::Loops(loops)
        }
        other => other,
    }
}

/// A scalar of a type, or of the elements of a tensor.
pub fn scalar_of(t: Type) -> Array {
    match shape(ir::tensor(t).map_or(t, |tensor| tensor.element)) {
        Shape::Array(array) => array,
        _ => unreachable!("a type of MLIR is an array"),
    }
}

/// Whether the elements of a constant are in the module and few enough to be put in another order.
pub fn is_movable(op: Op) -> bool {
    let sizes = ir::tensor(ir::result(op, 0).r#type()).and_then(|t| t.sizes());
    let elements = sizes.and_then(|sizes| sizes.into_iter().try_fold(1i64, i64::checked_mul));
    elements.is_some_and(|n| n <= limits::CONSTANT_ELEMENTS)
        && ir::attribute(op, "value").and_then(ir::constant).is_some()
}
