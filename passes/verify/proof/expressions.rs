//! Affine expressions and bounds as subscripts.

use crate::proof::equations;
use crate::proof::flatten::{Flat, Flatten};
use crate::proof::statements::Maker;
use crate::proof::subscript::{Subscript, ValueId};
use crate::reader::model::{Bound, Expr, Size, Slot};

/// The most parts of an index that replaces its value. Of 65 functions of XLA's programs with 512-bit vectors, 59 are proved with
/// one part, and 61 with 4, 16 and 64.
const PARTS: usize = 16;

/// A sum of indices, each with a factor, and a number.
#[derive(Default)]
struct Sum {
    terms: Vec<(Subscript, i64)>,
    constant: i64,
}

impl Sum {
    /// Adds an index, so many times, where a value may be another index; none beyond 64 bits.
    fn gain(&mut self, s: Subscript, times: i64, of: &impl Fn(ValueId) -> Option<Subscript>) -> Option<()> {
        let atom = match s {
            Subscript::Constant(c) => {
                self.constant = self.constant.checked_add(c.checked_mul(times)?)?;
                return Some(());
            }
            Subscript::Sum(all) => return all.into_iter().try_for_each(|s| self.gain(s, times, of)),
            Subscript::Times(s, c) => return self.gain(*s, c.checked_mul(times)?, of),
            Subscript::Value(value) => match of(value) {
                Some(s) => return self.gain(s, times, of),
                None => Subscript::Value(value),
            },
            Subscript::Quotient(s, c) => Subscript::Quotient(Box::new(simple(*s, of)), c),
            Subscript::Remainder(s, c) => Subscript::Remainder(Box::new(simple(*s, of)), c),
        };
        match self.terms.iter_mut().find(|(known, _)| *known == atom) {
            Some((_, factor)) => *factor = factor.checked_add(times)?,
            None => self.terms.push((atom, times)),
        }
        Some(())
    }

    fn subscript(self) -> Subscript {
        let mut all: Vec<Subscript> = self
            .terms
            .into_iter()
            .filter(|(_, factor)| *factor != 0)
            .map(|(s, factor)| if factor == 1 { s } else { Subscript::Times(Box::new(s), factor) })
            .collect();
        if self.constant != 0 || all.is_empty() {
            all.push(Subscript::Constant(self.constant));
        }
        if all.len() == 1 { all.remove(0) } else { Subscript::Sum(all) }
    }
}

/// The same index as one sum, where a value may be another index.
fn simple(s: Subscript, of: &impl Fn(ValueId) -> Option<Subscript>) -> Subscript {
    let mut sum = Sum::default();
    match sum.gain(s.clone(), 1, of) {
        Some(()) => sum.subscript(),
        None => s,
    }
}

/// How many parts an index has.
fn parts(s: &Subscript) -> usize {
    match s {
        Subscript::Constant(_) | Subscript::Value(_) => 1,
        Subscript::Sum(all) => all.iter().map(parts).sum(),
        Subscript::Times(s, _) | Subscript::Quotient(s, _) | Subscript::Remainder(s, _) => 1 + parts(s),
    }
}

impl Flatten<'_> {
    /// An index as one sum of what is no sum, as far as it is short.
    pub(super) fn simple(&self, s: Subscript) -> Subscript {
        simple(s, &|value| match &self.program.values[value].0 {
            Maker::Subscript(s) if parts(s) <= PARTS => Some(s.clone()),
            _ => None,
        })
    }

    pub(super) fn index(&self, slot: Slot) -> Flat<Subscript> {
        let value = self.value_of(slot)?;
        Ok(match &self.program.values[value].0 {
            Maker::Subscript(s @ Subscript::Constant(_)) => s.clone(),
            Maker::Constant(items, of, _) if items.len() == 1 && of.starts_with('i') => {
                let unused = equations::bits_of(of).map_or(0, |bits| 64 - bits);
                Subscript::Constant((items[0] << unused) as i64 >> unused)
            }
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
