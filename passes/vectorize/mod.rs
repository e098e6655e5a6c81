//! Vector code for loop nests.
//!
//! A kernel works on one block of elements after another: it loads the block of each operand as registers, rearranges
//! them so that all have the same elements in the same lanes, computes with whole registers, and rearranges and stores
//! the results. Full blocks and ragged ends are different code, with constant bounds and masks in each; padding is
//! neither read nor written. Reductions keep their results in registers for as long as the loops over what is reduced
//! run.
//!
//! Buffers are reached through views of one dimension over all their elements, so that it makes no difference which
//! form their types have.

mod plan;
mod prefetch;
mod registers;

use crate::buffers::index::IndexVars;
use crate::buffers::operations::{CONTRACTS, MULTI_INSTRUCTION, is};
use crate::kernel::body::{Argument, Body};
use crate::kernel::combiner::Combiner;
use crate::kernel::nest::Nest;
use crate::options::{Options, Parallel};
use crate::upstream::{self, FastMath};
use layout_ir::{self as ir, Builder, Op, Shaped, Val};
use melior::ir::attribute::{BoolAttribute, DenseElementsAttribute, IntegerAttribute};
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, Identifier, Type, TypeLike, ValueLike};
use plan::{Mode, Plan};
use prefetch::Prefetch;
use registers::{Key, Rearranged, mask, place, shuffle, subsets};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use tensor_layout::expr::Expr;
use tensor_layout::maps::Interval;

/// `memref.prefetch` locality hints: into L1, and into the last level.
const NEAREST: i64 = 3;
const FAR: i64 = 1;

/// Makes vector code for a nest before `b`; the error is the reason why there can be none, and nothing was made.
pub fn emit<'c>(b: Builder<'c>, nest: &Nest<'c>, body: &Body<'c>, target: &Options) -> Result<(), String> {
    if nest.extents.iter().any(|n| n.known() == Some(0)) {
        return Ok(());
    }
    let mut vars = IndexVars::default();
    let mut plan = Plan::new(b, nest, body, target, &mut vars)?;
    let rows = nest.operands.iter().map(|o| row(o.access.base)).collect::<Result<Vec<_>, _>>()?;
    for (operand, (_, offset)) in rows.iter().enumerate().filter(|(_, row)| row.1 != 0) {
        let packed = plan.packed.iter_mut().find(|packed| packed.operand == operand);
        let start = packed.map_or(&mut plan.starts[operand], |packed| &mut packed.plan.starts[0]);
        *start = std::mem::replace(start, Expr::Const(0)) + Expr::Const(*offset);
    }
    let rows = nest.operands.iter().zip(rows);
    let mut buffers: Vec<Val<'c>> = rows.map(|(o, (row, _))| flat(b, o.access.base, row)).collect();
    let extents: Vec<i64> = nest.extents.iter().filter_map(|n| n.known()).collect();
    let mut done = HashMap::new();
    let mut copies = Vec::new();
    for packed in std::mem::take(&mut plan.packed) {
        let from = buffers[packed.operand];
        let widening = body.widenings().into_iter().find(|(operand, _)| *operand == packed.operand).map(|w| w.1);
        let element = match widening {
            Some(op) => ir::result(op, 0).r#type(),
            None => ir::memref(from.r#type()).expect("operands are memrefs").element,
        };
        let to = scratch(b, packed.size, element);
        done.extend(widening.map(|op| (ir::op_key(op), packed.operand)));
        let copy = Body::simple(vec![(from, Argument::Element(0))], None);
        Kernel::new(&copy, target, vec![from, to], 1, packed.plan, vars.clone(), widening).emit(b, &extents);
        buffers[packed.operand] = to;
        copies.push(to);
    }
    let output = nest.operands.len() - nest.outputs;
    let mut kernel = Kernel::new(body, target, buffers, output, plan, vars, None);
    kernel.done = done;
    kernel.emit(b, &extents);
    for copy in copies {
        b.op("memref.dealloc", &[copy], &[], &[caller_frees(b)]);
    }
    Ok(())
}

/// A buffer for the time of a kernel.
fn scratch<'c>(b: Builder<'c>, size: i64, element: Type<'c>) -> Val<'c> {
    let shaped = Shaped { shape: vec![Some(size)], element, layout: None, space: None };
    let t = ir::memref_type(b.location, &shaped).expect("elements of vectors make a memref");
    let alignment = IntegerAttribute::new(IntegerType::new(b.context(), 64).into(), 64);
    b.value("memref.alloc", &[], t, &[b.segments(&[0, 0]), b.named("alignment", alignment), caller_frees(b)])
}

/// Says of an allocation that the one who made it frees it.
fn caller_frees<'c>(b: Builder<'c>) -> (Identifier<'c>, Attribute<'c>) {
    b.named(crate::ownership::KEEP, Attribute::unit(b.context()))
}

/// The type of one dimension over all of a buffer, up to its last element, and where its first one is.
fn row<'c>(buffer: Val<'c>) -> Result<(Shaped<'c>, i64), String> {
    let shaped = ir::memref(buffer.r#type()).ok_or("an operand is not a memref")?;
    if shaped.space.is_some_and(|space| !upstream::is_memory_space(space)) {
        return Err("MLIR does not accept the memory space of a buffer".into());
    }
    let (strides, offset) = match shaped.layout {
        Some(layout) => (ir::strides_of(layout).ok_or("a buffer has no strides")?, ir::offset_of(&shaped)),
        None => (crate::buffers::parts::row_major(&shaped.shape), Some(0)),
    };
    let offset = offset.ok_or("the offset of a buffer is known only at run time")?;
    let reach = shaped.shape.iter().zip(&strides).map(|(n, s)| n.as_ref()?.checked_sub(1)?.checked_mul((*s)?.max(0)));
    let size = reach.fold(offset.checked_add(1), |sum, step| sum?.checked_add(step?)).ok_or("a buffer is too large")?;
    Ok((Shaped { shape: vec![Some(size)], layout: None, ..shaped }, offset))
}

/// A view of a buffer with that type.
fn flat<'c>(b: Builder<'c>, buffer: Val<'c>, row: Shaped<'c>) -> Val<'c> {
    let t = ir::memref_type(b.location, &row).expect("elements of a memref make a memref");
    if t == buffer.r#type() {
        return buffer;
    }
    b.reinterpret(buffer, t, 0, &row.shape, &[], &[Some(1)], &[])
}

/// A number, 0 for all, that a sum is a multiple of whatever its variables are.
fn multiple(e: &Expr) -> i64 {
    match e {
        Expr::Const(c) => *c,
        Expr::Mul(_, f) => *f,
        // Of both, where they are powers of two; else no more than their lowest bits.
        Expr::Add(a, b) => multiple(a) | multiple(b),
        _ => 1,
    }
}

/// The lane that is there where no other is. It is loaded and stored by itself: of a number that is made narrower on
/// the way to a mask of one lane, LLVM stores all bytes.
fn only(there: &[bool]) -> Option<i64> {
    let mut lanes = there.iter().enumerate().filter(|(_, there)| **there).map(|(lane, _)| lane as i64);
    lanes.next().filter(|_| lanes.next().is_none())
}

/// Which element of a vector is meant.
fn position<'c>(b: Builder<'c>, lane: i64) -> (Identifier<'c>, Attribute<'c>) {
    b.named("static_position", ir::integers_attribute(b.context(), &[lane]))
}

/// Accumulators, by the numbers of their registers.
type Sums<'c> = BTreeMap<Key, Val<'c>>;

/// The state of the loops around the code that is being made.
#[derive(Clone)]
struct At {
    /// How many elements of each dimension are left to the digits that have not been passed.
    rest: Vec<i64>,
    /// The index in each dimension, without the block's bits.
    dims: Vec<Expr>,
    /// The address in each operand, without the block's bits.
    addresses: Vec<Expr>,
    /// The address of what is prefetched, in each operand.
    prefetches: Vec<Expr>,
    /// The steps of a level that are there, where not all are.
    ranges: Vec<Option<(i64, i64)>>,
    /// From which scale on the block has all of a dimension, and how many elements of it there are.
    tails: Vec<Option<(i64, i64)>>,
    /// Whether no loop is around.
    outermost: bool,
    /// Whether stores are non-temporal.
    streams: bool,
}

struct Kernel<'a, 'c> {
    body: &'a Body<'c>,
    target: &'a Options,
    plan: Plan,
    /// The number of the first operand that is written.
    output: usize,
    buffers: Vec<Val<'c>>,
    vars: IndexVars<'c>,
    combiner: Option<Combiner<'c>>,
    /// The widening that a copy applies to each element.
    widening: Option<Op<'c>>,
    /// Operations of the body that have been done on an operand already, when it was packed.
    done: HashMap<usize, usize>,
    /// The region of each operand that is prefetched.
    prefetches: Vec<Option<Prefetch>>,
}

/// The vectors that one block has loaded.
struct Loaded<'c> {
    bases: Vec<Val<'c>>,
    registers: Vec<Rearranged<'c>>,
    expanded: HashMap<(usize, Key), Val<'c>>,
}

impl<'a, 'c> Kernel<'a, 'c> {
    fn new(
        body: &'a Body<'c>,
        target: &'a Options,
        buffers: Vec<Val<'c>>,
        output: usize,
        plan: Plan,
        vars: IndexVars<'c>,
        widening: Option<Op<'c>>,
    ) -> Self {
        let (combiner, done, prefetches) = (body.combiner(), HashMap::new(), Vec::new());
        Kernel { body, target, plan, output, buffers, vars, combiner, widening, done, prefetches }
    }

    /// All of the code, for dimensions of these sizes.
    fn emit(&mut self, b: Builder<'c>, extents: &[i64]) {
        // Only memory-bound kernels prefetch: elementwise ones, and reductions whose combiner is cheap.
        let memory_bound = match self.plan.mode {
            Mode::Elementwise => true,
            Mode::Sequential => false,
            Mode::Reassociated => {
                self.combiner.as_ref().is_some_and(|combiner| !is(ir::name(combiner.op), MULTI_INSTRUCTION))
            }
        };
        let prefetch = |o: usize| {
            (memory_bound && self.is_large(o)).then(|| Prefetch::new(&self.plan, o, self.bytes(o), extents)).flatten()
        };
        self.prefetches = (0..self.buffers.len()).map(prefetch).collect();
        let starts = self.plan.starts.iter().zip(&self.prefetches);
        let at = At {
            rest: extents.to_vec(),
            dims: vec![Expr::Const(0); extents.len()],
            addresses: self.plan.starts.clone(),
            prefetches: starts.map(|(s, a)| s.clone() + Expr::Const(a.as_ref().map_or(0, |a| a.start))).collect(),
            ranges: vec![None; self.plan.levels.len()],
            tails: vec![None; extents.len()],
            outermost: true,
            streams: false,
        };
        let Some(buffer) = self.streamed(&at) else {
            self.walk(b, 0, at, Sums::new());
            return;
        };
        // Streaming stores are of whole vectors at their own alignment, which the program may keep or not.
        let (then, otherwise) = b.conditional(self.is_aligned(b, buffer), &[]);
        self.walk(b.at(then), 0, At { streams: true, ..at.clone() }, Sums::new());
        self.walk(b.at(otherwise), 0, at, Sums::new());
    }

    /// The code of all digits from the `k`th on.
    fn walk(&mut self, b: Builder<'c>, k: usize, at: At, sums: Sums<'c>) -> Sums<'c> {
        if k == self.plan.parallel && self.plan.mode != Mode::Elementwise && sums.is_empty() {
            let sums = self.start(b, &at);
            if !sums.is_empty() {
                let sums = self.walk(b, k, at.clone(), sums);
                self.store_sums(b, &at, sums);
            }
            return Sums::new();
        }
        let Some(&digit) = self.plan.digits.get(k) else { return self.block(b, &at, sums) };
        let dim = self.plan.levels[digit.level].dim;
        let (full, left) = (at.rest[dim] / digit.scale, at.rest[dim] % digit.scale);
        if digit.block {
            return self.block_digit(b, k, at, sums, full, left);
        }
        let mut sums = sums;
        if full == 1 {
            let mut at = at.clone();
            at.rest[dim] = digit.scale;
            sums = self.walk(b, k + 1, at, sums);
        } else if full > 1 {
            sums = self.a_loop(b, k, at.clone(), sums, full);
        }
        if left > 0 {
            let mut at = at;
            at.rest[dim] = left;
            self.advance(&mut at, k, Expr::Const(full));
            sums = self.walk(b, k + 1, at, sums);
        }
        sums
    }

    /// Goes so many steps of the `k`th digit.
    fn advance(&self, at: &mut At, k: usize, steps: Expr) {
        let digit = self.plan.digits[k];
        let level = &self.plan.levels[digit.level];
        let add = |to: &mut Expr, factor: i64| {
            let step = match &steps {
                Expr::Const(n) => Expr::Const(n * factor),
                e => e.clone().times(factor),
            };
            *to = match (std::mem::replace(to, Expr::Const(0)), step) {
                (Expr::Const(a), Expr::Const(b)) => Expr::Const(a + b),
                (e, Expr::Const(0)) | (Expr::Const(0), e) => e,
                (a, b) => a + b,
            };
        };
        add(&mut at.dims[level.dim], digit.scale);
        let times = digit.scale / level.scale;
        for (address, stride) in at.addresses.iter_mut().zip(&level.strides) {
            add(address, stride * times);
        }
        for (address, prefetch) in at.prefetches.iter_mut().zip(&self.prefetches) {
            add(address, prefetch.as_ref().map_or(0, |prefetch| prefetch.steps[k]));
        }
    }

    fn a_loop(&mut self, b: Builder<'c>, k: usize, at: At, sums: Sums<'c>, count: i64) -> Sums<'c> {
        let digit = self.plan.digits[k];
        let var = self.vars.unbound(Interval::new(0, count - 1));
        let mut inside = at;
        inside.rest[self.plan.levels[digit.level].dim] = digit.scale;
        self.advance(&mut inside, k, Expr::Var(var));
        let index = Type::index(b.context());
        let bounds = [b.index(0), b.index(count), b.index(1)];
        let outermost = std::mem::replace(&mut inside.outermost, false);
        let (op, end) = match self.target.parallel {
            Parallel::Loops if outermost && k < self.plan.parallel => {
                let segments = b.segments(&[1, 1, 1, 0]);
                b.with_body("scf.parallel", &bounds, &[], &[segments], &[index], "scf.reduce")
            }
            Parallel::Forall if outermost && k < self.plan.parallel => b.forall(&[count], &[]),
            _ => {
                let types: Vec<Type<'c>> = sums.values().map(|v| v.r#type()).collect();
                let operands: Vec<_> = bounds.into_iter().chain(sums.values().copied()).collect();
                let arguments: Vec<_> = [index].into_iter().chain(types.iter().copied()).collect();
                b.with_body("scf.for", &operands, &types, &[], &arguments, "scf.yield")
            }
        };
        let arguments = ir::arguments(ir::blocks(op)[0]);
        self.vars.bind(var, arguments[0]);
        let within: Sums<'c> = sums.keys().copied().zip(arguments[1..].iter().copied()).collect();
        let after = self.walk(b.at(end), k + 1, inside, within);
        if sums.is_empty() {
            return sums;
        }
        ir::set_operands(end, &after.into_values().collect::<Vec<_>>());
        sums.into_keys().zip(ir::results(op)).collect()
    }

    fn block_digit(&mut self, b: Builder<'c>, k: usize, at: At, sums: Sums<'c>, full: i64, left: i64) -> Sums<'c> {
        let digit = self.plan.digits[k];
        let level = &self.plan.levels[digit.level];
        let (dim, chunk) = (level.dim, level.chunk);
        if at.tails[dim].is_some() {
            return self.walk(b, k + 1, at, sums);
        }
        let mut below = self.plan.digits[k + 1..].iter().filter(|d| self.plan.levels[d.level].dim == dim);
        if below.all(|d| d.block) {
            let mut at = at;
            at.tails[dim] = Some((digit.scale, at.rest[dim]));
            return self.walk(b, k + 1, at, sums);
        }
        let mut sums = sums;
        if full > 0 {
            let mut at = at.clone();
            at.rest[dim] = digit.scale;
            at.ranges[digit.level] = (full < chunk).then_some((0, full));
            sums = self.walk(b, k + 1, at, sums);
        }
        if left > 0 {
            let mut at = at;
            at.rest[dim] = left;
            at.ranges[digit.level] = Some((full, full + 1));
            sums = self.walk(b, k + 1, at, sums);
        }
        sums
    }

    /// Whether an element of the block is there, in an operand or, for all of its bits, in the iteration.
    fn is_there(&self, at: &At, operand: Option<usize>, key: Key) -> bool {
        let mut sums = vec![0i64; at.tails.len()];
        for (number, level) in self.plan.levels.iter().enumerate() {
            let step = (key >> level.first_bit & ((1 << level.bits()) - 1)) as i64;
            if step >= level.size {
                return false;
            }
            match at.tails[level.dim] {
                Some((scale, _)) if level.scale <= scale => sums[level.dim] += step * level.scale,
                _ => {
                    let (from, to) = at.ranges[number].unwrap_or((0, level.chunk));
                    let has = operand.is_none_or(|o| level.strides[o] != 0);
                    if has && level.chunk > 1 && !(from..to).contains(&step) {
                        return false;
                    }
                }
            }
        }
        at.tails.iter().zip(sums).all(|(tail, sum)| tail.is_none_or(|(_, size)| sum < size))
    }

    /// Which lanes of a register are there.
    fn lanes_there(&self, at: &At, operand: Option<usize>, lanes: &[usize], key: Key) -> Vec<bool> {
        (0..1usize << lanes.len()).map(|lane| self.is_there(at, operand, place(lanes, key, lane))).collect()
    }

    /// The distance in an operand between an element of the block and the first one.
    fn offset(&self, operand: usize, key: Key) -> i64 {
        let step = |l: &plan::Level| (key >> l.first_bit & ((1 << l.bits()) - 1)) as i64 * l.strides[operand];
        self.plan.levels.iter().map(step).sum()
    }

    fn all_bits(&self) -> Key {
        self.plan.levels.iter().fold(0, |all, l| all | ((1 << l.bits()) - 1) << l.first_bit)
    }

    fn element(&self, operand: usize) -> Type<'c> {
        ir::memref(self.buffers[operand].r#type()).expect("operands are memrefs").element
    }

    /// The type in which an operand's elements are moved between lanes: small ones as integers, which the machine
    /// shuffles faster.
    fn moved(&self, b: Builder<'c>, operand: usize) -> Type<'c> {
        let element = self.element(operand);
        match ir::bits(element) {
            Some(n @ (8 | 16)) => IntegerType::new(b.context(), n as u32).into(),
            _ => element,
        }
    }

    fn loading(&self, b: Builder<'c>, at: &At) -> Loaded<'c> {
        let bases = at.addresses.iter().map(|e| self.vars.value(b, e)).collect();
        let wanted = |o: usize| -> Vec<usize> {
            self.plan.lanes.iter().copied().filter(|bit| self.plan.bits[o] >> bit & 1 == 1).collect()
        };
        let registers = (0..self.buffers.len()).map(|o| Rearranged::new(&self.plan.memory[o], &wanted(o))).collect();
        Loaded { bases, registers, expanded: HashMap::new() }
    }

    fn index(&self, b: Builder<'c>, base: Val<'c>, offset: i64) -> Val<'c> {
        if offset == 0 {
            return base;
        }
        b.value("arith.addi", &[base, b.index(offset)], Type::index(b.context()), &[])
    }

    /// Loads the contiguous elements of an operand from `key` on.
    fn load(&self, b: Builder<'c>, at: &At, base: Val<'c>, operand: usize, key: Key) -> Val<'c> {
        let lanes = &self.plan.memory[operand];
        let t = ir::vector_type(&[1 << lanes.len()], self.element(operand));
        let there = self.lanes_there(at, Some(operand), lanes, key);
        let index = self.index(b, base, self.offset(operand, key));
        let buffer = self.buffers[operand];
        let loaded = if !there.contains(&true) {
            b.constant(ir::zeros(t))
        } else if lanes.is_empty() {
            let one = b.value("memref.load", &[buffer, index], self.element(operand), &[]);
            b.value("vector.broadcast", &[one], t, &[])
        } else if let Some(lane) = only(&there) {
            let one = b.value("memref.load", &[buffer, self.index(b, index, lane)], self.element(operand), &[]);
            b.value("vector.insert", &[one, b.constant(ir::zeros(t))], t, &[position(b, lane)])
        } else if there.contains(&false) {
            let operands = [buffer, index, self.bools(b, &there), b.constant(ir::zeros(t))];
            b.value("vector.maskedload", &operands, t, &[])
        } else {
            b.value("vector.load", &[buffer, index], t, &[])
        };
        self.cast(b, loaded, self.moved(b, operand))
    }

    /// Tells the cache what comes after a block, in one of so many parts. What is written past it needs no telling;
    /// what is written through it needs the nearest cache itself.
    fn prefetch(&self, b: Builder<'c>, at: &At, part: usize, parts: usize) {
        let through = |o: usize| o >= self.output && !at.streams && self.plan.mode == Mode::Elementwise;
        let crowded = (0..self.buffers.len()).any(|o| through(o) && self.is_large(o));
        for (operand, prefetch) in self.prefetches.iter().enumerate() {
            let Some(prefetch) = prefetch.as_ref().filter(|_| operand < self.output || through(operand)) else {
                continue;
            };
            let near = prefetch.in_one_piece && !crowded;
            let hint =
                IntegerAttribute::new(IntegerType::new(b.context(), 32).into(), if near { NEAREST } else { FAR });
            let flag = |name: &str, value: bool| b.named(name, BoolAttribute::new(b.context(), value));
            let lines = &prefetch.lines[part * prefetch.lines.len() / parts..(part + 1) * prefetch.lines.len() / parts];
            if lines.is_empty() {
                continue;
            }
            let base = self.vars.value(b, &at.prefetches[operand]);
            for line in lines {
                let index = self.index(b, base, *line);
                let is_write = flag("isWrite", operand >= self.output);
                let attributes = [is_write, b.named("localityHint", hint), flag("isDataCache", true)];
                b.op("memref.prefetch", &[self.buffers[operand], index], &[], &attributes);
            }
        }
    }

    /// A vector with its bits read as elements of another type.
    fn cast(&self, b: Builder<'c>, v: Val<'c>, element: Type<'c>) -> Val<'c> {
        let t = ir::vector(v.r#type()).expect("registers are vectors");
        if t.element == element {
            return v;
        }
        b.value("vector.bitcast", &[v], ir::vector_type(&t.shape, element), &[])
    }

    fn bools(&self, b: Builder<'c>, values: &[bool]) -> Val<'c> {
        let t = ir::vector_type(&[values.len() as i64], IntegerType::new(b.context(), 1).into());
        let values: Vec<i32> = values.iter().map(|v| i32::from(*v)).collect();
        b.constant(DenseElementsAttribute::bool_values(t, &values).into())
    }

    fn broadcast(&self, b: Builder<'c>, v: Val<'c>) -> Val<'c> {
        let t = ir::vector_type(&[1 << self.plan.lanes.len()], v.r#type());
        b.value("vector.broadcast", &[v], t, &[])
    }

    /// The register of an operand with this number, in the lanes that are computed with.
    fn register(&self, b: Builder<'c>, at: &At, loaded: &mut Loaded<'c>, operand: usize, key: Key) -> Val<'c> {
        let bits = self.plan.bits[operand];
        let own: Vec<usize> = self.plan.lanes.iter().copied().filter(|bit| bits >> bit & 1 == 1).collect();
        let key = key & bits & !mask(&self.plan.lanes);
        if let Some(known) = loaded.expanded.get(&(operand, key)) {
            return *known;
        }
        let base = loaded.bases[operand];
        let made = if own.is_empty() {
            if self.is_there(at, Some(operand), key) {
                let index = self.index(b, base, self.offset(operand, key));
                self.broadcast(b, b.value("memref.load", &[self.buffers[operand], index], self.element(operand), &[]))
            } else {
                b.constant(ir::zeros(ir::vector_type(&[1 << self.plan.lanes.len()], self.element(operand))))
            }
        } else {
            let mut source = |key: Key| self.load(b, at, base, operand, key & bits);
            let moved = loaded.registers[operand].register(b, key, &mut source);
            let moved = self.cast(b, moved, self.element(operand));
            // Lanes of bits that the operand does not have repeat its elements.
            let lane = |lane: usize| {
                let at = place(&self.plan.lanes, 0, lane);
                own.iter().enumerate().map(|(k, bit)| ((at >> bit & 1) << k) as i64).sum()
            };
            match own.len() == self.plan.lanes.len() {
                true => moved,
                false => shuffle(b, &[moved], &(0..1 << self.plan.lanes.len()).map(lane).collect::<Vec<i64>>()),
            }
        };
        loaded.expanded.insert((operand, key), made);
        made
    }

    /// The value of an argument of a body, for one register.
    fn argument(
        &self,
        b: Builder<'c>,
        at: &At,
        loaded: &mut Loaded<'c>,
        key: Key,
        sum: Option<Val<'c>>,
        from: &Argument<'c>,
    ) -> Val<'c> {
        match from {
            Argument::Element(operand) => self.register(b, at, loaded, *operand, key),
            Argument::Value(v) => self.broadcast(b, *v),
            Argument::Sum => sum.expect("only reductions have sums"),
            Argument::Made(body) => self.compute(b, at, loaded, body, key, sum)[0],
        }
    }

    /// The values that a body yields, for one register.
    fn compute(
        &self,
        b: Builder<'c>,
        at: &At,
        loaded: &mut Loaded<'c>,
        body: &Body<'c>,
        key: Key,
        sum: Option<Val<'c>>,
    ) -> Vec<Val<'c>> {
        let Some(block) = body.block else {
            let value = self.argument(b, at, loaded, key, sum, &body.arguments[0].1);
            let widened = |op: Op<'c>| {
                let t = ir::vector_type(&[1 << self.plan.lanes.len()], ir::result(op, 0).r#type());
                b.value(ir::name(op), &[value], t, &self.attributes(b, op))
            };
            return vec![self.widening.map_or(value, widened)];
        };
        let mut values: HashMap<usize, Val<'c>> = HashMap::new();
        for (argument, from) in &body.arguments {
            let done = self.done.values().any(|operand| Body::is(from, *operand));
            if !done && ir::is_used(*argument) {
                values.insert(ir::key(*argument), self.argument(b, at, loaded, key, sum, from));
            }
        }
        let known = |b: Builder<'c>, values: &HashMap<usize, Val<'c>>, v: Val<'c>| {
            values.get(&ir::key(v)).copied().unwrap_or_else(|| self.broadcast(b, v))
        };
        for op in ir::operations(block) {
            let inside = b.located(op);
            if let Some(operand) = self.done.get(&ir::op_key(op)) {
                values.insert(ir::key(ir::result(op, 0)), self.register(b, at, loaded, *operand, key));
                continue;
            }
            let operands: Vec<Val<'c>> = match ir::name(op) {
                "arith.constant" => Vec::new(),
                _ => ir::operands(op).into_iter().map(|v| known(inside, &values, v)).collect(),
            };
            let made = match ir::name(op) {
                "linalg.yield" => return operands,
                "arith.constant" => {
                    let value = ir::attribute(op, "value").expect("a constant has a value");
                    self.broadcast(inside, inside.constant(value))
                }
                "linalg.index" => {
                    let dim = ir::attribute(op, "dim").and_then(ir::integer).unwrap_or(0) as usize;
                    self.indices(inside, at, dim, key)
                }
                "arith.truncf" if self.rounds_by_hand(inside, op) => self.rounded(inside, operands[0]),
                name => {
                    let t = ir::vector_type(&[1 << self.plan.lanes.len()], ir::result(op, 0).r#type());
                    inside.value(name, &operands, t, &self.attributes(inside, op))
                }
            };
            values.insert(ir::key(ir::result(op, 0)), made);
        }
        Vec::new()
    }

    /// Whether an operation rounds f32 to the nearest bf16, for which most machines have no instruction and LLVM calls
    /// a function for each element.
    fn rounds_by_hand(&self, b: Builder<'c>, op: Op<'c>) -> bool {
        let (from, to) = (ir::operands(op)[0].r#type(), ir::result(op, 0).r#type());
        from.is_f32() && to == Type::bfloat16(b.context()) && ir::attribute(op, "roundingmode").is_none()
    }

    /// A vector of f32 as bf16: ties go to the even one, and NaN stays NaN.
    fn rounded(&self, b: Builder<'c>, v: Val<'c>) -> Val<'c> {
        let integer = |bits: u32| -> Type<'c> { IntegerType::new(b.context(), bits).into() };
        let of = |element: Type<'c>| ir::vector_type(&[1 << self.plan.lanes.len()], element);
        let word = |n: i64| {
            let n = IntegerAttribute::new(integer(32), n).into();
            b.constant(DenseElementsAttribute::new(of(integer(32)), &[n]).expect("a number makes a constant").into())
        };
        let on_words = |name: &str, x: Val<'c>, y: Val<'c>| b.value(name, &[x, y], of(integer(32)), &[]);
        let bits = self.cast(b, v, integer(32));
        let odd = on_words("arith.andi", on_words("arith.shrui", bits, word(16)), word(1));
        let nearest = on_words("arith.addi", on_words("arith.addi", bits, word(0x7FFF)), odd);
        let unordered = IntegerAttribute::new(integer(64), 14);
        let is_nan = b.value("arith.cmpf", &[v, v], of(integer(1)), &[b.named("predicate", unordered)]);
        let quiet = on_words("arith.ori", bits, word(0x40_0000));
        let chosen = b.value("arith.select", &[is_nan, quiet, nearest], of(integer(32)), &[]);
        let high = on_words("arith.shrui", chosen, word(16));
        self.cast(b, b.value("arith.trunci", &[high], of(integer(16)), &[]), Type::bfloat16(b.context()))
    }

    /// The attributes of an operation's vector form.
    fn attributes(&self, b: Builder<'c>, op: Op<'c>) -> Vec<(Identifier<'c>, Attribute<'c>)> {
        let contracts = self.target.contract && is(ir::name(op), CONTRACTS);
        let mut attributes = b.attributes_of(op);
        // Sums of parts may overflow where the whole does not.
        if self.combiner.as_ref().is_some_and(|combiner| ir::op_key(combiner.op) == ir::op_key(op)) {
            attributes.retain(|a| a.0 != Identifier::new(b.context(), "overflowFlags"));
        }
        if contracts {
            let flags = FastMath::of(op).with(FastMath::CONTRACT).attribute(b.context());
            attributes.retain(|a| a.0 != Identifier::new(b.context(), "fastmath"));
            attributes.push(b.named("fastmath", flags));
        }
        attributes
    }

    /// The indices in a dimension of the elements of a register.
    fn indices(&self, b: Builder<'c>, at: &At, dim: usize, key: Key) -> Val<'c> {
        let first = self.broadcast(b, self.vars.value(b, &at.dims[dim]));
        let index = |lane: usize| -> i64 {
            let element = place(&self.plan.lanes, key, lane);
            let of_dim = self.plan.levels.iter().filter(|l| l.dim == dim);
            of_dim.map(|l| (element >> l.first_bit & ((1 << l.bits()) - 1)) as i64 * l.scale).sum()
        };
        let lanes = 1 << self.plan.lanes.len();
        let t = ir::vector_type(&[lanes as i64], Type::index(b.context()));
        let steps: Vec<Attribute<'c>> = (0..lanes).map(|lane| b.index_attribute(index(lane))).collect();
        let steps = DenseElementsAttribute::new(t, &steps).expect("indices make a constant");
        b.value("arith.addi", &[first, b.constant(steps.into())], t, &[])
    }

    /// Loads all of the block that has lanes, in the order of memory.
    fn load_in_order(&self, b: Builder<'c>, at: &At, loaded: &mut Loaded<'c>) {
        for operand in 0..self.output {
            let memory = &self.plan.memory[operand];
            if !self.plan.lanes.iter().any(|bit| self.plan.bits[operand] >> bit & 1 == 1) {
                continue;
            }
            let mut keys: Vec<Key> = subsets(self.plan.bits[operand] & !mask(memory)).collect();
            keys.retain(|key| self.lanes_there(at, Some(operand), memory, *key).contains(&true));
            keys.sort_by_key(|key| self.offset(operand, *key));
            let base = loaded.bases[operand];
            for key in keys {
                loaded.registers[operand].load(b, key, &mut |key| self.load(b, at, base, operand, key));
            }
        }
    }

    /// The initial value of each accumulator.
    fn start(&self, b: Builder<'c>, at: &At) -> Sums<'c> {
        let lanes = self.plan.lanes.clone();
        let rows = self.all_bits() & !self.plan.reduced & !mask(&lanes);
        let keys =
            subsets(rows | self.plan.kept).filter(|key| self.lanes_there(at, None, &lanes, *key).contains(&true));
        let keys: Vec<Key> = keys.collect();
        if self.plan.mode == Mode::Reassociated {
            let neutral = self.combiner.as_ref().expect("this mode has a combiner").neutral;
            let neutral = self.broadcast(b, b.constant(neutral));
            return keys.into_iter().map(|key| (key, neutral)).collect();
        }
        let mut loaded = self.loading(b, at);
        let initial = self.body.initial.as_ref().expect("a reduction starts from something");
        keys.into_iter().map(|key| (key, self.argument(b, at, &mut loaded, key, None, initial))).collect()
    }

    /// One block: of outputs, or what it adds to the accumulators.
    fn block(&self, b: Builder<'c>, at: &At, mut sums: Sums<'c>) -> Sums<'c> {
        let mut loaded = self.loading(b, at);
        let lanes = self.plan.lanes.clone();
        if self.plan.mode == Mode::Elementwise {
            self.prefetch(b, at, 0, 1);
            self.load_in_order(b, at, &mut loaded);
            let mut computed: HashMap<Key, Vec<Val<'c>>> = HashMap::new();
            for output in self.output..self.buffers.len() {
                let base = loaded.bases[output];
                let mut source = |key: Key| {
                    let make = || self.compute(b, at, &mut loaded, self.body, key, None);
                    computed.entry(key).or_insert_with(make)[output - self.output]
                };
                self.store(b, at, base, output, &lanes, &mut source);
            }
            return sums;
        }
        let mut steps: Vec<Key> = subsets(self.plan.reduced & !mask(&lanes)).collect();
        // As sums are written down: larger parts of a dimension change last.
        let reduced: Vec<(usize, usize)> = self.plan.levels.iter().map(|l| (l.first_bit, l.bits())).collect();
        steps.sort_by_key(|step| reduced.iter().map(|(first, n)| step >> first & ((1 << n) - 1)).collect::<Vec<_>>());
        // In any order, accumulator by accumulator, so that memory is read in order; else what is loaded once serves
        // all.
        let in_turn: Vec<(Key, Key)> = match self.plan.mode {
            Mode::Reassociated => sums.keys().flat_map(|sum| steps.iter().map(|step| (*sum, *step))).collect(),
            _ => steps.iter().flat_map(|step| sums.keys().map(|sum| (*sum, *step))).collect(),
        };
        let parts = in_turn.len();
        for (part, (number, step)) in in_turn.into_iter().enumerate() {
            self.prefetch(b, at, part, parts);
            let key = number & !self.plan.kept | step;
            if number & self.plan.kept != step & self.plan.kept {
                continue;
            }
            let sum = sums.get_mut(&number).expect("accumulators stay");
            let there = self.lanes_there(at, None, &lanes, key);
            if !there.contains(&true) {
                continue;
            }
            let Some(next) = self.compute(b, at, &mut loaded, self.body, key, Some(*sum)).pop() else { continue };
            // Lanes outside the output hold garbage; they are not stored.
            let output = Some(self.output);
            let counts =
                |lane: usize| there[lane] || !self.is_there(at, output, place(&lanes, key, lane) & !self.plan.reduced);
            let counts: Vec<bool> = (0..there.len()).map(counts).collect();
            *sum = match counts.contains(&false) {
                false => next,
                true => b.value("arith.select", &[self.bools(b, &counts), next, *sum], next.r#type(), &[]),
            };
        }
        sums
    }

    /// Stores the registers of `source`, which have these lanes.
    fn store(
        &self,
        b: Builder<'c>,
        at: &At,
        base: Val<'c>,
        output: usize,
        lanes: &[usize],
        source: &mut dyn FnMut(Key) -> Val<'c>,
    ) {
        let memory = &self.plan.memory[output];
        let mut registers = Rearranged::new(lanes, memory);
        let moved = if registers.is_same() { self.element(output) } else { self.moved(b, output) };
        let mut source = |key: Key| self.cast(b, source(key), moved);
        let mut keys: Vec<Key> = subsets(self.plan.bits[output] & !mask(memory)).collect();
        keys.sort_by_key(|key| self.offset(output, *key));
        for key in keys {
            let there = self.lanes_there(at, Some(output), memory, key);
            if !there.contains(&true) {
                continue;
            }
            let value = registers.register(b, key, &mut source);
            let value = self.cast(b, value, self.element(output));
            let index = self.index(b, base, self.offset(output, key));
            let buffer = self.buffers[output];
            if let Some(lane) = only(&there) {
                let value = b.value("vector.extract", &[value], self.element(output), &[position(b, lane)]);
                b.op("memref.store", &[value, buffer, self.index(b, index, lane)], &[], &[]);
            } else if there.contains(&false) {
                b.op("vector.maskedstore", &[buffer, index, self.bools(b, &there), value], &[], &[]);
            } else {
                let bytes = self.vector(output) * self.bytes(output);
                let streamed = || {
                    let alignment = IntegerAttribute::new(IntegerType::new(b.context(), 64).into(), bytes);
                    let streams = BoolAttribute::new(b.context(), true);
                    vec![b.named("nontemporal", streams), b.named("alignment", alignment)]
                };
                let attributes = if at.streams { streamed() } else { Vec::new() };
                b.op("vector.store", &[value, buffer, index], &[], &attributes);
            }
        }
    }

    /// Whether an operand is larger than the cache.
    fn is_large(&self, operand: usize) -> bool {
        let size = ir::memref(self.buffers[operand].r#type()).and_then(|shaped| shaped.shape[0]).unwrap_or(0);
        let bytes = size.unsigned_abs().saturating_mul(self.bytes(operand).unsigned_abs());
        self.target.cache_bytes > 0 && bytes > self.target.cache_bytes
    }

    /// The bytes of an element.
    fn bytes(&self, operand: usize) -> i64 {
        ir::bits(self.element(operand)).expect("the plan has checked the elements' types") / 8
    }

    /// The output that is written with non-temporal stores: one that is larger than the cache, and whose vectors all
    /// have the alignment of the first.
    fn streamed(&self, at: &At) -> Option<usize> {
        let output = self.output;
        let only = self.plan.mode == Mode::Elementwise && output + 1 == self.buffers.len();
        let memory = mask(&self.plan.memory[output]);
        let keeps = |l: &plan::Level| {
            let bits = ((1 << l.bits()) - 1) << l.first_bit & memory;
            // Steps within a vector are no matter.
            l.size <= 1 << bits.count_ones() || l.strides[output] << bits.count_ones() & (self.vector(output) - 1) == 0
        };
        let aligned =
            self.plan.levels.iter().all(keeps) && multiple(&at.addresses[output]) & (self.vector(output) - 1) == 0;
        (self.is_large(output) && only && aligned).then_some(output)
    }

    /// How many elements a vector of an operand has.
    fn vector(&self, operand: usize) -> i64 {
        1 << self.plan.memory[operand].len()
    }

    /// Whether a buffer starts where one of its vectors may be streamed to.
    fn is_aligned(&self, b: Builder<'c>, buffer: usize) -> Val<'c> {
        let index = Type::index(b.context());
        let bytes = self.vector(buffer) * self.bytes(buffer);
        let start = b.value("memref.extract_aligned_pointer_as_index", &[self.buffers[buffer]], index, &[]);
        let rest = b.value("arith.andi", &[start, b.index(bytes - 1)], index, &[]);
        let equal = IntegerAttribute::new(IntegerType::new(b.context(), 64).into(), 0);
        let bit = IntegerType::new(b.context(), 1).into();
        b.value("arith.cmpi", &[rest, b.index(0)], bit, &[b.named("predicate", equal)])
    }

    /// Puts the accumulators of each output element together and stores them.
    fn store_sums(&self, b: Builder<'c>, at: &At, sums: Sums<'c>) {
        let output = self.output;
        let base = self.vars.value(b, &at.addresses[output]);
        let mut lanes = self.plan.lanes.clone();
        if self.plan.mode == Mode::Sequential {
            let mut loaded = self.loading(b, at);
            let mut results: HashMap<Key, Vec<Val<'c>>> = HashMap::new();
            for (key, sum) in sums {
                let then = |then: &Rc<Body<'c>>| self.compute(b, at, &mut loaded, then, key, Some(sum));
                results.insert(key, self.body.then.as_ref().map_or_else(|| vec![sum], then));
            }
            for output in output..self.buffers.len() {
                let t = ir::vector_type(&[1 << lanes.len()], self.element(output));
                let mut source = |key: Key| match results.get(&key) {
                    Some(results) => results[output - self.output],
                    None => b.constant(ir::zeros(t)),
                };
                self.store(b, at, loaded.bases[output], output, &lanes, &mut source);
            }
            return;
        }
        let op = self.combiner.as_ref().expect("this mode has a combiner").op;
        let combined = |a: Val<'c>, c: Val<'c>| b.value(ir::name(op), &[a, c], a.r#type(), &self.attributes(b, op));
        let mut whole = Sums::new();
        for (key, sum) in sums {
            let key = key & !self.plan.kept;
            let sum = match whole.get(&key) {
                Some(other) => combined(*other, sum),
                None => sum,
            };
            whole.insert(key, sum);
        }
        while let Some(k) = lanes.iter().rposition(|bit| self.plan.reduced >> bit & 1 == 1) {
            let half =
                |upper: i64| -> Vec<i64> { (0..1i64 << lanes.len()).filter(|lane| lane >> k & 1 == upper).collect() };
            for sum in whole.values_mut() {
                let [low, high] = [0, 1].map(|upper| shuffle(b, &[*sum], &half(upper)));
                *sum = combined(low, high);
            }
            lanes.remove(k);
        }
        let memory = self.plan.memory[output].clone();
        let mut registers = Rearranged::new(&lanes, &memory);
        let moved = if registers.is_same() { self.element(output) } else { self.moved(b, output) };
        let mut source = |key: Key| match whole.get(&key) {
            Some(sum) => self.cast(b, *sum, moved),
            None => b.constant(ir::zeros(ir::vector_type(&[1 << lanes.len()], moved))),
        };
        let mut stored = |key: Key| {
            let sum = registers.register(b, key, &mut source);
            let sum = self.cast(b, sum, self.element(output));
            let before = match &self.body.initial {
                Some(Argument::Value(v)) => b.value("vector.broadcast", &[*v], sum.r#type(), &[]),
                _ => self.cast(b, self.load(b, at, base, output, key), self.element(output)),
            };
            combined(before, sum)
        };
        self.store(b, at, base, output, &memory, &mut stored);
    }
}
