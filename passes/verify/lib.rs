//! Checks that a lowered MLIR program computes what the program before it did.
//!
//! This is what is trusted: it depends on MLIR's C API and on no other crate of this project. `docs/verify.md` says what is
//! proved and what is assumed.
//!
//! | file | what it holds |
//! |---|---|
//! | `model`, `flags` | a program as data |
//! | `mlir` | attributes and types of MLIR as data |
//! | `lanes` | operations that move lanes of vectors |
//! | `read` | what each operation means |
//! | `layouts` | where a tiled layout puts an element |
//! | `arith` | what operations of `arith` compute, on bits |
//! | `terms` | symbolic elements, the rules by which they are equal, and what operations on them promise |
//! | `machine` | values and memory of a program that runs |
//! | `run`, `actions`, `nest`, `arenas`, `parallel` | the evaluator |
//! | `least` | how many steps it takes at least |
//! | `bytes` | memory that is seen as other elements, and copies that run |
//! | `proof` | proofs for all data and shapes of any size: each element is followed back to what makes it |
//! | `smt` | what proofs decide about addresses, for other solvers |
//! | `compare` | inputs of both forms, and whether their results are the same |

mod actions;
mod arenas;
mod arith;
mod bytes;
mod compare;
mod flags;
mod lanes;
mod layouts;
mod least;
mod machine;
mod mlir;
pub mod model;
mod nest;
mod parallel;
mod proof;
mod read;
mod run;
mod smt;
mod terms;

use compare::{Outcome, Sizes, Verdict, reason};
use flags::{CONTRACT, REASSOC};
use melior::ir::{Location, OperationRef};
use model::{Function, Program};
use proof::formula::Obligations;
use run::Stop;
use std::collections::BTreeMap;
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
    /// Whether [`Source::obligations`] are kept.
    pub obligations: bool,
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
    /// Whether both were run to their ends.
    is_tried: bool,
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
    /// What passes made of it, one after the other, each with the number that the caller gave it.
    forms: Vec<(usize, Program)>,
    /// What functions did that have run; none of those that cannot.
    outcomes: BTreeMap<String, Result<(Sizes, Outcome), Stop>>,
    terms: Terms,
    limits: Limits,
    /// Functions of which the last form is shown for all data, with what was decided for it.
    proved: BTreeMap<String, Obligations>,
    /// Functions whose last form is not shown to be the same.
    open: BTreeMap<String, Finding>,
}

/// The sizes that are tried for dimensions that only the running program knows.
const OPEN: [i64; 3] = [5, 3, 8];

impl Source {
    /// Reads a program.
    pub fn new(module: OperationRef, limits: Limits) -> Source {
        let program = read::program(mlir::borrowed(module));
        let terms = Terms::new(limits.reassociate, limits.contract);
        let (outcomes, proved, open) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Source { program, forms: vec![], outcomes, terms, limits, proved, open }
    }

    /// What a function of the program does.
    fn outcome(&mut self, name: &str) -> Result<(Sizes, Outcome), Stop> {
        let function = &self.program.functions[name];
        if least::steps(&self.program, function) > self.limits.steps {
            return Err(Stop::Steps);
        }
        // Other sizes may be those that the program is for.
        for open in OPEN {
            let sizes = compare::sizes_of_arguments(function, open);
            let forms = (&self.program, function);
            match compare::outcome(&mut self.terms, function, forms, &sizes, None, self.limits.steps) {
                Ok(outcome) => return Ok((sizes, outcome)),
                Err(Stop::Fault(..)) => continue,
                Err(other) => return Err(other),
            }
        }
        Err(Stop::Fault("no sizes and numbers that were tried are those of the program".into(), 0))
    }

    /// Notes what passes made of the program; the number comes back with an error that is there first.
    pub fn note(&mut self, module: OperationRef, number: usize) {
        let program = read::program(mlir::borrowed(module));
        if program != *self.forms.last().map_or(&self.program, |(_, form)| form) {
            self.forms.push((number, program));
        }
    }

    /// Compares the last form of each function with the first one: by a proof for all data, and where there is none, by
    /// running both. What is shown of the last form is shown, whatever was between. Gives the errors, each with the number of
    /// the first form that has it; [`Source::open`] says what is not shown.
    pub fn check(&mut self) -> Vec<(usize, Finding)> {
        let forms = std::mem::take(&mut self.forms);
        let Some(((number, last), before)) = forms.split_last() else { return vec![] };
        let mut errors = vec![];
        let names: Vec<String> = self.program.functions.keys().cloned().collect();
        for name in names {
            let (source, form) = (&self.program.functions[&name], last.functions.get(&name));
            let Some(after) = form.filter(|after| after.body.is_some() && source.body.is_some()) else { continue };
            let cases = usize::try_from(self.limits.steps / STEPS_OF_A_CASE).unwrap_or(usize::MAX);
            let allowed = (u32::from(self.limits.reassociate) * REASSOC) | (u32::from(self.limits.contract) * CONTRACT);
            let noted = self.limits.obligations;
            let why = match proof::same((&self.program, source), (last, after), (allowed, cases), noted) {
                Ok(obligations) => {
                    self.proved.insert(name, obligations);
                    continue;
                }
                Err(why) => why,
            };
            let Some(finding) = self.run(&name, last, after, &why) else { continue };
            // Of a form that says nothing, one before it may.
            let earlier = if finding.is_tried || self.outcomes[&name].is_err() { &[][..] } else { before };
            let first = earlier.iter().find_map(|(number, form)| {
                let found = self.run(&name, form, form.functions.get(&name).filter(|form| form.body.is_some())?, "")?;
                found.is_error.then_some((*number, found))
            });
            match first {
                Some(first) => errors.push(first),
                None if finding.is_error => errors.push((*number, finding)),
                None => drop(self.open.insert(name, finding)),
            }
        }
        errors
    }

    /// What is not shown of the last form.
    pub fn open(&self) -> Vec<Finding> {
        self.open.values().cloned().collect()
    }

    /// What was decided about addresses where the last form of a function is proved, as a module of MLIR's dialect `smt`.
    /// Its first lines are comments: how many obligations there are, and how many have no formula.
    pub fn obligations(&self) -> String {
        let count = |of: fn(&Obligations) -> usize| self.proved.values().map(of).sum::<usize>();
        let (all, unwritten) = (count(|proof| proof.all.len()), count(|proof| proof.unwritten));
        let solvers: String = self.proved.iter().map(|(name, proof)| smt::solvers(name, &proof.all)).collect();
        format!("// obligations: {all}\n// without a formula: {unwritten}\nmodule {{\n{solvers}}}\n")
    }

    /// Runs both forms of a function of which there is no proof.
    fn run(&mut self, name: &str, program: &Program, after: &Function, why: &str) -> Option<Finding> {
        let finding = |is_error: bool, message: String, place: Option<usize>| {
            Some(Finding { is_error, function: name.to_owned(), message, is_tried: false, place })
        };
        let not_proved = |stop: &Stop| {
            let location = match stop {
                Stop::Steps => None,
                Stop::Unknown(_, at) | Stop::Fault(_, at) => place(*at),
            };
            finding(false, format!("not proved: {}; for all data: {why}", reason(stop)), location)
        };
        if !self.outcomes.contains_key(name) {
            let outcome = self.outcome(name);
            self.outcomes.insert(name.to_owned(), outcome);
        }
        let (sizes, before) = match &self.outcomes[name] {
            Ok(done) => done,
            Err(stop) => return not_proved(stop),
        };
        let source = &self.program.functions[name];
        let found = compare::outcome(&mut self.terms, source, (program, after), sizes, Some(before), self.limits.steps);
        match found {
            Ok(outcome) => match compare::compare(&self.terms, before, &outcome) {
                Verdict::Same => None,
                Verdict::Tried(what) => {
                    let found = finding(false, format!("not proved, but tried: {what}"), None);
                    found.map(|found| Finding { is_tried: true, ..found })
                }
                Verdict::Differs(what) => finding(true, what, None),
            },
            Err(Stop::Fault(what, at)) => finding(true, what, place(at)),
            Err(stop) => not_proved(&stop),
        }
    }
}

/// How many steps of a run count as one case of a proof. `@tiled` of test/run/matmul.mlir took 217 ms for 10,485 cases, 21 µs
/// each, and the `@main` of the same programs 0.08 to 0.24 µs for each of 2^20 steps.
const STEPS_OF_A_CASE: u64 = 100;

fn place(location: usize) -> Option<usize> {
    Some(location).filter(|location| *location != 0)
}
