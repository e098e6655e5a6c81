//! Plans of contractions, and of reductions that must not be reassociated.

use super::distance::{Address, Distance};
use super::plan::{Digit, Level, Mode, Packed, RunTime};
use super::planner::{Order, VectorPlanner, power_above};
use std::cmp::Reverse;

/// An input is packed if at least this many blocks read each of its elements. With 1, inputs would be copied that are
/// read once. `matmul-mixed` took 530 ms in the last table of `benches/kernels.md` before packing, 9.3 ms in the first
/// one with it; no other value than 4 is on record.
pub const REUSE: i64 = 4;

/// The bytes of a page of memory.
const PAGE: i64 = 4096;

/// The least distance, in elements, of rows that are read as scalars. Below it LLVM combines their loads into vectors
/// and shuffles them apart again; 16 is the lanes of f32 in 512 bits. No other value is on record.
const APART: i64 = 16;

/// Blocks of one panel of a contraction: a panel of 4 blocks of 2 vectors of 16 f32 over 1024 steps is 512 KiB, which
/// fits the 1 MiB of L2 of the machine of `benches/kernels.md`. With 1, each row would be loaded for every block. No
/// other value is on record.
const PANEL: i64 = 4;

/// The assumed number of steps of an open level, for comparing strides.
const STEPS: i64 = 1 << 10;

impl<'a> VectorPlanner<'a> {
    /// The level of the first lanes of an ordered reduction.
    pub fn lane_level(&self) -> Option<usize> {
        let of = |(dim, scale)| self.levels.iter().position(|l| l.dim == dim && l.scale == scale);
        self.across.and_then(of).or_else(|| self.chain(self.output).first().copied())
    }

    /// Gives the block at least this many lanes of the output.
    pub fn widen_lanes(&mut self, lanes: i64) {
        match (self.across, self.lane_level()) {
            (Some(_), Some(level)) => {
                self.levels[level].chunk = self.levels[level].chunk.max(lanes.min(power_above(self.levels[level].size)))
            }
            _ => self.widen(self.output, lanes),
        }
    }

    /// Plans a kernel that adds each output's elements in the program's order: contractions, and reductions that must
    /// not be reassociated. Lanes run along outputs, and so do the rows of accumulators that one load of an input
    /// serves.
    pub fn sequential(&mut self, lanes: i64) -> Order {
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
    pub fn has_dim(&self, operand: usize, dims: &[usize]) -> bool {
        self.levels.iter().any(|l| dims.contains(&l.dim) && l.is_of(operand))
    }

    /// The level that provides lanes if the output's fastest one is too short: a sub-tile of 2 bf16 rows, with two
    /// rows in each word, has 2 elements before the next column. Then columns become lanes, and rows stay rows.
    pub fn lanes_across(&self, lanes: i64) -> Option<(usize, i64)> {
        let chain = self.chain(self.output);
        let first = chain.first().filter(|l| self.levels[**l].size < lanes)?;
        let is_long = |l: &Level| l.size >= lanes && l.dim != self.levels[*first].dim;
        let long = chain.iter().map(|l| &self.levels[*l]).find(|l| is_long(l))?;
        Some((long.dim, long.scale))
    }

    /// Levels along which an input with the lanes does not change: one load serves all their steps.
    pub fn rows_of_one_load(&self, panel: &[usize]) -> Vec<usize> {
        let is_row = |l: &usize| {
            let dim = self.levels[*l].dim;
            let served = |o: usize| self.has_dim(o, panel) && !self.has_dim(o, &[dim]);
            self.is_parallel(*l) && !panel.contains(&dim) && (0..self.reduction_inputs).any(served)
        };
        (0..self.levels.len()).rev().filter(is_row).collect()
    }

    /// Enlarges the block until accumulators fill half of the registers; the others are for loads.
    pub fn fill_accumulators(&mut self, lanes: i64, panel: &[usize], rows: &[usize]) {
        let accumulators = i64::from(self.target.vector_registers()) / 2;
        let fastest = self.lane_level();
        let has_lanes_first = |o: usize| !self.has_dim(o, panel) || self.chain(o).first().copied() == fastest;
        if !rows.is_empty() {
            self.widen_lanes(lanes * 2);
            self.fill(rows, accumulators / 2);
        } else if (0..self.reduction_inputs).all(has_lanes_first) {
            self.widen_lanes(lanes * (accumulators / 2).max(1));
        }
    }

    /// Lets the block hold whole vectors of the inputs with the lanes, within twice the number of registers.
    pub fn widen_inputs(&mut self, lanes: i64, panel: &[usize]) {
        let budget = 2 * i64::from(self.target.vector_registers()) * lanes;
        let inputs: Vec<usize> = (0..self.reduction_inputs).filter(|o| self.has_dim(*o, panel)).collect();
        for o in inputs {
            let before: Vec<i64> = self.levels.iter().map(|l| l.chunk).collect();
            self.widen(o, lanes);
            let chunks = self.levels.iter().filter(|l| l.is_of(o)).map(|l| l.chunk);
            if chunks.fold(1, i64::saturating_mul) > budget {
                self.levels.iter_mut().zip(before).for_each(|(l, chunk)| l.chunk = chunk);
            }
        }
    }

    /// Keeps only whole steps of the innermost reduced levels in the block: others would change the order of additions.
    pub fn keep_order(&mut self) {
        let reduced: Vec<usize> = (0..self.levels.len()).rev().filter(|l| !self.is_parallel(*l)).collect();
        let mut whole = true;
        for l in reduced {
            let level = &mut self.levels[l];
            level.chunk = if whole { level.chunk } else { 1 };
            whole &= level.chunk >= level.size;
        }
    }

    /// The loop order batches, panel dimensions, rows; without a contraction, the output's memory order.
    pub fn by_panels(&self, contraction: bool, panel: &[usize]) -> Order {
        let is_batch = |dim: usize| (0..self.reduction_inputs).all(|o| self.has_dim(o, &[dim]));
        self.sorted(true, |l| {
            let group = match () {
                () if !contraction || is_batch(l.dim) => 0,
                () if panel.contains(&l.dim) => 1,
                () => 2,
            };
            (group, Reverse(l.strides[self.output].about()))
        })
    }

    /// Moves the panel's last loop inside the loops over rows, or [`PANEL`] blocks of it: the part of the packed input
    /// that those blocks read stays in the cache for all rows.
    pub fn rows_inside_panels(&self, order: &mut Order, panel: &[usize]) {
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
    pub fn pack(&mut self, lanes: i64, panel: &[usize]) {
        let chosen: Vec<usize> = (0..self.reduction_inputs).filter(|o| self.is_worth_packing(*o, panel)).collect();
        if chosen.is_empty() {
            return;
        }
        self.split_blocks();
        for operand in chosen {
            let order = self.packed_order(operand, panel);
            let known = self.values.len();
            let mut size = Distance::fixed(1);
            let mut strides = vec![Distance::default(); self.levels.len()];
            for l in &order {
                let larger = self.times_steps(&size, *l);
                strides[*l] = std::mem::replace(&mut size, larger);
            }
            let mut copy = self.copy_of(operand, &order, &strides);
            let digits = copy.elementwise(lanes);
            // An input that cannot be copied in vectors is read in place.
            let Ok(plan) = copy.finish(Mode::Elementwise, lanes, digits) else {
                self.values.truncate(known);
                continue;
            };
            self.packed.push(Packed { operand, size, plan });
            self.levels.iter_mut().zip(strides).for_each(|(level, stride)| level.strides[operand] = stride);
            self.starts[operand] = Address::start();
            self.swizzles[operand] = None;
            self.element_bits[operand] = self.widened[operand];
        }
    }

    /// `size` times the number of a level's steps; a run-time value if that number is.
    fn times_steps(&mut self, size: &Distance, level: usize) -> Distance {
        let Level { dim, scale, size: steps, is_open, .. } = self.levels[level];
        if !is_open {
            return size.times(steps);
        }
        let (times, of) = match size.terms[..] {
            [(value, times)] => (times, Some(value)),
            _ => (size.fixed, None),
        };
        self.values.push(RunTime::Steps { times, of, dim, scale });
        Distance::value(self.values.len() - 1, size.about().saturating_mul(STEPS))
    }

    /// Whether enough blocks read an input, and it is not yet contiguous in their reading order.
    pub fn is_worth_packing(&self, operand: usize, panel: &[usize]) -> bool {
        let dims: Vec<usize> = self.levels.iter().filter(|l| l.is_of(operand)).map(|l| l.dim).collect();
        let others = (0..self.levels.len()).filter(|l| self.is_parallel(*l) && !dims.contains(&self.levels[*l].dim));
        let blocks = others.map(|l| self.levels[l].size.div_euclid(self.levels[l].chunk).max(1));
        let widens = self.element_bits[operand] != self.widened[operand];
        let lane_dim = self.lane_level().map(|l| self.levels[l].dim);
        let has_lanes = |l: usize| Some(self.levels[l].dim) == lane_dim;
        // Rows packed into words are split when they are widened.
        let in_word =
            |l: usize| self.levels[l].size.saturating_mul(self.element_bits[operand]) <= self.widened[operand];
        // A stride of a multiple of 4 KiB maps all steps to few sets of the cache: conflict misses.
        let steps = (0..self.levels.len()).filter(|l| !self.is_parallel(*l) && self.levels[*l].size > 1);
        let step = steps.map(|l| self.levels[l].strides[operand].about()).filter(|s| *s > 0).min().unwrap_or(0);
        let is_near = step.saturating_mul(self.element_bits[operand]) < 8 * PAGE;
        let is_contiguous = match (dims.iter().any(|d| panel.contains(d)), &self.chain(operand)[..]) {
            (true, [rows, lanes, ..]) if widens => !self.is_parallel(*rows) && in_word(*rows) && has_lanes(*lanes),
            (true, [lanes, ..]) => !widens && has_lanes(*lanes) && is_near,
            (false, [steps, ..]) => !widens && !self.is_parallel(*steps),
            (_, []) => false,
        };
        blocks.fold(1, i64::saturating_mul) >= REUSE && !dims.is_empty() && !is_contiguous
    }

    /// The levels of a packed input, fastest first: the block's lanes, the steps of the reduction, then the blocks. For
    /// an input without the lanes, the steps of the reduction are fastest up to [`APART`].
    pub fn packed_order(&self, operand: usize, panel: &[usize]) -> Vec<usize> {
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
            let stride = if group == 1 { level.strides[self.output].about() } else { 0 };
            (group, stride, Reverse(level.dim), level.scale)
        });
        order
    }

    /// The planner for the copy of an input, from its present strides to these.
    pub fn copy_of(&self, operand: usize, order: &[usize], strides: &[Distance]) -> VectorPlanner<'a> {
        let level = |l: &usize| {
            let strides = vec![self.levels[*l].strides[operand].clone(), strides[*l].clone()];
            Level { strides, chunk: 1, first_bit: 0, ..self.levels[*l].clone() }
        };
        VectorPlanner {
            target: self.target,
            vector_bits: self.vector_bits,
            levels: order.iter().map(level).collect(),
            starts: vec![self.starts[operand].clone(), Address::start()],
            swizzles: vec![self.swizzles[operand], None],
            output: 1,
            reduction_inputs: 0,
            reorders: false,
            across: None,
            element_bits: vec![self.element_bits[operand], self.widened[operand]],
            widened: Vec::new(),
            dims: self.dims,
            packed: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Splits off the block's part of each level of the outputs as a level of its own.
    pub fn split_blocks(&mut self) {
        let levels = std::mem::take(&mut self.levels);
        for level in levels {
            if level.chunk > 1 && level.chunk < level.size {
                let Level { scale, size, ref strides, chunk, .. } = level;
                let blocks = size.div_euclid(chunk) + i64::from(size % chunk != 0);
                let strides = strides.iter().map(|s| s.times(chunk)).collect();
                let outer = Level { scale: scale * chunk, size: blocks, strides, chunk: 1, ..level.clone() };
                self.levels.push(outer);
                self.levels.push(Level { size: chunk, is_open: false, ..level });
            } else {
                self.levels.push(level);
            }
        }
    }
}
