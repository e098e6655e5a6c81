//! Builds plans.

use super::distance::Address;
use super::linear::{Linear, Refusal, address};
use super::plan::{Digit, Level, MANY, Mode, Packed, RunTime, VectorPlan};
use super::registers::{Key, Lanes, mask};
use crate::buffers::index::IndexVars;
use crate::buffers::spread::SpreadBuffer;
use crate::kernel::access::{Operand, Size};
use crate::kernel::body::Body;
use crate::kernel::loops::{scales, split};
use crate::kernel::nest::{Nest, TileLoop};
use crate::kernel::places;
use crate::pass::options::LowerMemrefsOptions;
use layout_ir::{self as ir, Builder, Op};
use melior::ir::ValueLike;
use std::cmp::Reverse;
use tensor_layout::expr::Expr;
use tensor_layout::swizzle::Swizzle;

/// The most bits of a block: with 16 it has 65536 elements in unrolled vectors.
const MAX_BITS: usize = 16;

/// Side of the squares of blocks that are visited in turn if operands have different fastest dimensions. With 1, each
/// block of a transpose touches its own page for each row, and the TLB misses. `f32-transpose` took 122 ms in the last
/// table of `benches/kernels.md` without squares, 4.5 ms in the first one with 8; no other value is on record.
const SQUARE: i64 = 8;

/// Plans a kernel for a nest; the error is the reason why there is none.
pub fn plan<'c>(
    b: Builder<'c>,
    nest: &Nest<'c>,
    body: &Body<'c>,
    target: &LowerMemrefsOptions,
    vars: &mut IndexVars<'c>,
) -> Result<VectorPlan, Refusal> {
    if places::outputs_cover_places(nest) {
        return Err("it runs a loop nest of its own on each place of the machine".into());
    }
    let mut planner = VectorPlanner::new(b, nest, target, vars)?;
    planner.widened = planner.element_bits.clone();
    for (operand, op) in widenings(nest, body) {
        planner.widened[operand] = ir::bits(ir::result(op, 0).r#type()).unwrap_or(planner.element_bits[operand]);
    }
    let widest = planner.element_bits.iter().copied().fold(body.widest()?, i64::max);
    planner.vector_bits = body.most_bits(target);
    let lanes = i64::from(planner.vector_bits) / widest;
    if lanes < 2 {
        return Err(format!("a vector of {} bits holds one element", planner.vector_bits).into());
    }
    planner.reduction_inputs = body.reduction_inputs;
    planner.reorders = body.reorders(target);
    let reduced: Vec<usize> = (0..planner.levels.len()).filter(|l| !planner.is_parallel(*l)).collect();
    let mode = match (reduced.is_empty(), planner.main(&reduced)) {
        (true, _) if body.initial.is_none() => Mode::Elementwise,
        // A body after the reduction needs the results in lanes.
        (_, Some(_)) if planner.reorders && body.epilogue.is_none() => Mode::Reassociated,
        _ => Mode::Sequential,
    };
    if mode != Mode::Elementwise && body.initial.is_none() {
        return Err("a size that is known only at run time is of a dimension that has one place in an output".into());
    }
    if mode != Mode::Elementwise && nest.outputs != 1 && body.epilogue.is_none() {
        return Err("it reduces to several outputs".into());
    }
    let all = |o: usize| (0..planner.levels.len()).all(|l| !planner.is_parallel(l) || planner.has(o, l));
    if !(planner.output..planner.element_bits.len()).all(all) {
        return Err("its outputs do not have the same dimensions".into());
    }
    let order = match mode {
        Mode::Elementwise => planner.elementwise(lanes),
        Mode::Sequential => planner.sequential(lanes),
        Mode::Reassociated => planner.reassociated(lanes, &reduced),
    };
    Ok(planner.finish(mode, lanes, order)?)
}

/// A plan under construction.
pub struct VectorPlanner<'a> {
    pub target: &'a LowerMemrefsOptions,
    /// The bits of a vector.
    pub vector_bits: u32,
    pub levels: Vec<Level>,
    pub starts: Vec<Address>,
    pub swizzles: Vec<Option<Swizzle>>,
    /// The number of the first operand that is written.
    pub output: usize,
    /// The number of operands, from the first, that are read for each step of a reduction.
    pub reduction_inputs: usize,
    /// Whether the reduction may be reordered.
    pub reorders: bool,
    /// The dimension and scale of the level for lanes, if it is not contiguous in the output.
    pub across: Option<(usize, i64)>,
    pub element_bits: Vec<i64>,
    /// Element bits after the body has widened inputs.
    pub widened: Vec<i64>,
    /// The number of dimensions.
    pub dims: usize,
    pub packed: Vec<Packed>,
    /// The run-time factors of distances.
    pub values: Vec<RunTime>,
}

/// The loops over the tiles of all dimensions, and each dimension's index in their variables.
fn tile_loops<'c>(
    b: Builder<'c>,
    nest: &Nest<'c>,
    scales: &[Vec<i64>],
    vars: &mut IndexVars<'c>,
) -> Result<(Vec<TileLoop>, Vec<Expr>), Refusal> {
    let (mut parts, mut dims): (Vec<TileLoop>, Vec<Expr>) = (Vec::new(), Vec::new());
    for (dim, scales) in scales.iter().enumerate() {
        if scales.windows(2).any(|s| s[0] % s[1] != 0) {
            let reason = "the tile sizes of its operands do not divide each other".into();
            return Err(Refusal { reason, dims: vec![dim] });
        }
        // Only loop bounds use a size's value, and this function emits none: any value will do.
        let extent = nest.extents[dim].known().map_or(Size::Value(nest.operands[0].access.base), Size::Static);
        dims.push(split(b, vars, &mut parts, dim, scales, extent));
    }
    Ok((parts, dims))
}

/// The level of a loop of a dimension with these scales, still without strides.
fn level(nest: &Nest, scales: &[i64], part: &TileLoop) -> Level {
    let scale = scales[part.level];
    let above = match part.level.checked_sub(1) {
        Some(above) => Some(scales[above]),
        None => nest.extents[part.dim].known(),
    };
    let size = above.map_or(MANY, |n: i64| n.div_euclid(scale) + i64::from(n.rem_euclid(scale) != 0));
    let is_open = above.is_none();
    Level { dim: part.dim, scale, size, is_open, strides: Vec::new(), chunk: 1, first_bit: 0 }
}

/// An operand's address where all loops begin. The variables that are left are values, for which the kernel has
/// variables: those of `vars`.
fn start<'c>(linear: Linear, own: &IndexVars<'c>, vars: &mut IndexVars<'c>) -> Address {
    let mut start = Address::start();
    start.advance(&Expr::Const(1), &linear.constant);
    for (var, factor) in linear.factors {
        start.advance(&vars.shallow(own.bound(var)), &factor);
    }
    for (e, factor) in linear.fixed {
        let value = |var: usize| if own.is_bound(var) { vars.shallow(own.bound(var)) } else { Expr::Const(0) };
        let values: Vec<Expr> = (0..own.domain.vars.len()).map(value).collect();
        start.advance(&e.substitute(&values), &factor);
    }
    start
}

/// The digits of the loops and of the block, outermost first.
pub type Order = Vec<Digit>;

impl<'a> VectorPlanner<'a> {
    fn new<'c>(
        b: Builder<'c>,
        nest: &Nest<'c>,
        target: &'a LowerMemrefsOptions,
        vars: &mut IndexVars<'c>,
    ) -> Result<Self, Refusal> {
        let output = nest.operands.len() - nest.outputs;
        let element_bits = nest.operands.iter().map(element_bits).collect::<Result<_, _>>()?;
        let scales = scales(nest);
        let mut own = IndexVars::default();
        let (parts, dims) = tile_loops(b, nest, &scales, &mut own)?;
        let mut levels: Vec<Level> = parts.iter().map(|part| level(nest, &scales[part.dim], part)).collect();
        let (mut starts, mut values) = (Vec::new(), Vec::new());
        for (number, operand) in nest.operands.iter().enumerate() {
            let copies = operand.access.spread_buffer().map(SpreadBuffer::copies).unwrap_or_default();
            if number >= output && !copies.is_empty() {
                return Err("its output is replicated".into());
            }
            let dim_of = |var: usize| parts.iter().find(|part| part.var == var).map(|part| part.dim);
            let mut linear = address(number, operand, &dims, &mut own, &mut values, &dim_of)?;
            for (level, part) in levels.iter_mut().zip(&parts) {
                level.strides.push(linear.factors.remove(&part.var).unwrap_or_default());
            }
            starts.push(start(linear, &own, vars));
        }
        Ok(VectorPlanner {
            target,
            vector_bits: target.vector_bits(),
            reduction_inputs: 0,
            reorders: false,
            across: None,
            levels,
            starts,
            swizzles: nest.operands.iter().map(|operand| operand.access.swizzle()).collect(),
            output,
            element_bits,
            widened: Vec::new(),
            dims: nest.extents.len(),
            packed: Vec::new(),
            values,
        })
    }

    /// Whether an output has the level.
    pub fn is_parallel(&self, level: usize) -> bool {
        let dim = self.levels[level].dim;
        self.levels.iter().filter(|l| l.dim == dim).any(|l| l.strides[self.output..].iter().any(|s| !s.is_zero()))
    }

    pub fn has(&self, operand: usize, level: usize) -> bool {
        self.levels[level].is_of(operand)
    }

    /// The input that has all levels, some of `reduced` among them inside one vector.
    pub fn main(&self, reduced: &[usize]) -> Option<usize> {
        let near = |o: &usize| {
            let mut lanes = i64::from(self.vector_bits) / self.element_bits[*o];
            self.chain(*o).into_iter().any(|l| {
                let within = lanes > 1;
                lanes /= self.levels[l].size.min(lanes).max(1);
                within && reduced.contains(&l)
            })
        };
        let all = |o: &usize| (0..self.levels.len()).all(|l| self.has(*o, l));
        (0..self.reduction_inputs).find(|o| all(o) && near(o))
    }

    /// The levels along which an operand's elements are contiguous, fastest first.
    pub fn chain(&self, operand: usize) -> Vec<usize> {
        let (mut chain, mut next) = (Vec::new(), 1i64);
        while let Some(level) = (0..self.levels.len()).find(|l| {
            !chain.contains(l) && self.levels[*l].size > 1 && self.levels[*l].strides[operand].known() == Some(next)
        }) {
            chain.push(level);
            let size = self.levels[level].size;
            match next.checked_mul(size) {
                Some(further) if size.count_ones() == 1 => next = further,
                _ => break,
            }
        }
        chain
    }

    /// The operand that decides the lanes if nothing is reduced: the widest with all levels. `contiguous` returns how
    /// many block bits number contiguous elements of an operand.
    fn leader(&self, contiguous: impl Fn(usize) -> usize) -> Option<usize> {
        let all = |o: usize| (0..self.levels.len()).all(|l| self.levels[l].size == 1 || self.has(o, l));
        let key = |o: &usize| (all(*o), self.element_bits[*o], *o >= self.output, contiguous(*o), Reverse(*o));
        (0..self.element_bits.len()).filter(|o| contiguous(*o) > 0).max_by_key(key)
    }

    /// The fastest levels of an operand, up to the one with this many contiguous elements.
    fn within(&self, operand: usize, mut elements: i64) -> Vec<usize> {
        let mut chain = self.chain(operand);
        let needed = chain.iter().take_while(|l| {
            let more = elements > 1;
            elements /= self.levels[**l].size.min(elements).max(1);
            more
        });
        chain.truncate(needed.count());
        chain
    }

    /// Lets the block hold `lanes` contiguous elements of an operand, or as many as there are.
    pub fn widen(&mut self, operand: usize, lanes: i64) {
        let mut lanes = lanes.max(1);
        for level in self.chain(operand) {
            let level = &mut self.levels[level];
            let chunk = lanes.min(power_above(level.size));
            level.chunk = level.chunk.max(chunk);
            lanes /= chunk;
            if lanes <= 1 || chunk < level.size {
                break;
            }
        }
    }

    /// Block bits along which an operand's elements are contiguous, for at most `lanes` elements.
    pub fn side_by_side(&self, operand: usize, lanes: i64) -> Lanes {
        let mut bits = Lanes::new();
        for level in self.chain(operand) {
            let level = &self.levels[level];
            bits.extend(level.first_bit..level.first_bit + level.bits());
            if level.chunk != level.size {
                break;
            }
        }
        bits.truncate(lanes.trailing_zeros() as usize);
        bits
    }

    /// The most elements of an operand that a swizzle keeps side by side wherever a block is: a power of two that
    /// divides the addresses of blocks.
    fn run(&self, operand: usize) -> i64 {
        let Some(swizzle) = self.swizzles[operand] else { return i64::MAX };
        let chain = self.chain(operand);
        let others = (0..self.levels.len()).filter(|l| self.levels[*l].size > 1 && !chain.contains(l));
        let zero_bits = |l: usize| self.levels[l].strides[operand].known().map_or(0, i64::trailing_zeros);
        let bits = others.map(zero_bits).min().unwrap_or(i64::BITS).min(self.starts[operand].zero_bits());
        1 << bits.min(swizzle.run().trailing_zeros())
    }

    pub fn elements(&self) -> i64 {
        self.levels.iter().map(|l| l.chunk).fold(1, i64::saturating_mul)
    }

    pub fn elementwise(&mut self, lanes: i64) -> Order {
        let mut bits = i64::from(self.vector_bits);
        // An input without any level of the lanes is loaded element by element, even if it is contiguous.
        let whole = |o: usize| i64::from(self.vector_bits) / self.element_bits[o];
        let contiguous = |o: usize| {
            let sizes = self.within(o, whole(o)).into_iter().map(|l| self.levels[l].size);
            sizes.fold(1, i64::saturating_mul).min(whole(o)).ilog2() as usize
        };
        let of_lanes = self.leader(contiguous).map_or_else(Vec::new, |o| self.within(o, lanes));
        let is_loaded = |o: &usize| of_lanes.is_empty() || of_lanes.iter().any(|l| self.has(*o, *l));
        let loaded: Vec<usize> = (0..self.element_bits.len()).rev().filter(is_loaded).collect();
        loop {
            self.levels.iter_mut().for_each(|l| l.chunk = 1);
            for &operand in &loaded {
                self.widen(operand, bits / self.element_bits[operand]);
            }
            if self.elements() / lanes <= i64::from(self.target.vector_registers()) || bits <= 32 {
                break;
            }
            bits /= 2;
        }
        // The order is the widest input's in memory: reads are prefetched, and writes are buffered in any order.
        let all = |o: &usize| (0..self.levels.len()).all(|l| self.levels[l].size == 1 || self.has(*o, l));
        let leading = (0..self.output).rev().filter(all).max_by_key(|o| self.element_bits[*o]).unwrap_or(self.output);
        let order = self.sorted(false, |l| Reverse(l.strides[leading].about()));
        self.in_squares(&order).unwrap_or(order)
    }

    /// The order through squares of blocks, for operands with different fastest levels: each operand then stays on
    /// few pages of memory. The output's level comes last, so that whole lines are written. `None` if all have the same
    /// fastest level, or too few blocks.
    pub fn in_squares(&self, order: &Order) -> Option<Order> {
        let fastest = |o: usize| self.chain(o).into_iter().find(|l| self.levels[*l].chunk < self.levels[*l].size);
        let last = fastest(self.output)?;
        let other = (0..self.element_bits.len()).filter_map(fastest).find(|l| *l != last)?;
        let is_loop = |digit: &&Digit, level: usize| !digit.block && digit.level == level;
        let mut squares = order.clone();
        let mut inner = Vec::new();
        for level in [other, last] {
            let place = squares.iter().position(|d| is_loop(&d, level))?;
            let digit = squares[place];
            if self.levels[level].size / self.levels[level].chunk < 2 * SQUARE {
                squares.remove(place);
            } else {
                squares[place].scale *= SQUARE;
            }
            inner.push(digit);
        }
        let end = squares.iter().rposition(|d| !d.block).map_or(0, |k| k + 1);
        squares.splice(end..end, inner);
        let falls = |dim: usize| {
            let scales: Vec<i64> =
                squares.iter().filter(|d| self.levels[d.level].dim == dim).map(|d| d.scale).collect();
            scales.windows(2).all(|pair| pair[0] > pair[1])
        };
        (0..self.dims).all(falls).then_some(squares)
    }

    pub fn reassociated(&mut self, lanes: i64, reduced: &[usize]) -> Order {
        let main = self.main(reduced).expect("this mode has a main input");
        self.widen(main, (i64::from(self.vector_bits) / self.element_bits[main]).max(lanes));
        let mut rows: Vec<usize> = (0..self.levels.len()).filter(|l| self.is_parallel(*l)).collect();
        rows.sort_by_key(|l| self.levels[*l].strides[main].about());
        let accumulators = i64::from(self.target.vector_registers()) / 4;
        let have: i64 = rows.iter().map(|l| self.levels[*l].chunk).fold(1, i64::saturating_mul);
        self.fill(&rows, (accumulators / have).max(1));
        // Memory is read in order, row after row.
        let row = i64::from(self.vector_bits) / self.element_bits[main];
        self.widen(main, row * accumulators);
        self.sorted(false, |l| Reverse(l.strides[main].about()))
    }

    /// Multiplies the block's steps of these levels, the first of them first, by `times` in all.
    pub fn fill(&mut self, levels: &[usize], mut times: i64) {
        for level in levels {
            let level = &mut self.levels[*level];
            if times <= 1 {
                break;
            }
            let chunk = (level.chunk * times).min(power_above(level.size));
            times /= (chunk / level.chunk).max(1);
            level.chunk = level.chunk.max(chunk);
            if level.chunk < level.size {
                break;
            }
        }
    }

    /// The digits of all levels, parallel ones first, sorted by a key; larger parts of a dimension are outside
    /// smaller ones.
    pub fn sorted<K: Ord>(&self, in_order: bool, key: impl Fn(&Level) -> K) -> Order {
        let mut order = Order::new();
        for parallel in [true, false] {
            let mut group: Vec<usize> = (0..self.levels.len()).filter(|l| self.is_parallel(*l) == parallel).collect();
            if parallel || !in_order {
                group.sort_by_key(|l| key(&self.levels[*l]));
            } else {
                // The order of dimensions is the order of the sums.
                group.sort_by_key(|l| (self.levels[*l].dim, Reverse(self.levels[*l].scale)));
            }
            let outer = |l: &usize| {
                let level = &self.levels[*l];
                Digit { level: *l, scale: level.scale * level.chunk, block: false }
            };
            let inner = |l: &usize| Digit { level: *l, scale: self.levels[*l].scale, block: true };
            let looped = group.iter().filter(|l| self.levels[**l].chunk < self.levels[**l].size);
            let in_block = group.iter().filter(|l| self.levels[**l].chunk > 1);
            let mut digits: Order = looped.map(outer).chain(in_block.map(inner)).collect();
            for dim in 0..self.dims {
                let slots: Vec<usize> =
                    (0..digits.len()).filter(|k| self.levels[digits[*k].level].dim == dim).collect();
                let mut own: Order = slots.iter().map(|k| digits[*k]).collect();
                own.sort_by_key(|d| Reverse(d.scale));
                slots.into_iter().zip(own).for_each(|(slot, digit)| digits[slot] = digit);
            }
            order.extend(digits);
        }
        order
    }

    /// Numbers the block's bits and chooses the lanes: for the computation, and for each operand in memory.
    pub fn finish(mut self, mode: Mode, lanes: i64, digits: Order) -> Result<VectorPlan, String> {
        let mut next = 0;
        for level in &mut self.levels {
            level.first_bit = next;
            next += level.bits();
        }
        if next > MAX_BITS {
            return Err("its block has too many elements, as the layouts of its operands differ too much".into());
        }
        let bits: Vec<Key> = (0..self.element_bits.len())
            .map(|o| self.levels.iter().filter(|l| l.is_of(o)).fold(0, |all, l| all | l.mask()))
            .collect();
        let reduced_levels = (0..self.levels.len()).filter(|l| !self.is_parallel(*l));
        let reduced = reduced_levels.fold(0, |all, l| all | self.levels[l].mask());
        let vector = i64::from(self.vector_bits);
        let memory: Vec<Lanes> = (0..bits.len())
            .map(|o| self.side_by_side(o, power_below(vector / self.element_bits[o]).min(self.run(o))))
            .collect();
        let chosen = self.lanes(mode, lanes, reduced, &memory)?;
        let kept = if mode == Mode::Reassociated { kept(next, reduced, &chosen) } else { 0 };
        let parallel = digits.iter().filter(|d| self.is_parallel(d.level)).count();
        Ok(VectorPlan {
            levels: self.levels,
            digits,
            parallel,
            mode,
            lanes: chosen,
            memory,
            bits,
            reduced,
            kept,
            starts: self.starts,
            swizzles: self.swizzles,
            packed: self.packed,
            values: self.values,
        })
    }

    /// The block bits for the lanes of the computation.
    pub fn lanes(&self, mode: Mode, lanes: i64, reduced: Key, memory: &[Lanes]) -> Result<Lanes, String> {
        let first = match mode {
            Mode::Elementwise => self.leader(|o| memory[o].len()),
            Mode::Sequential => Some(self.output),
            Mode::Reassociated => {
                (0..self.reduction_inputs).find(|o| memory[*o].iter().any(|bit| reduced >> bit & 1 == 1))
            }
        };
        let first = first.ok_or("no operand has contiguous elements")?;
        let chosen = match (mode, self.across, self.lane_level()) {
            (Mode::Sequential, Some(_), Some(level)) => {
                let level = &self.levels[level];
                let bits = level.first_bit..level.first_bit + level.bits();
                bits.take(power_below(lanes).trailing_zeros() as usize).collect()
            }
            _ => self.side_by_side(first, power_below(lanes)),
        };
        if chosen.is_empty() {
            return Err("no operand has contiguous elements in a dimension that can be vectorised".into());
        }
        Ok(chosen)
    }
}

/// Reduced bits that get accumulators of their own, so that additions do not wait for each other: up to
/// two, fewer where rows of outputs have accumulators of their own.
fn kept(bits: usize, reduced: Key, lanes: &[usize]) -> Key {
    let lanes = mask(lanes);
    let all = (1u64 << bits) - 1;
    let rows = (all & !reduced & !lanes).count_ones() as usize;
    let free: Vec<usize> = (0..bits).filter(|bit| (reduced & !lanes) >> bit & 1 == 1).collect();
    mask(&free[..free.len().min(2usize.saturating_sub(rows))])
}

/// The widenings of a body that the copy of an input may apply: to elements that are not encoded in memory.
pub fn widenings<'a, 'c>(nest: &'a Nest<'c>, body: &Body<'c>) -> impl Iterator<Item = (usize, Op<'c>)> + use<'a, 'c> {
    body.widenings().into_iter().filter(|(operand, _)| nest.operands[*operand].access.element_encoding.is_whole())
}

/// The bits of an operand's elements in memory.
fn element_bits(operand: &Operand) -> Result<i64, String> {
    let element_encoding = operand.access.element_encoding;
    let element = element_encoding.element;
    match element_encoding.bits.or(ir::bits(element)) {
        // An `i1` takes one byte: `narrow`.
        Some(1) => Ok(8),
        Some(n @ (8 | 16 | 32 | 64)) => Ok(n),
        _ => Err(format!("elements must have 1, 8, 16, 32 or 64 bits, found {element}")),
    }
}

pub fn power_above(n: i64) -> i64 {
    (n.max(1) as u64).next_power_of_two() as i64
}

pub fn power_below(n: i64) -> i64 {
    1 << n.max(1).ilog2()
}
