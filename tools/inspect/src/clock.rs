//! Time: when a search has to end, and what is said of it on standard error meanwhile.

use std::time::{Duration, Instant};
use tensor_layout::solver::Progress;

/// Time, and what of the search is said on standard error: a line each second where something has changed.
pub struct Clock {
    start: Instant,
    limit: Duration,
    said: Duration,
    last: (Option<i64>, Option<i64>),
    quiet: bool,
}

impl Clock {
    /// A clock that begins now; a search may take so many seconds.
    pub fn new(seconds: Option<f64>) -> Clock {
        let limit = seconds.map_or(Duration::MAX, |s| Duration::try_from_secs_f64(s).unwrap_or(Duration::MAX));
        Clock { start: Instant::now(), limit, said: Duration::ZERO, last: (None, None), quiet: false }
    }

    /// One that says nothing.
    pub fn quiet(seconds: Option<f64>) -> Clock {
        Clock { quiet: true, ..Clock::new(seconds) }
    }

    /// Whether the search may go on.
    pub fn go_on(&mut self, progress: &Progress) -> bool {
        let now = self.start.elapsed();
        let state = (progress.cost, progress.bound);
        if !self.quiet && now >= self.said + Duration::from_secs(1) && (state != self.last || now >= 2 * self.said) {
            (self.said, self.last) = (now, state);
            let number = |value: Option<i64>| value.map_or("none yet".to_string(), |value| value.to_string());
            let (cost, bound) = (number(progress.cost), number(progress.bound));
            eprintln!("{} s, {}: cost {cost}, bound {bound}", now.as_secs(), progress.phase);
        }
        now < self.limit
    }

    /// Says what has been done where a second has passed since something was said.
    pub fn say(&mut self, done: &str) {
        let now = self.start.elapsed();
        if !self.quiet && now >= self.said + Duration::from_secs(1) {
            self.said = now;
            eprintln!("{} s: {done}", now.as_secs());
        }
    }

    /// Whether time is left.
    pub fn has_time(&self) -> bool {
        self.start.elapsed() < self.limit
    }

    /// How much.
    pub fn left(&self) -> Duration {
        self.limit.saturating_sub(self.start.elapsed())
    }
}
