//! Arrays that are made again: not in memory between two of their reads, and computed anew before the second.
//!
//! `a` of 4,096 bytes is made at moment 3 of `x`, and read at 4 and at 40. Where memory is short between, it may be in memory at
//! 3 and 4 and from 40 on; its kernel runs once more right before 40, where `x` has to be in memory. That costs what the kernel
//! takes at least in any plan, with what it costs to bring it its operands.
//!
//! An array may be made again once, after one of the [cuts](super::residency) of its life, of arrays that are in memory
//! then: those are stored, and none of them is itself away at that moment. That is before its next read, or before another
//! array is made again of it: so a row of arrays of which each is made of the one before can be made again at once. A kernel of
//! operations of which each element is a function of the operands' may run again; nothing that has an effect, such as `infeed`
//! and `rng`, whose results are others each time, or that is not described by indices.

use super::kernels::Kept;
use super::problem::LayoutProblem;
use super::program::InstanceKind;
use super::residency::{Lifetime, Residency};
use crate::solver::{CostNetwork, FORBIDDEN};
use std::ops::Range;
use tensor_layout::operations::operation::Operation;

/// The most operations of a kernel that runs again.
const MOST_OPERATIONS: usize = 64;

/// The data for making arrays again.
pub struct Remaking {
    /// The least cost of each instance in any plan, with the edges to what it reads.
    least: Vec<i64>,
    /// When each array is in memory if it is there all its life.
    moments: Vec<Vec<Range<i64>>>,
}

/// A kernel that may run again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rerun {
    /// The arrays in memory that it reads.
    pub inputs: Vec<usize>,
    /// The cost.
    pub cost: i64,
    /// Before which moments, each after a cut.
    pub moments: Vec<(usize, i64)>,
}

/// How many moments there are after a cut, the latest: with 6, rows of six arrays are made again at once. The training step of
/// 16 layers of `test/plan/rematerialize.rs` has no plan in half the memory with 1 or 2, and from 3 to 8 one of the same cost;
/// planning takes twice as long with 6 as with 3.
const MOST_MOMENTS: usize = 6;

impl Remaking {
    /// Collects the data from a program and its network of costs.
    pub fn new(problem: &LayoutProblem, network: &CostNetwork) -> Remaking {
        let n = problem.program.instances.len();
        let of = |costs: &[i64]| costs.iter().copied().filter(|cost| *cost != FORBIDDEN).min().unwrap_or(0).max(0);
        let mut least: Vec<i64> = network.variables()[..n].iter().map(|costs| of(costs)).collect();
        for edge in network.edges().iter().filter(|edge| edge.ends[1] < n) {
            least[edge.ends[1]] = least[edge.ends[1]].saturating_add(of(&edge.costs));
        }
        Remaking { least, moments: problem.moments() }
    }

    /// The kernel that makes an array, where it may run again.
    pub fn rerun(&self, problem: &LayoutProblem, made: usize) -> Option<Rerun> {
        let by = problem.program.made[made].by;
        if problem.kernels.renamed[by] || problem.kernels.kept[by] != Kept::Stored || problem.holders[made].is_some() {
            return None;
        }
        let (mut inputs, mut cost) = (Vec::new(), 0i64);
        let (mut next, mut seen) = (vec![by], vec![by]);
        while let Some(k) = next.pop() {
            let instance = &problem.program.instances[k];
            let repeats = match instance.kind {
                _ if instance.once => false,
                InstanceKind::Operation(operation) => is_repeatable(problem, k, operation),
                InstanceKind::Copy => true,
                _ => false,
            };
            if !repeats || instance.results.len() != 1 || seen.len() > MOST_OPERATIONS {
                return None;
            }
            cost = cost.saturating_add(self.least[k]);
            for operand in &instance.operands {
                let maker = problem.program.made[*operand].by;
                let is_input = matches!(problem.program.instances[maker].kind, InstanceKind::Argument(..))
                    || problem.kernels.kept[maker] == Kept::Stored && !self.moments[*operand].is_empty();
                if is_input && !inputs.contains(operand) {
                    inputs.push(*operand);
                } else if !is_input && !seen.contains(&maker) {
                    seen.push(maker);
                    next.push(maker);
                }
            }
        }
        inputs.sort_unstable();
        Some(Rerun { inputs, cost: cost.max(1), moments: Vec::new() })
    }

    /// Finds the moments before which an array may be made again, those after cuts between points at which its inputs are in
    /// memory; others want it at some.
    pub fn find_moments(&self, rerun: &mut Rerun, (points, cuts): (&[usize], &[usize]), wanted: &[i64]) {
        for cut in cuts {
            let (last, next) = (points[*cut] as i64, points[*cut + 1] as i64);
            let is_there = |again: &i64| {
                rerun.inputs.iter().all(|input| self.moments[*input].iter().any(|moments| moments.contains(again)))
            };
            let mut own: Vec<i64> = wanted.iter().copied().chain([next]).collect();
            own.retain(|again| *again > last + 1 && *again <= next && is_there(again));
            own.sort_unstable();
            own.dedup();
            own.reverse();
            own.truncate(MOST_MOMENTS);
            rerun.moments.extend(own.into_iter().map(|again| (*cut, again)));
        }
    }

    /// Where an array lies that is away after one of its cuts and made again; `whole` is where it lies
    /// without that, in one memory all its life.
    pub fn residencies((life, rerun): (&Lifetime, &Rerun), points: &[usize], whole: &Residency) -> Vec<Residency> {
        let mut found = Vec::new();
        let [own] = &life.moments[..] else { return found };
        for (cut, again) in rerun.moments.iter().copied() {
            let last = points[cut] as i64;
            let parts = vec![own.start..last + 1, again..own.end];
            let side = |moments: &Vec<Range<i64>>| if moments.is_empty() { Vec::new() } else { parts.clone() };
            found.push(Residency {
                near: side(&whole.near),
                far: side(&whole.far),
                cost: whole.cost.saturating_add(rerun.cost),
                again: Some(again),
                ..whole.clone()
            });
        }
        found
    }
}

/// Whether an operation may run again and makes the same.
fn is_repeatable(problem: &LayoutProblem, k: usize, operation: &Operation) -> bool {
    match operation {
        // Literals that kernels are made with are scalars; a larger one is an array in memory.
        Operation::Constant => {
            let instance = &problem.program.instances[k];
            let scalar = |made: &usize| problem.program.made[*made].array.dims.is_empty();
            instance.operands.is_empty() && instance.results.iter().all(scalar)
        }
        Operation::Elementwise | Operation::Select | Operation::Broadcast { .. } | Operation::Iota { .. } => true,
        Operation::Transpose { .. } | Operation::Reverse { .. } | Operation::Reshape | Operation::Bitcast => true,
        Operation::Slice { .. } | Operation::DynamicSlice { .. } | Operation::Concatenate { .. } => true,
        Operation::Pad { .. } | Operation::Reduce { .. } | Operation::ReduceWindow { .. } => true,
        Operation::Dot { .. } | Operation::Convolution(_) | Operation::Gather(_) | Operation::Loops(_) => true,
        _ => false,
    }
}
