//! What the rules of all operations share: counting operands, comparing sizes, lists of dimensions.

use crate::operations::refusal::{Problem, Refusal, Subject};
use crate::operations::sizes::{Size, Sizes, TooLarge};
use crate::text::counted;

/// Whether a rule holds.
pub(crate) type Verdict = Result<(), Refusal>;

/// The sizes of the operands and the results of an operation.
pub(crate) struct Arrays {
    /// Those of the operands.
    pub ins: Vec<Sizes>,
    /// Those of the results.
    pub outs: Vec<Sizes>,
}

impl Arrays {
    /// That there are so many operands and so many results.
    pub fn count(&self, rule: &'static str, operands: usize, results: usize) -> Verdict {
        self.operands(rule, operands)?;
        let found = self.outs.len();
        if found == results {
            return Ok(());
        }
        Err(Refusal::new(rule, Subject::Results, format!("must be {}, found {found}", counted(results, "array"))))
    }

    /// That there are so many operands.
    pub fn operands(&self, rule: &'static str, operands: usize) -> Verdict {
        let found = self.ins.len();
        if found == operands {
            return Ok(());
        }
        Err(Refusal::new(rule, Subject::Whole, format!("must have {}, found {found}", counted(operands, "operand"))))
    }

    /// That an operand has these sizes.
    pub fn operand(&self, rule: &'static str, k: usize, expected: &[Size]) -> Verdict {
        same(rule, Subject::Operand(k), &self.ins[k], expected)
    }

    /// That a result has these sizes.
    pub fn result(&self, rule: &'static str, k: usize, expected: &[Size]) -> Verdict {
        same(rule, Subject::Result(k), &self.outs[k], expected)
    }

    /// That all results have these sizes.
    pub fn results(&self, rule: &'static str, expected: &[Size]) -> Verdict {
        (0..self.outs.len()).try_for_each(|k| self.result(rule, k, expected))
    }
}

fn same(rule: &'static str, subject: Subject, found: &Sizes, expected: &[Size]) -> Verdict {
    let expected = Sizes(expected.to_vec());
    if found.fits(&expected) {
        return Ok(());
    }
    Err(Refusal { rule, subject, problem: Problem::Sizes { expected, found: found.clone() } })
}

/// That a list names each dimension at most once, and only dimensions below `rank`.
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

/// That a dimension is below `rank`.
pub(crate) fn dimension(rule: &'static str, name: &'static str, dim: usize, rank: usize) -> Verdict {
    if dim < rank { Ok(()) } else { Err(Refusal::field(rule, name, below_rank(rank, dim))) }
}

fn below_rank(rank: usize, dim: usize) -> String {
    format!("must be a dimension below the rank {rank}, found {dim}")
}

/// That no entry of a list is in another list of dimensions, which is called `other`.
pub(crate) fn disjoint(rule: &'static str, name: &'static str, dims: &[usize], other: &[usize], what: &str) -> Verdict {
    match dims.iter().enumerate().find(|(_, dim)| other.contains(dim)) {
        Some((entry, dim)) => {
            let must = format!("must be a dimension that is not a {what} dimension, found {dim}");
            Err(Refusal::entry(rule, name, entry, must))
        }
        None => Ok(()),
    }
}

/// That a list has so many entries; `of` says what for.
pub(crate) fn entries(rule: &'static str, name: &'static str, found: usize, needed: usize, of: &str) -> Verdict {
    if found == needed {
        return Ok(());
    }
    Err(Refusal::field(rule, name, format!("must have {}, {of}, found {found}", counted(needed, "entry"))))
}

/// The number of elements of an array.
pub(crate) fn elements(rule: &'static str, subject: Subject, sizes: &Sizes) -> Result<Option<i128>, Refusal> {
    let must = "must have a number of elements that fits in 128 bits";
    sizes.elements().map_err(|TooLarge| Refusal::new(rule, subject, must))
}
