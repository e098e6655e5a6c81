//! `layout-gather-rows`: a `linalg.generic` that looks up each element becomes loops that copy rows.
//!
//! ```text
//! generic ins(%rows) {                        scf.for %i {
//!   %j = linalg.index 1                         %row = tensor.extract %rows[%i]
//!   tensor.extract %data[%row, %j]      =>      extract_slice %data[%row, 0] [1, 512]
//! }                                             insert_slice into the result at [%i, 0] }
//! ```
//!
//! A loop is *inside of a block* if its index occurs once, as an index of the data or added to a start, and no operand
//! follows it. The last loop must be one, along the last dimension of the data, so that a block has rows.

use crate::buffers::operations::{LANEWISE, is};
use crate::buffers::views::{converted, tensor_layout};
use crate::pass::stages::{Next, StageInput, StageResult};
use layout_dialect::affine;
use layout_ir::{self as ir, Builder, Op, Shaped, Val};
use melior::ir::{Type, ValueLike};
use std::collections::HashMap;
use tensor_layout::expr::Expr;

/// The least elements of a row that is copied as one; shorter copies take as long as single elements.
const ROW: i64 = 8;

/// A `linalg.generic` that copies blocks of a tensor.
struct GatherRows<'c> {
    op: Op<'c>,
    /// The `tensor.extract` whose value is the result.
    lookup: Op<'c>,
    /// For each operand that is read, its index in the loops.
    inputs: Vec<(Val<'c>, Vec<Expr>)>,
    sizes: Vec<i64>,
    /// For each dimension of the data the loop inside of a block along it.
    along: Vec<Option<usize>>,
}

/// Copies the rows of all such operations of a module.
pub(crate) fn run<'c>(stage: StageInput<'c>) -> StageResult<'c> {
    let mut changed = false;
    for op in ir::all_operations(stage.root()).into_iter().filter(|op| ir::name(*op) == "linalg.generic") {
        if let Some(gather) = GatherRows::of(op) {
            ir::replace_all_uses(ir::result(op, 0), gather.copies());
            stage.rewriter.erase(op);
            changed = true;
        }
    }
    Ok(Next::of(changed))
}

impl<'c> GatherRows<'c> {
    fn of(op: Op<'c>) -> Option<GatherRows<'c>> {
        if ir::name(op) != "linalg.generic" || ir::results(op).len() != 1 {
            return None;
        }
        let sizes = ir::tensor(ir::result(op, 0).r#type())?.sizes()?;
        let (values, body) = (ir::operands(op), *ir::blocks(op).first()?);
        let maps: Vec<Vec<Expr>> =
            ir::indexing_maps(op)?.into_iter().map(affine::exprs_of_map).collect::<Option<_>>()?;
        let in_order: Vec<Expr> = (0..sizes.len()).map(Expr::Var).collect();
        let (output, read) = maps.split_last()?;
        let plain = read.iter().flatten().all(|e| matches!(e, Expr::Var(_) | Expr::Const(_)));
        let operations = ir::operations(body);
        let [before @ .., lookup, end] = &operations[..] else { return None };
        let looks_up = ir::name(*lookup) == "tensor.extract" && ir::operands(*end) == ir::results(*lookup);
        let indexes = |op: &Op| {
            is(ir::name(*op), LANEWISE) || matches!(ir::name(*op), "linalg.index" | "tensor.extract" | "cf.assert")
        };
        let is_body = looks_up && before.iter().all(indexes) && !ir::is_used(*ir::arguments(body).last()?);
        let has_layouts =
            values.iter().chain(&ir::operands(*lookup)[..1]).all(|v| is_plain(*v) || tensor_layout(*v).is_some());
        let loops = ir::elements(op, "iterator_types").len();
        if *output != in_order || loops != sizes.len() || !plain || !is_body || !has_layouts {
            return None;
        }
        let lookup = *lookup;
        let inputs: Vec<_> = values.into_iter().zip(read.iter().cloned()).collect();
        let rank = ir::operands(lookup).len() - 1;
        let mut gather = GatherRows { op, lookup, inputs, sizes, along: vec![None; rank] };
        let (along, last) = (gather.blocks()?, gather.sizes.len().checked_sub(1)?);
        let has_rows = along.last() == Some(&Some(last)) && gather.sizes[last] >= ROW;
        let inside: Vec<usize> = along.iter().flatten().copied().collect();
        gather.along = along;
        (has_rows && inside.is_sorted() && !gather.sizes.contains(&0)).then_some(gather)
    }

    fn body(&self) -> Vec<Op<'c>> {
        ir::operations(ir::blocks(self.op)[0])
    }

    /// The loop inside of a block along each dimension of the data. `None` if the data is made in the body, or an index
    /// occurs in another way.
    fn blocks(&self) -> Option<Vec<Option<usize>>> {
        let operands = ir::operands(self.lookup);
        let outside = |v: Val<'c>| ir::defining_op(v).is_none_or(|made| ir::parent(made) != Some(self.op));
        let mut along = vec![None; operands.len() - 1];
        let of_data = outside(operands[0]) && ir::block_argument(operands[0]).is_none_or(|(owner, _)| owner != self.op);
        for of in 0..self.sizes.len() {
            let follows = |(_, index): &(Val, Vec<Expr>)| index.contains(&Expr::Var(of));
            if self.inputs.iter().any(follows) {
                continue;
            }
            let mut uses = self.indices(of).into_iter().flat_map(|op| ir::uses(ir::result(op, 0)));
            let Some((mut user, mut operand)) = uses.next().filter(|_| uses.next().is_none()) else { continue };
            if ir::name(user) == "arith.addi" {
                let mut sums = ir::uses(ir::result(user, 0)).into_iter();
                let Some(used) = sums.next().filter(|_| sums.next().is_none()) else { continue };
                (user, operand) = used;
            }
            if user == self.lookup && operand > 0 && along[operand - 1].is_none() {
                along[operand - 1] = Some(of);
            }
        }
        of_data.then_some(along)
    }

    /// The `linalg.index` of a loop.
    fn indices(&self, of: usize) -> Vec<Op<'c>> {
        let is_of = |op: &Op<'c>| ir::name(*op) == "linalg.index" && dimension(*op) == Some(of);
        self.body().into_iter().filter(is_of).collect()
    }

    /// Copies the blocks into an empty tensor.
    fn copies(&self) -> Val<'c> {
        let b = Builder::before(self.op);
        let result = ir::result(self.op, 0).r#type();
        // The destination is written whole.
        let into = *ir::operands(self.op).last().expect("a structured operation has a destination");
        let begin = if is_plain(into) { into } else { b.value("tensor.empty", &[], ir::without_layout(result), &[]) };
        let tensors = self.inputs.iter().map(|(input, _)| *input).chain([ir::operands(self.lookup)[0]]);
        let plain = |v: Val<'c>| (ir::key(v), converted(b, v, ir::without_layout(v.r#type())));
        let mut copy =
            BlockCopy { gather: self, index: vec![None; self.sizes.len()], values: tensors.map(plain).collect() };
        converted(b, copy.nest(b, 0, begin), result)
    }

    fn is_inside(&self, of: usize) -> bool {
        self.along.contains(&Some(of))
    }
}

/// The copy of a block in the loops over all blocks.
struct BlockCopy<'a, 'c> {
    gather: &'a GatherRows<'c>,
    /// The index in each loop over blocks that has several.
    index: Vec<Option<Val<'c>>>,
    /// The values in the place of those of the body.
    values: HashMap<usize, Val<'c>>,
}

impl<'c> BlockCopy<'_, 'c> {
    /// The loops from the one of this number on.
    fn nest(&mut self, b: Builder<'c>, first: usize, whole: Val<'c>) -> Val<'c> {
        let sizes = &self.gather.sizes;
        let Some(of) = (first..sizes.len()).find(|of| sizes[*of] > 1 && !self.gather.is_inside(*of)) else {
            return self.copy(b, whole);
        };
        let bounds = [b.index(0), b.index(sizes[of]), b.index(1), whole];
        let (t, arguments) = (whole.r#type(), [Type::index(b.context()), whole.r#type()]);
        let (made, end) = b.with_body("scf.for", &bounds, &[t], &[], &arguments, "scf.yield");
        let of_loop = ir::arguments(ir::blocks(made)[0]);
        self.index[of] = Some(of_loop[0]);
        let copied = self.nest(b.at(end), of + 1, of_loop[1]);
        ir::set_operands(end, &[copied]);
        ir::result(made, 0)
    }

    /// Copies one block: the body, with a slice in place of an element.
    fn copy(&mut self, b: Builder<'c>, whole: Val<'c>) -> Val<'c> {
        let gather = self.gather;
        for (argument, (input, map)) in ir::arguments(ir::blocks(gather.op)[0]).into_iter().zip(&gather.inputs) {
            let at = map.iter().map(|e| match e {
                Expr::Var(of) => self.index[*of].unwrap_or_else(|| b.index(0)),
                Expr::Const(c) => b.index(*c),
                _ => unreachable!("an index of variables and constants"),
            });
            let operands: Vec<Val> = [self.value(*input)].into_iter().chain(at).collect();
            let is_tensor = ir::tensor(input.r#type()).is_some();
            let element = if is_tensor { b.value("tensor.extract", &operands, argument.r#type(), &[]) } else { *input };
            self.values.insert(ir::key(argument), element);
        }
        gather.body().into_iter().take_while(|op| *op != gather.lookup).for_each(|op| self.start(b, op));
        let taken = ir::operands(gather.lookup);
        // An index inside of a block alone is 0 where the block starts.
        let starts: Vec<_> = taken[1..].iter().map(|v| (!self.is_inside(*v)).then(|| self.value(*v))).collect();
        let size = |of: &Option<usize>| of.map_or(1, |of| gather.sizes[of]);
        let sizes: Vec<i64> = gather.along.iter().map(size).collect();
        let shape = gather.along.iter().flatten().map(|of| Some(gather.sizes[*of])).collect();
        let t = ir::tensor_type(&Shaped { shape, ..ir::tensor(whole.r#type()).expect("a tensor") });
        let block = slice(b, "tensor.extract_slice", &[self.value(taken[0])], &starts, &sizes, t);
        let size = |(of, size): (usize, &i64)| if gather.is_inside(of) { *size } else { 1 };
        let sizes: Vec<i64> = gather.sizes.iter().enumerate().map(size).collect();
        slice(b, "tensor.insert_slice", &[block, whole], &self.index, &sizes, whole.r#type())
    }

    /// The value in the place of one, which may be from outside of the body.
    fn value(&self, v: Val<'c>) -> Val<'c> {
        self.values.get(&ir::key(v)).copied().unwrap_or(v)
    }

    /// Whether a value is the index of a loop inside of a block.
    fn is_inside(&self, v: Val<'c>) -> bool {
        let index =
            ir::defining_op(v).filter(|op| ir::name(*op) == "linalg.index" && ir::parent(*op) == Some(self.gather.op));
        index.and_then(dimension).is_some_and(|of| self.gather.is_inside(of))
    }

    /// Copies an operation of the body to where a block starts. An index inside of a block has no value there.
    fn start(&mut self, b: Builder<'c>, op: Op<'c>) {
        let is_inside = |v: &Val<'c>| self.is_inside(*v);
        let operands = ir::operands(op);
        let results = ir::results(op).into_iter().map(ir::key);
        if ir::name(op) == "arith.addi" && operands.iter().any(is_inside) {
            let other = operands.iter().find(|v| !is_inside(v)).map(|v| self.value(*v));
            self.values.extend(results.zip(other));
        } else if let Some(of) = dimension(op).filter(|_| ir::name(op) == "linalg.index") {
            if !self.gather.is_inside(of) {
                let at = self.index[of].unwrap_or_else(|| b.index(0));
                self.values.extend(results.zip([at]));
            }
        } else {
            let copy = b.copy(op);
            ir::set_operands(copy, &operands.into_iter().map(|v| self.value(v)).collect::<Vec<_>>());
            self.values.extend(results.zip(ir::results(copy)));
        }
    }
}

/// Whether a value is no tensor, or one without an encoding.
fn is_plain(v: Val) -> bool {
    ir::tensor(v.r#type()).is_none_or(|t| t.layout.is_none())
}

/// The loop of a `linalg.index`.
fn dimension(op: Op) -> Option<usize> {
    ir::attribute(op, "dim").and_then(ir::integer).and_then(|of| usize::try_from(of).ok())
}

/// A slice of these sizes, taken or inserted; a start is 0 where there is none.
fn slice<'c>(
    b: Builder<'c>,
    name: &str,
    tensors: &[Val<'c>],
    starts: &[Option<Val<'c>>],
    sizes: &[i64],
    result: Type<'c>,
) -> Val<'c> {
    let list = |entries: Vec<Option<i64>>| ir::sizes_attribute(b.context(), &entries);
    let given: Vec<Val> = starts.iter().flatten().copied().collect();
    let attributes = [
        b.named("static_offsets", list(starts.iter().map(|start| start.map_or(Some(0), |_| None)).collect())),
        b.named("static_sizes", list(sizes.iter().copied().map(Some).collect())),
        b.named("static_strides", list(vec![Some(1); sizes.len()])),
        b.segments(&[vec![1; tensors.len()], vec![given.len() as i32, 0, 0]].concat()),
    ];
    b.value(name, &[tensors, &given].concat(), result, &attributes)
}
