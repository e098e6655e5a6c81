//! Reading: expressions to normal forms.

use super::form::{Form, Known, OPAQUE, STEPS_PER_OPERATION, What};
use super::sum::{Sum, divides};
use super::terms::Atom;
use crate::expr::Expr;
use crate::maps::domain::{Interval, WideInterval};
use crate::maps::steps::Rule;
use crate::numbers::near_gcd;

/// The last dividend, with its normal form.
pub(super) type Dividend<'e> = Option<(&'e Expr, Sum)>;

impl Form {
    /// The normal form of an expression, with work in proportion to its size.
    pub(super) fn normal(&mut self, e: &Expr) -> Option<Sum> {
        self.normal_after(e, &mut None)
    }

    /// [`Form::normal`] of one of several expressions; `last` is the last dividend with its normal form. Consecutive
    /// digits of one index compute it once.
    pub(super) fn normal_after<'e>(&mut self, e: &'e Expr, last: &mut Dividend<'e>) -> Option<Sum> {
        self.allow(0);
        self.sum(e, last)
    }

    fn sum<'e>(&mut self, e: &'e Expr, last: &mut Dividend<'e>) -> Option<Sum> {
        let mut sum = Sum::constant(0);
        self.sum_into(e, last, &mut sum)?;
        Some(sum)
    }

    /// The sum of an expression, computed in place. Expressions nest deep to the left, so no level keeps a sum on the
    /// stack.
    fn sum_into<'e>(&mut self, e: &'e Expr, last: &mut Dividend<'e>, sum: &mut Sum) -> Option<()> {
        self.steps += STEPS_PER_OPERATION;
        match e {
            Expr::Const(_) | Expr::Var(_) => {
                *sum = self.leaf(e)?;
                Some(())
            }
            Expr::Add(a, b) => {
                self.sum_into(a, last, sum)?;
                match &**b {
                    Expr::Var(_) | Expr::Const(_) => self.apply(e, sum, None),
                    Expr::Mul(x, _) if matches!(**x, Expr::Var(_)) => self.apply(e, sum, None),
                    b => {
                        let other = self.operand(b, last)?;
                        self.apply(e, sum, Some(&other))
                    }
                }
            }
            Expr::Mul(a, _) => {
                self.sum_into(a, last, sum)?;
                self.apply(e, sum, None)
            }
            Expr::Mod(a, _) | Expr::FloorDiv(a, _) => {
                if !known_dividend(a, last, sum) {
                    self.sum_into(a, last, sum)?;
                    keep_dividend(a, sum, last);
                }
                match self.digit_below(e, last) {
                    Some(below) => self.apply(e, sum, Some(&below)),
                    None => self.apply(e, sum, None),
                }
            }
            Expr::Min(a, b) | Expr::Max(a, b) => {
                self.sum_into(a, last, sum)?;
                let other = self.operand(b, last)?;
                self.apply(e, sum, Some(&other))
            }
        }
    }

    /// The remainder below `e = (x mod m) floordiv d` where `d` divides `m`: `x mod d`, which the digit below `e` also
    /// uses. `None` if `x` is not the last dividend.
    fn digit_below(&mut self, e: &Expr, last: &Dividend) -> Option<Sum> {
        let Expr::FloorDiv(a, d) = e else { return None };
        let Expr::Mod(x, m) = &**a else { return None };
        let (_, sum) = last.as_ref().filter(|last| self.log.is_none() && divides(*d, *m) && *last.0 == **x)?;
        self.modulo(sum, *d)
    }

    /// The sum of a second operand.
    #[inline(never)]
    fn operand<'e>(&mut self, e: &'e Expr, last: &mut Dividend<'e>) -> Option<Box<Sum>> {
        let mut sum = Box::new(Sum::constant(0));
        self.sum_into(e, last, &mut sum)?;
        Some(sum)
    }

    #[inline(never)]
    fn leaf(&mut self, e: &Expr) -> Option<Sum> {
        match (e, &self.given) {
            (Expr::Var(v), Some(given)) => Some(given[*v].clone()),
            (Expr::Var(v), None) => Some(self.atom(*v as Atom)),
            (Expr::Const(i64::MIN), _) => self.opaque(e),
            (Expr::Const(c), _) => Some(Sum::constant(*c)),
            _ => unreachable!("only leaves are asked for"),
        }
    }

    /// Turns the sum of the first operand of `e` into the sum of `e`.
    #[inline(never)]
    fn apply(&mut self, e: &Expr, sum: &mut Sum, other: Option<&Sum>) -> Option<()> {
        match self.applied(e, sum, other) {
            Some(done) => *sum = done,
            None => *sum = self.opaque(e)?,
        }
        Some(())
    }

    fn applied(&mut self, e: &Expr, a: &Sum, other: Option<&Sum>) -> Option<Sum> {
        match e {
            Expr::Add(_, b) => match (&**b, other) {
                (_, Some(b)) => a.plus(b, 1, 1),
                (Expr::Var(v), None) => self.with_var(a, *v, 1),
                (Expr::Const(c), None) => a.clone().shifted(*c),
                (Expr::Mul(x, c), None) => match **x {
                    Expr::Var(v) => self.with_var(a, v, *c),
                    _ => unreachable!("other products have a sum of their own"),
                },
                _ => unreachable!("other terms have a sum of their own"),
            },
            Expr::Mul(_, f) => a.scaled(*f, 1),
            Expr::Mod(_, m) => self.modulo(a, *m),
            Expr::FloorDiv(_, d) => match other {
                Some(rest) => a.plus(rest, -1, 1)?.scaled(1, *d),
                None => {
                    let rest = self.modulo(a, *d)?;
                    a.plus(&rest, -1, 1)?.scaled(1, *d)
                }
            },
            Expr::Min(..) => {
                // min(a, b) = b + min(a - b, 0)
                let b = other?;
                b.plus(&self.least(&a.plus(b, -1, 1)?)?, 1, 1)
            }
            Expr::Max(..) => {
                // max(a, b) = a - min(a - b, 0)
                a.plus(&self.least(&a.plus(other?, -1, 1)?)?, -1, 1)
            }
            Expr::Const(_) | Expr::Var(_) => unreachable!("leaves have no operand"),
        }
    }

    /// `sum + v * c`, the most frequent operation.
    fn with_var(&self, sum: &Sum, v: usize, c: i64) -> Option<Sum> {
        if let Some(given) = &self.given {
            return sum.plus(&given[v], c, 1);
        }
        if let Some(value) = self.atoms[v].value() {
            return sum.clone().shifted(value.checked_mul(c)?);
        }
        sum.plus_atom(v as Atom, c.checked_mul(sum.den)?, sum.den)
    }

    /// An atom for an expression that is too large to compute with. `None` if variables are replaced.
    fn opaque(&mut self, e: &Expr) -> Option<Sum> {
        if self.given.is_some() || self.opaque == OPAQUE || e.size() > 1000 {
            return None;
        }
        let same = |known: &Known| matches!(&known.what, What::Opaque(o) if o == e);
        if let Some(a) = self.atoms.iter().position(same) {
            return Some(self.atom(a as Atom));
        }
        self.opaque += 1;
        let within = match e {
            Expr::Const(c) => WideInterval::one(*c),
            Expr::Mod(_, m) => Interval::new(0, m - 1).into(),
            _ => WideInterval::ALL,
        };
        self.atoms.push(Known { what: What::Opaque(e.clone()), within, step: 1, residue: 0, level: 0 });
        Some(Sum::atom(self.atoms.len() as Atom - 1))
    }

    /// `min(e, 0)`.
    fn least(&mut self, e: &Sum) -> Option<Sum> {
        self.work(e.terms.len())?;
        // min(x * k, 0) = k * min(x, 0) for k > 0. The denominator has no divisor of k, so x is an integer, too.
        let content = near_gcd(e.content(), e.constant).max(1);
        let x = e.scaled(1, content)?;
        let WideInterval { lo, hi } = self.range(&x);
        if hi <= 0 || lo >= 0 {
            self.note(Rule::Decided, |form| {
                let numerators = form.expr(&x.numerators())?;
                let least = if hi <= 0 { numerators.clone() } else { Expr::Const(0) };
                Some((Expr::Min(numerators.into(), Expr::Const(0).into()), least, form.within(&x)))
            });
            return Some(if hi <= 0 { e.clone() } else { Sum::constant(0) });
        }
        // min(-x, 0) = min(x, 0) - x
        let negative = self.first_term(e)?.1 < 0;
        let unit = if negative { -content } else { content };
        let terms = e.terms.iter().map(|t| (t.0, t.1 / unit)).collect();
        let primitive = Sum { constant: e.constant / unit, terms, den: 1 };
        let atom = match self.least.get(&primitive, 0) {
            Some(atom) => *atom,
            None => {
                let atom = self.atoms.len() as Atom;
                let WideInterval { lo, hi } = self.range(&primitive);
                let what = What::Least(primitive.clone());
                let level = self.level(&primitive);
                let within = WideInterval::new(lo.min(0), hi.min(0));
                self.atoms.push(Known { what, within, step: 1, residue: 0, level });
                self.least.insert(primitive.clone(), 0, atom);
                atom
            }
        };
        let least = self.atom(atom);
        if negative { least.plus(&primitive, -1, 1)?.scaled(content, e.den) } else { least.scaled(content, e.den) }
    }
}

/// Takes the normal form of the dividend, if it is the last one.
fn known_dividend(e: &Expr, last: &Dividend, sum: &mut Sum) -> bool {
    let known = last.as_ref().filter(|(known, _)| *known == e);
    if let Some((_, known)) = known {
        sum.clone_from(known);
    }
    known.is_some()
}

/// Keeps the normal form of the dividend, if that is a sum.
#[inline(never)]
fn keep_dividend<'e>(e: &'e Expr, sum: &Sum, last: &mut Dividend<'e>) {
    if matches!(e, Expr::Add(..)) {
        *last = Some((e, sum.clone()));
    }
}
