//! `layout-widen-sums`: sums of narrow floating-point numbers are added in f32, and rounded once.
//!
//! ```text
//! %y = linalg.matmul ins(%a, %b) outs(%z : tensor<64x64xbf16>)
//!   =>
//! %w = linalg.generic ins(%a, %b) outs(%z in f32) { addf %sum, mulf (extf %x), (extf %y) : f32 }
//! %y = truncf %w
//! ```
//!
//! The importer of HLO writes products so. A sum in bf16 is rounded after each element: of 4,096 equal elements it comes
//! to a sixteenth, and each step converts twice.

use crate::bufferize::prepare_bufferization::elementwise;
use crate::buffers::views::is_spread;
use crate::pass::stages::{Next, StageInput, StageResult};
use crate::pass::upstream::{self, Folded};
use layout_dialect::affine;
use layout_ir::{self as ir, Builder, Op, Rewriter, Shaped, Val};
use melior::ir::attribute::ArrayAttribute;
use melior::ir::{Attribute, Type, TypeLike, ValueLike};
use tensor_layout::expr::Expr;

/// Widens all such sums of a module.
pub(crate) fn run<'c>(stage: StageInput<'c>) -> StageResult<'c> {
    let rewriter = stage.rewriter;
    let sums: Vec<Sum<'c>> = ir::all_operations(rewriter.root()).into_iter().filter_map(Sum::of).collect();
    sums.iter().for_each(|sum| sum.widen(rewriter));
    Ok(Next::of(!sums.is_empty()))
}

/// A structured operation on tensors that adds elements of fewer than 32 bits.
struct Sum<'c> {
    op: Op<'c>,
    /// The addition, whose operand `term` is what is added.
    add: Op<'c>,
    term: usize,
    maps: Vec<Attribute<'c>>,
    /// For each dimension, whether it is one of the result.
    is_parallel: Vec<bool>,
}

impl<'c> Sum<'c> {
    fn of(op: Op<'c>) -> Option<Sum<'c>> {
        let maps = ir::indexing_maps(op)?;
        let operands = ir::operands(op);
        let ([result], [body]) = (&ir::results(op)[..], &ir::blocks(op)[..]) else { return None };
        let element = ir::tensor(result.r#type())?.element;
        let is_narrow = element.is_float() && ir::bits(element).is_some_and(|bits| bits < 32);
        if !is_narrow || operands.len() != maps.len() || operands.iter().any(|v| is_spread(*v)) {
            return None;
        }
        let map = *maps.last()?;
        let outputs: Vec<usize> = affine::exprs_of_map(map)?.iter().map(variable).collect::<Option<_>>()?;
        let is_parallel: Vec<bool> = (0..map.dim_count()).map(|d| outputs.contains(&d)).collect();
        let yielded = *ir::operands(ir::operations(*body).pop()?).first()?;
        let add =
            ir::defining_op(yielded).filter(|add| ir::name(*add) == "arith.addf" && ir::parent(*add) == Some(op))?;
        let sum = *ir::arguments(*body).last()?;
        let uses = |v: Val| ir::uses(v).len();
        let term = ir::operands(add).iter().position(|v| *v != sum)?;
        let is_sum = ir::operands(add)[1 - term] == sum && uses(sum) == 1 && uses(yielded) == 1;
        if !is_sum || is_parallel.iter().all(|parallel| *parallel) {
            return None;
        }
        let maps = maps.into_iter().map(ir::affine_map_attribute).collect();
        Some(Sum { op, add, term, maps, is_parallel })
    }

    fn widen(&self, rewriter: &'c Rewriter) {
        let b = Builder::before(self.op);
        let (old, mut operands) = (ir::result(self.op, 0), ir::operands(self.op));
        let (Some(init), Some(shaped)) = (operands.pop(), ir::tensor(old.r#type())) else { return };
        let wide = Type::float32(b.context());
        let wide_type = ir::tensor_type(&Shaped { element: wide, layout: None, ..shaped });
        operands.push(cast(rewriter, b, "arith.extf", init, wide_type));
        let iterator = |parallel: &bool| {
            let kind = if *parallel { "parallel" } else { "reduction" };
            Attribute::parse(b.context(), &format!("#linalg.iterator_type<{kind}>")).expect("linalg is loaded")
        };
        let iterators: Vec<Attribute> = self.is_parallel.iter().map(iterator).collect();
        let attributes = [
            b.named("indexing_maps", ArrayAttribute::new(b.context(), &self.maps)),
            b.named("iterator_types", ArrayAttribute::new(b.context(), &iterators)),
            b.segments(&[operands.len() as i32 - 1, 1]),
        ];
        let body = ir::blocks(self.op)[0];
        let mut types: Vec<Type> = ir::arguments(body).iter().map(|v| v.r#type()).collect();
        types.pop();
        types.push(wide);
        let (new, end) = b.with_body("linalg.generic", &operands, &[wide_type], &attributes, &types, "linalg.yield");
        let arguments = ir::arguments(ir::blocks(new)[0]);
        ir::arguments(body).into_iter().zip(&arguments).for_each(|(old, new)| ir::replace_all_uses(old, *new));
        let mut inner = ir::operations(body);
        inner.pop();
        inner.iter().for_each(|op| ir::move_before(*op, end));
        ir::set_operands(end, &[self.added(b.at(self.add), wide)]);
        ir::replace_all_uses(old, cast(rewriter, b, "arith.truncf", ir::result(new, 0), old.r#type()));
        rewriter.erase(self.op);
        rewriter.erase(self.add);
        let unused = inner.into_iter().filter(|op| ir::name(*op) == "arith.mulf" && !ir::is_used(ir::result(*op, 0)));
        unused.for_each(|op| rewriter.erase(op));
        erase_fill(rewriter, init);
    }

    /// The sum in f32 of what is added. A product is exact there.
    fn added(&self, b: Builder<'c>, wide: Type<'c>) -> Val<'c> {
        let mut operands = ir::operands(self.add);
        let term = operands[self.term];
        let extended = |v: Val<'c>| b.value("arith.extf", &[v], wide, &[]);
        let product = ir::defining_op(term).filter(|op| {
            ir::name(*op) == "arith.mulf" && ir::uses(term).len() == 1 && ir::parent(*op) == ir::parent(self.add)
        });
        operands[self.term] = match product {
            Some(op) => {
                let factors: Vec<Val> = ir::operands(op).into_iter().map(extended).collect();
                b.value("arith.mulf", &factors, wide, &b.attributes_of(op))
            }
            None => extended(term),
        };
        b.value("arith.addf", &operands, wide, &b.attributes_of(self.add))
    }
}

/// Erases the operation that fills a tensor that nothing uses any more.
fn erase_fill<'c>(rewriter: &'c Rewriter, v: Val<'c>) {
    let unused = ir::defining_op(v).filter(|op| ir::name(*op) == "linalg.fill" && !ir::is_used(v));
    unused.into_iter().for_each(|op| rewriter.erase(op));
}

fn variable(e: &Expr) -> Option<usize> {
    if let Expr::Var(v) = e { Some(*v) } else { None }
}

/// The result of a conversion of a number, folded where the number is a constant.
fn converted<'c>(rewriter: &'c Rewriter, op: Op<'c>) -> Val<'c> {
    let constant = ir::defining_op(ir::operands(op)[0]).filter(|op| ir::name(*op) == "arith.constant");
    let number = constant.and_then(|op| ir::attribute(op, "value"));
    match upstream::fold(op, &[number], true) {
        Folded::Constant(number) => {
            let folded = Builder::before(op).constant(number);
            rewriter.erase(op);
            folded
        }
        _ => ir::result(op, 0),
    }
}

/// A tensor with its elements converted; one that is filled with a number is filled with the converted one.
fn cast<'c>(rewriter: &'c Rewriter, b: Builder<'c>, name: &str, v: Val<'c>, to: Type<'c>) -> Val<'c> {
    let filled = ir::defining_op(v).filter(|op| ir::name(*op) == "linalg.fill");
    if let (Some(op), Some(shaped)) = (filled, ir::tensor(to)) {
        let number = converted(rewriter, b.op(name, &ir::operands(op)[..1], &[shaped.element], &[]));
        let dynamic = (0..shaped.shape.len()).filter(|d| shaped.shape[*d].is_none());
        let index = Type::index(b.context());
        let sizes: Vec<Val> = dynamic.map(|d| b.value("tensor.dim", &[v, b.index(d as i64)], index, &[])).collect();
        let empty = b.value("tensor.empty", &sizes, to, &[]);
        return ir::result(b.named_structured("linalg.fill", &[number, empty], &[1, 1], to), 0);
    }
    let op = b.op(name, &[v], &[to], &[]);
    ir::result(elementwise(rewriter, op).expect("a conversion of a tensor"), 0)
}
