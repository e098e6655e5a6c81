//! Random cases that shrink when they fail.
//!
//! A generator draws numbers from [`Choices`], which records them. The record determines the case, so a failing case
//! shrinks by shrinking its record: numbers are removed, set to 0, or halved, and the generator runs again. A smaller
//! number must mean a simpler case: `i64(-3..9)` gives 0 for 0, then 1, -1, 2, ..; `bool()` gives `false` for 0;
//! `shuffle` changes nothing for zeros. Any generator works, also one that retries until a case is valid. The final
//! case fails the test, and each single step from there passes or is not valid.
//!
//! [`check`] draws cases and tests them; `proptest` does the work: the loop, the panics, the search. Shared by tests;
//! no test by itself.

use fastrand::Rng;
use proptest::prelude::Rng as _;
use proptest::strategy::{NewTree, Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};
use std::any::Any;
use std::collections::HashSet;
use std::fmt::Debug;
use std::ops::{Bound, RangeBounds};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

/// The limit of smaller cases.
const SHRINKS: u32 = 5000;
/// The limit of draws after the end of a record, all 0. A generator that draws more does not end.
const BEYOND: usize = 1000;

/// A source of random numbers with a record of them.
pub struct Choices {
    /// The source of the numbers without a record.
    rng: Rng,
    /// The record to replay.
    record: Option<Vec<u64>>,
    /// The numbers so far.
    made: Vec<u64>,
}

/// A type of numbers that [`Choices`] draws.
pub trait Number: Copy {
    /// The number in 128 bits, which hold all values of the type.
    fn wide(self) -> i128;
    /// The number from 128 bits; it must be one of the type.
    fn of(wide: i128) -> Self;
    /// The least and the greatest value.
    const ENDS: (Self, Self);
}

macro_rules! numbers {
    ($($type:ident)*) => {
        $(
            impl Number for $type {
                fn wide(self) -> i128 {
                    self as i128
                }
                fn of(wide: i128) -> $type {
                    wide as $type
                }
                const ENDS: ($type, $type) = ($type::MIN, $type::MAX);
            }
        )*
        impl Choices {
            $(
                /// A number in a range.
                pub fn $type(&mut self, range: impl RangeBounds<$type>) -> $type {
                    self.number(range)
                }
            )*
        }
    };
}

numbers!(u8 u32 u64 usize i32 i64);

/// Unwinds out of a generator that does not end.
struct Endless;

impl Choices {
    /// New choices; equal for equal seeds.
    pub fn random(seed: u64) -> Choices {
        Choices { rng: Rng::with_seed(seed), record: None, made: Vec::new() }
    }

    /// Choices with the numbers of a record, then zeros.
    pub fn replay(record: Vec<u64>) -> Choices {
        Choices { record: Some(record), ..Choices::random(0) }
    }

    /// The record so far.
    pub fn made(&self) -> &[u64] {
        &self.made
    }

    /// A number below `count`; 0 means 2^64.
    fn below(&mut self, count: u64) -> u64 {
        let last = count.wrapping_sub(1);
        let choice = match &self.record {
            None => self.rng.u64(..=last),
            Some(record) => match record.get(self.made.len()) {
                Some(choice) => (*choice).min(last),
                None if self.made.len() > record.len() + BEYOND => resume_unwind(Box::new(Endless)),
                None => 0,
            },
        };
        self.made.push(choice);
        choice
    }

    /// A number in a range. Numbers near 0 are the simple ones.
    fn number<T: Number>(&mut self, range: impl RangeBounds<T>) -> T {
        let low = match range.start_bound() {
            Bound::Included(n) => n.wide(),
            Bound::Excluded(n) => n.wide() + 1,
            Bound::Unbounded => T::ENDS.0.wide(),
        };
        let high = match range.end_bound() {
            Bound::Included(n) => n.wide(),
            Bound::Excluded(n) => n.wide() - 1,
            Bound::Unbounded => T::ENDS.1.wide(),
        };
        assert!(low <= high, "{low}..={high} is empty");
        let choice = i128::from(self.below((high - low + 1) as u64));
        let middle = 0.clamp(low, high);
        // While both sides of the middle have numbers left, choices alternate between them.
        let both = (middle - low).min(high - middle);
        T::of(match choice {
            _ if choice > 2 * both && high - middle > both => middle + choice - both,
            _ if choice > 2 * both => middle - (choice - both),
            _ if choice % 2 == 1 => middle + (choice + 1) / 2,
            _ => middle - choice / 2,
        })
    }

    /// A boolean; `false` is the simple case.
    pub fn bool(&mut self) -> bool {
        self.below(2) == 1
    }

    /// Whether an event of probability 1 in `cases` happens; `false` is the simple case.
    pub fn one_in(&mut self, cases: u64) -> bool {
        self.below(cases) + 1 == cases
    }

    /// Changes the order of the items.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, last - self.usize(..=last));
        }
    }

    /// One of the items; the first is the simple case.
    pub fn choice<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.usize(..items.len())]
    }
}

/// A case and the record that determines it.
struct Drawn<T> {
    record: Vec<u64>,
    case: Rc<T>,
}

impl<T> Drawn<T> {
    /// The case of these choices, or the generator's panic.
    fn new(mut choices: Choices, generate: &dyn Fn(&mut Choices) -> T) -> Result<Drawn<T>, Box<dyn Any + Send>> {
        let case = Rc::new(catch_unwind(AssertUnwindSafe(|| generate(&mut choices)))?);
        Ok(Drawn { record: choices.made, case })
    }

    /// Whether the record is shorter, or as long and smaller.
    fn is_simpler(&self, than: &Drawn<T>) -> bool {
        (self.record.len(), &self.record) < (than.record.len(), &than.record)
    }
}

/// An edit of a record at one position.
#[derive(Clone, Copy)]
enum Edit {
    /// Removes that many numbers.
    Remove(usize),
    /// Decrements a number, which may be the length of a list, and removes that many numbers after it.
    Shorten(usize),
    /// Sets that many numbers to 0.
    Zero(usize),
    /// Halves a number.
    Halve,
    /// Decrements a number.
    Lower,
}

/// The edits in the order of the search, each at all positions, the last one first.
const EDITS: &[Edit] = &[
    Edit::Remove(32),
    Edit::Remove(8),
    Edit::Zero(8),
    Edit::Remove(3),
    Edit::Zero(1),
    Edit::Halve,
    Edit::Remove(2),
    Edit::Remove(1),
    Edit::Shorten(1),
    Edit::Shorten(2),
    Edit::Lower,
];

impl Edit {
    /// The edited record, if the edit applies at this position.
    fn apply(self, record: &[u64], at: usize) -> Option<Vec<u64>> {
        let mut edited = record.to_vec();
        match self {
            Edit::Remove(n) => drop(edited.drain(at..(at + n <= record.len()).then_some(at + n)?)),
            Edit::Shorten(n) => {
                edited[at] = record[at].checked_sub(1)?;
                edited.drain(at + 1..(at + 1 + n <= record.len()).then_some(at + 1 + n)?);
            }
            Edit::Zero(n) => edited.get_mut(at..at + n)?.fill(0),
            Edit::Halve => edited[at] /= 2,
            Edit::Lower => edited[at] = record[at].checked_sub(1)?,
        }
        (edited != record).then_some(edited)
    }
}

/// The search for a simpler failing case.
pub struct Search<'g, T> {
    generate: &'g dyn Fn(&mut Choices) -> T,
    /// The simplest failing case so far.
    best: Drawn<T>,
    /// The case under test.
    candidate: Option<Drawn<T>>,
    /// The next edit, by number, and the position in the record before which it is tried.
    next: (usize, usize),
    /// Whether any edit has succeeded since the first one was tried.
    improved: bool,
    /// All records so far.
    tried: HashSet<Vec<u64>>,
}

impl<'g, T> Search<'g, T> {
    /// A search from the case of these choices.
    pub fn new(generate: &'g dyn Fn(&mut Choices) -> T, choices: Choices) -> Search<'g, T> {
        let best = Drawn::new(choices, generate).unwrap_or_else(|panic| resume_unwind(panic));
        let next = (0, best.record.len());
        Search { generate, best, candidate: None, next, improved: false, tried: HashSet::new() }
    }

    /// Proposes the next simpler case. Returns whether there is one.
    fn propose(&mut self) -> bool {
        self.candidate = None;
        loop {
            let (edit, place) = &mut self.next;
            if *place == 0 {
                (*edit, *place) = (*edit + 1, self.best.record.len());
                if *edit == EDITS.len() {
                    if !self.improved {
                        return false;
                    }
                    (*edit, self.improved) = (0, false);
                }
                if *place == 0 {
                    return false;
                }
            }
            *place -= 1;
            let Some(record) = EDITS[*edit].apply(&self.best.record, *place) else { continue };
            if !self.tried.insert(record.clone()) {
                continue;
            }
            let Ok(drawn) = Drawn::new(Choices::replay(record), self.generate) else { continue };
            if drawn.is_simpler(&self.best) && self.tried.insert(drawn.record.clone()) {
                self.candidate = Some(drawn);
                return true;
            }
        }
    }
}

impl<T: Debug> ValueTree for Search<'_, T> {
    type Value = Rc<T>;

    fn current(&self) -> Rc<T> {
        self.candidate.as_ref().unwrap_or(&self.best).case.clone()
    }

    /// Takes the candidate, which fails.
    fn simplify(&mut self) -> bool {
        if let Some(candidate) = self.candidate.take() {
            self.best = candidate;
            self.improved = true;
            // Once more at the same position.
            self.next.1 = (self.next.1 + 1).min(self.best.record.len());
        }
        self.propose()
    }

    /// Drops the candidate, which passes.
    fn complicate(&mut self) -> bool {
        self.propose()
    }
}

/// The cases of a generator.
struct Cases<'g, T>(&'g dyn Fn(&mut Choices) -> T);

impl<T> Debug for Cases<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Cases")
    }
}

impl<'g, T: Debug> Strategy for Cases<'g, T> {
    type Tree = Search<'g, T>;
    type Value = Rc<T>;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        Ok(Search::new(self.0, Choices::random(runner.rng().next_u64())))
    }
}

/// Runs a test on that many cases.
///
/// # Panics
/// With the simplest failing case and its panic message.
pub fn check<T: Debug>(cases: u32, seed: u64, generate: impl Fn(&mut Choices) -> T, test: impl Fn(&T)) {
    let mut runner = runner(cases, seed, SHRINKS);
    let result = runner.run(&Cases(&generate), |case| {
        test(&case);
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(why, case)) => panic!("the simplest case that fails, {case:?}:\n{why}"),
        Err(TestError::Abort(why)) => panic!("{why}"),
    }
}

/// A runner that tests and shrinks cases; `shrinks` limits the smaller ones.
pub fn runner(cases: u32, seed: u64, shrinks: u32) -> TestRunner {
    let config = Config { cases, failure_persistence: None, max_shrink_iters: shrinks, ..Config::default() };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}
