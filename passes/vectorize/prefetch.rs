//! Software prefetch of the next region of a large operand.
//!
//! Hardware prefetchers follow rising addresses, but not the rows of tiles that are read in turns.
//! So while the kernel works on one region of an operand, `memref.prefetch` loads the next one into the cache, line by
//! line in memory order, whatever the order of the blocks: for `f32[4096,4096]` in tiles of 8x128, while tile `k`
//! (4 KiB) is read, tile `k + 1` is prefetched.
//!
//! Prefetching, with reads in memory order, took `f32-to-tiles` of `benches/kernels.md` from 3.6 ms to 2.4 ms
//! and `i8-to-tiles` from 4.9 ms to 2.7 ms. No other values of the constants below are on record.

use super::distance::Distance;
use super::plan::{Digit, MANY, VectorPlan};

/// The bytes of a line of the cache.
const LINE: i64 = 64;

/// Prefetch distance: at least this many bytes of work between a prefetch and its use. One page, where hardware
/// prefetchers stop.
const DISTANCE: i64 = 4096;

/// Upper bound on bytes in flight, so that they do not evict each other from L2: an eighth
/// of the 1 MiB of the machine of `benches/kernels.md`.
const MAX_IN_FLIGHT: i64 = 128 * 1024;

/// The lines that each block of a kernel prefetches, in elements of an operand.
pub struct Prefetch {
    /// The start of the first block's lines, after the operand's start.
    pub start: Distance,
    /// The distance of one step of each digit of the plan.
    pub steps: Vec<Distance>,
    /// The lines of a block.
    pub lines: Vec<Distance>,
    /// Whether each region is contiguous, so that its lines follow one another.
    pub in_one_piece: bool,
}

impl Prefetch {
    /// The prefetch of an operand with elements of `bytes`, for dimensions of these sizes, [`MANY`](super::plan::MANY)
    /// if known only at run time. `None` if the operand is read more than once, too little data follows a block, or a
    /// block reads enough for the hardware to prefetch.
    pub fn new(plan: &VectorPlan, operand: usize, bytes: i64, extents: &[i64]) -> Option<Prefetch> {
        let step = |digit: &Digit| {
            let level = &plan.levels[digit.level];
            level.strides[operand].times(digit.scale / level.scale)
        };
        let steps: Vec<Distance> = plan.digits.iter().map(step).collect();
        let count = |k: usize| {
            let (digit, dim) = (&plan.digits[k], plan.levels[plan.digits[k].level].dim);
            let around = plan.digits[..k].iter().rev().find(|d| plan.levels[d.level].dim == dim);
            let whole = around.map_or(extents[dim], |d| d.scale);
            whole.div_euclid(digit.scale) + i64::from(whole.rem_euclid(digit.scale) != 0)
        };
        let loops: Vec<usize> = (0..plan.digits.len()).rev().filter(|k| !plan.digits[*k].block).collect();
        if loops.iter().any(|k| steps[*k].is_zero() && count(*k) > 1) {
            return None;
        }
        let block = offsets(plan, operand);
        let in_line = LINE / bytes;
        if block.len() as i64 * bytes > DISTANCE {
            return None;
        }
        // Elements covered by the loops inside loop `k`, missing ends of rows included.
        let mut inside = block.len() as i64;
        let mut in_turn = steps.clone();
        let mut apart = None;
        for k in loops {
            let (step, size) = (&steps[k], inside.saturating_mul(bytes));
            if size > MAX_IN_FLIGHT {
                // A loop with an unknown count covers an unknown number of bytes: then prefetch its next region.
                apart = apart.or((size >= MANY).then(|| step.clone()));
                break;
            }
            if size >= DISTANCE {
                if step.known().is_some_and(|step| step <= inside && inside < step.saturating_mul(2)) {
                    let lines = (0..block.len() as i64).step_by(in_line as usize).map(Distance::fixed).collect();
                    return Some(Prefetch { start: step.clone(), steps: in_turn, lines, in_one_piece: true });
                }
                apart = apart.or(Some(step.clone()));
            }
            in_turn[k] = Distance::fixed(inside);
            inside = inside.saturating_mul(count(k));
        }
        // No region is contiguous: each block prefetches the data that the next block at its position reads.
        let line = |offset: &Distance| offset.clone().plus(&Distance::fixed(-(offset.fixed % in_line)));
        let mut lines: Vec<Distance> = block.iter().map(line).collect();
        lines.sort_by_key(Distance::order);
        lines.dedup();
        // Skip this if other blocks read most of a line: they would prefetch it again.
        let is_used = lines.len() as i64 * in_line <= 2 * block.len() as i64;
        Some(Prefetch { start: apart.filter(|_| is_used)?, steps, lines, in_one_piece: false })
    }
}

/// The distance of each element of a block from the first one.
fn offsets(plan: &VectorPlan, operand: usize) -> Vec<Distance> {
    let mut offsets = vec![Distance::default()];
    for level in plan.levels.iter().filter(|level| level.is_of(operand)) {
        let step = |from: &Distance, k| from.clone().plus(&level.strides[operand].times(k));
        let steps = |from: &Distance| -> Vec<Distance> { (0..level.chunk).map(|k| step(from, k)).collect() };
        offsets = offsets.iter().flat_map(steps).collect();
    }
    offsets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectorize::plan::{Digit, Level, Mode};
    use std::collections::BTreeSet;

    /// The plan of a two-dimensional operand in tiles (untiled if a tile covers it), read in blocks of one row of
    /// `chunk` elements: tile by tile, or row by row.
    fn plan(shape: [i64; 2], tile: [i64; 2], chunk: i64, by_rows: bool) -> VectorPlan {
        let tiles = [0, 1].map(|d| (shape[d] + tile[d] - 1) / tile[d]);
        let size = tile[0] * tile[1];
        let level = |dim, scale, size, stride, chunk| {
            let strides = vec![Distance::fixed(stride)];
            Level { dim, scale, size, is_open: false, strides, chunk, first_bit: 0 }
        };
        let levels = vec![
            level(0, tile[0], tiles[0], tiles[1] * size, 1),
            level(1, tile[1], tiles[1], size, 1),
            level(0, 1, tile[0], tile[1], 1),
            level(1, 1, tile[1], 1, chunk),
        ];
        let order = if by_rows { [0, 2, 1, 3] } else { [0, 1, 2, 3] };
        let looped = order.map(|l| Digit { level: l, scale: levels[l].scale * levels[l].chunk, block: false });
        let block = Digit { level: 3, scale: 1, block: true };
        VectorPlan {
            digits: looped.into_iter().chain([block]).collect(),
            levels,
            parallel: 5,
            mode: Mode::Elementwise,
            lanes: Vec::new(),
            memory: Vec::new(),
            bits: Vec::new(),
            reduced: 0,
            kept: 0,
            starts: Vec::new(),
            swizzles: Vec::new(),
            packed: Vec::new(),
            values: Vec::new(),
        }
    }

    /// The plan of an untiled operand in blocks of `chunk` rows and columns. `loops` lists dimension and scale of each
    /// loop, outermost first.
    fn blocks(chunk: [i64; 2], loops: &[(usize, i64)]) -> VectorPlan {
        let mut plan = plan([4096, 4096], [4096, 4096], chunk[1], false);
        plan.levels[2].chunk = chunk[0];
        let digit = |dim: usize, scale, block| Digit { level: 2 + dim, scale, block };
        let looped = loops.iter().map(|(dim, scale)| digit(*dim, *scale, false));
        plan.digits = looped.chain([digit(0, 1, true), digit(1, 1, true)]).collect();
        plan
    }

    /// The lines that the blocks of all loops prefetch, in their order.
    fn prefetched(plan: &VectorPlan, prefetch: &Prefetch, shape: [i64; 2]) -> Vec<i64> {
        let known = |distance: &Distance| distance.known().expect("nothing is known only at run time");
        let mut starts = vec![known(&prefetch.start)];
        for (k, digit) in plan.digits.iter().enumerate().filter(|(_, digit)| !digit.block) {
            let dim = plan.levels[digit.level].dim;
            let around = plan.digits[..k].iter().rev().find(|d| plan.levels[d.level].dim == dim);
            let count = around.map_or(shape[dim], |d| d.scale) / digit.scale;
            let steps = |from: &i64| -> Vec<i64> { (0..count).map(|n| from + n * known(&prefetch.steps[k])).collect() };
            starts = starts.iter().flat_map(steps).collect();
        }
        starts.iter().flat_map(|start| prefetch.lines.iter().map(move |line| start + known(line))).collect()
    }

    /// Checks that lines are prefetched in memory order, each once, whatever the order of blocks: all but those of the
    /// first region, and as many after the end.
    #[test]
    fn lines_come_once_and_in_order() {
        for (shape, tile, by_rows) in [
            ([64, 1024], [8, 128], false),
            ([64, 1024], [8, 128], true),
            ([128, 8192], [128, 8192], false),
            ([96, 4096], [2, 256], true),
            ([256, 512], [16, 128], true),
        ] {
            for (bytes, chunk) in [(1, 64), (2, 32), (4, 16), (4, 32), (8, 64)] {
                let plan = plan(shape, tile, chunk, by_rows);
                let prefetch = Prefetch::new(&plan, 0, bytes, &shape).expect("there is enough");
                assert!(prefetch.in_one_piece, "{shape:?} {tile:?} {bytes}");
                let in_line = LINE / bytes;
                let all: Vec<i64> =
                    (0..shape[0] * shape[1] / in_line).map(|n| prefetch.start.fixed + n * in_line).collect();
                assert_eq!(prefetched(&plan, &prefetch, shape), all, "{shape:?} {tile:?} {bytes} {chunk}");
                assert!((DISTANCE..=MAX_IN_FLIGHT).contains(&(prefetch.start.fixed * bytes)));
            }
        }
    }

    /// Checks that blocks prefetch for the next block at their position if columns of tiles are read one after another,
    /// where no region is contiguous; all but the first regions are prefetched.
    #[test]
    fn regions_in_pieces() {
        let plan = blocks([16, 16], &[(1, 128), (0, 128), (1, 16), (0, 16)]);
        let prefetch = Prefetch::new(&plan, 0, 4, &[4096, 4096]).expect("there is enough");
        assert!(!prefetch.in_one_piece);
        let lines: BTreeSet<i64> = prefetched(&plan, &prefetch, [4096, 4096]).into_iter().collect();
        assert_eq!(lines.len(), 4096 * 4096 / 16);
        assert_eq!(lines.first(), Some(&prefetch.start.fixed));
    }

    /// Checks that nothing is prefetched if a block reads less than half of its lines, which would be prefetched again
    /// and again, or whole pages, which it reads in order.
    #[test]
    fn few_lines_are_prefetched() {
        let prefetch =
            |chunk: [i64; 2]| Prefetch::new(&blocks(chunk, &[(0, chunk[0]), (1, chunk[1])]), 0, 4, &[4096, 4096]);
        assert!(prefetch([64, 4]).is_none());
        assert!(prefetch([64, 32]).is_none());
        assert!(!prefetch([32, 32]).expect("a page of whole lines").in_one_piece);
    }

    /// Elements that are read repeatedly are in the cache after the first time.
    #[test]
    fn what_is_read_again_is_not_prefetched() {
        let mut plan = plan([64, 1024], [8, 128], 16, false);
        plan.levels[0].strides[0] = Distance::default();
        assert!(Prefetch::new(&plan, 0, 4, &[64, 1024]).is_none());
    }
}
