//! Orders of least peak, by a search over sets of tasks that have run.
//!
//! A state is a set of tasks closed under predecessors, and the rest that later tasks depend on
//! ([`TaskState::memory`]); the live bytes after it do not depend on the order of its tasks. A depth-first walk over
//! the states within a limit of bytes decides whether an order within it exists. Each state is entered once, and only
//! if no other state after the same tasks is [no worse](TaskState::is_no_worse). The least limit is found by bisection
//! between a bound and the peak of a known order.
//!
//! Tasks that end with no more live bytes than before them, or between, run without a choice: no order is better.
//! Let `live` be the live bytes after a set, `a` the set so far, `b` that set with these tasks, and `c` the set of
//! another order at some time. Then live(b | c) <= live(c), since a value counts from its first task to its last, so
//! that live(b | c) + live(b & c) <= live(b) + live(c), and live(b) <= live(b & c). Such tasks are single, or chains in
//! which each task needs the one before: `b & c` is then a prefix of the chain.
//!
//! A walk from the end is a walk of the reversed graph. A proof needs the cheaper of the two, so both get steps in
//! turn.

use super::progress::{LiveBytes, TaskState};
use rustc_hash::FxHashMap;

/// A set of tasks, one bit for each, or the memory of a state.
type StateKey = Box<[u64]>;

/// A search for an order below a peak.
pub struct OrderSearch<P> {
    /// The initial states: at the start, at the end, or both.
    pub sides: Vec<SearchSide<P>>,
    /// The peak that an order must be below.
    pub below: i64,
    /// A lower bound on the peak.
    pub least: i64,
}

/// The initial state of a search in one direction.
pub struct SearchSide<P> {
    /// The state before the first task, in the direction of the search.
    pub progress: P,
    /// Whether the direction is from the last task to the first.
    pub from_end: bool,
}

/// The result of a search.
pub struct OrderSearched {
    /// An order below the peak.
    pub order: Option<Vec<usize>>,
    /// A lower bound on the peak. After a complete search: the order's peak, or `below` if there is no order.
    pub bound: i64,
}

const MOST_WORDS: usize = 1 << 22;

/// The steps before the other side gets its turn.
const FIRST_STEPS: u64 = 1 << 14;

/// The limit on tasks of a chain that run without a choice.
const CHAIN: usize = 4;

/// The answer to a limit of bytes.
enum Decided {
    /// An order, with its peak.
    Order(Vec<usize>, i64),
    /// No order within the limit, nor below this number.
    None(i64),
    /// Undecided: the steps or the memory are used up.
    Open,
}

impl<P: TaskState> OrderSearch<P> {
    /// Searches until it is done or out of steps, and deducts the steps used.
    pub fn run(mut self, steps: &mut u64) -> OrderSearched {
        let (mut bound, mut below, mut order) = (self.least, self.below, None);
        // The range of limits that one walk's steps did not decide, end excluded.
        let mut open: Option<(i64, i64)> = None;
        while bound < below {
            // Orders first, then the bound.
            let (from, to) = match open {
                None => (bound, below),
                Some((_, end)) if end < below => (end, below),
                Some((start, _)) if bound < start => (bound, start),
                Some(_) => break,
            };
            let most = from + (to - 1 - from) / 2;
            let mut own = *steps / 2;
            *steps -= own;
            match self.decide(most, &mut own) {
                Decided::Order(found, peak) => {
                    (order, below) = (Some(found), peak);
                    open = open.map(|(start, end)| (start, end.min(below))).filter(|(start, _)| *start < below);
                }
                Decided::None(next) => {
                    bound = next.min(below);
                    open = open.map(|(start, end)| (start.max(bound), end)).filter(|(_, end)| bound < *end);
                }
                Decided::Open => open = Some(open.map_or((most, most + 1), |(a, b)| (a.min(most), b.max(most + 1)))),
            }
            *steps += own;
        }
        OrderSearched { order, bound }
    }

    /// Decides whether an order within `most` bytes exists. The steps of the two sides double in turn.
    fn decide(&mut self, most: i64, steps: &mut u64) -> Decided {
        let mut share = if self.sides.len() > 1 { FIRST_STEPS } else { *steps };
        loop {
            let mut goes_on = false;
            for side in &mut self.sides {
                let given = share.min(*steps);
                let mut left = given;
                let found = SetWalk::new(&mut side.progress, most, &mut left).decide();
                *steps -= given - left;
                match found {
                    // Open with steps left: the memory for states is used up.
                    Decided::Open => goes_on |= left == 0,
                    Decided::Order(mut order, peak) => {
                        if side.from_end {
                            order.reverse();
                        }
                        return Decided::Order(order, peak);
                    }
                    none => return none,
                }
            }
            if *steps == 0 || !goes_on {
                return Decided::Open;
            }
            share = share.saturating_mul(2);
        }
    }
}

/// A walk over the states within a limit of bytes.
struct SetWalk<'p, P> {
    progress: &'p mut P,
    most: i64,
    /// The least cost of a task above the limit.
    next: i64,
    peak: i64,
    steps: &'p mut u64,
    after: Vec<Vec<usize>>,
    waiting: Vec<usize>,
    ready: Vec<usize>,
    set: Vec<u64>,
    /// The tasks that have run, each with its position among the ready ones, and the peak before.
    path: Vec<(usize, usize, i64)>,
}

/// A state on the path.
struct SetBranch {
    /// The number of tasks that ran before.
    ran: usize,
    /// The tasks that may run next, with the way; the best one last.
    choices: Vec<(usize, usize)>,
}

impl<'p, P: TaskState> SetWalk<'p, P> {
    fn new(progress: &'p mut P, most: i64, steps: &'p mut u64) -> SetWalk<'p, P> {
        let graph = progress.graph();
        let (after, waiting) = (graph.after.clone(), graph.before.iter().map(Vec::len).collect::<Vec<_>>());
        let ready = (0..graph.len()).filter(|task| waiting[*task] == 0).collect();
        let set = vec![0; graph.len().div_ceil(64)];
        SetWalk { progress, most, next: i64::MAX, peak: 0, steps, after, waiting, ready, set, path: Vec::new() }
    }

    /// Walks, and returns to the first state.
    fn decide(mut self) -> Decided {
        let found = self.walk();
        while !self.path.is_empty() {
            self.undo();
        }
        found
    }

    fn walk(&mut self) -> Decided {
        let mut seen: FxHashMap<StateKey, Vec<StateKey>> = FxHashMap::default();
        let mut kept = 0;
        let mut branches: Vec<SetBranch> = Vec::new();
        let mut ran = 0;
        loop {
            // A new state.
            self.settle();
            if self.ready.is_empty() {
                return Decided::Order(self.path.iter().map(|own| own.0).collect(), self.peak);
            }
            let memory: StateKey = self.progress.memory().into();
            let known = seen.entry(self.set[..].into()).or_default();
            if known.iter().any(|own| self.progress.is_no_worse(own, &memory)) {
                branches.push(SetBranch { ran, choices: Vec::new() });
            } else {
                let words = memory.len() + self.set.len() + 8;
                kept += words;
                *self.steps = self.steps.saturating_sub(words as u64);
                known.retain(|own| !self.progress.is_no_worse(&memory, own));
                known.push(memory);
                let choices = self.choices();
                branches.push(SetBranch { ran, choices });
            }
            loop {
                if *self.steps == 0 || kept > MOST_WORDS {
                    return Decided::Open;
                }
                let Some(branch) = branches.last_mut() else { return Decided::None(self.next) };
                let Some((task, way)) = branch.choices.pop() else {
                    let ran = branch.ran;
                    branches.pop();
                    while self.path.len() > ran {
                        self.undo();
                    }
                    continue;
                };
                ran = self.path.len();
                let place = self.ready.iter().position(|own| *own == task).unwrap_or(0);
                if self.run(place, way) {
                    break;
                }
            }
        }
    }

    /// Runs a ready task if it stays within the limit.
    fn run(&mut self, place: usize, way: usize) -> bool {
        let task = self.ready[place];
        let graph = self.progress.graph();
        *self.steps = self.steps.saturating_sub((graph.touched[task].len() + self.after[task].len() + 1) as u64);
        let cost = self.progress.step(task, way);
        if cost.is_none_or(|cost| cost > self.most) {
            self.next = self.next.min(cost.unwrap_or(i64::MAX));
            self.progress.undo(task);
            return false;
        }
        self.path.push((task, place, self.peak));
        self.peak = self.peak.max(cost.unwrap_or(0));
        self.set[task / 64] |= 1 << (task % 64);
        self.ready.swap_remove(place);
        for then in &self.after[task] {
            self.waiting[*then] -= 1;
            if self.waiting[*then] == 0 {
                self.ready.push(*then);
            }
        }
        true
    }

    /// Undoes the last task.
    fn undo(&mut self) {
        let Some((task, place, peak)) = self.path.pop() else { return };
        for then in self.after[task].iter().rev() {
            if self.waiting[*then] == 0 {
                self.ready.pop();
            }
            self.waiting[*then] += 1;
        }
        self.ready.push(task);
        let last = self.ready.len() - 1;
        self.ready.swap(place, last);
        self.set[task / 64] &= !(1 << (task % 64));
        self.peak = peak;
        self.progress.undo(task);
    }

    /// Runs all tasks that need no choice.
    fn settle(&mut self) {
        let (mut place, mut since) = (0, 0);
        while since < self.ready.len() && *self.steps > 0 {
            place %= self.ready.len();
            if self.goes_down(place, &mut vec![self.progress.live()]) {
                since = 0;
            } else {
                (place, since) = (place + 1, since + 1);
            }
        }
    }

    /// Runs a ready task, or a chain that begins with it, if the live bytes afterwards are at most each of these
    /// levels.
    fn goes_down(&mut self, place: usize, levels: &mut Vec<LiveBytes>) -> bool {
        let task = self.ready[place];
        if !self.progress.is_settled(task) || !self.run(place, 0) {
            return false;
        }
        let live = self.progress.live();
        if levels.iter().all(|before| live.is_at_most(before, self.progress.graph())) {
            return true;
        }
        if levels.len() < CHAIN {
            levels.push(live);
            let new = self.after[task].iter().filter(|then| self.waiting[**then] == 0).count();
            for place in self.ready.len() - new..self.ready.len() {
                if self.goes_down(place, levels) {
                    return true;
                }
            }
            levels.pop();
        }
        self.undo();
        false
    }

    /// The tasks that may run next, in each way; the one that leaves fewest bytes live is last.
    fn choices(&mut self) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        for place in 0..self.ready.len() {
            let task = self.ready[place];
            for way in 0..self.progress.ways(task) {
                if self.run(place, way) {
                    found.push((self.progress.live().counted, task, way));
                    self.undo();
                }
            }
        }
        found.sort_unstable_by(|a, b| b.cmp(a));
        found.into_iter().map(|(_, task, way)| (task, way)).collect()
    }
}
