//! A simplification with its steps, each of which the checker accepts.
//!
//! The simplifier writes steps; the checker replays them. A refused step is weakened: first it loses its fact, then its
//! rule becomes [`Rule::Enumerated`], which visits each point of a small domain. If the checker still refuses, the
//! result is an error: a map is simplified in full or explained in full, never with a gap.

use crate::expr::Expr;
use crate::maps::check::{Reason, follow};
use crate::maps::map::{Indexing, IndexingMap};
use crate::maps::steps::{LARGEST, Log, Rule, Step, Using};
use crate::text::Error;

/// A simplified map with its steps.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explained {
    /// The result of [`IndexingMap::simplify`].
    pub result: Indexing,
    /// The steps that lead to the result.
    pub steps: Vec<Step>,
}

impl IndexingMap {
    /// [`IndexingMap::simplify`] with its steps, each of which [`crate::maps::check::replay`] accepts and none of which
    /// is unused.
    ///
    /// # Errors
    /// Steps that are too large to show, or numbers that are too large to check.
    pub fn explain(&self) -> Result<Explained, Error> {
        let mut log = Log::of_size(Using::All, self.exprs().map(Expr::size).sum());
        let result = self.simplify_with(&mut Some(&mut log));
        if !log.open() {
            return Err(Error::new(format!("the steps must have at most {LARGEST} operations, found more")).too_large());
        }
        // A fact that only the simplifier can prove is dropped; a rule that is not proved becomes an enumeration of
        // points.
        let (end, used) = loop {
            let refused = match follow(self, &log.steps) {
                Ok(followed) => break followed,
                Err(refused) => refused,
            };
            match log.steps.get_mut(refused.step) {
                Some(step) if refused.reason == Reason::FalseFact && step.fact.is_some() => step.fact = None,
                Some(step) if step.rule != Rule::Enumerated => (step.rule, step.fact) = (Rule::Enumerated, None),
                _ => return Err(Error::new(format!("the steps cannot be followed: {refused}"))),
            }
        };
        let same = match (&end, &result) {
            (None, Indexing::KnownEmpty) => true,
            (Some(end), Indexing::Map(map)) => {
                let sorted = |map: &IndexingMap| {
                    let mut constraints = map.domain.constraints.clone();
                    constraints.sort();
                    constraints
                };
                end.results == map.results && end.domain.vars == map.domain.vars && sorted(end) == sorted(map)
            }
            _ => false,
        };
        if !same {
            return Err(Error::new("the steps do not lead to the result"));
        }
        let steps = log.steps.into_iter().zip(used).filter_map(|(step, used)| used.then_some(step)).collect();
        Ok(Explained { result, steps })
    }
}
