//! Obligations as a module of MLIR's dialect `smt`, of which `mlir-translate --export-smtlib` makes SMT-LIB.
//!
//! Each is an `smt.solver` of its own, which asserts the premises and that the claim is false: no values of the variables are
//! a counterexample where the answer to its `smt.check` is `unsat`. Numbers are integers without bounds. All divisors are
//! positive, so `smt.int.div`, which is Euclidean as in SMT-LIB, rounds down as `floordiv` does, and `smt.int.mod` is `mod`.

use crate::proof::formula::{Formula, Obligation};
use crate::proof::subscript::Subscript;
use std::fmt::Write;

/// The operations of one `smt.solver`, each on a line; an operation's result is known by its number.
#[derive(Default)]
struct Operations {
    text: String,
    results: usize,
}

impl Operations {
    fn add(&mut self, operation: &str) -> String {
        let result = format!("%{}", self.results);
        self.results += 1;
        let _ = writeln!(self.text, "    {result} = {operation}");
        result
    }

    /// An SMT-LIB numeral has no sign.
    fn number(&mut self, n: i64) -> String {
        let magnitude = self.add(&format!("smt.int.constant {}", n.unsigned_abs()));
        if n >= 0 {
            return magnitude;
        }
        let zero = self.add("smt.int.constant 0");
        self.add(&format!("smt.int.sub {zero}, {magnitude}"))
    }

    fn term(&mut self, s: &Subscript) -> String {
        let (s, name, c) = match s {
            Subscript::Constant(c) => return self.number(*c),
            Subscript::Value(variable) => return format!("%x{variable}"),
            Subscript::Sum(all) => {
                let all: Vec<String> = all.iter().map(|s| self.term(s)).collect();
                return match &all[..] {
                    [] => self.number(0),
                    [one] => one.clone(),
                    all => self.add(&format!("smt.int.add {}", all.join(", "))),
                };
            }
            Subscript::Times(s, c) => (s, "mul", c),
            Subscript::Quotient(s, c) => (s, "div", c),
            Subscript::Remainder(s, c) => (s, "mod", c),
        };
        let (s, c) = (self.term(s), self.number(*c));
        self.add(&format!("smt.int.{name} {s}, {c}"))
    }

    fn formula(&mut self, formula: &Formula) -> String {
        let (all, name) = match formula {
            Formula::AtLeastZero(s) => {
                let (s, zero) = (self.term(s), self.number(0));
                return self.add(&format!("smt.int.cmp ge {s}, {zero}"));
            }
            Formula::Equal(a, b) => {
                let (a, b) = (self.term(a), self.term(b));
                return self.add(&format!("smt.eq {a}, {b} : !smt.int"));
            }
            Formula::Not(formula) => {
                let formula = self.formula(formula);
                return self.add(&format!("smt.not {formula}"));
            }
            Formula::All(all) => (all, "and"),
            Formula::Any(all) => (all, "or"),
        };
        let all: Vec<String> = all.iter().map(|formula| self.formula(formula)).collect();
        match &all[..] {
            [] => self.add(&format!("smt.constant {}", name == "and")),
            [one] => one.clone(),
            all => self.add(&format!("smt.{name} {}", all.join(", "))),
        }
    }
}

/// The obligations of a function, each an `smt.solver` behind a comment with what it is about.
pub fn solvers(function: &str, obligations: &[Obligation]) -> String {
    let mut text = String::new();
    for obligation in obligations {
        let mut operations = Operations::default();
        for variable in 0..obligation.variables {
            let _ = writeln!(operations.text, "    %x{variable} = smt.declare_fun \"x{variable}\" : !smt.int");
        }
        let wrong = Formula::Not(Box::new(obligation.claim.clone()));
        for formula in obligation.premises.iter().chain([&wrong]) {
            let formula = operations.formula(formula);
            let _ = writeln!(operations.text, "    smt.assert {formula}");
        }
        let _ = writeln!(text, "  // @{function}: {}", obligation.about);
        let _ = writeln!(text, "  smt.solver() : () -> () {{\n{}", operations.text.trim_end());
        let _ = writeln!(text, "    smt.check sat {{}} unknown {{}} unsat {{}}\n  }}");
    }
    text
}
