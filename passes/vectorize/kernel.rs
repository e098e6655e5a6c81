//! The loops of a kernel around its blocks.
//!
//! The code follows the digits of the plan, outermost first. For `n` remaining elements, a digit with steps of
//! `s` has a loop of `n floordiv s` full steps, each over `s` elements, and behind it the code for the last
//! `n mod s`. If `n` is known only at run time, so are these numbers, and the code behind the loop is conditional:
//!
//! ```text
//! for i0 = 0 to n floordiv 8      { for i1 = 0 to 8 .. }
//! if n mod 8 > 0                  { for i1 = 0 to n mod 8 .. }
//! ```
//!
//! So full tiles have the same code as with static sizes.

use super::distance::{Address, Distance, product};
use super::elements::Narrow;
use super::extremes::{Extreme, Piece};
use super::plan::{Level, MANY, Mode, VectorPlan};
use super::prefetch::Prefetch;
use super::registers::{Key, mask};
use super::tail::{GREATER, Tail, compare, variable};
use crate::buffers::index::IndexVars;
use crate::buffers::operations::{MULTI_INSTRUCTION, is};
use crate::kernel::body::Body;
use crate::kernel::combiner::Combiner;
use crate::pass::options::{LowerMemrefsOptions, Parallel};
use layout_ir::{self as ir, Builder, Op, Val};
use melior::ir::r#type::IntegerType;
use melior::ir::{Type, ValueLike};
use std::collections::{BTreeMap, HashMap};
use tensor_layout::expr::Expr;
use tensor_layout::maps::Interval;

/// The least number of steps (combinations of indices) of a kernel whose outermost loop is split among threads. That
/// many additions of f32 take 24 us on one core and 13 on two, that many products of a matrix product 12 and 7; a
/// sleeping thread takes up to 60 us to wake up.
const THREAD_STEPS: i64 = 1 << 18;

/// The parts of accumulators, by the numbers of their registers.
pub type Sums<'c> = BTreeMap<(Key, Piece), Val<'c>>;

/// The state of the loops around the code being emitted.
#[derive(Clone)]
pub struct At {
    /// For each dimension, the elements left to the remaining digits.
    pub rest: Vec<Tail>,
    /// The index in each dimension, without the block's bits.
    pub dims: Vec<Expr>,
    /// The address in each operand, without the block's bits.
    pub addresses: Vec<Address>,
    /// The prefetch address in each operand.
    pub prefetches: Vec<Address>,
    /// The range of a level's steps, if not all exist.
    pub ranges: Vec<Option<(i64, i64)>>,
    /// The scale from which on the block covers a dimension, and the number of elements left.
    pub tails: Vec<Option<(i64, Tail)>>,
    /// Whether no loop surrounds the code.
    pub outermost: bool,
    /// Whether stores are non-temporal.
    pub streams: bool,
}

/// A kernel under construction.
pub struct Kernel<'a, 'c> {
    pub body: &'a Body<'c>,
    pub target: &'a LowerMemrefsOptions,
    pub plan: VectorPlan,
    /// The number of the first operand that is written.
    pub output: usize,
    pub buffers: Vec<Val<'c>>,
    /// The encoding of each operand's elements in memory.
    pub narrow: Vec<Narrow<'c>>,
    /// The run-time factors of distances.
    pub values: Vec<Val<'c>>,
    pub vars: IndexVars<'c>,
    pub combiner: Option<Combiner<'c>>,
    /// Whether results are maxima or minima, computed in parts.
    pub extreme: Option<Extreme>,
    /// The widening that a copy applies to each element.
    pub widening: Option<Op<'c>>,
    /// Operations of the body that were applied to an operand when it was packed.
    pub done: HashMap<usize, usize>,
    /// The region of each operand that is prefetched.
    pub prefetches: Vec<Option<Prefetch>>,
    /// Operands that are or should stay in the cache, whatever their size.
    pub cached: Vec<bool>,
}

impl<'a, 'c> Kernel<'a, 'c> {
    pub fn new(
        body: &'a Body<'c>,
        target: &'a LowerMemrefsOptions,
        buffers: Vec<Val<'c>>,
        output: usize,
        plan: VectorPlan,
        vars: IndexVars<'c>,
    ) -> Self {
        let (combiner, done, prefetches) = (body.combiner(), HashMap::new(), Vec::new());
        let (values, widening, narrow) = (Vec::new(), None, vec![Narrow::Same; buffers.len()]);
        let extreme = Extreme::of(combiner.as_ref(), &plan, target);
        let cached = vec![false; buffers.len()];
        Kernel {
            body,
            target,
            plan,
            output,
            buffers,
            narrow,
            values,
            vars,
            combiner,
            extreme,
            widening,
            done,
            prefetches,
            cached,
        }
    }

    /// Emits the kernel for dimensions of these sizes.
    pub fn emit(&mut self, b: Builder<'c>, sizes: &[Tail]) {
        self.emit_from(b, sizes, vec![Expr::Const(0); sizes.len()], self.plan.starts.clone());
    }

    /// Emits the code for these sizes from index `dims` on, with the operands at the addresses `starts`.
    pub fn emit_from(&mut self, b: Builder<'c>, sizes: &[Tail], dims: Vec<Expr>, starts: Vec<Address>) {
        // Only memory-bound kernels prefetch: elementwise ones, and reductions whose combiner is cheap.
        let memory_bound = match self.plan.mode {
            Mode::Elementwise => true,
            Mode::Sequential => false,
            Mode::Reassociated => {
                // LLVM schedules the loads late in loops with unknown counts, whatever the combiner.
                let open = sizes.iter().any(|size| matches!(size, Tail::Open { .. }));
                let cheap = |op| self.extreme.is_some() || !is(ir::name(op), MULTI_INSTRUCTION);
                self.combiner.as_ref().is_some_and(|combiner| open || cheap(combiner.op))
            }
        };
        let known = |size: &Tail| if let Tail::Known(n) = size { *n } else { MANY };
        let extents: Vec<i64> = sizes.iter().map(known).collect();
        let prefetch = |o: usize| {
            let may_be = memory_bound && !self.cached[o] && self.is_large(o) != Some(false);
            may_be.then(|| Prefetch::new(&self.plan, o, self.bytes(o), &extents)).flatten()
        };
        self.prefetches = (0..self.buffers.len()).map(prefetch).collect();
        let ahead = |(start, prefetch): (&Address, &Option<Prefetch>)| {
            let mut address = start.clone();
            prefetch.iter().for_each(|prefetch| address.advance(&Expr::Const(1), &prefetch.start));
            address
        };
        let at = At {
            rest: sizes.to_vec(),
            dims,
            prefetches: starts.iter().zip(&self.prefetches).map(ahead).collect(),
            addresses: starts,
            ranges: vec![None; self.plan.levels.len()],
            tails: vec![None; sizes.len()],
            outermost: self.in_parallel(&extents),
            streams: false,
        };
        let streamed = self.streamed(&at);
        let Some(large) = self.is_large_at_run_time(b, streamed) else {
            self.for_memory(b, at, streamed);
            return;
        };
        let (then, otherwise) = b.conditional(large, &[]);
        self.for_memory(b.at(then), at.clone(), streamed);
        for operand in 0..self.buffers.len() {
            if self.is_large(operand).is_none() {
                self.prefetches[operand] = None;
            }
        }
        self.walk(b.at(otherwise), 0, at, Sums::new());
    }

    /// Whether the outermost loop may run its iterations in parallel.
    fn in_parallel(&self, extents: &[i64]) -> bool {
        let steps = extents.iter().fold(1i64, |all, n| all.saturating_mul(*n));
        match self.target.parallel {
            Parallel::None => false,
            Parallel::Loops | Parallel::Forall => true,
            Parallel::Openmp => steps >= THREAD_STEPS,
        }
    }

    /// Emits memory-bound code: with prefetches, and with non-temporal stores where the output allows them.
    fn for_memory(&mut self, b: Builder<'c>, at: At, streamed: Option<usize>) {
        let Some(output) = streamed else {
            self.walk(b, 0, at, Sums::new());
            return;
        };
        // Streaming stores need whole, aligned vectors, which the program may or may not provide.
        let mut streams = self.is_aligned(b, &at, output);
        if self.is_large(output).is_none() {
            let bit: Type<'c> = IntegerType::new(b.context(), 1).into();
            streams = b.value("arith.andi", &[self.exceeds(b, output), streams], bit, &[]);
        }
        let (then, otherwise) = b.conditional(streams, &[]);
        self.walk(b.at(then), 0, At { streams: true, ..at.clone() }, Sums::new());
        self.walk(b.at(otherwise), 0, at, Sums::new());
    }

    /// Emits all digits from the `k`th on.
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
        match (at.rest[dim], digit.block) {
            (_, true) => self.block_digit(b, k, at, sums),
            (Tail::Known(n), false) => self.known_digit(b, k, at, sums, n),
            (Tail::Open { var, below }, false) => self.open_digit(b, k, at, sums, Expr::Var(var), below),
        }
    }

    /// A digit of a dimension with `n` remaining elements.
    fn known_digit(&mut self, b: Builder<'c>, k: usize, at: At, sums: Sums<'c>, n: i64) -> Sums<'c> {
        let digit = self.plan.digits[k];
        let dim = self.plan.levels[digit.level].dim;
        let (full, left) = (n / digit.scale, n % digit.scale);
        let mut sums = sums;
        if full == 1 {
            let mut at = at.clone();
            at.rest[dim] = Tail::Known(digit.scale);
            sums = self.walk(b, k + 1, at, sums);
        } else if full > 1 {
            sums = self.a_loop(b, k, at.clone(), sums, Count::Known(full));
        }
        if left > 0 {
            let mut at = at;
            at.rest[dim] = Tail::Known(left);
            self.advance(&mut at, k, Expr::Const(full));
            sums = self.walk(b, k + 1, at, sums);
        }
        sums
    }

    /// A digit of a dimension with `rest` remaining elements, fewer than `below`.
    fn open_digit(&mut self, b: Builder<'c>, k: usize, at: At, sums: Sums<'c>, rest: Expr, below: i64) -> Sums<'c> {
        let digit = self.plan.digits[k];
        let dim = self.plan.levels[digit.level].dim;
        let mut sums = sums;
        let mut at = at;
        if below > digit.scale {
            let count = self.vars.value(b, &rest.clone().floor_div(digit.scale));
            let full = variable(&mut self.vars, count);
            sums = self.a_loop(b, k, at.clone(), sums, Count::Value(count));
            self.advance(&mut at, k, Expr::Var(full));
        }
        if digit.scale == 1 {
            return sums;
        }
        let left = self.vars.value(b, &rest.modulo(digit.scale));
        at.rest[dim] = Tail::Open { var: variable(&mut self.vars, left), below: below.min(digit.scale) };
        self.where_positive(b, left, sums, |kernel, b, sums| kernel.walk(b, k + 1, at, sums))
    }

    /// Emits code under the condition that a number is positive.
    fn where_positive(
        &mut self,
        b: Builder<'c>,
        number: Val<'c>,
        sums: Sums<'c>,
        inside: impl FnOnce(&mut Self, Builder<'c>, Sums<'c>) -> Sums<'c>,
    ) -> Sums<'c> {
        let bit = IntegerType::new(b.context(), 1).into();
        let condition = compare(b, GREATER, number, b.index(0), bit);
        if sums.is_empty() {
            return inside(self, b.at(b.branch(condition)), sums);
        }
        let before: Vec<Val<'c>> = sums.values().copied().collect();
        let types: Vec<Type<'c>> = before.iter().map(|v| v.r#type()).collect();
        let (then, otherwise) = b.conditional(condition, &types);
        ir::set_operands(otherwise, &before);
        let after = inside(self, b.at(then), sums);
        let keys: Vec<(Key, Piece)> = after.keys().copied().collect();
        ir::set_operands(then, &after.into_values().collect::<Vec<_>>());
        keys.into_iter().zip(ir::results(ir::parent(then).expect("the end of a branch is in it"))).collect()
    }

    /// Advances the `k`th digit by `steps`.
    fn advance(&self, at: &mut At, k: usize, steps: Expr) {
        let digit = self.plan.digits[k];
        let level = &self.plan.levels[digit.level];
        super::distance::add(&mut at.dims[level.dim], &steps, digit.scale);
        let times = digit.scale / level.scale;
        for (address, stride) in at.addresses.iter_mut().zip(&level.strides) {
            address.advance(&steps, &stride.times(times));
        }
        for (address, prefetch) in at.prefetches.iter_mut().zip(&self.prefetches) {
            prefetch.iter().for_each(|prefetch| address.advance(&steps, &prefetch.steps[k]));
        }
    }

    fn a_loop(&mut self, b: Builder<'c>, k: usize, at: At, sums: Sums<'c>, count: Count<'c>) -> Sums<'c> {
        let digit = self.plan.digits[k];
        let (upper, last) = match count {
            Count::Known(count) => (b.index(count), count - 1),
            Count::Value(count) => (count, i64::MAX),
        };
        let var = self.vars.unbound(Interval::new(0, last));
        let mut inside = at;
        inside.rest[self.plan.levels[digit.level].dim] = Tail::Known(digit.scale);
        self.advance(&mut inside, k, Expr::Var(var));
        let index = Type::index(b.context());
        let bounds = [b.index(0), upper, b.index(1)];
        let outermost = std::mem::replace(&mut inside.outermost, false);
        let (op, end) = match self.target.parallel {
            Parallel::Loops | Parallel::Openmp if outermost && k < self.plan.parallel => {
                let segments = b.segments(&[1, 1, 1, 0]);
                b.with_body("scf.parallel", &bounds, &[], &[segments], &[index], "scf.reduce")
            }
            Parallel::Forall if outermost && k < self.plan.parallel => match count {
                Count::Known(count) => b.forall(&[Some(count)], &[], &[]),
                Count::Value(count) => b.forall(&[None], &[count], &[]),
            },
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

    /// A digit inside the block.
    fn block_digit(&mut self, b: Builder<'c>, k: usize, at: At, sums: Sums<'c>) -> Sums<'c> {
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
        let n = match at.rest[dim] {
            Tail::Known(n) => n,
            Tail::Open { var, below } => return self.open_steps(b, k, at, sums, var, below),
        };
        let (full, left) = (n / digit.scale, n % digit.scale);
        let mut sums = sums;
        if full > 0 {
            let mut at = at.clone();
            at.rest[dim] = Tail::Known(digit.scale);
            at.ranges[digit.level] = (full < chunk).then_some((0, full));
            sums = self.walk(b, k + 1, at, sums);
        }
        if left > 0 {
            let mut at = at;
            at.rest[dim] = Tail::Known(left);
            at.ranges[digit.level] = Some((full, full + 1));
            sums = self.walk(b, k + 1, at, sums);
        }
        sums
    }

    /// A digit of the block around loops of its dimension, with a run-time number of remaining elements: one step after
    /// another, each with the elements it has.
    fn open_steps(&mut self, b: Builder<'c>, k: usize, at: At, sums: Sums<'c>, var: usize, below: i64) -> Sums<'c> {
        let digit = self.plan.digits[k];
        let level = &self.plan.levels[digit.level];
        let (dim, steps) = (level.dim, level.chunk.min(level.size));
        let mut sums = sums;
        for step in (0..steps).take_while(|step| step * digit.scale + 1 < below) {
            let behind = Expr::Var(var) + Expr::Const(-step * digit.scale);
            let left = self.vars.least(b, &[behind, Expr::Const(digit.scale)]);
            let mut at = at.clone();
            at.rest[dim] = Tail::Open { var: variable(&mut self.vars, left), below: below.min(digit.scale + 1) };
            at.ranges[digit.level] = Some((step, step + 1));
            sums = self.where_positive(b, left, sums, |kernel, b, sums| kernel.walk(b, k + 1, at, sums));
        }
        sums
    }

    /// Whether an operand is larger than the cache; `None` if known only at run time.
    pub fn is_large(&self, operand: usize) -> Option<bool> {
        if self.target.cache_bytes == 0 {
            return Some(false);
        }
        let size = ir::memref(self.buffers[operand].r#type()).and_then(|shaped| shaped.shape[0])?;
        Some(size.unsigned_abs().saturating_mul(self.bytes(operand).unsigned_abs()) > self.target.cache_bytes)
    }

    /// Whether an operand to prefetch or to store non-temporally exceeds the cache, as a run-time test; `None` if the
    /// size of a prefetched operand is static, or no operand has a run-time size.
    fn is_large_at_run_time(&self, b: Builder<'c>, streamed: Option<usize>) -> Option<Val<'c>> {
        let mut asked: Vec<usize> = (0..self.buffers.len()).filter(|o| self.prefetches[*o].is_some()).collect();
        if asked.iter().any(|o| self.is_large(*o).is_some()) {
            return None;
        }
        asked.extend(streamed.filter(|o| self.is_large(*o).is_none() && self.prefetches[*o].is_none()));
        let bit: Type<'c> = IntegerType::new(b.context(), 1).into();
        let either = |x, y| b.value("arith.ori", &[x, y], bit, &[]);
        asked.into_iter().map(|o| self.exceeds(b, o)).reduce(either)
    }

    /// Whether an operand whose size is known only at run time is larger than the cache.
    fn exceeds(&self, b: Builder<'c>, operand: usize) -> Val<'c> {
        let size = b.value("memref.dim", &[self.buffers[operand], b.index(0)], Type::index(b.context()), &[]);
        let most = self.target.cache_bytes / self.bytes(operand).unsigned_abs();
        let most = b.index(i64::try_from(most).unwrap_or(i64::MAX));
        compare(b, GREATER, size, most, IntegerType::new(b.context(), 1).into())
    }

    /// The output for non-temporal stores: one that is, or may be, larger than the cache, and whose
    /// vectors all have the alignment of the first.
    fn streamed(&self, at: &At) -> Option<usize> {
        let output = self.output;
        let only = self.plan.mode == Mode::Elementwise && output + 1 == self.buffers.len();
        let vector = self.vector(output);
        let keeps = |l: &Level| {
            let inside = self.steps_of_vector(l);
            l.size <= inside || l.strides[output].fixed.saturating_mul(inside) & (vector - 1) == 0
        };
        let aligned =
            self.plan.levels.iter().all(keeps) && multiple(at.addresses[output].fixed_part()) & (vector - 1) == 0;
        (self.is_large(output) != Some(false) && !self.cached[output] && only && aligned).then_some(output)
    }

    /// The number of a level's steps inside a vector of the output. They do not affect its alignment.
    fn steps_of_vector(&self, level: &Level) -> i64 {
        1 << (level.mask() & mask(&self.plan.memory[self.output])).count_ones()
    }

    /// The number of elements in an operand's vector.
    pub fn vector(&self, operand: usize) -> i64 {
        1 << self.plan.memory[operand].len()
    }

    /// Whether the start of a buffer is aligned for non-temporal stores, and all run-time distances are multiples of
    /// whole vectors.
    fn is_aligned(&self, b: Builder<'c>, at: &At, buffer: usize) -> Val<'c> {
        let index = Type::index(b.context());
        let bytes = self.vector(buffer) * self.bytes(buffer);
        let mut start = b.value("memref.extract_aligned_pointer_as_index", &[self.buffers[buffer]], index, &[]);
        let steps = self.plan.levels.iter().flat_map(|level| level.strides[buffer].terms.iter().map(|term| term.0));
        let mut values: Vec<usize> = steps.chain(at.addresses[buffer].values()).collect();
        values.sort_unstable();
        values.dedup();
        for value in values {
            let distance = product(b, self.values[value], self.bytes(buffer));
            start = b.value("arith.ori", &[start, distance], index, &[]);
        }
        let rest = b.value("arith.andi", &[start, b.index(bytes - 1)], index, &[]);
        b.equal(rest, b.index(0))
    }

    /// The distance in an operand between an element of the block and the first one.
    pub fn offset(&self, operand: usize, key: Key) -> Distance {
        let steps = self.plan.levels.iter().map(|level| level.strides[operand].times(level.step(key)));
        steps.fold(Distance::default(), |sum, step| sum.plus(&step))
    }

    pub fn element(&self, operand: usize) -> Type<'c> {
        ir::memref(self.buffers[operand].r#type()).expect("operands are memrefs").element
    }

    /// The bytes of an element.
    pub fn bytes(&self, operand: usize) -> i64 {
        ir::bits(self.element(operand)).expect("the plan has checked the elements' types") / 8
    }
}

/// The trip count of a loop.
#[derive(Clone, Copy)]
enum Count<'c> {
    Known(i64),
    Value(Val<'c>),
}

/// A number whose power-of-two factors divide the sum, whatever its variables; 0 if the sum is 0.
fn multiple(e: &Expr) -> i64 {
    match e {
        Expr::Const(c) => *c,
        Expr::Mul(_, f) => *f,
        // A power of two divides the bitwise or if it divides both.
        Expr::Add(a, b) => multiple(a) | multiple(b),
        _ => 1,
    }
}
