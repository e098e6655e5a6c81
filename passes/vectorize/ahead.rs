//! Telling the cache what will be read and written.
//!
//! Machines read ahead by themselves where addresses rise one after another; where the rows of tiles are reached in
//! turns, they do not. So while one region of a large operand is worked on, the next one is asked for line by line, in
//! the order of memory, however the blocks go through it.

use super::plan::{Level, Plan};

/// The bytes of a line of the cache.
const LINE: i64 = 64;

/// How many bytes it takes to work on for the next ones to arrive in time.
const ENOUGH: i64 = 4096;

/// How many bytes that wait for their use leave room in the cache for what is used.
const MOST: i64 = 128 * 1024;

/// Where the lines are that each block of a kernel asks for, in elements of an operand.
pub struct Ahead {
    /// Where the ones of the first block start, after the operand's start.
    pub start: i64,
    /// How far a step of each digit of the plan goes.
    pub steps: Vec<i64>,
    /// The lines of a block.
    pub lines: Vec<i64>,
    /// Whether the regions are in one piece, so that lines come one after another.
    pub in_one_piece: bool,
}

impl Ahead {
    /// Of an operand with elements of so many bytes, for dimensions of these sizes; `None` where it is read more than
    /// once, or too little of it comes after what a block reads.
    pub fn new(plan: &Plan, operand: usize, bytes: i64, extents: &[i64]) -> Option<Ahead> {
        let stride = |level: &Level, scale: i64| level.strides[operand] * (scale / level.scale);
        let steps: Vec<i64> = plan.digits.iter().map(|d| stride(&plan.levels[d.level], d.scale)).collect();
        let count = |k: usize| {
            let (digit, dim) = (&plan.digits[k], plan.levels[plan.digits[k].level].dim);
            let around = plan.digits[..k].iter().rev().find(|d| plan.levels[d.level].dim == dim);
            let whole = around.map_or(extents[dim], |d| d.scale);
            whole.div_euclid(digit.scale) + i64::from(whole.rem_euclid(digit.scale) != 0)
        };
        let loops: Vec<usize> = (0..plan.digits.len()).rev().filter(|k| !plan.digits[*k].block).collect();
        if loops.iter().any(|k| steps[*k] == 0 && count(*k) > 1) {
            return None;
        }
        let block = offsets(plan, operand);
        let in_line = LINE / bytes;
        // How many elements the loops inside the one that is looked at go through; ends of rows that are not there are
        // counted, too.
        let mut inside = block.len() as i64;
        let mut in_turn = steps.clone();
        let mut apart = None;
        for k in loops {
            let (step, size) = (steps[k], inside.saturating_mul(bytes));
            if size > MOST {
                break;
            }
            if size >= ENOUGH {
                if step <= inside && inside < step.saturating_mul(2) {
                    let lines = (0..block.len() as i64).step_by(in_line as usize).collect();
                    return Some(Ahead { start: step, steps: in_turn, lines, in_one_piece: true });
                }
                apart = apart.or(Some(step));
            }
            in_turn[k] = inside;
            inside = inside.saturating_mul(count(k));
        }
        // No region is in one piece: each block asks for what the next one in its place reads.
        let mut lines: Vec<i64> = block.iter().map(|offset| offset - offset % in_line).collect();
        lines.sort_unstable();
        lines.dedup();
        Some(Ahead { start: apart?, steps, lines, in_one_piece: false })
    }
}

/// How far each element of a block is from its first one.
fn offsets(plan: &Plan, operand: usize) -> Vec<i64> {
    let mut offsets = vec![0];
    for level in plan.levels.iter().filter(|level| level.strides[operand] != 0) {
        let steps = |from: &i64| -> Vec<i64> { (0..level.chunk).map(|k| from + k * level.strides[operand]).collect() };
        offsets = offsets.iter().flat_map(steps).collect();
    }
    offsets
}
