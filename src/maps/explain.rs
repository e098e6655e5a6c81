//! A simplification with its steps, each of which the checker accepts.
//!
//! The simplifier writes steps; the checker follows them. Where it refuses one, the step is weakened: first its fact is
//! left out, then its rule becomes [`Rule::Enumerated`], which looks at each point of a small domain. Where that does not
//! do either, there is an error: a map is simplified in full or explained in full, never with a gap.

use crate::expr::Expr;
use crate::maps::check::{Reason, follow};
use crate::maps::map::{Indexing, IndexingMap};
use crate::maps::steps::{LARGEST, Log, Rule, Step, Using};
use crate::text::Error;

/// A map made simple, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explained {
    /// What [`IndexingMap::simplify`] returns.
    pub result: Indexing,
    /// How it comes about.
    pub steps: Vec<Step>,
}

impl IndexingMap {
    /// [`IndexingMap::simplify`] with the steps that lead there, each of which [`crate::maps::check::replay`] accepts, and
    /// none that does not help.
    ///
    /// # Errors
    /// Where the steps are too large to be shown, or the numbers too large to be followed.
    pub fn explain(&self) -> Result<Explained, Error> {
        let mut log = Log::of_size(Using::All, self.exprs().map(Expr::size).sum());
        let result = self.simplify_with(&mut Some(&mut log));
        if !log.open() {
            return Err(Error::new(format!("the steps must have at most {LARGEST} operations, found more")).too_large());
        }
        // A fact that only the simplifier can prove is left out; where a rule itself is not proved, points are enumerated.
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
