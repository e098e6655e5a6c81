//! Checks that the rules of all operations share: numbers of operands, sizes, lists of dimensions.

use crate::operations::refusal::{Problem, Refusal, Subject};
use crate::operations::sizes::{Size, Sizes, TooLarge};
use crate::text::counted;
use std::cell::RefCell;

/// The outcome of a rule: it holds, or the operation is refused.
pub(crate) type Verdict = Result<(), Refusal>;

/// The sizes of the operands and the results of an operation.
pub(crate) struct Arrays {
    /// The sizes of each operand.
    pub ins: Vec<Sizes>,
    outs: Outs,
}

/// The results: a rule compares given sizes, or fills in wanted ones.
enum Outs {
    Given(Vec<Sizes>),
    Wanted(RefCell<Vec<Option<Sizes>>>),
}

impl Arrays {
    /// Operands and results to be compared.
    pub fn new(ins: Vec<Sizes>, outs: Vec<Sizes>) -> Arrays {
        Arrays { ins, outs: Outs::Given(outs) }
    }

    /// Operands, and `results` results whose sizes a rule shall fill in.
    pub fn wanted(ins: Vec<Sizes>, results: usize) -> Arrays {
        Arrays { ins, outs: Outs::Wanted(RefCell::new(vec![None; results])) }
    }

    /// The sizes of result `k`; `None` where they are wanted.
    pub fn out(&self, k: usize) -> Option<&Sizes> {
        self.given().get(k)
    }

    /// The sizes of the results; empty where they are wanted.
    pub fn given(&self) -> &[Sizes] {
        match &self.outs {
            Outs::Given(sizes) => sizes,
            Outs::Wanted(_) => &[],
        }
    }

    /// The sizes of the results, given or filled in by rules; `None` where a rule left one out.
    pub fn said(self) -> Option<Vec<Sizes>> {
        match self.outs {
            Outs::Given(sizes) => Some(sizes),
            Outs::Wanted(sizes) => sizes.into_inner().into_iter().collect(),
        }
    }

    /// Whether the sizes of the results are wanted.
    pub fn is_wanted(&self) -> bool {
        matches!(self.outs, Outs::Wanted(_))
    }

    /// The number of results.
    pub fn results_count(&self) -> usize {
        match &self.outs {
            Outs::Given(sizes) => sizes.len(),
            Outs::Wanted(sizes) => sizes.borrow().len(),
        }
    }

    /// Checks the numbers of operands and results.
    pub fn count(&self, rule: &'static str, operands: usize, results: usize) -> Verdict {
        self.operands(rule, operands)?;
        let found = self.results_count();
        if found == results {
            return Ok(());
        }
        Err(Refusal::new(rule, Subject::Results, format!("must be {}, found {found}", counted(results, "array"))))
    }

    /// Checks the number of operands.
    pub fn operands(&self, rule: &'static str, operands: usize) -> Verdict {
        let found = self.ins.len();
        if found == operands {
            return Ok(());
        }
        Err(Refusal::new(rule, Subject::Whole, format!("must have {}, found {found}", counted(operands, "operand"))))
    }

    /// Checks the sizes of operand `k`.
    pub fn operand(&self, rule: &'static str, k: usize, expected: &[Size]) -> Verdict {
        same(rule, Subject::Operand(k), &self.ins[k], expected)
    }

    /// Checks the sizes of result `k`, or fills them in.
    pub fn result(&self, rule: &'static str, k: usize, expected: &[Size]) -> Verdict {
        match &self.outs {
            Outs::Given(sizes) => same(rule, Subject::Result(k), &sizes[k], expected),
            Outs::Wanted(sizes) => {
                sizes.borrow_mut()[k] = Some(Sizes(expected.to_vec()));
                Ok(())
            }
        }
    }

    /// Checks the sizes of all results, or fills them in.
    pub fn results(&self, rule: &'static str, expected: &[Size]) -> Verdict {
        (0..self.results_count()).try_for_each(|k| self.result(rule, k, expected))
    }
}

fn same(rule: &'static str, subject: Subject, found: &Sizes, expected: &[Size]) -> Verdict {
    let expected = Sizes(expected.to_vec());
    if found.fits(&expected) {
        return Ok(());
    }
    Err(Refusal { rule, subject, problem: Problem::Sizes { expected, found: found.clone() } })
}

/// Checks that a list names each dimension at most once, and only dimensions below `rank`.
pub(crate) fn distinct(rule: &'static str, name: &'static str, dims: &[usize], rank: usize) -> Verdict {
    let mut seen = vec![false; rank];
    for (entry, dim) in dims.iter().enumerate() {
        match seen.get_mut(*dim) {
            None => return Err(Refusal::entry(rule, name, entry, below_rank(rank, *dim))),
            Some(true) => {
                let must = format!("must be a dimension that is not named before, found {dim}");
                return Err(Refusal::entry(rule, name, entry, must));
            }
            Some(seen) => *seen = true,
        }
    }
    Ok(())
}

/// Checks that a dimension is below `rank`.
pub(crate) fn dimension(rule: &'static str, name: &'static str, dim: usize, rank: usize) -> Verdict {
    if dim < rank { Ok(()) } else { Err(Refusal::field(rule, name, below_rank(rank, dim))) }
}

fn below_rank(rank: usize, dim: usize) -> String {
    format!("must be a dimension below the rank {rank}, found {dim}")
}

/// Checks that a list shares no dimension with `other`; `what` names the dimensions of `other` in the message.
pub(crate) fn disjoint(rule: &'static str, name: &'static str, dims: &[usize], other: &[usize], what: &str) -> Verdict {
    match dims.iter().enumerate().find(|(_, dim)| other.contains(dim)) {
        Some((entry, dim)) => {
            let must = format!("must be a dimension that is not a {what} dimension, found {dim}");
            Err(Refusal::entry(rule, name, entry, must))
        }
        None => Ok(()),
    }
}

/// Checks the number of entries of a list; `of` says in the message what an entry is for.
pub(crate) fn entries(rule: &'static str, name: &'static str, found: usize, needed: usize, of: &str) -> Verdict {
    if found == needed {
        return Ok(());
    }
    Err(Refusal::field(rule, name, format!("must have {}, {of}, found {found}", counted(needed, "entry"))))
}

/// The number of elements of an array, if its sizes say one.
pub(crate) fn elements(rule: &'static str, subject: Subject, sizes: &Sizes) -> Result<Option<i128>, Refusal> {
    let must = "must have a number of elements that fits in 128 bits";
    sizes.elements().map_err(|TooLarge| Refusal::new(rule, subject, must))
}
