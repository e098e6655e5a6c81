//! Affine expressions and bounds as subscripts.

use crate::proof::flatten::{Flat, Flatten};
use crate::proof::statements::Maker;
use crate::proof::subscript::Subscript;
use crate::reader::model::{Bound, Expr, Size, Slot};

impl Flatten<'_> {
    pub(super) fn index(&self, slot: Slot) -> Flat<Subscript> {
        let value = self.value_of(slot)?;
        Ok(match &self.program.values[value].0 {
            Maker::Subscript(s @ Subscript::Constant(_)) => s.clone(),
            _ => Subscript::Value(value),
        })
    }

    pub(super) fn size(&self, size: Size) -> Flat<Subscript> {
        match size {
            Size::Static(n) => Ok(Subscript::Constant(n)),
            Size::Slot(slot) => self.index(slot),
        }
    }

    pub(super) fn expr(&self, e: &Expr, operands: &[Subscript]) -> Flat<Subscript> {
        let number = |s: &Subscript| if let Subscript::Constant(n) = s { Some(*n) } else { None };
        let divided = |sides: &(Expr, Expr)| -> Flat<(Box<Subscript>, i64)> {
            let (a, b) = (self.expr(&sides.0, operands)?, self.expr(&sides.1, operands)?);
            let by = number(&b).filter(|n| *n > 0).ok_or("a division by what is no positive number")?;
            Ok((Box::new(a), by))
        };
        Ok(match e {
            Expr::Operand(k) => operands.get(*k as usize).cloned().ok_or("an operand that is missing")?,
            Expr::Constant(n) => Subscript::Constant(*n),
            Expr::Add(sides) => {
                let (a, b) = (self.expr(&sides.0, operands)?, self.expr(&sides.1, operands)?);
                match (number(&a), number(&b)) {
                    (Some(a), Some(b)) => Subscript::Constant(a.checked_add(b).ok_or("numbers beyond 64 bits")?),
                    _ => Subscript::Sum(vec![a, b]),
                }
            }
            Expr::Mul(sides) => {
                let (a, b) = (self.expr(&sides.0, operands)?, self.expr(&sides.1, operands)?);
                match (number(&a), number(&b)) {
                    (Some(a), Some(b)) => Subscript::Constant(a.checked_mul(b).ok_or("numbers beyond 64 bits")?),
                    (Some(n), None) => Subscript::Times(Box::new(b), n),
                    (None, Some(n)) => Subscript::Times(Box::new(a), n),
                    (None, None) => return Err("a product of two indices".to_owned()),
                }
            }
            Expr::Mod(sides) => {
                let (a, by) = divided(sides)?;
                Subscript::Remainder(a, by)
            }
            Expr::FloorDiv(sides) => {
                let (a, by) = divided(sides)?;
                Subscript::Quotient(a, by)
            }
            Expr::CeilDiv(sides) => {
                let (a, by) = divided(sides)?;
                Subscript::Times(Box::new(Subscript::Quotient(Box::new(Subscript::Times(a, -1)), by)), -1)
            }
        })
    }

    pub(super) fn exprs(&self, exprs: &[Expr], operands: &[Slot]) -> Flat<Vec<Subscript>> {
        let operands = operands.iter().map(|slot| self.index(*slot)).collect::<Flat<Vec<_>>>()?;
        exprs.iter().map(|e| self.expr(e, &operands)).collect()
    }

    pub(super) fn bound(&self, bound: &Bound) -> Flat<Vec<Subscript>> {
        self.exprs(&bound.exprs, &bound.operands)
    }
}
