//! Shapes of results that the text leaves out, as in `y = add(x, x)`.
//!
//! What operands, attributes and computations say is enough for most operations; for the others the shape must be
//! there. Arrays that have the sizes of an operand get its layout, all others are row-major.

use super::raw::RawInstruction;
use super::shapes::{scalar, together};
use super::words::numbers;
use crate::element::ElementType;
use crate::operations::shape::{Array, Dim, Shape};
use crate::text::Cursor;
use crate::tiled::layout::Layout;

/// The operations whose result has the shape of the first operand.
const LIKE_FIRST: &[&str] = &[
    "acos",
    "acosh",
    "add",
    "add-dependency",
    "all-reduce",
    "and",
    "asin",
    "asinh",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "collective-permute",
    "copy",
    "cosh",
    "cosine",
    "count-leading-zeros",
    "divide",
    "domain",
    "dynamic-update-slice",
    "erf",
    "exponential",
    "exponential-minus-one",
    "floor",
    "log",
    "log-plus-one",
    "logistic",
    "maximum",
    "minimum",
    "multiply",
    "negate",
    "not",
    "opt-barrier",
    "or",
    "popcnt",
    "power",
    "reduce-precision",
    "remainder",
    "reverse",
    "round-nearest-afz",
    "round-nearest-even",
    "rsqrt",
    "scatter",
    "shift-left",
    "shift-right-arithmetic",
    "shift-right-logical",
    "sign",
    "sine",
    "sinh",
    "sqrt",
    "subtract",
    "tan",
    "tanh",
    "while",
    "xor",
];

/// The shape of an instruction's result, of the shapes of its operands and of the results of the computations that it
/// names; `None` where these do not say it.
pub(super) fn shape(i: &RawInstruction, operands: &[&Shape], results: &[&Shape]) -> Option<Shape> {
    let first = || operands.first().map(|shape| (*shape).clone());
    match i.opcode {
        opcode if LIKE_FIRST.contains(&opcode) => first(),
        "abs" if !array(operands.first()?)?.element.is_complex() => first(),
        "compare" | "is-finite" => {
            let from = array(operands.first()?)?;
            Some(Shape::Array(Array { element: ElementType::Pred, ..from.clone() }))
        }
        "clamp" | "select" => operands.get(1).map(|shape| (*shape).clone()),
        "after-all" | "outfeed" => Some(scalar(ElementType::Token)),
        "tuple" => Some(Shape::Tuple(operands.iter().map(|shape| (*shape).clone()).collect())),
        "sort" => Some(together(operands.iter().map(|shape| (*shape).clone()).collect())),
        "get-tuple-element" => {
            let Shape::Tuple(parts) = operands.first()? else { return None };
            parts.get(usize::try_from(*list(i, "index")?.first()?).ok()?).cloned()
        }
        "call" | "fusion" | "conditional" => results.first().map(|shape| (*shape).clone()),
        "partition-id" | "replica-id" => Some(scalar(ElementType::U32)),
        "transpose" => {
            let from = array(operands.first()?)?;
            of(from, dims(i, "dimensions")?.into_iter().map(|dim| from.dims.get(dim).copied()).collect::<Option<_>>()?)
        }
        "reduce" => {
            let reduced = dims(i, "dimensions")?;
            let kept = |from: &Array| {
                let kept = from.dims.iter().enumerate().filter(|(k, _)| !reduced.contains(k));
                of(from, kept.map(|(_, dim)| *dim).collect())
            };
            let inputs = operands.get(..operands.len() / 2)?;
            Some(together(inputs.iter().map(|shape| kept(array(shape)?)).collect::<Option<_>>()?))
        }
        "slice" => {
            let from = array(operands.first()?)?;
            of(from, ranges(i)?)
        }
        "dynamic-slice" => {
            let sizes = list(i, "dynamic_slice_sizes")?;
            of(array(operands.first()?)?, sizes.into_iter().map(Dim::Exact).collect())
        }
        "concatenate" => {
            let from = array(operands.first()?)?;
            let dim = *dims(i, "dimensions")?.first()?;
            let size = |shape: &&Shape| array(shape)?.sizes()?.get(dim).copied();
            let mut sizes = from.sizes()?;
            let sum = operands.iter().map(size).try_fold(0i64, |sum, n| sum.checked_add(n?))?;
            *sizes.get_mut(dim)? = sum;
            of(from, sizes.into_iter().map(Dim::Exact).collect())
        }
        "dot" => dot(i, array(operands.first()?)?, array(operands.get(1)?)?),
        _ => None,
    }
}

/// Batch dimensions, then the others of the left and of the right operand.
fn dot(i: &RawInstruction, lhs: &Array, rhs: &Array) -> Option<Shape> {
    let listed = |name| if i.attributes.iter().any(|a| a.name == name) { dims(i, name) } else { Some(Vec::new()) };
    let (lhs_batch, rhs_batch) = (listed("lhs_batch_dims")?, listed("rhs_batch_dims")?);
    let (lhs_contracting, rhs_contracting) = (listed("lhs_contracting_dims")?, listed("rhs_contracting_dims")?);
    let free = |from: &Array, batch: &[usize], contracting: &[usize]| {
        let free = from.dims.iter().enumerate().filter(|(k, _)| !batch.contains(k) && !contracting.contains(k));
        free.map(|(_, dim)| *dim).collect::<Vec<_>>()
    };
    let batch: Vec<Dim> = lhs_batch.iter().map(|dim| lhs.dims.get(*dim).copied()).collect::<Option<_>>()?;
    of(lhs, [batch, free(lhs, &lhs_batch, &lhs_contracting), free(rhs, &rhs_batch, &rhs_contracting)].concat())
}

/// An array of these sizes, with the elements of another one, and its layout where the sizes are the same.
fn of(from: &Array, dims: Vec<Dim>) -> Option<Shape> {
    let layout = if dims == from.dims { from.layout.clone() } else { Layout::row_major(dims.len()) };
    Some(Shape::Array(Array { element: from.element, dims, layout }))
}

fn array(shape: &Shape) -> Option<&Array> {
    if let Shape::Array(array) = shape { Some(array) } else { None }
}

/// The numbers of an attribute.
fn list(i: &RawInstruction, name: &str) -> Option<Vec<i64>> {
    let attribute = i.attributes.iter().find(|a| a.name == name)?;
    Some(numbers(&mut Cursor::new(attribute.text)).ok()?.into_iter().map(|(n, _)| n).collect())
}

fn dims(i: &RawInstruction, name: &str) -> Option<Vec<usize>> {
    list(i, name)?.into_iter().map(|n| usize::try_from(n).ok()).collect()
}

/// The sizes of `slice={[start:limit:stride], ..}`.
fn ranges(i: &RawInstruction) -> Option<Vec<Dim>> {
    let text = i.attributes.iter().find(|a| a.name == "slice")?.text;
    let range = |text: &str| {
        let mut parts = text.split_once('[')?.1.split(':').map(|n| n.trim().parse::<i64>().ok());
        let (start, limit) = (parts.next()??, parts.next()??);
        let stride = parts.next().unwrap_or(Some(1)).filter(|stride| *stride > 0)?;
        let size = limit.checked_sub(start)?.max(0);
        Some(Dim::Exact(size / stride + i64::from(size % stride != 0)))
    };
    text.trim_end_matches('}')
        .split_inclusive(']')
        .filter(|part| part.contains('['))
        .map(|part| range(part.trim_end_matches(']')))
        .collect()
}
