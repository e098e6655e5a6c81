//! `layout-simplify-indexing`: simplifies index arithmetic in affine operations, by known ranges.
//!
//! Each map of an affine operation is simplified over the known facts about its operands: the intervals and steps of
//! enclosing loops, static sizes, and ranges from `InferIntRangeInterface`. Operands are expanded into their
//! definitions if that makes the map cheaper, so delinearization and linearization cancel: with `%i` below
//! 128, `affine.apply (%a floordiv 128)` of `%a = %t * 128 + %i` is `%t`. Results of a minimum or maximum that never
//! decide are dropped; so are conditions that always hold. Operations on bits of indices become sums where they are:
//! `x xor y` of bits that are apart. `#layout.indexing_map` attributes are simplified over their
//! own domain.

use crate::buffers::bits::are_disjoint;
use crate::buffers::index::IndexVars;
use crate::pass::stages::{Next, StageInput, StageResult};
use layout_dialect::affine;
use layout_ir::{self as ir, Builder, Op, Rewriter, Val};
use melior::ir::attribute::ArrayAttribute;
use melior::ir::operation::OperationMutLike;
use melior::ir::{AffineMap, Attribute, Type, ValueLike};
use tensor_layout::expr::Expr;
use tensor_layout::expr::cost;
use tensor_layout::maps::Indexing;
use tensor_layout::maps::{Form, Interval, simplify};

/// The operation that combines the results of a map.
#[derive(Clone, Copy, PartialEq)]
enum Joined {
    /// Each is a result of its own.
    Each,
    /// Their minimum.
    Least,
    /// Their maximum.
    Greatest,
}

/// Simplifies the affine operations below the root.
pub(crate) fn run<'c>(stage: StageInput<'c>) -> StageResult<'c> {
    let rewriter = stage.rewriter;
    for op in ir::all_operations(rewriter.root()) {
        for (name, attribute) in ir::attributes(op) {
            if let Some(simple) = simplified(Builder::before(op), attribute) {
                ir::edit(op).set_attribute(&name, simple);
            }
        }
        visit(rewriter, op);
    }
    Ok(Next::Changed)
}

/// A simplified attribute: an indexing map, or an array or a dictionary with some; `None` if nothing changes.
fn simplified<'c>(b: Builder<'c>, attribute: Attribute<'c>) -> Option<Attribute<'c>> {
    if let Some(Indexing::Map(map)) = layout_dialect::indexing_map(attribute) {
        let simple = layout_dialect::indexing_map_attribute(b.context(), &map.simplify()).ok()?;
        return (simple != attribute).then_some(simple);
    }
    let entries = ir::entries(attribute);
    if !entries.is_empty() {
        let simple: Vec<_> = entries.iter().map(|(_, e)| simplified(b, *e)).collect();
        return simple.iter().any(Option::is_some).then(|| {
            let all = simple.iter().zip(&entries).map(|(new, (name, old))| b.named(name, new.unwrap_or(*old)));
            ir::dictionary_attribute(b.context(), &all.collect::<Vec<_>>())
        });
    }
    let elements = ir::array(attribute);
    let simple: Vec<_> = elements.iter().map(|e| simplified(b, *e)).collect();
    simple.iter().any(Option::is_some).then(|| {
        let all: Vec<_> = simple.iter().zip(elements).map(|(new, old)| new.unwrap_or(old)).collect();
        ArrayAttribute::new(b.context(), &all).into()
    })
}

fn visit(rewriter: &Rewriter, op: Op) {
    match ir::name(op) {
        "affine.apply" => value(rewriter, op, Joined::Each),
        "affine.min" => value(rewriter, op, Joined::Least),
        "affine.max" => value(rewriter, op, Joined::Greatest),
        "affine.linearize_index" | "affine.delinearize_index" => index(rewriter, op),
        "arith.andi" | "arith.ori" | "arith.xori" | "arith.shrui" | "arith.shli" => bits(rewriter, op),
        "affine.load" | "affine.vector_load" | "affine.prefetch" => access(op, 1),
        "affine.store" | "affine.vector_store" => access(op, 2),
        "affine.for" => bounds(op),
        "affine.if" => condition(op),
        _ => {}
    }
}

/// Simplified results of a map over its operands, or over the operands of their definitions, whichever is cheaper, with
/// their variables. `None` if neither is cheaper than the present map.
fn better<'c>(
    map: AffineMap<'c>,
    operands: &[Val<'c>],
    joined: Joined,
    within: Option<&[Interval]>,
) -> Option<(IndexVars<'c>, Vec<Expr>)> {
    let price = |exprs: &[Expr]| exprs.iter().map(|e| 1 + cost(e)).sum::<u32>();
    let mut best: Option<(IndexVars<'c>, Vec<Expr>)> = None;
    // A division by a non-constant is dearer than any other.
    let mut least = affine::exprs_of_map(map).map_or(u32::MAX, |results| price(&results));
    for through in [false, true] {
        let mut vars = IndexVars::default();
        let operand = |v: &Val<'c>| if through { vars.expr(*v) } else { vars.shallow(*v) };
        let operands: Vec<Expr> = operands.iter().map(operand).collect();
        let Some(exprs) = affine::exprs_at(map, &operands) else { continue };
        let facts: Vec<_> = within.map(|w| exprs.iter().cloned().zip(w.iter().copied()).collect()).unwrap_or_default();
        let exprs = vars.simplified(&exprs, &facts);
        let exprs = deciding(&vars, exprs, joined);
        if price(&exprs) < least && exprs.iter().all(affine::is_affine) {
            least = price(&exprs);
            best = Some((vars, exprs));
        }
    }
    best
}

/// Simplifies an operation whose value is that of its map.
fn value(rewriter: &Rewriter, op: Op, joined: Joined) {
    let operands = ir::operands(op);
    let Some(map) = map_of(op, "map") else { return };
    let Some((vars, exprs)) = better(map, &operands, joined, None) else { return };
    let b = Builder::before(op);
    let value = match &exprs[..] {
        [one] => vars.value(b, one),
        _ => {
            let (map, operands) = vars.map(b, &exprs);
            b.value(ir::name(op), &operands, Type::index(b.context()), &[b.named("map", map)])
        }
    };
    ir::replace_all_uses(ir::result(op, 0), value);
    rewriter.erase(op);
}

/// Simplifies a linearised or delinearised index: replaces each result that is a value or a constant.
fn index(rewriter: &Rewriter, op: Op) {
    let b = Builder::before(op);
    for result in ir::results(op) {
        let mut vars = IndexVars::default();
        let e = vars.expr(result);
        let e = vars.simplified(&[e], &[]).remove(0);
        let itself = |v: usize| ir::key(vars.bound(v)) == ir::key(result);
        if matches!(e, Expr::Const(_)) || matches!(e, Expr::Var(v) if !itself(v)) {
            ir::replace_all_uses(result, vars.value(b, &e));
        }
    }
    if !ir::results(op).into_iter().any(ir::is_used) {
        rewriter.erase(op);
    }
}

/// Simplifies an operation on bits of an index: replaces it where its result is a sum, and a union of bits that are apart
/// by the sum of its operands.
fn bits(rewriter: &Rewriter, op: Op) {
    let result = ir::result(op, 0);
    if result.r#type() != Type::index(Builder::before(op).context()) {
        return;
    }
    let mut vars = IndexVars::default();
    let whole = vars.expr(result);
    let whole = vars.simplified(&[whole], &[]).remove(0);
    let operands = ir::operands(op);
    let [x, y] = [0, 1].map(|k| vars.expr(operands[k]));
    let is_sum = matches!(ir::name(op), "arith.ori" | "arith.xori") && are_disjoint([&x, &y], &vars.domain);
    let simple = match &whole {
        Expr::Var(v) if ir::key(vars.bound(*v)) == ir::key(result) => return,
        whole if whole.is_linear() && affine::fits(whole) => whole.clone(),
        _ if is_sum => vars.shallow(operands[0]) + vars.shallow(operands[1]),
        _ => return,
    };
    ir::replace_all_uses(result, vars.value(Builder::before(op), &simple));
    rewriter.erase(op);
}

/// Simplifies the subscripts of an access, whose memref is the operand before the map's.
fn access(op: Op, first: usize) {
    let operands = ir::operands(op);
    let Some(map) = map_of(op, "map") else { return };
    let shape = ir::memref(operands[first - 1].r#type()).map(|t| t.shape).unwrap_or_default();
    let within: Vec<Interval> = shape.into_iter().map(ir::indices_below).collect();
    let Some((vars, exprs)) = better(map, &operands[first..], Joined::Each, Some(&within)) else {
        return;
    };
    if !vars.are_affine(&exprs) {
        return;
    }
    let (map, dims) = vars.map(Builder::before(op), &exprs);
    let operands: Vec<_> = operands[..first].iter().copied().chain(dims).collect();
    ir::edit(op).set_attribute("map", map);
    ir::set_operands(op, &operands);
}

/// Simplifies the bounds of a loop.
fn bounds<'c>(op: Op<'c>) {
    let segments = ir::integers(op, "operandSegmentSizes");
    let [low, high, _] = segments[..] else { return };
    let operands = ir::operands(op);
    let (lower, rest) = operands.split_at(low as usize);
    let (upper, inits) = rest.split_at(high as usize);
    let b = Builder::before(op);
    let bound = |name: &str, operands: &[Val<'c>], joined: Joined| {
        let map = map_of(op, name)?;
        let (vars, exprs) = better(map, operands, joined, None)?;
        vars.are_affine(&exprs).then(|| vars.map(b, &exprs))
    };
    let low = bound("lowerBoundMap", lower, Joined::Greatest);
    let high = bound("upperBoundMap", upper, Joined::Least);
    let (mut lower, mut upper) = (lower.to_vec(), upper.to_vec());
    if let Some((map, dims)) = low {
        ir::edit(op).set_attribute("lowerBoundMap", map);
        lower = dims;
    }
    if let Some((map, dims)) = high {
        ir::edit(op).set_attribute("upperBoundMap", map);
        upper = dims;
    }
    let (name, counts) = b.segments(&[lower.len() as i32, upper.len() as i32, inits.len() as i32]);
    let all: Vec<_> = lower.into_iter().chain(upper).chain(inits.iter().copied()).collect();
    ir::set_operands(op, &all);
    ir::edit(op).set_attribute(name.as_string_ref().as_str().unwrap_or_default(), counts);
}

/// Simplifies the conditions of an `affine.if`.
fn condition<'c>(op: Op<'c>) {
    let operands = ir::operands(op);
    let Some(constraints) = ir::attribute(op, "condition").and_then(ir::integer_set) else { return };
    let (exprs, equalities): (Vec<Expr>, Vec<bool>) = constraints.into_iter().unzip();
    let price = |exprs: &mut dyn Iterator<Item = &Expr>| exprs.map(|e| 1 + cost(e)).sum::<u32>();
    let never = |kept: &[(Expr, bool)]| matches!(kept, [(Expr::Const(1), true)]);
    let (mut best, mut least) = (None, price(&mut exprs.iter()));
    for through in [false, true] {
        let mut vars = IndexVars::default();
        let operand = |v: &Val<'c>| if through { vars.expr(*v) } else { vars.shallow(*v) };
        let over: Vec<Expr> = operands.iter().map(operand).collect();
        let over: Vec<Expr> = exprs.iter().map(|e| e.substitute(&over)).collect();
        let kept = open(&vars, &vars.simplified(&over, &[]), &equalities);
        let price = if never(&kept) { 0 } else { price(&mut kept.iter().map(|k| &k.0)) };
        let exprs: Vec<Expr> = kept.iter().map(|k| k.0.clone()).collect();
        if price < least && vars.are_affine(&exprs) {
            (best, least) = (Some((vars, kept)), price);
        }
    }
    let Some((vars, mut kept)) = best.filter(|_| !matches!(exprs[..], [Expr::Const(_)])) else { return };
    if kept.is_empty() {
        // A set needs a constraint; this one always holds.
        kept.push((Expr::Const(0), true));
    }
    let exprs: Vec<Expr> = kept.iter().map(|k| k.0.clone()).collect();
    let b = Builder::before(op);
    let (dims, positions) = vars.dims(b, &exprs);
    let set = b.integer_set(dims.len(), &kept, &|v| positions[&v]);
    ir::edit(op).set_attribute("condition", set);
    ir::set_operands(op, &dims);
}

/// The conditions that are not decided; only `1 == 0` if one never holds.
fn open(vars: &IndexVars, exprs: &[Expr], equalities: &[bool]) -> Vec<(Expr, bool)> {
    let mut form = Form::new(&vars.domain);
    let mut kept = Vec::new();
    for (e, equality) in exprs.iter().zip(equalities) {
        let interval = form.interval(e);
        if interval.hi < 0 || (*equality && interval.lo > 0) {
            return vec![(Expr::Const(1), true)];
        }
        let may_fail = if *equality { interval != Interval::new(0, 0) } else { interval.lo < 0 };
        if may_fail {
            kept.push((e.clone(), *equality));
        }
    }
    kept
}

/// The map in an attribute.
fn map_of<'c>(op: Op<'c>, name: &str) -> Option<AffineMap<'c>> {
    ir::affine_map(ir::attribute(op, name)?)
}

/// The results that can be the minimum, or the maximum.
fn deciding(vars: &IndexVars, exprs: Vec<Expr>, joined: Joined) -> Vec<Expr> {
    if joined == Joined::Each {
        return exprs;
    }
    let mut kept: Vec<Expr> = Vec::new();
    for e in exprs {
        let beats = |a: &Expr, b: &Expr| {
            let (more, less) = if joined == Joined::Least { (b, a) } else { (a, b) };
            let difference = simplify(&[more.clone() + less.clone().times(-1)], &vars.domain).remove(0);
            Form::new(&vars.domain).interval(&difference).lo >= 0
        };
        if !kept.iter().any(|k| beats(k, &e)) {
            kept.retain(|k| !beats(&e, k));
            kept.push(e);
        }
    }
    kept
}
