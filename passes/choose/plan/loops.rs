//! What the planner needs to know of single operations: structured ones as products or loops, slices, constants.

use crate::buffers::operations::{ELEMENTWISE, is};
use crate::choose::indexing_analysis::{SiteOperand, reads, shape, site};
use layout_ir::{self as ir, Op};
use melior::ir::{Type, ValueLike};
use tensor_layout::expr::Expr;
use tensor_layout::operations::{Array, Loops, Operation, Shape};
use tensor_layout::tiled::Layout;

/// The most elements of a constant that is put in the order of another layout. Padded to 128 lanes, lowering still takes
/// it.
const MAX_CONSTANT: i64 = 1 << 19;

/// A structured operation.
pub enum Computed {
    /// A scalar everywhere.
    Fill,
    /// Loops, and the numbers of the operands that they read, in order.
    Loops(Loops, Vec<usize>),
    /// A product.
    Product(Product),
}

/// A structured operation that is a product of two tensors, summed up.
pub struct Product {
    /// The product, whose result has the dimensions of batches, then the left operand's, then the right one's.
    pub dot: Operation,
    /// The numbers of the operands.
    pub operands: [usize; 2],
    /// What brings the dimensions of the product into the order of the result's, if they are in another.
    pub permutation: Option<Vec<usize>>,
}

impl Product {
    /// The array that the product makes, before its dimensions are those of the result.
    pub fn shape(&self, result: &Array) -> Array {
        let Some(permutation) = &self.permutation else { return result.clone() };
        let mut dims = result.dims.clone();
        permutation.iter().enumerate().for_each(|(to, from)| dims[*from] = result.dims[to]);
        Array { dims, layout: Layout::row_major(result.dims.len()), ..result.clone() }
    }
}

/// What a structured operation computes; none for any other, and where a loop has a size that is not known.
pub fn computed(op: Op) -> Option<Computed> {
    ir::indexing_maps(op)?;
    let Some(Operation::Loops(mut loops)) = site(op).map(|site| site.operation) else { return None };
    let inputs = loops.operands.len() - loops.results.len();
    if ir::name(op) == "linalg.fill" && !reads(op, 1) {
        return Some(Computed::Fill);
    }
    if let Some(product) = product(&loops, inputs) {
        return Some(Computed::Product(product));
    }
    let read: Vec<usize> = (0..loops.operands.len()).filter(|k| loops.operands[*k].is_some()).collect();
    loops.operands.retain(Option::is_some);
    Some(Computed::Loops(*loops, read))
}

/// Whether an operation goes through its operands in loops of its own, as what is elementwise does when it is written down.
pub fn has_loops(op: Op) -> bool {
    ir::indexing_maps(op).is_some() || is(ir::name(op), ELEMENTWISE)
}

/// Loops that are a product of two of their operands, each of whose dimensions has a loop of its own.
fn product(loops: &Loops, inputs: usize) -> Option<Product> {
    let read: Vec<usize> = (0..inputs).filter(|k| loops.operands[*k].as_ref().is_some_and(|e| !e.is_empty())).collect();
    let ([lhs, rhs], [result]) = (&read[..], &loops.results[..]) else { return None };
    loops.operands.get(inputs)?.as_ref()?;
    let dims = |index: &[Expr]| {
        let one = |e: &Expr| if let Expr::Var(v) = e { Some(*v) } else { None };
        let all: Vec<usize> = index.iter().map(one).collect::<Option<_>>()?;
        let distinct = all.iter().enumerate().all(|(k, v)| !all[..k].contains(v));
        distinct.then_some(all)
    };
    let (a, b) = (dims(loops.operands[*lhs].as_ref()?)?, dims(loops.operands[*rhs].as_ref()?)?);
    let r = dims(result)?;
    let known =
        |all: &[usize], one: &[usize], other: &[usize]| all.iter().all(|v| one.contains(v) || other.contains(v));
    if !known(&a, &b, &r) || !known(&b, &a, &r) || !known(&r, &a, &b) {
        return None;
    }
    let batch: Vec<usize> = r.iter().copied().filter(|v| a.contains(v) && b.contains(v)).collect();
    let summed: Vec<usize> = a.iter().copied().filter(|v| b.contains(v) && !r.contains(v)).collect();
    if summed.is_empty() {
        return None;
    }
    let at = |all: &[usize], of: &[usize]| -> Vec<usize> {
        of.iter().filter_map(|v| all.iter().position(|own| own == v)).collect()
    };
    let free = |all: &[usize]| all.iter().copied().filter(|v| r.contains(v) && !batch.contains(v)).collect::<Vec<_>>();
    let made = [batch.clone(), free(&a), free(&b)].concat();
    let permutation = at(&made, &r);
    let dot = Operation::Dot {
        lhs_batch: at(&a, &batch),
        rhs_batch: at(&b, &batch),
        lhs_contracting: at(&a, &summed),
        rhs_contracting: at(&b, &summed),
    };
    let permutation = (!permutation.is_sorted()).then_some(permutation);
    Some(Product { dot, operands: [*lhs, *rhs], permutation })
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
    elements.is_some_and(|n| n <= MAX_CONSTANT) && ir::attribute(op, "value").and_then(ir::constant).is_some()
}
