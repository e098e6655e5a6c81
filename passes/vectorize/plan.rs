//! Which elements a kernel works on at once, and in which order.
//!
//! Each dimension is cut where its operands' tiles are, so that every operand's address is a sum over the *levels* of
//! the dimensions. Of the levels whose elements are contiguous in an operand, a power of two becomes part of the block
//! that is kept in registers; the rest of each level is a loop.

use super::registers::{Key, Lanes, mask};
use crate::buffers::index::IndexVars;
use crate::buffers::spread::SpreadBuffer;
use crate::kernel::access::{Operand, Size};
use crate::kernel::body::Body;
use crate::kernel::loops::{scales, split};
use crate::kernel::nest::{Nest, Part};
use crate::kernel::places;
use crate::options::Options;
use layout_ir::{self as ir, Builder};
use melior::ir::ValueLike;
use std::cmp::Reverse;
use tensor_layout::expr::Expr;

/// The most bits of a block: with 16 it has 65536 elements, each vector of which is unrolled.
const MAX_BITS: usize = 16;

/// An input is packed if at least this many blocks read each of its elements. With 1, inputs would be copied that are
/// read once. `matmul-mixed` took 530 ms in the last table of `benches/kernels.md` before packing, 9.3 ms in the first
/// one with it; no other value than 4 is on record.
const REUSE: i64 = 4;

/// Blocks each way of a square, in which operands whose fastest dimensions differ are visited. With 1, each block of a
/// transpose touches a page of its own for each row, and the TLB misses. `f32-transpose` took 122 ms in the last table
/// of `benches/kernels.md` without squares, 4.5 ms in the first one with 8; no other value is on record.
const SQUARE: i64 = 8;

/// The bytes of a page of memory.
const PAGE: i64 = 4096;

/// The least distance, in elements, of rows that are read as scalars. Below it LLVM combines their loads into vectors
/// and shuffles them apart again; 16 is the lanes of f32 in 512 bits. No other value is on record.
const APART: i64 = 16;

/// Blocks of one panel of a contraction: a panel of 4 blocks of 2 vectors of 16 f32 over 1024 steps is 512 KiB, which
/// fits the 1 MiB of L2 of the machine of `benches/kernels.md`. With 1, each row would be loaded for every block. No
/// other value is on record.
const PANEL: i64 = 4;

/// A part of a dimension between two cuts.
pub struct Level {
    /// The dimension.
    pub dim: usize,
    /// How many elements of the dimension a step is.
    pub scale: i64,
    /// How many steps there are.
    pub size: i64,
    /// How far apart the steps are in each operand, in elements.
    pub strides: Vec<i64>,
    /// How many of the steps, a power of two, a block has.
    pub chunk: i64,
    /// The number of the first bit of the step inside the block.
    pub first_bit: usize,
}

impl Level {
    /// How many bits number its steps in a block.
    pub fn bits(&self) -> usize {
        self.chunk.trailing_zeros() as usize
    }
}

/// A level's steps inside the block, or those of blocks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Digit {
    /// The level.
    pub level: usize,
    /// How many elements of the dimension a step of the digit is.
    pub scale: i64,
    /// Whether the block has all of it.
    pub block: bool,
}

/// How elements are combined to results.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Every element of an output is computed once.
    Elementwise,
    /// Elements are added to an output one after another, in order.
    Sequential,
    /// Elements are added up in any order, also across lanes.
    Reassociated,
}

/// The inputs, outputs and dimensions of a kernel.
pub struct Plan {
    /// The parts of the dimensions.
    pub levels: Vec<Level>,
    /// The digits, outermost loop first; those of dimensions that no output has come last.
    pub digits: Vec<Digit>,
    /// How many digits outputs have.
    pub parallel: usize,
    /// How results are put together.
    pub mode: Mode,
    /// The lanes of registers that are computed with.
    pub lanes: Lanes,
    /// The lanes of registers that are loaded and stored, for each operand.
    pub memory: Vec<Lanes>,
    /// Bits of the block that each operand has.
    pub bits: Vec<Key>,
    /// Bits of the block that no output has.
    pub reduced: Key,
    /// Those of them that have accumulators of their own.
    pub kept: Key,
    /// The address of each operand's first element, over the symbols of its view.
    pub starts: Vec<Expr>,
    /// Inputs that are copied first, into the order in which the kernel reads them.
    pub packed: Vec<Packed>,
}

/// An input of a contraction that is copied before, because each of its elements is read many times.
pub struct Packed {
    /// The input.
    pub operand: usize,
    /// How many elements the copy has.
    pub size: i64,
    /// The kernel that copies: from the first of its operands to the second.
    pub plan: Plan,
}

impl Plan {
    /// Plans a kernel for a nest; the error is the reason why there can be none.
    pub fn new<'c>(
        b: Builder<'c>,
        nest: &Nest<'c>,
        body: &Body<'c>,
        target: &Options,
        vars: &mut IndexVars<'c>,
    ) -> Result<Plan, String> {
        if places::outputs_cover_places(nest) {
            return Err("it runs a loop nest of its own on each place of the machine".into());
        }
        let mut planner = Planner::new(b, nest, target, vars)?;
        planner.widened = planner.element_bits.clone();
        for (operand, op) in body.widenings() {
            planner.widened[operand] = ir::bits(ir::result(op, 0).r#type()).unwrap_or(planner.element_bits[operand]);
        }
        let widest = planner.element_bits.iter().copied().fold(body.widest()?, i64::max);
        planner.vector_bits = body.most_bits(target);
        let lanes = i64::from(planner.vector_bits) / widest;
        if lanes < 2 {
            return Err(format!("a vector of {} bits holds one element", planner.vector_bits));
        }
        planner.feeds = body.feeds;
        planner.reorders = body.reorders(target);
        let reduced: Vec<usize> = (0..planner.levels.len()).filter(|l| !planner.is_parallel(*l)).collect();
        let mode = match (reduced.is_empty(), planner.main(&reduced)) {
            (true, _) if body.initial.is_none() => Mode::Elementwise,
            // A body after the reduction needs the results in lanes.
            (_, Some(_)) if planner.reorders && body.then.is_none() => Mode::Reassociated,
            _ => Mode::Sequential,
        };
        if mode != Mode::Elementwise && nest.outputs != 1 && body.then.is_none() {
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
        planner.finish(mode, lanes, order)
    }
}

/// A plan in the making.
struct Planner<'a> {
    target: &'a Options,
    /// The bits of a vector.
    vector_bits: u32,
    levels: Vec<Level>,
    starts: Vec<Expr>,
    /// The number of the first operand that is written.
    output: usize,
    /// How many operands, the first ones, are read for each step of a reduction.
    feeds: usize,
    /// Whether what is reduced may be added up in any order.
    reorders: bool,
    /// The dimension and scale of the level that lanes are of, where that is not contiguous in the output.
    across: Option<(usize, i64)>,
    element_bits: Vec<i64>,
    /// The same once the body has widened inputs.
    widened: Vec<i64>,
    /// The sizes of the dimensions.
    extents: Vec<i64>,
    packed: Vec<Packed>,
}

/// The digits of the loops and of the block, outermost first.
type Order = Vec<Digit>;

impl<'a> Planner<'a> {
    fn new<'c>(b: Builder<'c>, nest: &Nest<'c>, target: &'a Options, vars: &mut IndexVars<'c>) -> Result<Self, String> {
        let known = |n: &Size| n.known().ok_or("its sizes are known only at run time");
        let extents: Vec<i64> = nest.extents.iter().map(known).collect::<Result<_, _>>()?;
        let output = nest.operands.len() - nest.outputs;
        let element_bits = nest.operands.iter().map(element_bits).collect::<Result<_, _>>()?;
        let scales = scales(nest);
        let (mut parts, mut dims): (Vec<Part>, Vec<Expr>) = (Vec::new(), Vec::new());
        let mut own = IndexVars::default();
        for (dim, scales) in scales.iter().enumerate() {
            if scales.windows(2).any(|s| s[0] % s[1] != 0) {
                return Err("the tile sizes of its operands do not divide each other".into());
            }
            dims.push(split(b, &mut own, &mut parts, dim, scales, nest.extents[dim]));
        }
        let level = |part: &Part| {
            let scale = scales[part.dim][part.level];
            let above = part.level.checked_sub(1).map_or(extents[part.dim], |above| scales[part.dim][above]);
            let size = above.div_euclid(scale) + i64::from(above.rem_euclid(scale) != 0);
            Level { dim: part.dim, scale, size, strides: Vec::new(), chunk: 1, first_bit: 0 }
        };
        let mut levels: Vec<Level> = parts.iter().map(level).collect();
        let mut starts = Vec::new();
        for (number, operand) in nest.operands.iter().enumerate() {
            let copies = operand.access.spread_buffer().map(SpreadBuffer::copies).unwrap_or_default();
            if number >= output && !copies.is_empty() {
                return Err("its output is replicated".into());
            }
            let mut address = address(operand, &dims, &mut own)?;
            for (level, part) in levels.iter_mut().zip(&parts) {
                level.strides.push(address.factors.remove(&part.var).unwrap_or(0));
            }
            // What is left are values; the kernel has variables of its own for them.
            let mut start = vec![Expr::Const(address.constant)];
            for (var, factor) in address.factors {
                start.push(vars.shallow(own.bound(var)).times(factor));
            }
            starts.push(Expr::sum(start));
        }
        Ok(Planner {
            target,
            vector_bits: target.vector_bits(),
            feeds: 0,
            reorders: false,
            across: None,
            levels,
            starts,
            output,
            element_bits,
            widened: Vec::new(),
            extents,
            packed: Vec::new(),
        })
    }

    /// Whether an output has the level.
    fn is_parallel(&self, level: usize) -> bool {
        let dim = self.levels[level].dim;
        self.levels.iter().filter(|l| l.dim == dim).any(|l| l.strides[self.output..].iter().any(|s| *s != 0))
    }

    fn has(&self, operand: usize, level: usize) -> bool {
        self.levels[level].strides[operand] != 0
    }

    /// The input that has all levels, and some of these among the elements of one of its vectors.
    fn main(&self, reduced: &[usize]) -> Option<usize> {
        let near = |o: &usize| {
            let mut lanes = i64::from(self.vector_bits) / self.element_bits[*o];
            self.chain(*o).into_iter().any(|l| {
                let within = lanes > 1;
                lanes /= self.levels[l].size.min(lanes).max(1);
                within && reduced.contains(&l)
            })
        };
        let all = |o: &usize| (0..self.levels.len()).all(|l| self.has(*o, l));
        (0..self.feeds).find(|o| all(o) && near(o))
    }

    /// The levels along which an operand's elements are contiguous, fastest first.
    fn chain(&self, operand: usize) -> Vec<usize> {
        let (mut chain, mut next) = (Vec::new(), 1i64);
        while let Some(level) = (0..self.levels.len())
            .find(|l| !chain.contains(l) && self.levels[*l].size > 1 && self.levels[*l].strides[operand] == next)
        {
            chain.push(level);
            let size = self.levels[level].size;
            match next.checked_mul(size) {
                Some(further) if size.count_ones() == 1 => next = further,
                _ => break,
            }
        }
        chain
    }

    /// Lets the block hold so many contiguous elements of an operand, or as many as there are.
    fn widen(&mut self, operand: usize, lanes: i64) {
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

    /// Bits of the block along which an operand's elements are contiguous, at most so many elements.
    fn side_by_side(&self, operand: usize, lanes: i64) -> Lanes {
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

    fn elements(&self) -> i64 {
        self.levels.iter().map(|l| l.chunk).fold(1, i64::saturating_mul)
    }

    fn elementwise(&mut self, lanes: i64) -> Order {
        let mut bits = i64::from(self.vector_bits);
        loop {
            self.levels.iter_mut().for_each(|l| l.chunk = 1);
            for operand in (0..self.element_bits.len()).rev() {
                self.widen(operand, bits / self.element_bits[operand]);
            }
            if self.elements() / lanes <= i64::from(self.target.vector_registers()) || bits <= 32 {
                break;
            }
            bits /= 2;
        }
        // In the memory order of the widest input: reads are prefetched, and writes are buffered wherever they go.
        let all = |o: &usize| (0..self.levels.len()).all(|l| self.levels[l].size == 1 || self.has(*o, l));
        let leading = (0..self.output).rev().filter(all).max_by_key(|o| self.element_bits[*o]).unwrap_or(self.output);
        let order = self.sorted(false, |l| Reverse(l.strides[leading].abs()));
        self.in_squares(&order).unwrap_or(order)
    }

    /// The order that goes through squares of blocks, where operands have different fastest levels: so both stay on
    /// few pages of memory. The output's comes last, so that lines are written whole. None where they have the same, or
    /// too few blocks.
    fn in_squares(&self, order: &Order) -> Option<Order> {
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
        (0..self.extents.len()).all(falls).then_some(squares)
    }

    /// The level of the first lanes of a reduction in order.
    fn lane_level(&self) -> Option<usize> {
        let of = |(dim, scale)| self.levels.iter().position(|l| l.dim == dim && l.scale == scale);
        self.across.and_then(of).or_else(|| self.chain(self.output).first().copied())
    }

    /// Lets the block have so many lanes of the output's.
    fn widen_lanes(&mut self, lanes: i64) {
        match (self.across, self.lane_level()) {
            (Some(_), Some(level)) => {
                self.levels[level].chunk = self.levels[level].chunk.max(lanes.min(power_above(self.levels[level].size)))
            }
            _ => self.widen(self.output, lanes),
        }
    }

    /// Plans a kernel that adds each output's elements in the program's order: contractions, and reductions that must
    /// not be reassociated. Lanes are outputs, and so are the rows of accumulators that one load of an input serves.
    fn sequential(&mut self, lanes: i64) -> Order {
        self.across = self.lanes_across(lanes);
        self.widen_lanes(lanes);
        let panel: Vec<usize> = self.levels.iter().filter(|l| l.chunk > 1).map(|l| l.dim).collect();
        let rows = self.rows_of_one_load(&panel);
        let contraction = !rows.is_empty();
        self.fill_accumulators(lanes, &panel, &rows);
        if contraction {
            self.pack(lanes, &panel);
        }
        self.widen_inputs(lanes, &panel);
        if !self.reorders {
            self.keep_order();
        }
        let mut order = self.by_panels(contraction, &panel);
        if contraction {
            self.rows_inside_panels(&mut order, &panel);
        }
        order
    }

    /// Whether an operand has one of these dimensions.
    fn has_dim(&self, operand: usize, dims: &[usize]) -> bool {
        self.levels.iter().any(|l| dims.contains(&l.dim) && l.strides[operand] != 0)
    }

    /// The level to take lanes from where the output's fastest one is too short: a sub-tile of 2 bf16 rows, with two
    /// rows in each word, has 2 elements before the next column. The columns then are the lanes, and the rows are rows.
    fn lanes_across(&self, lanes: i64) -> Option<(usize, i64)> {
        let chain = self.chain(self.output);
        let first = chain.first().filter(|l| self.levels[**l].size < lanes)?;
        let is_long = |l: &Level| l.size >= lanes && l.dim != self.levels[*first].dim;
        let long = chain.iter().map(|l| &self.levels[*l]).find(|l| is_long(l))?;
        Some((long.dim, long.scale))
    }

    /// Levels along which an input that has the lanes stays the same: what is loaded once serves all their steps.
    fn rows_of_one_load(&self, panel: &[usize]) -> Vec<usize> {
        let is_row = |l: &usize| {
            let dim = self.levels[*l].dim;
            let served = |o: usize| self.has_dim(o, panel) && !self.has_dim(o, &[dim]);
            self.is_parallel(*l) && !panel.contains(&dim) && (0..self.feeds).any(served)
        };
        (0..self.levels.len()).rev().filter(is_row).collect()
    }

    /// Makes the block so large that accumulators fill half of the registers; the others are for what is loaded.
    fn fill_accumulators(&mut self, lanes: i64, panel: &[usize], rows: &[usize]) {
        let accumulators = i64::from(self.target.vector_registers()) / 2;
        let fastest = self.lane_level();
        let has_lanes_first = |o: usize| !self.has_dim(o, panel) || self.chain(o).first().copied() == fastest;
        if !rows.is_empty() {
            self.widen_lanes(lanes * 2);
            self.fill(rows, accumulators / 2);
        } else if (0..self.feeds).all(has_lanes_first) {
            self.widen_lanes(lanes * (accumulators / 2).max(1));
        }
    }

    /// Lets the block hold whole vectors of the inputs that have the lanes, as far as the registers go round twice.
    fn widen_inputs(&mut self, lanes: i64, panel: &[usize]) {
        let budget = 2 * i64::from(self.target.vector_registers()) * lanes;
        let inputs: Vec<usize> = (0..self.feeds).filter(|o| self.has_dim(*o, panel)).collect();
        for o in inputs {
            let before: Vec<i64> = self.levels.iter().map(|l| l.chunk).collect();
            self.widen(o, lanes);
            let chunks = self.levels.iter().filter(|l| l.strides[o] != 0).map(|l| l.chunk);
            if chunks.fold(1, i64::saturating_mul) > budget {
                self.levels.iter_mut().zip(before).for_each(|(l, chunk)| l.chunk = chunk);
            }
        }
    }

    /// Leaves the block whole steps of the innermost reduced levels only: others would change the order of additions.
    fn keep_order(&mut self) {
        let reduced: Vec<usize> = (0..self.levels.len()).rev().filter(|l| !self.is_parallel(*l)).collect();
        let mut whole = true;
        for l in reduced {
            let level = &mut self.levels[l];
            level.chunk = if whole { level.chunk } else { 1 };
            whole &= level.chunk >= level.size;
        }
    }

    /// Batches, then the panel's dimensions, then rows; else in the order of the output's memory.
    fn by_panels(&self, contraction: bool, panel: &[usize]) -> Order {
        let is_batch = |dim: usize| (0..self.feeds).all(|o| self.has_dim(o, &[dim]));
        self.sorted(true, |l| {
            let group = match () {
                () if !contraction || is_batch(l.dim) => 0,
                () if panel.contains(&l.dim) => 1,
                () => 2,
            };
            (group, Reverse(l.strides[self.output].abs()))
        })
    }

    /// Moves the panel's last loop inside the loops over rows, or [`PANEL`] blocks of it: the part of the packed input
    /// that those blocks read stays in the cache for all rows.
    fn rows_inside_panels(&self, order: &mut Order, panel: &[usize]) {
        let dim_of = |d: &Digit| self.levels[d.level].dim;
        let in_panel = |d: &Digit| panel.contains(&dim_of(d));
        let inner = order.iter().rposition(|d| !d.block && in_panel(d));
        let rows_end = order.iter().rposition(|d| !d.block && self.is_parallel(d.level) && !in_panel(d));
        let (Some(inner), Some(rows_end)) = (inner, rows_end) else { return };
        let digit = order[inner];
        let dim = dim_of(&digit);
        if inner >= rows_end || order[inner + 1..=rows_end].iter().any(|d| dim_of(d) == dim) {
            return;
        }
        let only_loop = order.iter().filter(|d| !d.block && dim_of(d) == dim).count() == 1;
        order.insert(rows_end + 1, digit);
        if only_loop {
            order[inner].scale = digit.scale * PANEL;
        } else {
            order.remove(inner);
        }
    }

    /// Plans copies of the inputs of a contraction that would have to be rearranged or converted for every block.
    fn pack(&mut self, lanes: i64, panel: &[usize]) {
        let chosen: Vec<usize> = (0..self.feeds).filter(|o| self.is_worth_packing(*o, panel)).collect();
        if chosen.is_empty() {
            return;
        }
        self.split_blocks();
        for operand in chosen {
            let order = self.packed_order(operand, panel);
            let mut size = 1i64;
            let mut strides = vec![0; self.levels.len()];
            for l in &order {
                strides[*l] = size;
                size = size.saturating_mul(self.levels[*l].size);
            }
            let mut copy = self.copy_of(operand, &order, &strides);
            let digits = copy.elementwise(lanes);
            // Where it cannot be copied in vectors, it is read where it is.
            let Ok(plan) = copy.finish(Mode::Elementwise, lanes, digits) else { continue };
            self.packed.push(Packed { operand, size, plan });
            self.levels.iter_mut().zip(strides).for_each(|(level, stride)| level.strides[operand] = stride);
            self.starts[operand] = Expr::Const(0);
            self.element_bits[operand] = self.widened[operand];
        }
    }

    /// Whether an input is read by enough blocks, and not yet contiguous in the order in which they read it.
    fn is_worth_packing(&self, operand: usize, panel: &[usize]) -> bool {
        let dims: Vec<usize> = self.levels.iter().filter(|l| l.strides[operand] != 0).map(|l| l.dim).collect();
        let others = (0..self.levels.len()).filter(|l| self.is_parallel(*l) && !dims.contains(&self.levels[*l].dim));
        let blocks = others.map(|l| self.levels[l].size.div_euclid(self.levels[l].chunk).max(1));
        let widens = self.element_bits[operand] != self.widened[operand];
        let lane_dim = self.lane_level().map(|l| self.levels[l].dim);
        let has_lanes = |l: usize| Some(self.levels[l].dim) == lane_dim;
        // Rows that are packed into words are taken apart as they are widened.
        let in_word = |l: usize| self.levels[l].size * self.element_bits[operand] <= self.widened[operand];
        // A stride of a multiple of 4 KiB maps all steps to few sets of the cache, which then miss for lack of ways.
        let steps = (0..self.levels.len()).filter(|l| !self.is_parallel(*l) && self.levels[*l].size > 1);
        let step = steps.map(|l| self.levels[l].strides[operand].abs()).filter(|s| *s > 0).min().unwrap_or(0);
        let is_near = step.saturating_mul(self.element_bits[operand]) < 8 * PAGE;
        let is_contiguous = match (dims.iter().any(|d| panel.contains(d)), &self.chain(operand)[..]) {
            (true, [rows, lanes, ..]) if widens => !self.is_parallel(*rows) && in_word(*rows) && has_lanes(*lanes),
            (true, [lanes, ..]) => !widens && has_lanes(*lanes) && is_near,
            (false, [steps, ..]) => !widens && !self.is_parallel(*steps),
            (_, []) => false,
        };
        blocks.fold(1, i64::saturating_mul) >= REUSE && !dims.is_empty() && !is_contiguous
    }

    /// The levels of a packed input, fastest first: the block's lanes, then one step of the reduction after another,
    /// then block after block. Of an input without the lanes, the steps of the reduction are fastest up to [`APART`].
    fn packed_order(&self, operand: usize, panel: &[usize]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.levels.len()).filter(|l| self.has(operand, *l)).collect();
        let has_lanes = order.iter().any(|l| panel.contains(&self.levels[*l].dim));
        let mut reach = 1i64;
        let steps = (0..self.levels.len()).rev().filter(|l| !self.is_parallel(*l));
        let near: Vec<usize> = steps
            .take_while(|l| {
                let before = reach;
                reach = reach.saturating_mul(self.levels[*l].size);
                before < APART
            })
            .collect();
        order.sort_by_key(|l| {
            let level = &self.levels[*l];
            let group = match () {
                () if !has_lanes && near.contains(l) => 0,
                () if self.is_parallel(*l) && level.chunk > 1 => 1,
                () if !self.is_parallel(*l) => 2,
                () => 3,
            };
            let stride = if group == 1 { level.strides[self.output].abs() } else { 0 };
            (group, stride, Reverse(level.dim), level.scale)
        });
        order
    }

    /// The planner of the copy of an input: from where it is to these strides.
    fn copy_of(&self, operand: usize, order: &[usize], strides: &[i64]) -> Planner<'a> {
        let level = |l: &usize| {
            let Level { dim, scale, size, .. } = self.levels[*l];
            let strides = vec![self.levels[*l].strides[operand], strides[*l]];
            Level { dim, scale, size, strides, chunk: 1, first_bit: 0 }
        };
        Planner {
            target: self.target,
            vector_bits: self.vector_bits,
            levels: order.iter().map(level).collect(),
            starts: vec![self.starts[operand].clone(), Expr::Const(0)],
            output: 1,
            feeds: 0,
            reorders: false,
            across: None,
            element_bits: vec![self.element_bits[operand], self.widened[operand]],
            widened: Vec::new(),
            extents: self.extents.clone(),
            packed: Vec::new(),
        }
    }

    /// Makes the block's part of each level outputs have a level of its own.
    fn split_blocks(&mut self) {
        let levels = std::mem::take(&mut self.levels);
        for level in levels {
            if level.chunk > 1 && level.chunk < level.size {
                let Level { dim, scale, size, ref strides, chunk, .. } = level;
                let blocks = size.div_euclid(chunk) + i64::from(size % chunk != 0);
                let strides = strides.iter().map(|s| s * chunk).collect();
                self.levels.push(Level { dim, scale: scale * chunk, size: blocks, strides, chunk: 1, first_bit: 0 });
                self.levels.push(Level { size: chunk, ..level });
            } else {
                self.levels.push(level);
            }
        }
    }

    fn reassociated(&mut self, lanes: i64, reduced: &[usize]) -> Order {
        let main = self.main(reduced).expect("this mode has a main input");
        self.widen(main, (i64::from(self.vector_bits) / self.element_bits[main]).max(lanes));
        let mut rows: Vec<usize> = (0..self.levels.len()).filter(|l| self.is_parallel(*l)).collect();
        rows.sort_by_key(|l| self.levels[*l].strides[main].abs());
        let accumulators = i64::from(self.target.vector_registers()) / 4;
        let have: i64 = rows.iter().map(|l| self.levels[*l].chunk).fold(1, i64::saturating_mul);
        self.fill(&rows, (accumulators / have).max(1));
        // Row after row: memory is read in order.
        let row = i64::from(self.vector_bits) / self.element_bits[main];
        self.widen(main, row * accumulators);
        self.sorted(false, |l| Reverse(l.strides[main].abs()))
    }

    /// Lets the block have so many times more steps of these levels, the first of them first.
    fn fill(&mut self, levels: &[usize], mut times: i64) {
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

    /// The digits of all levels, parallel ones first, in the order of a key; larger parts of a dimension are outside
    /// smaller ones.
    fn sorted<K: Ord>(&self, in_order: bool, key: impl Fn(&Level) -> K) -> Order {
        let mut order = Order::new();
        for parallel in [true, false] {
            let mut group: Vec<usize> = (0..self.levels.len()).filter(|l| self.is_parallel(*l) == parallel).collect();
            if parallel || !in_order {
                group.sort_by_key(|l| key(&self.levels[*l]));
            } else {
                // In the order of the dimensions, which is that in which sums are written down.
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
            for dim in 0..self.extents.len() {
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

    /// Numbers the block's bits and chooses those that are lanes: of what is computed, and of each operand in memory.
    fn finish(mut self, mode: Mode, lanes: i64, digits: Order) -> Result<Plan, String> {
        let mut next = 0;
        for level in &mut self.levels {
            level.first_bit = next;
            next += level.bits();
        }
        if next > MAX_BITS {
            return Err("its block has too many elements, as the layouts of its operands differ too much".into());
        }
        let of_level = |l: &Level| ((1u64 << l.bits()) - 1) << l.first_bit;
        let bits: Vec<Key> = (0..self.element_bits.len())
            .map(|o| self.levels.iter().filter(|l| l.strides[o] != 0).fold(0, |all, l| all | of_level(l)))
            .collect();
        let reduced_levels = (0..self.levels.len()).filter(|l| !self.is_parallel(*l));
        let reduced = reduced_levels.fold(0, |all, l| all | of_level(&self.levels[l]));
        let vector = i64::from(self.vector_bits);
        let memory: Vec<Lanes> =
            (0..bits.len()).map(|o| self.side_by_side(o, power_below(vector / self.element_bits[o]))).collect();
        let chosen = self.lanes(mode, lanes, reduced, &memory)?;
        let kept = if mode == Mode::Reassociated { kept(next, reduced, &chosen) } else { 0 };
        let parallel = digits.iter().filter(|d| self.is_parallel(d.level)).count();
        Ok(Plan {
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
            packed: self.packed,
        })
    }

    /// The block's bits that number the lanes of what is computed.
    fn lanes(&self, mode: Mode, lanes: i64, reduced: Key, memory: &[Lanes]) -> Result<Lanes, String> {
        let first = match mode {
            Mode::Elementwise => {
                let some = (0..memory.len()).filter(|o| !memory[*o].is_empty());
                some.max_by_key(|o| (self.element_bits[*o], *o >= self.output, memory[*o].len(), Reverse(*o)))
            }
            Mode::Sequential => Some(self.output),
            Mode::Reassociated => (0..self.feeds).find(|o| memory[*o].iter().any(|bit| reduced >> bit & 1 == 1)),
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

/// Bits of what is reduced that get accumulators of their own, so that one addition need not wait for the last: up to
/// two, fewer where rows of outputs have accumulators of their own.
fn kept(bits: usize, reduced: Key, lanes: &[usize]) -> Key {
    let lanes = mask(lanes);
    let all = (1u64 << bits) - 1;
    let rows = (all & !reduced & !lanes).count_ones() as usize;
    let free: Vec<usize> = (0..bits).filter(|bit| (reduced & !lanes) >> bit & 1 == 1).collect();
    mask(&free[..free.len().min(2usize.saturating_sub(rows))])
}

/// The bits of an operand's elements.
fn element_bits(operand: &Operand) -> Result<i64, String> {
    let packing = operand.access.packing;
    if let Some(bits) = packing.bits {
        return Err(format!(
            "elements must be whole elements of their buffer, found {bits} bits for {}",
            packing.element
        ));
    }
    let element = packing.element;
    let bits = ir::bits(element).filter(|n| matches!(n, 8 | 16 | 32 | 64));
    bits.ok_or_else(|| format!("elements must have 8, 16, 32 or 64 bits, found {element}"))
}

/// The address of an operand's element at an index of the iteration space, as a sum over variables.
fn address<'c>(operand: &Operand<'c>, dims: &[Expr], vars: &mut IndexVars<'c>) -> Result<Linear, String> {
    let view: Vec<Expr> = operand.map.iter().map(|e| e.substitute(dims)).collect();
    let (index, within) = operand.access.index(vars, &view);
    let index = vars.simplified(&index, &within);
    let strides: Option<Vec<i64>> = operand.access.strides.iter().copied().collect();
    let strides = strides.ok_or("its strides are known only at run time")?;
    let terms = index.into_iter().zip(strides).map(|(e, s)| e.times(s)).collect();
    let mut address = Linear::default();
    address.add(&Expr::sum(terms), 1).ok_or("the tile boundaries of its operands do not align")?;
    Ok(address)
}

fn power_above(n: i64) -> i64 {
    (n.max(1) as u64).next_power_of_two() as i64
}

fn power_below(n: i64) -> i64 {
    1 << n.max(1).ilog2()
}

/// A sum of variables times constants.
#[derive(Default)]
struct Linear {
    factors: std::collections::BTreeMap<usize, i64>,
    constant: i64,
}

impl Linear {
    /// Adds an expression so many times; `None` where it is no such sum, or 64 bits do not hold it.
    fn add(&mut self, e: &Expr, times: i64) -> Option<()> {
        match e {
            Expr::Const(c) => self.constant = self.constant.checked_add(c.checked_mul(times)?)?,
            Expr::Var(v) => {
                let factor = self.factors.entry(*v).or_insert(0);
                *factor = factor.checked_add(times)?;
            }
            Expr::Add(a, b) => {
                self.add(a, times)?;
                self.add(b, times)?;
            }
            Expr::Mul(a, f) => self.add(a, times.checked_mul(*f)?)?,
            _ => return None,
        }
        Some(())
    }
}
