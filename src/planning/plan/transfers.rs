//! Copies between memories that run beside kernels: in which moments, and what of them is not hidden.
//!
//! The clock is the least time that each kernel takes in any plan, so that what is hidden here is hidden in every plan.
//! A copy of 4,096 bytes at 4 bytes a cycle with 200 cycles until it begins takes 1,224; beside kernels that take 3,072 it
//! has a third of the bandwidth, and beside kernels that take 1,000 all stand still for 224.
//!
//! All copies in flight at one moment share the bandwidth. Each has the same share of it at all of its moments, what it
//! moves ÷ the time of the kernels, so at each moment the shares have to add up to no more than all of it.
//!
//! Moments are those of [`live`](super::live). A loop stands once, and its kernels take as long as they do in all rounds. A
//! copy begins and ends in the loop in which its array is made; an inner loop that it meets runs beside it as a whole.

use super::live::loop_ends;
use super::problem::LayoutProblem;
use super::program::InstanceKind;
use crate::solver::{CostNetwork, FORBIDDEN};
use std::ops::Range;
use tensor_layout::numbers::ceil_div_wide;

/// All of the bandwidth, in the unit of shares.
pub const BANDWIDTH: i64 = 1_000_000;

/// A copy of an array between memories.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Flight {
    /// The moments beside whose kernels it runs; none where all stand still for it.
    pub moments: Range<i64>,
    /// How long kernels stand still.
    pub exposed: i64,
    /// The share of the bandwidth at each moment, in millionths.
    pub share: i64,
}

impl Flight {
    /// A copy beside kernels that take so long together; `takes` is how long it takes until it begins, and what it moves.
    pub fn new(moments: Range<i64>, time: i64, takes: [i64; 2]) -> Flight {
        let [latency, moving] = takes;
        let exposed = latency.saturating_add(moving).saturating_sub(time).max(0);
        let beside = i128::from(moving.saturating_sub(exposed).max(0));
        let share = match time {
            ..=0 => 0,
            time => ceil_div_wide(beside * i128::from(BANDWIDTH), i128::from(time)),
        };
        Flight { moments, exposed, share: i64::try_from(share).unwrap_or(BANDWIDTH).min(BANDWIDTH) }
    }
}

/// A loop: its moments, and the loop that it is in.
#[derive(Clone, Debug)]
struct LoopSpan {
    moments: Range<usize>,
    outer: Option<usize>,
}

/// The least time of kernels, and the loops that they are in.
#[derive(Clone, Debug)]
pub struct KernelClock {
    /// The time of all kernels before each moment.
    before: Vec<i64>,
    loops: Vec<LoopSpan>,
    /// For each moment the innermost loop.
    inside: Vec<Option<usize>>,
}

impl KernelClock {
    /// The clock of a program, whose network of costs this is; operations may take so much less, which is at most 0.
    pub fn new(problem: &LayoutProblem, network: &CostNetwork, less: &[(usize, i64)]) -> KernelClock {
        let instances = &problem.program.instances;
        let n = instances.len();
        let least = |costs: &[i64]| costs.iter().copied().filter(|cost| *cost != FORBIDDEN).min().unwrap_or(0).max(0);
        let mut time = vec![0i64; n];
        let mut add = |instance: usize, cost: i64| {
            // What is done inside of a kernel counts when that runs.
            let kernel = problem.kernels.part_of[instance].iter().copied().min().unwrap_or(instance);
            time[kernel] = time[kernel].saturating_add(cost);
        };
        (0..n).for_each(|k| add(k, least(&network.variables()[k])));
        for edge in network.edges().iter().filter(|edge| edge.ends[1] < n) {
            add(edge.ends[1], least(&edge.costs));
        }
        less.iter().for_each(|(instance, cost)| add(*instance, *cost));
        time.iter_mut().for_each(|time| *time = (*time).max(0));
        let mut clock = KernelClock::of_times(&time);
        let ends = loop_ends(&problem.program);
        let merge = |k: usize| instances[k].kind == InstanceKind::Merge && ends[k].is_some();
        for k in (0..n).filter(|k| merge(*k)) {
            if k == 0 || !merge(k - 1) || instances[k - 1].node != instances[k].node {
                clock.add_loop(k..ends[k].unwrap_or(k) + 1);
            }
        }
        clock
    }

    /// The clock of kernels that take so long, without loops.
    pub fn of_times(time: &[i64]) -> KernelClock {
        let mut before = vec![0];
        for own in time {
            before.push(before.last().copied().unwrap_or(0i64).saturating_add(*own));
        }
        KernelClock { before, loops: Vec::new(), inside: vec![None; time.len()] }
    }

    /// Says that these moments are a loop; outer loops first.
    pub fn add_loop(&mut self, moments: Range<usize>) {
        let (number, end) = (self.loops.len(), moments.end.min(self.inside.len()));
        let outer = self.inside.get(moments.start).copied().flatten();
        self.inside[moments.start.min(end)..end].fill(Some(number));
        self.loops.push(LoopSpan { moments: moments.start.min(end)..end, outer });
    }

    /// The number of moments.
    pub fn moments(&self) -> usize {
        self.inside.len()
    }

    /// The innermost loop at a moment.
    pub fn inside(&self, moment: usize) -> Option<usize> {
        self.inside.get(moment).copied().flatten()
    }

    /// The moments of a loop, or of the program.
    pub fn span(&self, inside: Option<usize>) -> Range<usize> {
        inside.map_or(0..self.moments(), |own| self.loops[own].moments.clone())
    }

    /// How long the kernels at some moments take.
    pub fn time(&self, moments: Range<usize>) -> i64 {
        let at = |moment: usize| self.before[moment.min(self.moments())];
        at(moments.end.max(moments.start)) - at(moments.start)
    }

    /// The loop directly inside of another that has a moment, which is in that other.
    fn inner(&self, moment: usize, inside: Option<usize>) -> Option<Range<usize>> {
        let mut own = self.inside(moment);
        let mut found = None;
        while own != inside {
            let number = own?;
            found = Some(self.loops[number].moments.clone());
            own = self.loops[number].outer;
        }
        found
    }

    /// The shortest stretch of moments from one on, in a loop, whose kernels take at least so long: its end. `None` where all
    /// up to the end of the loop take less.
    pub fn ahead(&self, first: usize, inside: Option<usize>, need: i64) -> Option<usize> {
        let end = self.span(inside).end;
        if first >= end || self.time(first..end) < need {
            return None;
        }
        let reached = self.before[first].saturating_add(need);
        let last = (first + self.before[first + 1..=end].partition_point(|time| *time < reached)).min(end - 1);
        Some(self.inner(last, inside).map_or(last + 1, |inner| inner.end))
    }

    /// The shortest such stretch that ends before a moment: its first moment.
    pub fn behind(&self, end: usize, inside: Option<usize>, need: i64) -> Option<usize> {
        let start = self.span(inside).start;
        if start >= end || self.time(start..end) < need {
            return None;
        }
        let reached = self.before[end] - need;
        let first = start + self.before[start..end].partition_point(|time| *time <= reached);
        let first = first.max(start + 1) - 1;
        Some(self.inner(first, inside).map_or(first, |inner| inner.start))
    }
}
