//! The table from MLIR's operations to [`Operation`]: structured operations by their indexing maps, those of `tensor`
//! by their definition.

use crate::buffers::operations::{ELEMENTWISE, is};
use layout_dialect::{affine, element};
use layout_ir::{self as ir, Op, Val};
use melior::ir::{Type, ValueLike};
use tensor_layout::element::ElementType;
use tensor_layout::expr::Expr;
use tensor_layout::maps::Interval;
use tensor_layout::operations::{Array, Dim, Loops, Operation, Shape};
use tensor_layout::tiled::Layout;

/// The value for an operand of [`Operation`].
#[derive(Clone, Copy)]
pub enum SiteOperand {
    /// The operand with this number.
    Own(usize),
    /// A scalar from its region.
    Given,
    /// A scalar in an attribute.
    Fixed(i64),
}

/// An operation with the operands and results of its indices.
pub struct Site {
    pub operation: Operation,
    pub operands: Vec<SiteOperand>,
}

/// The table entry of an operation; `None` if it has no tensor.
pub fn site(op: Op) -> Option<Site> {
    let (operands, results) = (ir::operands(op), ir::results(op));
    let tensors = |values: &[Val]| values.iter().any(|v| ir::tensor(v.r#type()).is_some());
    if results.is_empty() || !tensors(&operands) && !tensors(&results) {
        return None;
    }
    let (operation, taken) = match ir::name(op) {
        "tensor.cast" | "tensor.bitcast" | "layout.convert" => (Operation::Elementwise, operands.len()),
        "tensor.expand_shape" | "tensor.collapse_shape" | "tensor.reshape" => (Operation::Reshape, 1),
        "tensor.splat" => (Operation::Broadcast { dims: Vec::new() }, 1),
        "tensor.empty" | "arith.constant" => (Operation::Constant, 0),
        "tensor.concat" => {
            let dim = usize::try_from(ir::integer(ir::attribute(op, "dim")?)?).ok()?;
            (Operation::Concatenate { dim }, operands.len())
        }
        "tensor.pad" => {
            return Some(padding(op).unwrap_or_else(|| unknown(op, "the padding is known only at run time")));
        }
        "tensor.insert_slice" => {
            let other = || {
                unknown(op, "the slice has a size known only at run time, strides beside such a start, or another rank")
            };
            return Some(insertion(op).unwrap_or_else(other));
        }
        "tensor.extract_slice" | "tensor.extract" => match slice(op, &of_type) {
            Some(loops) => (Operation::Loops(Box::new(loops)), operands.len()),
            None => return Some(unknown(op, "the slice has a size or stride that is known only at run time")),
        },
        name if is(name, ELEMENTWISE) => (Operation::Elementwise, operands.len()),
        _ if ir::indexing_maps(op).is_some() => match structured(op, &of_type) {
            Some(mut loops) => {
                let unread = loops.operands.iter_mut().enumerate().filter(|(k, _)| !reads(op, *k));
                unread.for_each(|(_, index)| *index = None);
                (Operation::Loops(Box::new(loops)), operands.len())
            }
            None => return Some(unknown(op, "the loops have sizes that are known only at run time")),
        },
        name => return Some(unknown(op, &format!("`{name}` is not looked into"))),
    };
    Some(Site { operation, operands: (0..taken).map(SiteOperand::Own).collect() })
}

fn unknown(op: Op, reason: &str) -> Site {
    let operands = (0..ir::operands(op).len()).map(SiteOperand::Own).collect();
    Site { operation: Operation::Other { reason: reason.to_string() }, operands }
}

/// The sizes of a value, `None` in dimensions without a constant size; no sizes where nothing is known of it.
pub type KnownSizes<'s, 'c> = &'s dyn Fn(Val<'c>) -> Option<Vec<Option<i64>>>;

/// The sizes that the type of a value says; a scalar has none.
fn of_type(v: Val) -> Option<Vec<Option<i64>>> {
    Some(ir::tensor(v.r#type()).map(|t| t.shape).unwrap_or_default())
}

/// Whether a structured operation reads an operand: its body uses the element.
pub fn reads(op: Op, operand: usize) -> bool {
    let body = ir::blocks(op).first().copied();
    body.and_then(|body| ir::arguments(body).get(operand).copied()).is_none_or(ir::is_used)
}

/// The loops of a structured operation by its maps; `None` for another one, and where a loop has a size that is known only
/// at run time. All operands count as read.
pub fn structured<'c>(op: Op<'c>, sizes: KnownSizes<'_, 'c>) -> Option<Loops> {
    let maps = ir::indexing_maps(op)?;
    let operands = ir::operands(op);
    let indices = maps.iter().map(|map| affine::exprs_of_map(*map)).collect::<Option<Vec<_>>>()?;
    let mut loops = vec![None; maps.first()?.dim_count()];
    for (index, operand) in indices.iter().zip(&operands) {
        for (e, size) in index.iter().zip(sizes(*operand)?) {
            if let (Expr::Var(v), Some(size)) = (e, size) {
                loops[*v] = Some(size);
            }
        }
    }
    let results = indices[indices.len() - ir::results(op).len()..].to_vec();
    let sizes = loops.into_iter().collect::<Option<_>>()?;
    Some(Loops { sizes, offsets: Vec::new(), operands: indices.into_iter().map(Some).collect(), results })
}

/// The loops of `tensor.extract_slice` and `tensor.extract`.
pub fn slice<'c>(op: Op<'c>, sizes_of: KnownSizes<'_, 'c>) -> Option<Loops> {
    let operands = ir::operands(op);
    let source: Vec<i64> = sizes_of(operands[0])?.into_iter().collect::<Option<_>>()?;
    let one = ir::name(op) == "tensor.extract";
    let list = |name, default| if one { vec![default; source.len()] } else { ir::sizes(op, name) };
    let known = |numbers: Vec<Option<i64>>| numbers.into_iter().collect::<Option<Vec<i64>>>();
    let starts = list("static_offsets", None);
    let (sizes, steps) = (known(list("static_sizes", Some(1)))?, known(list("static_strides", Some(1)))?);
    let kept = kept(&sizes, &known(sizes_of(ir::result(op, 0))?)?)?;
    let (mut offsets, mut index) = (Vec::new(), Vec::new());
    for (k, start) in starts.iter().enumerate() {
        // The result has no loop for dropped dimensions of size 1.
        let along = kept.iter().position(|dim| *dim == k).map_or(Expr::Const(0), Expr::Var).times(steps[k]);
        let start = if let Some(start) = *start {
            Expr::Const(start)
        } else {
            let reach = sizes[k].checked_sub(1)?.checked_mul(steps[k])?;
            offsets.push((Some(1 + offsets.len()), Interval::new(0, source[k].checked_sub(1)?.checked_sub(reach)?)));
            Expr::Var(kept.len() + offsets.len() - 1)
        };
        index.push(along + start);
    }
    let mut operands = vec![None; operands.len()];
    operands[0] = Some(index);
    let loops = kept.iter().map(|k| sizes[*k]).collect();
    Some(Loops { sizes: loops, offsets, operands, results: vec![(0..kept.len()).map(Expr::Var).collect()] })
}

/// The dimensions of a slice that its result keeps: those of size 1 may be dropped.
pub fn kept(sizes: &[i64], result: &[i64]) -> Option<Vec<usize>> {
    let mut kept = Vec::with_capacity(result.len());
    for (k, size) in sizes.iter().enumerate() {
        let left = sizes.len() - k - (result.len() - kept.len());
        if result.get(kept.len()) == Some(size)
            && (*size != 1 || left == 0 || sizes[k..].len() > result.len() - kept.len())
        {
            kept.push(k);
        } else if *size != 1 {
            return None;
        }
    }
    (kept.len() == result.len()).then_some(kept)
}

/// `tensor.pad` with static sizes, and one value for all padding.
fn padding(op: Op) -> Option<Site> {
    let known = |name| ir::sizes(op, name).into_iter().collect::<Option<Vec<i64>>>();
    let (low, high) = (known("static_low")?, known("static_high")?);
    let end = ir::operations(*ir::blocks(op).first()?).pop()?;
    let value = *ir::operands(end).first()?;
    let inside = ir::block_argument(value).is_some_and(|(owner, _)| ir::op_key(owner) == ir::op_key(op));
    if inside {
        return None;
    }
    let interior = vec![0; low.len()];
    let operation = Operation::Pad { low, high, interior };
    Some(Site { operation, operands: vec![SiteOperand::Own(0), SiteOperand::Given] })
}

/// `tensor.insert_slice` of a block of the same rank.
fn insertion(op: Op) -> Option<Site> {
    let operands = ir::operands(op);
    let (starts, sizes) = (ir::sizes(op, "static_offsets"), ir::sizes(op, "static_sizes"));
    let (source, strides) = (ir::tensor(operands[0].r#type())?.shape, ir::sizes(op, "static_strides"));
    if sizes != source {
        return None;
    }
    if strides.iter().any(|n| *n != Some(1)) {
        let known = |numbers: Vec<Option<i64>>| numbers.into_iter().collect::<Option<Vec<i64>>>();
        let operation = Operation::InsertSlice { starts: known(starts)?, strides: known(strides)? };
        return Some(Site { operation, operands: vec![SiteOperand::Own(1), SiteOperand::Own(0)] });
    }
    let mut dynamic = 2..operands.len();
    let mut taken = vec![SiteOperand::Own(1), SiteOperand::Own(0)];
    for start in starts {
        taken.push(match start {
            Some(start) => SiteOperand::Fixed(start),
            None => SiteOperand::Own(dynamic.next()?),
        });
    }
    Some(Site { operation: Operation::DynamicUpdateSlice, operands: taken })
}

/// The shape of a tensor, or of a scalar.
pub fn shape(t: Type) -> Shape {
    let Some(tensor) = ir::tensor(t) else { return scalar(element(t)) };
    let size = |n: &Option<i64>| n.map_or(Dim::Unbounded, Dim::Exact);
    let own = tensor.layout.and_then(layout_dialect::tiled);
    Shape::Array(Array {
        element: element(tensor.element),
        dims: tensor.shape.iter().map(size).collect(),
        layout: own.unwrap_or_else(|| Layout::row_major(tensor.shape.len())),
    })
}

pub fn scalar(element: ElementType) -> Shape {
    Shape::Array(Array { element, dims: Vec::new(), layout: Layout::row_major(0) })
}

/// The element type of a number; one of 64 bits if there is none.
fn element(t: Type) -> ElementType {
    element::named(t).unwrap_or(ElementType::S64)
}
