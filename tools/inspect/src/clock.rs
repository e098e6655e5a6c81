//! Time: when a search has to end, and what is said of it on standard error meanwhile.

use std::time::{Duration, Instant};
use tensor_layout::plan::COSTS;
use tensor_layout::solver::{Options, Progress};

/// What explanations may take however short the search was: table entries, which is what ends them mostly, and time.
const LEAST_WORK: u64 = 1 << 27;
const LEAST_TIME: Duration = Duration::from_secs(1);

/// Time, and what of the search is said on standard error: a line each second where something has changed.
pub struct Clock {
    start: Instant,
    limit: Duration,
    gap: i64,
    /// The table entries that the search has looked at.
    work: u64,
    said: Duration,
    last: (Option<i64>, Option<i64>),
    quiet: bool,
}

impl Clock {
    /// A clock that begins now; a search may take so many seconds.
    pub fn new(seconds: Option<f64>) -> Clock {
        let limit = seconds.map_or(Duration::MAX, |s| Duration::try_from_secs_f64(s).unwrap_or(Duration::MAX));
        Clock { start: Instant::now(), limit, gap: 0, work: 0, said: Duration::ZERO, last: (None, None), quiet: false }
    }

    /// That of a plan: where no seconds are given, 10, and less where the bound is near.
    pub fn of_plan(seconds: Option<f64>) -> Clock {
        match seconds {
            Some(_) => Clock::new(seconds),
            None => Clock { limit: Options::USUAL_TIME, gap: Options::usual().gap, ..Clock::new(None) },
        }
    }

    /// Does not count what passes while something else is asked, where no seconds are given.
    pub fn without_counting<T>(&mut self, ask: impl FnOnce(&Clock) -> T) -> T {
        if self.gap == 0 {
            return ask(self);
        }
        let before = self.start.elapsed();
        let found = ask(&Clock { limit: Duration::MAX, ..*self });
        self.limit = self.limit.saturating_add(self.start.elapsed().saturating_sub(before));
        found
    }

    /// The same, and it says nothing.
    pub fn silent(self) -> Clock {
        Clock { quiet: true, ..self }
    }

    /// The limits of a search.
    pub fn options(&self) -> Options {
        Options { gap: self.gap, ..Options::default() }
    }

    /// The clock and the table entries of what comes after a search: all the time that is left where seconds were given, and
    /// else no longer than the search took.
    pub fn after(&self) -> (Clock, u64) {
        if self.gap == 0 {
            return (Clock { quiet: true, ..*self }, u64::MAX);
        }
        let now = self.start.elapsed();
        let limit = self.limit.min(now.saturating_add(now.max(LEAST_TIME)));
        (Clock { limit, quiet: true, ..*self }, self.work.max(LEAST_WORK))
    }

    /// Whether the search may go on.
    pub fn go_on(&mut self, progress: &Progress) -> bool {
        let now = self.start.elapsed();
        self.work = self.work.max(progress.work);
        let state = (progress.cost, progress.bound);
        if !self.quiet && now >= self.said + Duration::from_secs(1) && (state != self.last || now >= 2 * self.said) {
            (self.said, self.last) = (now, state);
            let number = |value: Option<i64>| value.map_or("none yet".to_string(), |value| value.to_string());
            let (cost, bound) = (number(progress.cost), number(progress.bound));
            eprintln!("{} s, {}: cost {cost}, bound {bound}", now.as_secs(), progress.phase);
        }
        if progress.phase == COSTS && self.gap != 0 {
            // The usual limit is for the search, which begins when all costs are known.
            self.limit = now + Options::USUAL_TIME;
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
