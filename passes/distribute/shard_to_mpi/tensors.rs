//! Tensor operations before sends and after receives: cutting, joining, reducing.

use crate::distribute::shard_to_mpi::reduction::ElementReduction;
use layout_ir::{self as ir, Builder, Shaped, Val};
use melior::ir::attribute::ArrayAttribute;
use melior::ir::{Attribute, Type, ValueLike};
use tensor_layout::expr::Expr;

/// Static sizes of a tensor.
pub fn sizes(v: Val) -> Option<Vec<i64>> {
    ir::tensor(v.r#type()).and_then(|tensor| tensor.sizes())
}

/// A tensor type without a layout.
pub fn plain<'c>(element: Type<'c>, sizes: &[i64]) -> Type<'c> {
    let shape = sizes.iter().copied().map(Some).collect();
    ir::tensor_type(&Shaped { shape, element, layout: None, space: None })
}

/// The type of a tensor's elements.
pub fn element<'c>(v: Val<'c>) -> Type<'c> {
    ir::tensor(v.r#type()).map_or_else(|| v.r#type(), |tensor| tensor.element)
}

/// The type of a tensor without its layout.
pub fn without_layout<'c>(v: Val<'c>) -> Type<'c> {
    ir::without_layout(v.r#type())
}

/// A reshaped tensor. `groups` are the dimensions of the longer shape, grouped by those of the shorter.
fn reshaped<'c>(b: Builder<'c>, v: Val<'c>, to: &[i64], groups: &[Vec<usize>]) -> Val<'c> {
    let expands = to.len() > sizes(v).map_or(0, |sizes| sizes.len());
    let mut attributes = vec![b.named("reassociation", ir::reassociation_attribute(b.context(), groups))];
    if expands {
        attributes.push(b.named("static_output_shape", ir::integers_attribute(b.context(), to)));
    }
    let name = if expands { "tensor.expand_shape" } else { "tensor.collapse_shape" };
    b.value(name, &[v], plain(element(v), to), &attributes)
}

/// A tensor with one dimension split into two, the first of size `n`.
fn split<'c>(b: Builder<'c>, v: Val<'c>, dim: usize, n: i64) -> Val<'c> {
    let old = sizes(v).expect("static sizes");
    let mut new = old.clone();
    new.splice(dim..=dim, [n, old[dim] / n]);
    let group = |d: usize| if d == dim { vec![d, d + 1] } else { vec![d + usize::from(d > dim)] };
    reshaped(b, v, &new, &(0..old.len()).map(group).collect::<Vec<_>>())
}

/// A tensor with a dimension and the next one merged.
fn merged<'c>(b: Builder<'c>, v: Val<'c>, dim: usize) -> Val<'c> {
    let mut new = sizes(v).expect("static sizes");
    let second = new.remove(dim + 1);
    new[dim] *= second;
    let group = |d: usize| if d == dim { vec![d, d + 1] } else { vec![d + usize::from(d > dim)] };
    reshaped(b, v, &new, &(0..new.len()).map(group).collect::<Vec<_>>())
}

/// A tensor flattened to one dimension.
pub fn flat<'c>(b: Builder<'c>, v: Val<'c>) -> Val<'c> {
    let old = sizes(v).expect("static sizes");
    match old.len() {
        0 => reshaped(b, v, &[1], &[]),
        1 => v,
        rank => reshaped(b, v, &[old.iter().product()], &[(0..rank).collect()]),
    }
}

/// The inverse of [`flat`].
pub fn unflat<'c>(b: Builder<'c>, v: Val<'c>, to: &[i64]) -> Val<'c> {
    match to.len() {
        0 => reshaped(b, v, &[], &[]),
        1 => v,
        rank => reshaped(b, v, to, &[(0..rank).collect()]),
    }
}

/// A tensor cut along a dimension into `n` pieces, stacked along a new first dimension.
pub fn pieces<'c>(b: Builder<'c>, v: Val<'c>, dim: usize, n: i64) -> Val<'c> {
    let split = split(b, v, dim, n);
    let rank = sizes(split).map_or(0, |sizes| sizes.len());
    let order = [dim].into_iter().chain((0..rank).filter(|d| *d != dim));
    transposed(b, split, &order.collect::<Vec<_>>())
}

/// Pieces put one after another along a dimension: the inverse of [`pieces`].
pub fn joined<'c>(b: Builder<'c>, v: Val<'c>, dim: usize) -> Val<'c> {
    let rank = sizes(v).map_or(0, |sizes| sizes.len());
    let order = (1..=dim).chain([0]).chain(dim + 1..rank);
    merged(b, transposed(b, v, &order.collect::<Vec<_>>()), dim)
}

/// The tensor whose dimension `k` is dimension `order[k]` of another.
fn transposed<'c>(b: Builder<'c>, v: Val<'c>, order: &[usize]) -> Val<'c> {
    if order.iter().enumerate().all(|(k, d)| k == *d) {
        return v;
    }
    let old = sizes(v).expect("static sizes");
    let to: Vec<i64> = order.iter().map(|d| old[*d]).collect();
    let mut read = vec![Expr::Const(0); order.len()];
    order.iter().enumerate().for_each(|(k, d)| read[*d] = Expr::Var(k));
    let empty = b.value("tensor.empty", &[], plain(element(v), &to), &[]);
    loops(b, &[(v, read)], empty, 0, |_, arguments| arguments[0])
}

/// A `linalg.generic` over the indices of `out` after `reduced` dimensions of the first input, which are summed over.
fn loops<'c>(
    b: Builder<'c>,
    inputs: &[(Val<'c>, Vec<Expr>)],
    out: Val<'c>,
    reduced: usize,
    body: impl FnOnce(Builder<'c>, &[Val<'c>]) -> Val<'c>,
) -> Val<'c> {
    let rank = reduced + sizes(out).map_or(0, |sizes| sizes.len());
    let written: Vec<Expr> = (reduced..rank).map(Expr::Var).collect();
    let map = |exprs: &[Expr]| b.map(rank, exprs, &|v| v);
    let maps: Vec<Attribute> = inputs.iter().map(|(_, read)| map(read)).chain([map(&written)]).collect();
    let kind = |kind: &str| {
        Attribute::parse(b.context(), &format!("#linalg.iterator_type<{kind}>")).expect("linalg is loaded")
    };
    let kinds = [vec![kind("reduction"); reduced], vec![kind("parallel"); rank - reduced]].concat();
    let attributes = [
        b.named("indexing_maps", ArrayAttribute::new(b.context(), &maps)),
        b.named("iterator_types", ArrayAttribute::new(b.context(), &kinds)),
        b.segments(&[inputs.len() as i32, 1]),
    ];
    let operands: Vec<Val<'c>> = inputs.iter().map(|(v, _)| *v).chain([out]).collect();
    let elements: Vec<Type<'c>> = operands.iter().map(|v| element(*v)).collect();
    let (op, end) = b.with_body("linalg.generic", &operands, &[out.r#type()], &attributes, &elements, "linalg.yield");
    let made = body(b.at(end), &ir::arguments(ir::blocks(op)[0]));
    ir::set_operands(end, &[made]);
    ir::result(op, 0)
}

/// The first row and the number of rows of a slice; the first is a number, or else a value.
type Rows<'c> = (Option<i64>, Option<Val<'c>>, i64);

/// The attributes and operands of a slice of the first dimension, whole in all others.
fn rows_of<'c>(
    b: Builder<'c>,
    whole: &[i64],
    (number, value, count): Rows<'c>,
    tensors: usize,
) -> Vec<(melior::ir::Identifier<'c>, Attribute<'c>)> {
    let rest = &whole[1..];
    let list = |first: Option<i64>, others: Vec<i64>| {
        let all: Vec<Option<i64>> = [first].into_iter().chain(others.into_iter().map(Some)).collect();
        ir::sizes_attribute(b.context(), &all)
    };
    let offsets = i32::from(value.is_some());
    let segments = [vec![1; tensors], vec![offsets, 0, 0]].concat();
    vec![
        b.named("static_offsets", list(number, vec![0; rest.len()])),
        b.named("static_sizes", list(Some(count), rest.to_vec())),
        b.named("static_strides", list(Some(1), vec![1; rest.len()])),
        b.segments(&segments),
    ]
}

/// One piece of stacked pieces, by its number.
pub fn piece<'c>(b: Builder<'c>, v: Val<'c>, at: Val<'c>) -> Val<'c> {
    let whole = sizes(v).expect("static sizes");
    let attributes = rows_of(b, &whole, (None, Some(at), 1), 1);
    b.value("tensor.extract_slice", &[v, at], plain(element(v), &whole[1..]), &attributes)
}

/// Stacked pieces with one replaced.
pub fn with_piece<'c>(b: Builder<'c>, v: Val<'c>, piece: Val<'c>, at: Val<'c>) -> Val<'c> {
    let whole = sizes(v).expect("static sizes");
    let attributes = rows_of(b, &whole, (None, Some(at), 1), 2);
    b.value("tensor.insert_slice", &[piece, v, at], v.r#type(), &attributes)
}

/// The first elements of a tensor of one dimension.
pub fn first<'c>(b: Builder<'c>, v: Val<'c>, count: i64) -> Val<'c> {
    rows(b, v, 0, count)
}

/// A range of stacked pieces.
fn rows<'c>(b: Builder<'c>, v: Val<'c>, from: i64, count: i64) -> Val<'c> {
    let mut whole = sizes(v).expect("static sizes");
    let attributes = rows_of(b, &whole, (Some(from), None, count), 1);
    whole[0] = count;
    b.value("tensor.extract_slice", &[v], plain(element(v), &whole), &attributes)
}

/// A tensor of one dimension extended by undefined elements.
pub fn padded<'c>(b: Builder<'c>, v: Val<'c>, count: i64) -> Val<'c> {
    let old = sizes(v).expect("static sizes");
    if old == [count] {
        return v;
    }
    let empty = b.value("tensor.empty", &[], plain(element(v), &[count]), &[]);
    let attributes = rows_of(b, &[count], (Some(0), None, old[0]), 2);
    b.value("tensor.insert_slice", &[v, empty], empty.r#type(), &attributes)
}

/// The slice with this number of a dimension cut into slices of `size`.
pub fn slice<'c>(b: Builder<'c>, v: Val<'c>, dim: usize, from: Val<'c>, size: i64) -> Val<'c> {
    let mut to = sizes(v).expect("static sizes");
    let mut offsets = vec![Some(0); to.len()];
    (offsets[dim], to[dim]) = (None, size);
    let attributes = [
        b.named("static_offsets", ir::sizes_attribute(b.context(), &offsets)),
        b.named("static_sizes", ir::integers_attribute(b.context(), &to)),
        b.named("static_strides", ir::integers_attribute(b.context(), &vec![1; to.len()])),
        b.segments(&[1, 1, 0, 0]),
    ];
    b.value("tensor.extract_slice", &[v, from], plain(element(v), &to), &attributes)
}

/// Pieces combined element by element, in order: all processes with the same pieces get the same bits.
pub fn reduced<'c>(b: Builder<'c>, v: Val<'c>, by: &ElementReduction<'c>, to: Type<'c>) -> Val<'c> {
    let whole = sizes(v).expect("static sizes");
    let (count, rest) = (whole[0], &whole[1..]);
    let identity: Vec<Expr> = (0..rest.len()).map(Expr::Var).collect();
    let all: Vec<Expr> = (0..whole.len()).map(Expr::Var).collect();
    let zero = [vec![Expr::Const(0)], identity.clone()].concat();
    let empty = |element: Type<'c>| b.value("tensor.empty", &[], plain(element, rest), &[]);
    let within = by.within;
    let begun = loops(b, &[(rows(b, v, 0, 1), zero)], empty(within), 0, |b, arguments| by.widened(b, arguments[0]));
    let others = rows(b, v, 1, count - 1);
    let made = loops(b, &[(others, all)], begun, 1, |b, arguments| {
        let next = by.widened(b, arguments[0]);
        by.combined(b, arguments[1], next)
    });
    if within == to && !by.is_average {
        return made;
    }
    loops(b, &[(made, identity)], empty(to), 0, |b, arguments| by.finished(b, arguments[0], count))
}
