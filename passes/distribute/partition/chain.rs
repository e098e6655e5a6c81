//! A relayout between processes as a chain of collectives, and its cost.
//!
//! [`tensor_layout::places::collectives`] finds the chain; if it finds none, or a dearer one, the digits that differ
//! are gathered and each process keeps its part.

use super::grid::{Digits, Grid, ProcessDigit, local_sizes};
use crate::distribute::PROCESS;
use tensor_layout::places::{Broadcast, CollectiveKind, IndexDigit, Part, Placement, TensorLayout, collectives};

/// The digits of some axes of the grid before and after a step; `None` stands for copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GridExchange {
    /// The axes, the most significant first.
    pub axes: Vec<usize>,
    /// The digit before, over all axes.
    pub before: Option<ProcessDigit>,
    /// The digit after, over all axes.
    pub after: Option<ProcessDigit>,
}

/// A step of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GridStep {
    /// The collective.
    pub kind: CollectiveKind,
    /// The exchanges, each along some axes.
    pub along: Vec<GridExchange>,
}

/// A chain of collectives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GridChain {
    /// Its steps, in their order.
    pub steps: Vec<GridStep>,
    /// The most elements that a process receives from others.
    pub received: i64,
    /// The strides at which the grid needs further cuts; if there are any, `steps` are incomplete.
    pub cuts: Vec<i64>,
}

/// The chain that takes a tensor of these sizes from digits `from` to digits `to`.
pub fn chain(grid: &Grid, sizes: &[i64], from: &Digits, to: &Digits) -> GridChain {
    if from == to {
        return GridChain::default();
    }
    let plain = gather_then_slice(grid, sizes, from, to);
    // Without elements nothing is sent, but types change.
    if sizes.contains(&0) {
        return plain;
    }
    let Some(found) = placements(grid, sizes, [from, to]).and_then(|[a, b]| collectives(&a, &b).ok()?) else {
        return plain;
    };
    let received = found.iter().fold(0i64, |n, step| n.saturating_add(step.received));
    if received > plain.received {
        return plain;
    }
    let mut chain = GridChain { received, ..GridChain::default() };
    for step in found {
        let mut along = Vec::with_capacity(step.along.len());
        for exchange in &step.along {
            let Some(axes) = grid.between(exchange.stride, exchange.extent) else {
                chain.cuts.extend([exchange.stride, exchange.stride.saturating_mul(exchange.extent)]);
                continue;
            };
            let own = |digit: Option<IndexDigit>| {
                digit.map(|digit| ProcessDigit { dim: digit.dim, weight: digit.weight, extent: digit.extent })
            };
            along.push(GridExchange { axes, before: own(exchange.before), after: own(exchange.after) });
        }
        if step.kind == CollectiveKind::Permute {
            chain.cuts.extend(cuts_of_permutation(grid, &along));
        }
        chain.steps.push(GridStep { kind: step.kind, along });
    }
    chain
}

/// The strides at which a permutation cuts an axis: from index bits 4, 2, 1 along 2 × 4 processes to bits 1, 4, 2, the
/// axis of 4 is cut at 2.
fn cuts_of_permutation(grid: &Grid, along: &[GridExchange]) -> Vec<i64> {
    let digits = along.iter().flat_map(|exchange| [exchange.before, exchange.after].into_iter().flatten());
    let ends: Vec<(usize, i64)> =
        digits.flat_map(|digit| [(digit.dim, digit.weight), (digit.dim, digit.weight * digit.extent)]).collect();
    let mut cuts = Vec::new();
    for exchange in along {
        let stride = exchange.axes.last().map_or(1, |axis| grid.strides[*axis]);
        for digit in [exchange.before, exchange.after].into_iter().flatten() {
            let inside = ends.iter().filter(|(dim, end)| {
                *dim == digit.dim
                    && *end > digit.weight
                    && *end < digit.weight * digit.extent
                    && end % digit.weight == 0
            });
            cuts.extend(inside.map(|(_, end)| stride * (end / digit.weight)));
        }
    }
    cuts.retain(|cut| !grid.strides.contains(cut));
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}

/// Both sides as row-major parts.
fn placements(grid: &Grid, sizes: &[i64], sides: [&Digits; 2]) -> Option<[Placement; 2]> {
    let [from, to] = sides.map(|digits| placement(grid, sizes, digits));
    Some([from?, to?])
}

fn placement(grid: &Grid, sizes: &[i64], digits: &Digits) -> Option<Placement> {
    let local = local_sizes(sizes, digits);
    let mut dims = Vec::with_capacity(sizes.len());
    for (dim, size) in sizes.iter().enumerate() {
        let mut own: Vec<(usize, ProcessDigit)> = digits
            .iter()
            .enumerate()
            .filter_map(|(axis, digit)| Some((axis, (*digit)?)))
            .filter(|own| own.1.dim == dim)
            .collect();
        own.sort_by_key(|(_, digit)| std::cmp::Reverse(digit.weight));
        let mut inside = local[dim];
        let mut stride: i64 = local[dim + 1..].iter().product::<i64>().checked_mul(local[dim])?;
        let mut parts = Vec::new();
        let mut above = *size;
        for (axis, digit) in own {
            let gap = above / (digit.weight * digit.extent);
            if gap > 1 {
                stride /= gap;
                inside /= gap;
                parts.push(Part::local(gap, stride));
            }
            parts.push(Part::along(PROCESS, digit.extent, grid.strides[axis]));
            above = digit.weight;
        }
        if inside > 1 {
            parts.push(Part::local(inside, stride / inside));
        }
        dims.push(parts);
    }
    let mut layout = TensorLayout::new(dims).ok()?;
    let copies = (0..grid.rank()).filter(|axis| digits[*axis].is_none());
    layout.broadcast = copies
        .map(|axis| Broadcast::Part {
            extent: grid.extents[axis],
            axis: PROCESS.to_string(),
            stride: Some(grid.strides[axis]),
        })
        .collect();
    Placement::new(&layout, Some(sizes)).ok()
}

/// Gathers the digits that differ, axis by axis; then each process keeps its part.
fn gather_then_slice(grid: &Grid, sizes: &[i64], from: &Digits, to: &Digits) -> GridChain {
    let differs: Vec<usize> = (0..grid.rank()).filter(|axis| from[*axis] != to[*axis]).collect();
    let mut chain = GridChain::default();
    let mut state = from.clone();
    let step =
        |kind, axis, before, after| GridStep { kind, along: vec![GridExchange { axes: vec![axis], before, after }] };
    for axis in differs.iter().copied().filter(|axis| from[*axis].is_some()) {
        let local: i64 = local_sizes(sizes, &state).iter().product();
        chain.received = chain.received.saturating_add(local.saturating_mul(grid.extents[axis] - 1));
        chain.steps.push(step(CollectiveKind::AllGather, axis, state[axis], None));
        state[axis] = None;
    }
    for axis in differs.into_iter().filter(|axis| to[*axis].is_some()) {
        chain.steps.push(step(CollectiveKind::Slice, axis, None, to[axis]));
    }
    chain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digit(dim: usize, weight: i64, extent: i64) -> Option<ProcessDigit> {
        Some(ProcessDigit { dim, weight, extent })
    }

    fn kinds(grid: &Grid, sizes: &[i64], from: &Digits, to: &Digits) -> (Vec<CollectiveKind>, i64) {
        let chain = chain(grid, sizes, from, to);
        (chain.steps.iter().map(|step| step.kind).collect(), chain.received)
    }

    #[test]
    fn rows_become_columns() {
        let grid = Grid::new(4, &[]).unwrap();
        let (rows, columns, copies) = (vec![digit(0, 3, 4)], vec![digit(1, 2, 4)], vec![None]);
        assert_eq!(kinds(&grid, &[12, 8], &rows, &columns), (vec![CollectiveKind::AllToAll], 18));
        assert_eq!(kinds(&grid, &[12, 8], &rows, &copies), (vec![CollectiveKind::AllGather], 72));
        assert_eq!(kinds(&grid, &[12, 8], &copies, &rows), (vec![CollectiveKind::Slice], 0));
        assert_eq!(kinds(&grid, &[12, 8], &rows, &rows), (vec![], 0));
    }

    /// Moves the bits of ranks from index bits 4, 2, 1 to 1, 4, 2.
    #[test]
    fn a_permutation_of_parts_of_axes() {
        let grid = Grid::new(8, &[4]).unwrap();
        let (from, to) = (vec![digit(0, 4, 2), digit(0, 1, 4)], vec![digit(0, 1, 2), digit(0, 2, 4)]);
        assert_eq!(chain(&grid, &[8], &from, &to).cuts, [2]);
        let grid = Grid::new(8, &[4, 2]).unwrap();
        let (from, to) = ([4, 2, 1].map(|w| digit(0, w, 2)).to_vec(), [1, 4, 2].map(|w| digit(0, w, 2)).to_vec());
        let found = chain(&grid, &[8], &from, &to);
        assert_eq!((found.steps[0].kind, found.received, found.cuts), (CollectiveKind::Permute, 1, vec![]));
    }

    #[test]
    fn a_grid_that_has_to_be_cut_further() {
        let grid = Grid::new(4, &[]).unwrap();
        let (blocks, pairs) = (vec![digit(0, 4, 4)], vec![digit(0, 2, 4)]);
        let cuts = chain(&grid, &[16], &blocks, &pairs).cuts;
        assert_eq!(Grid::new(4, &cuts).unwrap().extents, [2, 2]);
    }
}
