//! `layout-fuse-elementwise`: fuses elementwise operations whose results only others of them read.
//!
//! ```text
//! %y = generic %x { exp }                      %w = generic %x { %e = exp
//! %z = generic %y { negf }             =>                        %n = negf %e
//! %w = generic %y, %z { mulf }                                   mulf %e, %n }
//! ```
//!
//! An operation joins the one that reads its result if all its readers are in one kernel, and all read the result at
//! the same index, each element once: its values stay in registers, and are computed once. Later, `layout-lower-memrefs`
//! fuses the remaining chains, also into reductions, but no buffers with several readers.
//!
//! A tensor filled with a scalar for one operation is filled right before it: `layout-lower-memrefs` then makes the scalar
//! the initial value of its sums.
//!
//! A reshape that adds or drops dimensions of size 1 is read through, see `unit_dims`.
//!
//! A tensor filled with a scalar is not read at all: each reader gets the scalar.
//!
//! A value that several kernels read is computed in each of them, if that moves fewer elements through memory than a
//! tensor of it: `g` kernels that read the `k` tensors of its operands, beside `k + 1 + g` elements read and written.
//! The operations of all copies must be few and pipelined, as sums and products are. So `x - mean` of a layer norm is no tensor,
//! though both the variance and the result read it.
//!
//! An operation is not fused if something between it and its kernel may overwrite its operands, as bufferization
//! would copy these first; nor if it has no vector code, since the kernel would have none.

use crate::analysis::aliases::only_reads;
use crate::bufferize::unit_dims;
use crate::buffers::operations::{DIVIDES, LANEWISE, LIBRARY_CALL, MULTI_INSTRUCTION, is};
use crate::buffers::views::is_spread;
use crate::pass::stages::{Next, StageInput, StageResult};
use layout_dialect::affine;
use layout_ir::{self as ir, Builder, Op, Rewriter, Val};
use melior::ir::attribute::ArrayAttribute;
use melior::ir::operation::{OperationLike, OperationMutLike};
use melior::ir::{Attribute, BlockRef, ValueLike};
use std::collections::{BTreeMap, HashMap};
use tensor_layout::expr::Expr;

/// The most operations in one kernel.
const MAX_OPERATIONS: usize = 256;
/// The most input tensors of a kernel.
const MAX_INPUTS: usize = 16;
/// The most operations of all copies of a value that several kernels compute.
const MAX_RECOMPUTED: usize = 8;

/// Fuses elementwise operations in all blocks of a module.
pub(crate) fn run<'c>(stage: StageInput<'c>) -> StageResult<'c> {
    let rewriter = stage.rewriter;
    let root = rewriter.root();
    let blocks: Vec<_> = ir::all_operations(root).into_iter().flat_map(ir::blocks).collect();
    for block in blocks {
        ir::operations(block).into_iter().for_each(fill_late);
        let mut generics = ir::operations(block).into_iter().filter(|op| ir::name(*op) == "linalg.generic").peekable();
        if generics.peek().is_some() {
            generics.for_each(unit_dims::read_through);
            Grouping::of(block).fuse(rewriter);
        }
    }
    Ok(Next::Changed)
}

/// An elementwise operation on tensors.
#[derive(Clone)]
struct Elementwise<'c> {
    /// The tensors and scalars it reads, each with its index in the operation's dimensions.
    inputs: Vec<(Val<'c>, Vec<Expr>)>,
    /// The dimension of each of the result's dimensions.
    output: Vec<usize>,
    body: BlockRef<'c, 'c>,
    /// The number of operations in the body.
    operations: usize,
}

impl<'c> Elementwise<'c> {
    fn of(op: Op<'c>, parallel: Attribute<'c>) -> Option<Elementwise<'c>> {
        if ir::name(op) != "linalg.generic" || ir::results(op).len() != 1 {
            return None;
        }
        let (values, maps) = (ir::operands(op), ir::indexing_maps(op)?);
        let (inputs, body) = (values.len() - 1, ir::blocks(op)[0]);
        let output: Option<Vec<usize>> = affine::exprs_of_map(*maps.last()?)?.iter().map(variable).collect();
        let output = output?;
        let iterators = ir::elements(op, "iterator_types");
        let whole = (0..iterators.len()).all(|d| output.contains(&d)) && output.len() == iterators.len();
        let empty = ir::defining_op(values[inputs]).is_some_and(|op| ir::name(op) == "tensor.empty");
        let unread = !ir::is_used(ir::arguments(body)[inputs]);
        let operations = ir::operations(body);
        let (_, inner) = operations.split_last()?;
        let lanewise = inner.iter().all(|op| is(ir::name(*op), LANEWISE));
        let plain = iterators.iter().all(|i| *i == parallel) && !values.iter().any(|v| is_spread(*v));
        if !(whole && empty && unread && lanewise && plain) {
            return None;
        }
        let index = |map| affine::exprs_of_map(map);
        let inputs =
            values[..inputs].iter().zip(maps).map(|(v, map)| Some((*v, index(map)?))).collect::<Option<_>>()?;
        Some(Elementwise { inputs, output, body, operations: inner.len() })
    }

    /// Whether this many kernels move fewer elements if each computes the value itself; see the file's page.
    fn is_recomputed(&self, kernels: usize) -> bool {
        let at = |e: &Expr| match e {
            Expr::Const(_) => Some(None),
            e => variable(e).and_then(|dim| self.output.iter().position(|d| *d == dim)).map(Some),
        };
        let dims = |(_, index): &(Val, Vec<Expr>)| index.iter().map(at).collect::<Option<Vec<Option<usize>>>>();
        let Some(dims) = self.inputs.iter().map(dims).collect::<Option<Vec<_>>>() else { return false };
        let in_order = dims.iter().all(|dims| dims.iter().flatten().is_sorted());
        let streams = dims.iter().filter(|dims| dims.iter().flatten().count() == self.output.len()).count();
        let cheap = |op: &Op| {
            let slow = [DIVIDES, LIBRARY_CALL, MULTI_INSTRUCTION].iter().any(|slow| is(ir::name(*op), *slow));
            !slow && !matches!(ir::name(*op), "arith.divf" | "arith.remf" | "math.sqrt" | "math.rsqrt")
        };
        let few = kernels * self.operations <= MAX_RECOMPUTED && ir::operations(self.body).iter().all(cheap);
        few && in_order && kernels * streams < streams + 1 + kernels
    }

    /// Whether all input elements can be loaded as vectors: only elements of these widths can.
    fn loads_vectors(&self) -> bool {
        let fits =
            |v: Val| ir::tensor(v.r#type()).is_none_or(|t| matches!(ir::bits(t.element), Some(1 | 8 | 16 | 32 | 64)));
        self.inputs.iter().all(|(v, index)| index.is_empty() || fits(*v))
    }
}

/// Moves a `linalg.fill` of an empty tensor before the only operation that takes its result.
fn fill_late(op: Op) {
    let fills = ir::name(op) == "linalg.fill" && ir::results(op).len() == 1;
    let empty = fills.then(|| ir::defining_op(ir::operands(op)[1])).flatten();
    if empty.is_some_and(|empty| ir::name(empty) == "tensor.empty")
        && let [(user, _)] = ir::uses(ir::result(op, 0))[..]
        && user.block() == op.block()
    {
        ir::move_before(op, user);
    }
}

/// Whether a structured operation reads each element of an operand in one iteration of its loops.
fn reads_once(op: Op, operand: usize) -> bool {
    let index = ir::indexing_maps(op).and_then(|maps| affine::exprs_of_map(*maps.get(operand)?));
    let dims = index.and_then(|index| index.iter().map(variable).collect::<Option<Vec<usize>>>());
    let loops = ir::elements(op, "iterator_types").len();
    ir::name(op) == "linalg.generic"
        && ir::operations(ir::blocks(op)[0])
            .iter()
            .all(|inner| is(ir::name(*inner), LANEWISE) || ir::name(*inner) == "linalg.yield")
        && dims.is_some_and(|dims| dims.len() == loops && (0..loops).all(|dim| dims.contains(&dim)))
}

fn variable(e: &Expr) -> Option<usize> {
    if let Expr::Var(v) = e { Some(*v) } else { None }
}

/// The kernel of an operation, and the kernel's dimension for each of its dimensions.
#[derive(Clone, PartialEq)]
struct KernelDims {
    kernel: usize,
    dims: Vec<usize>,
}

/// The operations of a kernel, in order; the last of them writes.
#[derive(Default)]
struct ElementwiseKernel<'c> {
    members: Vec<Op<'c>>,
    operations: usize,
    inputs: usize,
}

/// The inputs of a kernel, each with its map.
struct KernelInputs<'c> {
    values: Vec<(Val<'c>, Attribute<'c>)>,
    /// For each operand of each member, the number of its input, or else of the member that defines it.
    sources: Vec<Vec<Result<usize, usize>>>,
}

/// The kernels of a block under construction.
struct Grouping<'c> {
    operations: Vec<Op<'c>>,
    at: HashMap<usize, usize>,
    elementwise: HashMap<usize, Elementwise<'c>>,
    /// Operations that may overwrite each tensor, in block order.
    written: HashMap<usize, Vec<usize>>,
    places: HashMap<usize, KernelDims>,
    /// The kernels, by the keys of their writing operations.
    kernels: HashMap<usize, ElementwiseKernel<'c>>,
}

impl<'c> Grouping<'c> {
    fn of(block: BlockRef<'c, 'c>) -> Grouping<'c> {
        let operations = ir::operations(block);
        let at = operations.iter().enumerate().map(|(k, op)| (ir::op_key(*op), k)).collect();
        let parallel = operations
            .first()
            .and_then(|op| Attribute::parse(Builder::before(*op).context(), "#linalg.iterator_type<parallel>"));
        let known = |op: &Op<'c>| Some((ir::op_key(*op), Elementwise::of(*op, parallel?)?));
        let elementwise = operations.iter().filter_map(known).collect();
        let (written, places, kernels) = Default::default();
        Grouping { operations, at, elementwise, written, places, kernels }
    }

    fn fuse(mut self, rewriter: &'c Rewriter) {
        for op in self.operations.clone().into_iter().rev() {
            if self.elementwise.contains_key(&ir::op_key(op)) {
                self.recompute(rewriter, op).into_iter().for_each(|op| self.put(op));
            }
        }
        let mut fills = Vec::new();
        for op in &self.operations {
            if let Some(kernel) = self.kernels.get(&ir::op_key(*op)) {
                self.build(rewriter, kernel, &mut fills);
            }
        }
        for fill in fills {
            if fill.block().is_some() && !ir::is_used(ir::result(fill, 0)) {
                rewriter.erase(fill);
            }
        }
    }

    /// Copies an operation for each kernel that reads its result, where that pays: see the file's page. The operation
    /// itself is left where it does not.
    fn recompute(&mut self, rewriter: &'c Rewriter, op: Op<'c>) -> Vec<Op<'c>> {
        let (key, result) = (ir::op_key(op), ir::result(op, 0));
        let Some(readers) = self.reading_kernels(result) else { return vec![op] };
        let pays = readers.len() > 1 && self.elementwise[&key].is_recomputed(readers.len());
        if !pays || readers.keys().any(|kernel| self.is_disturbed(op, *kernel)) {
            return vec![op];
        }
        let mut copies = Vec::new();
        for uses in readers.values() {
            let first = uses.iter().map(|(user, _)| *user).min_by_key(|user| self.at[&ir::op_key(*user)]);
            let copy = ir::copy_before(op, first.expect("a kernel that reads"));
            for (user, operand) in uses {
                ir::edit(*user).set_operand(*operand, ir::result(copy, 0));
            }
            self.at.insert(ir::op_key(copy), self.at[&key]);
            let own = Elementwise { body: ir::blocks(copy)[0], ..self.elementwise[&key].clone() };
            self.elementwise.insert(ir::op_key(copy), own);
            copies.push(copy);
        }
        self.operations.retain(|other| ir::op_key(*other) != key);
        self.operations.extend(&copies);
        self.elementwise.remove(&key);
        rewriter.erase(op);
        copies
    }

    /// The kernels that read a value, each with its uses; `None` if anything else reads it. A structured operation that
    /// reads each element once is a kernel of its own: `layout-lower-memrefs` fuses its operands into it.
    fn reading_kernels(&self, value: Val<'c>) -> Option<BTreeMap<usize, Vec<(Op<'c>, usize)>>> {
        let mut kernels: BTreeMap<usize, Vec<(Op<'c>, usize)>> = BTreeMap::new();
        for (user, operand) in ir::uses(value) {
            let key = ir::op_key(user);
            let kernel = match self.places.get(&key) {
                Some(place) => (operand < self.elementwise[&key].inputs.len()).then_some(place.kernel)?,
                None => (self.at.contains_key(&key) && reads_once(user, operand)).then_some(key)?,
            };
            kernels.entry(kernel).or_default().push((user, operand));
        }
        Some(kernels)
    }

    /// Adds an operation to the kernel of its readers, or starts a new one.
    fn put(&mut self, op: Op<'c>) {
        let key = ir::op_key(op);
        let size = self.elementwise[&key].operations;
        // Each reader gets the scalars of fills.
        let inputs = self.elementwise[&key].inputs.iter().filter(|(v, _)| self.filled(*v).is_none()).count();
        let place = self.joined(op).filter(|place| {
            let kernel = &self.kernels[&place.kernel];
            let fits = kernel.operations + size <= MAX_OPERATIONS && kernel.inputs + inputs <= MAX_INPUTS;
            fits && self.elementwise[&key].loads_vectors()
        });
        let dims = self.elementwise[&key].output.len();
        let place = match place.filter(|place| !self.is_disturbed(op, place.kernel)) {
            Some(place) => place,
            None => KernelDims { kernel: key, dims: (0..dims).collect() },
        };
        let kernel = self.kernels.entry(place.kernel).or_default();
        kernel.members.insert(0, op);
        kernel.operations += size;
        kernel.inputs += inputs;
        self.places.insert(key, place);
    }

    /// The place on which all readers of an operation's result agree.
    fn joined(&self, op: Op<'c>) -> Option<KernelDims> {
        let own = &self.elementwise[&ir::op_key(op)];
        if self.filled(ir::result(op, 0)).is_some() {
            return None;
        }
        let mut found: Option<KernelDims> = None;
        for (user, operand) in ir::uses(ir::result(op, 0)) {
            let (reader, place) = (self.elementwise.get(&ir::op_key(user))?, self.places.get(&ir::op_key(user))?);
            let (_, index) = reader.inputs.get(operand)?;
            let mut dims = vec![usize::MAX; own.output.len()];
            for (e, dim) in index.iter().zip(&own.output) {
                dims[*dim] = place.dims[variable(e)?];
            }
            let once = dims.len() == place.dims.len() && (0..dims.len()).all(|d| dims.contains(&d));
            let here = KernelDims { kernel: place.kernel, dims };
            if !once || found.as_ref().is_some_and(|found| *found != here) {
                return None;
            }
            found = Some(here);
        }
        found
    }

    /// Whether an operation between `op` and its kernel may overwrite its inputs.
    fn is_disturbed(&mut self, op: Op<'c>, kernel: usize) -> bool {
        let (from, to) = (self.at[&ir::op_key(op)], self.at[&kernel]);
        let inputs: Vec<Val> = self.elementwise[&ir::op_key(op)].inputs.iter().map(|(v, _)| *v).collect();
        inputs.into_iter().any(|v| {
            let (at, elementwise) = (&self.at, &self.elementwise);
            let writes = self.written.entry(ir::key(v)).or_insert_with(|| {
                let writer = |(user, operand): (Op, usize)| {
                    let reads = elementwise.get(&ir::op_key(user)).is_some_and(|e| operand < e.inputs.len());
                    at.get(&ir::op_key(user)).copied().filter(|_| !reads && !only_reads((user, operand)))
                };
                let mut writes: Vec<usize> = ir::uses(v).into_iter().filter_map(writer).collect();
                writes.sort_unstable();
                writes
            });
            writes.get(writes.partition_point(|w| *w <= from)).is_some_and(|w| *w < to)
        })
    }

    /// The fill value of a tensor in this block: a scalar, or a tensor of rank 0.
    fn filled(&self, v: Val<'c>) -> Option<Val<'c>> {
        // An operation that was fused is in no block.
        let op = ir::defining_op(v).filter(|op| op.block().is_some())?;
        if ir::name(op) == "linalg.fill" {
            return Some(ir::operands(op)[0]);
        }
        let own = self.elementwise.get(&ir::op_key(op)).filter(|own| own.operations == 0)?;
        let ([(_, index)], scalar) = (&own.inputs[..], ir::operands(op)[0]) else { return None };
        let yielded = ir::operations(own.body).last().map(|end| ir::operands(*end)[0])?;
        let element = |v: Val<'c>| ir::tensor(v.r#type()).is_none_or(|t| t.shape.is_empty());
        let copies = ir::key(yielded) == ir::key(ir::arguments(own.body)[0]);
        (copies && index.is_empty() && element(scalar) && !own.output.is_empty()).then_some(scalar)
    }

    /// Replaces the operations of a kernel by one, if there are several or they read fills.
    fn build(&self, rewriter: &'c Rewriter, kernel: &ElementwiseKernel<'c>, fills: &mut Vec<Op<'c>>) {
        let last = *kernel.members.last().expect("a kernel has the operation that writes");
        let reads_fills = |op: &Op<'c>| {
            let inputs = self.elementwise[&ir::op_key(*op)].inputs.len();
            ir::operands(*op)[..inputs].iter().any(|v| self.filled(*v).is_some())
        };
        if kernel.members.len() == 1 && !reads_fills(&last) {
            return;
        }
        let b = Builder::before(last);
        let rank = self.elementwise[&ir::op_key(last)].output.len();
        let KernelInputs { values: mut inputs, sources } = self.inputs(b, kernel, rank, fills);
        for (value, _) in &mut inputs {
            if let Some(t) = ir::tensor(value.r#type()).filter(|t| t.shape.is_empty()) {
                *value = b.value("tensor.extract", &[*value], t.element, &[]);
            }
        }
        let output = *ir::operands(last).last().expect("an operation writes something");
        let own: Vec<Expr> = self.elementwise[&ir::op_key(last)].output.iter().map(|d| Expr::Var(*d)).collect();
        let maps = inputs.iter().map(|(_, map)| *map).chain([b.map(rank, &own, &|v| v)]);
        let maps: Vec<Attribute> = maps.collect();
        let operands: Vec<Val> = inputs.iter().map(|(v, _)| *v).chain([output]).collect();
        let elements: Vec<_> =
            operands.iter().map(|v| ir::tensor(v.r#type()).map_or(v.r#type(), |t| t.element)).collect();
        let attributes = [
            b.named("indexing_maps", ArrayAttribute::new(b.context(), &maps)),
            b.named("iterator_types", ir::attribute(last, "iterator_types").expect("a structured operation")),
            b.segments(&[inputs.len() as i32, 1]),
        ];
        let result = ir::result(last, 0);
        let (generic, end) =
            b.with_body("linalg.generic", &operands, &[result.r#type()], &attributes, &elements, "linalg.yield");
        let made = self.bodies(kernel, &sources, &ir::arguments(ir::blocks(generic)[0]), end);
        ir::set_operands(end, &[*made.last().expect("the last member yields")]);
        ir::replace_all_uses(result, ir::result(generic, 0));
        kernel.members.iter().rev().for_each(|op| rewriter.erase(*op));
    }

    /// The inputs of a kernel of this rank. Fills become scalars.
    fn inputs(
        &self,
        b: Builder<'c>,
        kernel: &ElementwiseKernel<'c>,
        rank: usize,
        fills: &mut Vec<Op<'c>>,
    ) -> KernelInputs<'c> {
        let mut inputs: Vec<(Val<'c>, Attribute<'c>)> = Vec::new();
        let member = |op: &Op<'c>| {
            let key = ir::op_key(*op);
            let dims: Vec<Expr> = self.places[&key].dims.iter().map(|d| Expr::Var(*d)).collect();
            // Earlier kernels have new results.
            let current = ir::operands(*op).into_iter().zip(&self.elementwise[&key].inputs);
            let source = |(v, (_, index)): (Val<'c>, &(Val<'c>, Vec<Expr>))| {
                let maker = ir::defining_op(v).map(ir::op_key);
                if let Some(maker) = kernel.members.iter().position(|m| Some(ir::op_key(*m)) == maker) {
                    return Err(maker);
                }
                let (value, index) = match self.filled(v) {
                    Some(scalar) => {
                        fills.extend(ir::defining_op(v));
                        (scalar, Vec::new())
                    }
                    None => (v, index.iter().map(|e| e.substitute(&dims)).collect::<Vec<_>>()),
                };
                let input = (value, b.map(rank, &index, &|v| v));
                let known = inputs.iter().position(|(v, map)| ir::key(*v) == ir::key(value) && *map == input.1);
                Ok(known.unwrap_or_else(|| {
                    inputs.push(input);
                    inputs.len() - 1
                }))
            };
            current.map(source).collect()
        };
        let sources = kernel.members.iter().map(member).collect();
        KernelInputs { values: inputs, sources }
    }

    /// Copies the bodies of a kernel's operations before `end`, with inputs from `arguments` or from other bodies.
    /// Returns the results of each.
    fn bodies(
        &self,
        kernel: &ElementwiseKernel<'c>,
        from: &[Vec<Result<usize, usize>>],
        arguments: &[Val<'c>],
        end: Op<'c>,
    ) -> Vec<Val<'c>> {
        let mut made: Vec<Val<'c>> = Vec::new();
        for (op, from) in kernel.members.iter().zip(from) {
            let body = self.elementwise[&ir::op_key(*op)].body;
            let given = from.iter().map(|from| from.map_or_else(|member| made[member], |input| arguments[input]));
            let mut values: HashMap<usize, Val<'c>> = ir::arguments(body).into_iter().map(ir::key).zip(given).collect();
            for inner in ir::operations(body) {
                let of = |v: Val<'c>| values.get(&ir::key(v)).copied().unwrap_or(v);
                let operands: Vec<Val> = ir::operands(inner).into_iter().map(of).collect();
                if ir::name(inner) == "linalg.yield" {
                    made.push(operands[0]);
                    continue;
                }
                let copy = ir::copy_before(inner, end);
                ir::set_operands(copy, &operands);
                values.extend(ir::results(inner).into_iter().map(ir::key).zip(ir::results(copy)));
            }
        }
        made
    }
}
