//! The time of a search for a plan.

use crate::pass::diagnostic::Diagnostic;
use layout_ir::{self as ir, Op};
use layout_plan::plan::COSTS;
use layout_plan::solver::{Options, Progress};
use std::time::{Duration, Instant};

/// When a search ends: after the seconds of the option, all told; without them, where its bound is near, and some time after
/// all costs are known.
pub struct SearchTime {
    seconds: Option<Duration>,
    end: Instant,
}

impl SearchTime {
    /// The time begins now; no seconds are the usual time.
    pub fn new(seconds: u64) -> SearchTime {
        let seconds = (seconds > 0).then(|| Duration::from_secs(seconds.min(1 << 20)));
        SearchTime { seconds, end: Instant::now() + seconds.unwrap_or(Options::USUAL_TIME) }
    }

    /// The limits of the search.
    pub fn options(&self) -> Options {
        if self.seconds.is_some() { Options::default() } else { Options::usual() }
    }

    /// Whether the search may go on.
    pub fn go_on(&mut self, progress: &Progress) -> bool {
        let now = Instant::now();
        if progress.phase == COSTS && self.seconds.is_none() {
            self.end = now + Options::USUAL_TIME;
        }
        now < self.end
    }

    /// The remark that the time was over before the bound met the cost.
    pub fn left<'c>(&self, module: Op<'c>, costs: &str, (cost, bound): (i64, i64)) -> Option<Diagnostic<'c>> {
        let is_left = !self.options().is_near(cost, bound) && Instant::now() >= self.end;
        let message = format!("the search ended with its time: {costs}");
        is_left.then(|| Diagnostic::remark(ir::location(module), message))
    }
}
