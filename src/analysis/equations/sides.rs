//! An operand and a result of an operation, with the equations between them.

use crate::analysis::relation::{Direction, Relation, reshape};
use crate::text::Error;

/// The relation of two arrays.
pub(super) enum Related {
    /// The union of these relations, each over other pairs of elements.
    By(Vec<Relation>),
    /// A relation that no map expresses, with the reason.
    Unknown(String),
}

/// The equations of an operand and a result, or an error.
pub(super) type Equations = Result<Related, Error>;

impl From<Relation> for Related {
    fn from(relation: Relation) -> Related {
        Related::By(vec![relation])
    }
}

/// One operand and one result of an operation.
pub(super) struct Sides<'a> {
    /// The sizes of all operands.
    pub ins: &'a [Vec<i64>],
    /// The sizes of all results.
    pub outs: &'a [Vec<i64>],
    /// The number of the operand.
    pub operand: usize,
    /// The number of the result.
    pub result: usize,
    /// The map to derive, of the two.
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

    /// The relation of all pairs of elements, without equations.
    pub fn relation(&self) -> Relation {
        Relation::new(self.out(), self.input())
    }

    /// The relation of equal indices.
    pub fn identity(&self) -> Equations {
        let mut r = self.relation();
        (0..self.input().len()).try_for_each(|k| r.link(k, k))?;
        Ok(r.into())
    }

    /// The relation of equal row-major positions.
    pub fn reshape(&self) -> Equations {
        let mut r = self.relation();
        let outs: Vec<_> = self.out().iter().enumerate().map(|(k, n)| (r.out(k), *n)).collect();
        let ins: Vec<_> = self.input().iter().enumerate().map(|(k, n)| (r.input(k), *n)).collect();
        reshape(&mut r, &outs, &ins)?;
        Ok(r.into())
    }
}
