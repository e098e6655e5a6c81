//! Formulas over integers, and obligations: claims that are to follow from premises.

use crate::proof::subscript::Subscript;
use rustc_hash::FxHashSet;

/// A formula; values of its subscripts are integer variables.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Formula {
    /// An expression is at least 0.
    AtLeastZero(Subscript),
    /// Two expressions are equal.
    Equal(Subscript, Subscript),
    /// All of them; `true` where there is none.
    All(Vec<Formula>),
    /// At least one of them; `false` where there is none.
    Any(Vec<Formula>),
    /// Not this one.
    Not(Box<Formula>),
}

/// A claim for all values of the variables for which the premises hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Obligation {
    /// The subject, in words.
    pub about: &'static str,
    /// How many variables there are.
    pub variables: usize,
    /// The assumptions.
    pub premises: Vec<Formula>,
    /// The formula to be shown.
    pub claim: Formula,
}

/// The obligations of a proof.
#[derive(Debug, Default)]
pub struct Obligations {
    /// Each once, in the order in which they were decided.
    pub all: Vec<Obligation>,
    /// How many could not be written, as an index of them is computed by an operation that has no formula.
    pub unwritten: usize,
    seen: FxHashSet<Obligation>,
}

impl Obligations {
    /// Adds an obligation that is not among them.
    pub fn add(&mut self, new: Obligation) {
        if self.seen.insert(new.clone()) {
            self.all.push(new);
        }
    }
}

impl Obligations {
    /// Adds those of another proof.
    pub fn extend(&mut self, more: Obligations) {
        self.all.extend(more.all);
        self.unwritten += more.unwritten;
    }
}
