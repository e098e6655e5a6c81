//! Checks that a lowered MLIR program computes what the program before it did.
//!
//! This is what is trusted: it depends on MLIR's C API and on no other crate of this project. `docs/verify.md` says what is
//! proved and what is assumed.
//!
//! | file | what it holds |
//! |---|---|
//! | `model` | a program as data |
//! | `mlir` | attributes and types of MLIR as data |
//! | `lanes` | operations that move lanes of vectors |
//! | `read` | what each operation means |
//! | `layouts` | where a tiled layout puts an element |
//! | `arith` | what operations of `arith` compute, on bits |
//! | `terms` | symbolic elements, and the rules by which they are equal |
//! | `machine` | values and memory of a program that runs |
//! | `run`, `actions`, `parallel` | the evaluator |
//! | `compare` | inputs of both forms, and whether their results are the same |

mod actions;
mod arith;
mod compare;
mod lanes;
mod layouts;
mod machine;
mod mlir;
pub mod model;
mod parallel;
mod read;
mod run;
mod terms;

use compare::{Outcome, Sizes, Verdict, reason};
use melior::ir::{Location, OperationRef};
use model::{Function, Program};
use run::Stop;
use std::collections::{BTreeMap, BTreeSet};
use terms::Terms;

/// What a check may do, and what the passes between were allowed to do.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many steps a function may take, elements of vectors and of copies counted one by one.
    pub steps: u64,
    /// Whether sums of floating-point numbers may be reassociated.
    pub reassociate: bool,
    /// Whether a product and a sum may be rounded once.
    pub contract: bool,
}

/// What a check found.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Whether the program computes something else; if not, it was not shown that it does not.
    pub is_error: bool,
    /// The function.
    pub function: String,
    /// What, in words.
    pub message: String,
    place: Option<usize>,
}

impl Finding {
    /// The location of the operation, if there is one; `module` is the program, in whose context it lives.
    pub fn location<'c>(&self, module: OperationRef<'c, 'c>) -> Option<Location<'c>> {
        mlir::location(module, self.place?)
    }
}

/// A program before passes, and what its functions compute.
pub struct Source {
    program: Program,
    latest: Program,
    outcomes: BTreeMap<String, (Sizes, Outcome)>,
    terms: Terms,
    limits: Limits,
    skipped: BTreeSet<String>,
}

/// The sizes that are tried for dimensions that only the running program knows.
const OPEN: [i64; 3] = [5, 3, 8];

impl Source {
    /// Reads a program and runs its functions; what cannot be compared later is said now, once.
    pub fn new(module: OperationRef, limits: Limits) -> (Source, Vec<Finding>) {
        let program = read::program(mlir::borrowed(module));
        let terms = Terms::new(limits.reassociate, limits.contract);
        let latest = program.clone();
        let mut source = Source { program, latest, outcomes: BTreeMap::new(), terms, limits, skipped: BTreeSet::new() };
        let mut findings = vec![];
        for (name, function) in &source.program.functions {
            if function.body.is_none() {
                continue;
            }
            // Other sizes may be those that the program is for.
            let mut stop = Stop::Fault("no sizes and numbers that were tried are those of the program".into(), 0);
            let mut done = false;
            for open in OPEN {
                let sizes = compare::sizes_of_arguments(function, open);
                let forms = (&source.program, function);
                match compare::outcome(&mut source.terms, function, forms, &sizes, None, limits.steps) {
                    Ok(outcome) => {
                        source.outcomes.insert(name.clone(), (sizes, outcome));
                        done = true;
                    }
                    Err(Stop::Fault(..)) => continue,
                    Err(other) => stop = other,
                }
                break;
            }
            if !done {
                findings.push(not_proved(name, &stop));
            }
        }
        source.skipped = findings.iter().map(|finding| finding.function.clone()).collect();
        (source, findings)
    }

    /// Compares what passes made of the program with it.
    pub fn check(&mut self, module: OperationRef) -> Vec<Finding> {
        let program = read::program(mlir::borrowed(module));
        let mut findings = vec![];
        for (name, (sizes, before)) in &self.outcomes {
            let Some(after) = program.functions.get(name).filter(|function| function.body.is_some()) else {
                continue;
            };
            if self.skipped.contains(name) || program == self.latest {
                continue;
            }
            let forms = (&program, after);
            let source: &Function = &self.program.functions[name];
            let found = compare::outcome(&mut self.terms, source, forms, sizes, Some(before), self.limits.steps);
            let finding = match found {
                Ok(outcome) => match compare::compare(&self.terms, before, &outcome) {
                    Verdict::Same => continue,
                    Verdict::Tried(what) => Finding {
                        is_error: false,
                        function: name.clone(),
                        message: format!("not proved, but tried: {what}"),
                        place: None,
                    },
                    Verdict::Differs(what) => {
                        Finding { is_error: true, function: name.clone(), message: what, place: None }
                    }
                },
                Err(Stop::Fault(what, at)) => {
                    Finding { is_error: true, function: name.clone(), message: what, place: place(at) }
                }
                Err(stop) => not_proved(name, &stop),
            };
            // Each function has one finding: what comes after it is compared with the same source.
            self.skipped.insert(name.clone());
            findings.push(finding);
        }
        self.latest = program;
        findings
    }
}

fn place(location: usize) -> Option<usize> {
    Some(location).filter(|location| *location != 0)
}

fn not_proved(function: &str, stop: &Stop) -> Finding {
    let location = match stop {
        Stop::Steps => None,
        Stop::Unknown(_, at) | Stop::Fault(_, at) => place(*at),
    };
    let message = format!("not proved: {}", reason(stop));
    Finding { is_error: false, function: function.to_owned(), message, place: location }
}
