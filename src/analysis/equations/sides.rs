//! One operand and one result of an operation, between which equations are set up.

use crate::analysis::relation::{Direction, Relation};
use crate::text::Error;

/// How two arrays are related.
pub(super) enum Related {
    /// By one of these, each for other pairs of elements.
    By(Vec<Relation>),
    /// In a way that no map says.
    Unknown(String),
}

/// The equations of an operand and a result, or why there are none.
pub(super) type Equations = Result<Related, Error>;

impl From<Relation> for Related {
    fn from(relation: Relation) -> Related {
        Related::By(vec![relation])
    }
}

/// An operand and a result among those of an operation.
pub(super) struct Sides<'a> {
    /// The sizes of all operands.
    pub ins: &'a [Vec<i64>],
    /// Those of all results.
    pub outs: &'a [Vec<i64>],
    /// Which operand.
    pub operand: usize,
    /// Which result.
    pub result: usize,
    /// Which of the two maps to derive.
    pub direction: Direction,
}

impl<'a> Sides<'a> {
    /// The sizes of the operand.
    pub fn input(&self) -> &'a [i64] {
        &self.ins[self.operand]
    }

    /// The sizes of the result.
    pub fn out(&self) -> &'a [i64] {
        &self.outs[self.result]
    }

    /// All pairs of elements, without any equation yet.
    pub fn relation(&self) -> Relation {
        Relation::new(self.out(), self.input())
    }

    /// The same index on both sides.
    pub fn identity(&self) -> Equations {
        let mut r = self.relation();
        (0..self.input().len()).try_for_each(|k| r.link(k, k))?;
        Ok(r.into())
    }
}
