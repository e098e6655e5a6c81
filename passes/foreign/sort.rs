//! Sorts, and the first elements of a sort.

use crate::foreign::inline::{Sizes, inline};
use crate::foreign::operation::{Expanded, Foreign, Operand};
use crate::pass::diagnostic::Diagnostic;
use layout_ir::{self as ir, Builder, Rewriter, Val};
use layout_programs::{LINES, POSITIONS, Program, SORT};
use melior::ir::attribute::IntegerAttribute;
use melior::ir::r#type::IntegerType;
use melior::ir::{Type, ValueLike};
use minijinja::{Value, context};

/// Sorts the outputs together along a dimension. The region takes two elements of each, in pairs.
pub fn expand<'c>(foreign: &Foreign<'c>, rewriter: &'c Rewriter) -> Expanded<'c> {
    let outs = &foreign.outs;
    foreign.check_counts(&[0], &(1..=outs.len().max(1)).collect::<Vec<_>>())?;
    let dim = foreign.dimension(outs[0].rank())?;
    for out in outs {
        foreign.check_same(("all outputs", &out.shape), ("the first one", &outs[0].shape))?;
    }
    let pairs: Vec<Type> = outs.iter().flat_map(|out| [out.element; 2]).collect();
    foreign.check_region(&pairs, &[boolean(foreign)])?;
    let program = lines(outs, dim, outs.len(), false);
    let values: Vec<Val> = outs.iter().map(|out| out.value).collect();
    Ok(inline(rewriter, foreign, &program, "lines", &values))
}

/// Takes the first elements of each line, in the order of the region, and their indices. What the outputs hold takes part.
pub fn expand_topk<'c>(foreign: &Foreign<'c>, rewriter: &'c Rewriter) -> Expanded<'c> {
    foreign.check_counts(&[1, 2], &[2])?;
    let (values, outs) = (&foreign.ins[0], &foreign.outs);
    let dim = foreign.dimension(values.rank())?;
    foreign.check_same(("both outputs", &outs[1].shape), ("the first one", &outs[0].shape))?;
    let element = values.element;
    foreign.require(outs[0].element == element, format!("expected values of {element}, found {}", outs[0].element))?;
    let kind = outs[1].element;
    foreign.require(outs[1].has_indices(), format!("expected indices of signless integers, found {kind}"))?;
    let mut but_one = values.shape.clone();
    but_one[dim] = *outs[0].shape.get(dim).unwrap_or(&None);
    foreign.check_same(("outputs", &outs[0].shape), ("the input but for the dimension", &but_one))?;
    foreign.check_region(&[element; 2], &[boolean(foreign)])?;
    let indices = match foreign.ins.get(1) {
        Some(given) => {
            foreign.check_same(("indices", &given.shape), ("the values", &values.shape))?;
            foreign.require(given.element == kind, format!("expected indices of {kind}, found {}", given.element))?;
            given.clone()
        }
        None => Operand { value: positions(foreign, rewriter, dim), element: kind, ..values.clone() },
    };
    let all = [joined(foreign, values, &outs[0], dim)?, joined(foreign, &indices, &outs[1], dim)?];
    let long_enough = match (all[0].shape[dim], outs[0].shape[dim]) {
        (Some(n), Some(k)) => k <= n,
        _ => true,
    };
    foreign.require(long_enough, "expected no more elements in a line of the outputs than of the input")?;
    let sorted = inline(rewriter, foreign, &lines(&all, dim, 1, true), "lines", &all.each_ref().map(|t| t.value));
    Ok(sorted.into_iter().zip(outs).map(|(v, out)| first(foreign, v, out)).collect())
}

/// The position of each element along a dimension, as the indices of a `topk`.
fn positions<'c>(foreign: &Foreign<'c>, rewriter: &'c Rewriter, dim: usize) -> Val<'c> {
    let (values, kind) = (&foreign.ins[0], foreign.outs[1].element);
    let whole = Operand { element: kind, ..values.clone() }.resized(values.shape.clone()).to_string();
    let mut sizes = Sizes::default();
    let names = sizes.of("%values", values);
    let dynamic: Vec<&String> =
        names.iter().zip(&values.shape).filter(|(_, n)| n.is_none()).map(|(name, _)| name).collect();
    let (prologue, rank, element) = (sizes.prologue, values.rank(), kind.to_string());
    let parameters = context! { values => values.text(), whole, dynamic, rank, dim, element, prologue };
    inline(rewriter, foreign, &Program::new(&POSITIONS, parameters), "main", &[values.value])[0]
}

fn boolean<'c>(foreign: &Foreign<'c>) -> Type<'c> {
    IntegerType::new(Builder::before(foreign.op).context(), 1).into()
}

/// The program that sorts the lines of arrays along a dimension, by elements of the first `compared` of them.
fn lines(arrays: &[Operand], dim: usize, compared: usize, by_index: bool) -> Program {
    let mut sizes = Sizes::default();
    let bounds = sizes.of("%begin0", &arrays[0]);
    let (length, n) = (&bounds[dim], arrays[0].shape[dim]);
    let rounds = n.map(|n| (0..).find(|k| 4i128.pow(*k) >= i128::from(n)).unwrap_or(0));
    let outer: Vec<String> = (0..bounds.len()).map(|k| format!("%i{k}")).collect();
    let arguments: Vec<&String> = outer.iter().enumerate().filter(|(k, _)| *k != dim).map(|(_, name)| name).collect();
    let array = |t: &Operand| {
        let line = t.resized(vec![n]).to_string();
        context! { whole => t.text(), line, element => t.element.to_string() }
    };
    let arrays: Vec<Value> = arrays.iter().map(array).collect();
    let prologue = sizes.prologue;
    let rounds = rounds.map_or("%rounds".to_string(), |rounds| format!("%c{rounds}"));
    let of_line = context! { arrays, dim, outer, arguments };
    let is_dynamic = n.is_none();
    let all = context! { compared, by_index, bounds, length, rounds, is_dynamic, prologue, ..of_line.clone() };
    Program::new(&LINES, all).and(Program::new(&SORT, of_line))
}

/// An input of a `topk` with what its output holds behind it. An empty tensor holds nothing.
fn joined<'c>(
    foreign: &Foreign<'c>,
    given: &Operand<'c>,
    out: &Operand<'c>,
    dim: usize,
) -> Result<Operand<'c>, Diagnostic<'c>> {
    if ir::defining_op(out.value).is_some_and(|op| ir::name(op) == "tensor.empty") {
        return Ok(given.clone());
    }
    let mut shape = given.shape.clone();
    let sizes = given.shape[dim].zip(out.shape[dim]);
    shape[dim] = sizes.and_then(|(a, b)| a.checked_add(b));
    let fits = shape[dim].is_some() == sizes.is_some();
    foreign
        .require(fits, format!("expected fewer than 2^63 elements in lines of {} and {}", given.text(), out.text()))?;
    let b = Builder::before(foreign.op);
    let number = b.named("dim", integer(&b, dim));
    let both = b.value("tensor.concat", &[given.value, out.value], given.resized(shape.clone()), &[number]);
    Ok(Operand { value: both, shape, ..given.clone() })
}

/// The first elements of each line of a sorted tensor, as many as an output has.
fn first<'c>(foreign: &Foreign<'c>, sorted: Val<'c>, out: &Operand<'c>) -> Val<'c> {
    let b = Builder::before(foreign.op);
    let dynamic = (0..out.rank()).filter(|k| out.shape[*k].is_none());
    let index = Type::index(b.context());
    let sizes: Vec<Val> = dynamic.map(|k| b.value("tensor.dim", &[out.value, b.index(k as i64)], index, &[])).collect();
    let list = |n| ir::sizes_attribute(b.context(), &vec![Some(n); out.rank()]);
    let attributes = [
        b.named("static_offsets", list(0)),
        b.named("static_sizes", ir::sizes_attribute(b.context(), &out.shape)),
        b.named("static_strides", list(1)),
        b.segments(&[1, 0, sizes.len() as i32, 0]),
    ];
    let operands: Vec<Val> = [sorted].into_iter().chain(sizes).collect();
    b.value("tensor.extract_slice", &operands, out.value.r#type(), &attributes)
}

fn integer<'c>(b: &Builder<'c>, n: usize) -> IntegerAttribute<'c> {
    IntegerAttribute::new(IntegerType::new(b.context(), 64).into(), n as i64)
}
