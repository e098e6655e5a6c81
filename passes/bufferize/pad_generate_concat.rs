//! Lowers `tensor.pad`, `tensor.generate` and `tensor.concat` of tensors with layouts: to elements computed from their
//! index, and insertions.
//!
//! Upstream's bufferization gives the padded tensor the memory space of the source, whatever its type, and so the
//! layout of the source. Here an empty tensor of the written type is filled, and the source is inserted into it.

use layout_ir::{self as ir, Builder, Op, Rewriter, Val};
use melior::ir::attribute::{ArrayAttribute, IntegerAttribute};
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, Type, ValueLike};
use tensor_layout::expr::Expr;

/// A number, or else a value known at run time.
type OpFoldResult<'c> = (Option<i64>, Option<Val<'c>>);

/// For each dimension, the sizes before the source, of the source, and after it.
struct Sizes<'c> {
    low: Vec<OpFoldResult<'c>>,
    high: Vec<OpFoldResult<'c>>,
    source: Vec<OpFoldResult<'c>>,
}

/// Fills an empty tensor with the padding and inserts the source.
pub fn pad(rewriter: &Rewriter, op: Op) {
    let b = Builder::before(op);
    let (source, result) = (ir::operands(op)[0], ir::result(op, 0));
    let sizes = Sizes::of(b, op);
    let shape = ir::tensor(result.r#type()).expect("a padded tensor").shape;
    let unknown = (0..shape.len()).filter(|d| shape[*d].is_none());
    let unknown: Vec<Val> = unknown.map(|d| sizes.padded(b, d)).collect();
    let empty = b.value("tensor.empty", &unknown, result.r#type(), &[]);
    let filled = match one_value(b, op) {
        Some(value) => ir::result(b.named_structured("linalg.fill", &[value, empty], &[1, 1], result.r#type()), 0),
        None => computed(b, op, empty),
    };
    let padded = inserted(b, source, filled, &sizes.low, &sizes.source);
    ir::replace_all_uses(result, padded);
    rewriter.erase(op);
}

impl<'c> Sizes<'c> {
    fn of(b: Builder<'c>, op: Op<'c>) -> Sizes<'c> {
        let operands = ir::operands(op);
        let mut given = operands[1..].iter().copied();
        // Operands after the source: the dynamic lower paddings, then the dynamic upper ones.
        let mut list = |name: &str| -> Vec<_> {
            ir::sizes(op, name).into_iter().map(|n| (n, if n.is_none() { given.next() } else { None })).collect()
        };
        let (low, high) = (list("static_low"), list("static_high"));
        Sizes { low, high, source: sizes_of(b, operands[0]) }
    }

    /// The size of a dimension of the result.
    fn padded(&self, b: Builder<'c>, d: usize) -> Val<'c> {
        value(b, sum(b, sum(b, self.low[d], self.source[d]), self.high[d]))
    }
}

/// Computes each element from its index, in an empty tensor.
pub fn generate(rewriter: &Rewriter, op: Op) {
    let b = Builder::before(op);
    let result = ir::result(op, 0);
    let empty = b.value("tensor.empty", &ir::operands(op), result.r#type(), &[]);
    ir::replace_all_uses(result, computed(b, op, empty));
    rewriter.erase(op);
}

/// Inserts the operands of a concatenation into an empty tensor, one after the other.
pub fn concatenate(rewriter: &Rewriter, op: Op) {
    let b = Builder::before(op);
    let (result, parts) = (ir::result(op, 0), ir::operands(op));
    let along = ir::attribute(op, "dim").and_then(ir::integer).unwrap_or(0) as usize;
    let sizes: Vec<Vec<OpFoldResult>> = parts.iter().map(|part| sizes_of(b, *part)).collect();
    let mut offsets: Vec<OpFoldResult> = vec![(Some(0), None)];
    for sizes in &sizes {
        offsets.push(sum(b, *offsets.last().expect("the first is 0"), sizes[along]));
    }
    let whole = offsets.pop().expect("the last is the size");
    let shape = ir::tensor(result.r#type()).expect("a tensor").shape;
    let unknown = shape.iter().enumerate().filter(|(_, n)| n.is_none());
    let unknown: Vec<Val> = unknown.map(|(d, _)| value(b, if d == along { whole } else { sizes[0][d] })).collect();
    let mut made = b.value("tensor.empty", &unknown, result.r#type(), &[]);
    for ((part, sizes), offset) in parts.into_iter().zip(&sizes).zip(offsets) {
        let mut at: Vec<OpFoldResult> = vec![(Some(0), None); shape.len()];
        at[along] = offset;
        made = inserted(b, part, made, &at, sizes);
    }
    ir::replace_all_uses(result, made);
    rewriter.erase(op);
}

/// A size as a value.
fn value<'c>(b: Builder<'c>, (number, value): OpFoldResult<'c>) -> Val<'c> {
    value.unwrap_or_else(|| b.index(number.expect("a constant or a value")))
}

/// The sum of two sizes: a number if both are, and it does not overflow.
fn sum<'c>(b: Builder<'c>, x: OpFoldResult<'c>, y: OpFoldResult<'c>) -> OpFoldResult<'c> {
    match x.0.zip(y.0).and_then(|(x, y)| x.checked_add(y)) {
        Some(n) => (Some(n), None),
        None => (None, Some(b.value("arith.addi", &[value(b, x), value(b, y)], Type::index(b.context()), &[]))),
    }
}

/// The sizes of a tensor.
fn sizes_of<'c>(b: Builder<'c>, v: Val<'c>) -> Vec<OpFoldResult<'c>> {
    let shape = ir::tensor(v.r#type()).expect("a tensor").shape;
    let index = Type::index(b.context());
    let size = |(d, n): (usize, Option<i64>)| match n {
        Some(n) => (Some(n), None),
        None => (None, Some(b.value("tensor.dim", &[v, b.index(d as i64)], index, &[]))),
    };
    shape.into_iter().enumerate().map(size).collect()
}

/// The padding value of an operation, if it does not depend on the index: a constant, or from outside.
fn one_value<'c>(b: Builder<'c>, op: Op<'c>) -> Option<Val<'c>> {
    let body = *ir::blocks(op).first()?;
    let value = *ir::operands(ir::operations(body).pop()?).first()?;
    match (ir::defining_op(value), ir::block_argument(value)) {
        (Some(made), _) if ir::parent(made) == Some(op) => {
            let constant = (ir::name(made) == "arith.constant").then(|| ir::attribute(made, "value")).flatten()?;
            Some(b.constant(constant))
        }
        (None, Some((owner, _))) if owner == op => None,
        _ => Some(value),
    }
}

/// The values of an operation's region at each index, by a `linalg.generic` with that region; for padding, also where
/// the source will be.
fn computed<'c>(b: Builder<'c>, op: Op<'c>, empty: Val<'c>) -> Val<'c> {
    let t = empty.r#type();
    let shaped = ir::tensor(t).expect("a tensor");
    let rank = shaped.shape.len();
    let identity: Vec<Expr> = (0..rank).map(Expr::Var).collect();
    let parallel = Attribute::parse(b.context(), "#linalg.iterator_type<parallel>").expect("linalg is loaded");
    let attributes = [
        b.named("indexing_maps", ArrayAttribute::new(b.context(), &[b.map(rank, &identity, &|v| v)])),
        b.named("iterator_types", ArrayAttribute::new(b.context(), &vec![parallel; rank])),
        b.segments(&[0, 1]),
    ];
    let (generic, end) = b.with_body("linalg.generic", &[empty], &[t], &attributes, &[shaped.element], "linalg.yield");
    let body = ir::blocks(op)[0];
    let inner = b.at(end);
    let int64: Type = IntegerType::new(b.context(), 64).into();
    for (d, argument) in ir::arguments(body).into_iter().enumerate() {
        let dim = inner.named("dim", IntegerAttribute::new(int64, d as i64));
        let index = inner.value("linalg.index", &[], Type::index(b.context()), &[dim]);
        ir::replace_all_uses(argument, index);
    }
    for payload in ir::operations(body) {
        if ir::name(payload) == "tensor.yield" {
            ir::set_operands(end, &ir::operands(payload));
        } else {
            ir::move_before(payload, end);
        }
    }
    ir::result(generic, 0)
}

/// A tensor with `part` inserted at an offset. A part without elements may be at the end of a dimension, where upstream
/// refuses an insertion.
fn inserted<'c>(
    b: Builder<'c>,
    part: Val<'c>,
    whole: Val<'c>,
    offsets: &[OpFoldResult<'c>],
    sizes: &[OpFoldResult<'c>],
) -> Val<'c> {
    if sizes.contains(&(Some(0), None)) {
        return whole;
    }
    let list =
        |all: &[OpFoldResult<'c>]| ir::sizes_attribute(b.context(), &all.iter().map(|n| n.0).collect::<Vec<_>>());
    let [at, of] = [offsets, sizes].map(|all| all.iter().filter_map(|n| n.1).collect::<Vec<Val<'c>>>());
    let attributes = [
        b.named("static_offsets", list(offsets)),
        b.named("static_sizes", list(sizes)),
        b.named("static_strides", ir::sizes_attribute(b.context(), &vec![Some(1); sizes.len()])),
        b.segments(&[1, 1, at.len() as i32, of.len() as i32, 0]),
    ];
    let operands: Vec<Val> = [part, whole].into_iter().chain(at).chain(of).collect();
    b.value("tensor.insert_slice", &operands, whole.r#type(), &attributes)
}
