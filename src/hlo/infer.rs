//! Inference of result shapes that the text omits, as in `y = add(x, x)`.
//!
//! The rule of the operation gives the sizes and element types, as for a written shape. The layout is the one that
//! XLA's parser gives: an operand's layout if each element keeps its index, the permuted layout for a transpose, else
//! row-major.

use crate::element::ElementType;
use crate::hlo::shapes::together;
use crate::operations::operation::{Algorithm, Operation};
use crate::operations::refusal::Refusal;
use crate::operations::shape::{Array, Dim, Shape, leaves};
use crate::operations::sizes::Sizes;
use crate::tiled::layout::Layout;

/// The result shape of an operation on these operands, with these element types; `None` if the operands and fields do
/// not determine it.
///
/// # Errors
/// The operation does not take these operands.
pub(super) fn shape(
    operation: &Operation,
    opcode: &str,
    operands: &[&Shape],
    elements: &[ElementType],
) -> Result<Option<Shape>, Refusal> {
    let Some(bounds) = operation.result_sizes(operands, elements.len())? else { return Ok(None) };
    let arrays: Vec<&Array> = operands.iter().flat_map(|shape| leaves(shape)).collect();
    let at_run_time = match arrays.iter().any(|array| array.dims.iter().any(|dim| !matches!(dim, Dim::Exact(_)))) {
        true => operation.result_sizes(&unknown(operands).iter().collect::<Vec<_>>(), elements.len())?,
        false => None,
    };
    let at_run_time = at_run_time.unwrap_or_else(|| bounds.clone());
    let array = |k: usize| {
        let dims = dims(&bounds[k], &at_run_time[k]);
        let layout = layout(operation, opcode, &arrays, k, &dims);
        Shape::Array(Array { element: elements[k], dims, layout })
    };
    Ok(Some(together((0..elements.len()).map(array).collect())))
}

/// The operands with unknown sizes in place of bounds.
fn unknown(operands: &[&Shape]) -> Vec<Shape> {
    let size = |dim: &Dim| if let Dim::Exact(_) = dim { *dim } else { Dim::Unbounded };
    let array = |array: &Array| Array { dims: array.dims.iter().map(size).collect(), ..array.clone() };
    // A rule splits the operands into arrays.
    operands.iter().flat_map(|shape| leaves(shape)).map(|one| Shape::Array(array(one))).collect()
}

/// The dimensions of a result: a size that is unknown without the bounds is bounded itself.
fn dims(bounds: &Sizes, at_run_time: &Sizes) -> Vec<Dim> {
    let dim = |(bound, known): (&Option<i64>, &Option<i64>)| match (bound, known) {
        (Some(n), Some(_)) => Dim::Exact(*n),
        (Some(n), None) => Dim::Bounded(*n),
        (None, _) => Dim::Unbounded,
    };
    bounds.0.iter().zip(&at_run_time.0).map(dim).collect()
}

/// The layout of result `k`.
fn layout(operation: &Operation, opcode: &str, operands: &[&Array], k: usize, dims: &[Dim]) -> Layout {
    let of = |k: usize| operands.get(k).filter(|from| from.dims.len() == dims.len());
    let found = match operation {
        Operation::Transpose { permutation } => of(0).and_then(|from| permuted(&from.layout, permutation)),
        _ => source(operation, opcode, operands, k)
            .and_then(of)
            .filter(|from| Sizes::of(from).0.iter().zip(dims).all(|(size, dim)| *size == dim.bound()))
            .map(|from| from.layout.clone()),
    };
    found.unwrap_or_else(|| Layout::row_major(dims.len()))
}

/// The operand whose elements keep their indices in result `k`.
fn source(operation: &Operation, opcode: &str, operands: &[&Array], k: usize) -> Option<usize> {
    match operation {
        Operation::Elementwise if opcode == "clamp" => Some(1),
        Operation::Elementwise | Operation::Select if opcode != "map" => {
            operands.iter().position(|operand| !operand.dims.is_empty())
        }
        Operation::Reverse { .. } | Operation::DynamicUpdateSlice | Operation::Scatter(_) => Some(k),
        Operation::Collective(_) => Some(k),
        Operation::Algorithm(algorithm) => match **algorithm {
            Algorithm::TriangularSolve { .. } => Some(1),
            Algorithm::Sort { .. } | Algorithm::SelectAndScatter { .. } | Algorithm::Fft { .. } => Some(k),
            Algorithm::BatchNormTraining { .. } | Algorithm::BatchNormInference { .. } => Some(k),
            Algorithm::BatchNormGrad { .. } | Algorithm::Cholesky { .. } => Some(k),
            _ => None,
        },
        _ => None,
    }
}

/// The layout that keeps elements in place when dimension `permutation[i]` becomes dimension `i`; `None` if splits name
/// dimensions.
fn permuted(layout: &Layout, permutation: &[usize]) -> Option<Layout> {
    let place = |dim: &usize| permutation.iter().position(|from| from == dim);
    let minor_to_major = layout.minor_to_major.iter().map(place).collect::<Option<_>>()?;
    layout.splits.is_empty().then(|| Layout { minor_to_major, ..layout.clone() })
}
