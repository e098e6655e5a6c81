//! The clock of a search: when it has to end, and its progress on a terminal meanwhile.

use crate::stopwatch::Stopwatch;
use layout_plan::plan::COSTS;
use layout_plan::solver::{Options, Progress};
use std::io::{self, IsTerminal as _};
use std::time::Duration;

/// The least that explanations may take after a short search: table entries, usually the limit, and time.
const LEAST_WORK: u64 = 1 << 27;
const LEAST_TIME: Duration = Duration::from_secs(1);

/// The clock of a search. Where standard error is a terminal, it prints the progress there: at most one message a
/// second, after a change or when the time has doubled.
pub struct Clock {
    start: Stopwatch,
    limit: Duration,
    gap: i64,
    /// The table entries that the search has examined.
    work: u64,
    /// Whether a search has begun: costs that are found later are part of it.
    is_searching: bool,
    said: Duration,
    last: (Option<i64>, Option<i64>),
    quiet: bool,
}

impl Clock {
    /// A clock that starts now, for a search of at most `seconds`.
    pub fn new(seconds: Option<f64>) -> Clock {
        let limit = seconds.map_or(Duration::MAX, |s| Duration::try_from_secs_f64(s).unwrap_or(Duration::MAX));
        let quiet = !io::stderr().is_terminal();
        Clock {
            start: Stopwatch::start(),
            limit,
            gap: 0,
            work: 0,
            is_searching: false,
            said: Duration::ZERO,
            last: (None, None),
            quiet,
        }
    }

    /// The clock of a plan: 10 seconds where none are given, less where the bound is near.
    pub fn of_plan(seconds: Option<f64>) -> Clock {
        match seconds {
            Some(_) => Clock::new(seconds),
            None => Clock { limit: Options::USUAL_TIME, gap: Options::usual().gap, ..Clock::new(None) },
        }
    }

    /// Calls `ask` and does not count its time, unless seconds are given.
    pub fn without_counting<T>(&mut self, ask: impl FnOnce(&Clock) -> T) -> T {
        if self.gap == 0 {
            return ask(self);
        }
        let before = self.start.elapsed();
        let found = ask(&Clock { limit: Duration::MAX, ..*self });
        self.limit = self.limit.saturating_add(self.start.elapsed().saturating_sub(before));
        found
    }

    /// The same clock without messages.
    pub fn silent(self) -> Clock {
        Clock { quiet: true, ..self }
    }

    /// The limits of a search.
    pub fn options(&self) -> Options {
        if self.gap == 0 { Options::default() } else { Options { gap: self.gap, ..Options::usual() } }
    }

    /// The clock and the table entries for explanations after a search: all the time that is left where seconds were
    /// given, and otherwise no longer than the search took.
    pub fn after(&self) -> (Clock, u64) {
        if self.gap == 0 {
            return (Clock { quiet: true, ..*self }, u64::MAX);
        }
        let now = self.start.elapsed();
        let limit = self.limit.min(now.saturating_add(now.max(LEAST_TIME)));
        (Clock { limit, quiet: true, ..*self }, self.work.max(LEAST_WORK))
    }

    /// The clock of a first search, which has half of the time that is left, and ends where its bound is near.
    pub fn half(&mut self) -> Clock {
        self.is_searching = true;
        let now = self.start.elapsed();
        Clock { limit: now.saturating_add(self.left() / 2), gap: Options::usual().gap, ..*self }
    }

    /// Goes on after a first search.
    pub fn resume(&mut self, first: &Clock) {
        (self.work, self.said, self.last) = (first.work, first.said, first.last);
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
        self.is_searching |= progress.phase != COSTS;
        if !self.is_searching && self.gap != 0 {
            // The usual limit is for the search, which begins when all costs are known.
            self.limit = now + Options::USUAL_TIME;
        }
        now < self.limit
    }

    /// Prints a message if a second has passed since the last one.
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

    /// The time that is left.
    pub fn left(&self) -> Duration {
        self.limit.saturating_sub(self.start.elapsed())
    }
}
