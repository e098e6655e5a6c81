//! Quasi-affine expressions: sums, products with constants, `floordiv` and `mod` by positive constants, `min`, `max`.
//!
//! An expression is a small tree over numbered variables; division rounds towards minus infinity and a remainder is
//! never negative, so `-3 floordiv 2` is `-2` and `-3 mod 2` is `1`. Rounding up needs no operation of its own:
//! `x ceildiv 8` is `(x + 7) floordiv 8`, and prints as the former. This file does not simplify: see [the
//! simplifier](mod@crate::maps::simplify).
//!
//! Sums of many terms are balanced trees ([`Expr::sum`]), so that walking a tree never goes deep.

use std::fmt;

/// A quasi-affine expression over variables numbered from 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Expr {
    /// An integer.
    Const(i64),
    /// The variable with this number.
    Var(usize),
    /// The sum of two expressions.
    Add(Box<Expr>, Box<Expr>),
    /// An expression times a constant.
    Mul(Box<Expr>, i64),
    /// The quotient by a positive constant, rounded towards minus infinity.
    FloorDiv(Box<Expr>, i64),
    /// The remainder by a positive constant, in `0..m`.
    Mod(Box<Expr>, i64),
    /// The lesser of two.
    Min(Box<Expr>, Box<Expr>),
    /// The greater of two.
    Max(Box<Expr>, Box<Expr>),
}

impl Expr {
    /// `self * factor`.
    pub fn times(self, factor: i64) -> Expr {
        match (self, factor) {
            (e, 1) => e,
            (_, 0) => Expr::Const(0),
            (e, f) => Expr::Mul(Box::new(e), f),
        }
    }

    /// `-self`: a constant or a product takes the sign into its number if that fits.
    pub fn negated(self) -> Expr {
        match self {
            Expr::Const(c) if c != i64::MIN => Expr::Const(-c),
            Expr::Mul(x, f) if f != i64::MIN => x.times(-f),
            e => e.times(-1),
        }
    }

    /// `self floordiv divisor`.
    ///
    /// # Panics
    /// If the divisor is not positive.
    pub fn floor_div(self, divisor: i64) -> Expr {
        assert!(divisor > 0, "divisor {divisor} is not positive");
        if divisor == 1 { self } else { Expr::FloorDiv(Box::new(self), divisor) }
    }

    /// `self mod modulus`.
    ///
    /// # Panics
    /// If the modulus is not positive.
    pub fn modulo(self, modulus: i64) -> Expr {
        assert!(modulus > 0, "modulus {modulus} is not positive");
        if modulus == 1 { Expr::Const(0) } else { Expr::Mod(Box::new(self), modulus) }
    }

    /// The digit of weight `weight`, with `extent` values, of an index below `size`: `self floordiv weight mod extent`.
    /// The constant 0 if `extent` is 1; the topmost digit, with `weight * extent >= size`, needs no `mod`.
    ///
    /// Post-condition: for each index `i` in `0..size` the value is `i / weight % extent`. Only this function decides
    /// when the remainder can be left out.
    ///
    /// # Example
    /// ```
    /// use tensor_layout::expr::{Expr, Named};
    /// let digit = |weight, extent| Expr::Var(0).digit(weight, extent, 12);
    /// let texts = [digit(3, 4), digit(1, 3), digit(12, 1)].map(|e| Named(&e, &|_| "i".into()).to_string());
    /// assert_eq!(texts, ["i floordiv 3", "i mod 3", "0"]);
    /// ```
    pub fn digit(self, weight: i64, extent: i64, size: i64) -> Expr {
        if extent == 1 {
            return Expr::Const(0);
        }
        let part = self.floor_div(weight);
        if weight.saturating_mul(extent) >= size { part } else { part.modulo(extent) }
    }

    /// The sum of all terms, a tree of logarithmic depth if there are many.
    pub fn sum(mut terms: Vec<Expr>) -> Expr {
        const FEW: usize = 8;
        while terms.len() > FEW {
            let mut rest = terms.into_iter();
            let mut pairs = Vec::with_capacity(rest.len().div_ceil(2));
            while let Some(a) = rest.next() {
                pairs.push(match rest.next() {
                    Some(b) => a + b,
                    None => a,
                });
            }
            terms = pairs;
        }
        terms.into_iter().reduce(|a, b| a + b).unwrap_or(Expr::Const(0))
    }

    /// The terms of a sum, in order; an expression that is no sum is its only term.
    pub fn terms(&self) -> Vec<&Expr> {
        let (mut terms, mut stack) = (Vec::new(), vec![self]);
        while let Some(e) = stack.pop() {
            match e {
                Expr::Add(a, b) => stack.extend([&**b, &**a]),
                e => terms.push(e),
            }
        }
        terms
    }

    /// The operands of the outermost operation.
    pub fn operands(&self) -> impl Iterator<Item = &Expr> {
        let (a, b) = match self {
            Expr::Const(_) | Expr::Var(_) => (None, None),
            Expr::Mul(a, _) | Expr::FloorDiv(a, _) | Expr::Mod(a, _) => (Some(&**a), None),
            Expr::Add(a, b) | Expr::Min(a, b) | Expr::Max(a, b) => (Some(&**a), Some(&**b)),
        };
        a.into_iter().chain(b)
    }

    /// Whether the expression is a sum of variables, products of them with constants, and a constant.
    pub fn is_linear(&self) -> bool {
        match self {
            Expr::Const(_) | Expr::Var(_) => true,
            Expr::FloorDiv(..) | Expr::Mod(..) | Expr::Min(..) | Expr::Max(..) => false,
            e => e.operands().all(Expr::is_linear),
        }
    }

    /// The number of operations on the longest path from the root to a variable or constant.
    pub fn depth(&self) -> usize {
        self.operands().map(|e| e.depth() + 1).max().unwrap_or(0)
    }

    /// The number of variables, constants and operations.
    pub fn size(&self) -> usize {
        1 + self.operands().map(Expr::size).sum::<usize>()
    }

    /// Substitutes `by[v]` for each variable `v`.
    pub fn substitute(&self, by: &[Expr]) -> Expr {
        let both = |a: &Expr, b: &Expr| (Box::new(a.substitute(by)), Box::new(b.substitute(by)));
        match self {
            Expr::Const(c) => Expr::Const(*c),
            Expr::Var(v) => by[*v].clone(),
            Expr::Add(a, b) => a.substitute(by) + b.substitute(by),
            Expr::Mul(a, f) => a.substitute(by).times(*f),
            Expr::FloorDiv(a, d) => a.substitute(by).floor_div(*d),
            Expr::Mod(a, m) => a.substitute(by).modulo(*m),
            Expr::Min(a, b) => {
                let (a, b) = both(a, b);
                Expr::Min(a, b)
            }
            Expr::Max(a, b) => {
                let (a, b) = both(a, b);
                Expr::Max(a, b)
            }
        }
    }

    /// Calls `f` with the number of each variable, once for each occurrence.
    pub fn for_each_var(&self, f: &mut impl FnMut(usize)) {
        match self {
            Expr::Var(v) => f(*v),
            e => e.operands().for_each(|e| e.for_each_var(f)),
        }
    }

    /// The value at a point, which has one entry for each variable; `None` if it does not fit in 64 bits, or an
    /// intermediate value in 128 bits, if the point has no entry for a variable, or if a divisor is not positive.
    pub fn evaluate(&self, point: &[i64]) -> Option<i64> {
        self.wide(point)?.try_into().ok()
    }

    /// [`Expr::evaluate`] in 128 bits.
    pub(crate) fn wide(&self, point: &[i64]) -> Option<i128> {
        match self {
            Expr::Const(c) => Some((*c).into()),
            Expr::Var(v) => Some((*point.get(*v)?).into()),
            Expr::Add(a, b) => a.wide(point)?.checked_add(b.wide(point)?),
            Expr::Mul(a, f) => a.wide(point)?.checked_mul((*f).into()),
            Expr::FloorDiv(a, d) if *d > 0 => Some(a.wide(point)?.div_euclid((*d).into())),
            Expr::Mod(a, m) if *m > 0 => Some(a.wide(point)?.rem_euclid((*m).into())),
            Expr::FloorDiv(..) | Expr::Mod(..) => None,
            Expr::Min(a, b) => Some(a.wide(point)?.min(b.wide(point)?)),
            Expr::Max(a, b) => Some(a.wide(point)?.max(b.wide(point)?)),
        }
    }
}

impl std::ops::Add for Expr {
    type Output = Expr;
    fn add(self, other: Expr) -> Expr {
        match (self, other) {
            (Expr::Const(0), e) | (e, Expr::Const(0)) => e,
            (a, b) => Expr::Add(Box::new(a), Box::new(b)),
        }
    }
}

/// A printable expression: the expression, and the names of its variables.
pub struct Named<'a>(pub &'a Expr, pub &'a dyn Fn(usize) -> String);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, self.0, 0)
    }
}

impl Named<'_> {
    /// Writes `e`, in parentheses if `place` binds tighter: 0 for a term of a sum, 2 for an operand of a product.
    fn write(&self, f: &mut fmt::Formatter<'_>, e: &Expr, place: u8) -> fmt::Result {
        let binds = match e {
            Expr::Add(..) => 0,
            Expr::Const(c) if *c < 0 => 0,
            Expr::Const(_) | Expr::Var(_) | Expr::Min(..) | Expr::Max(..) => 2,
            Expr::Mul(x, -1) if !takes_sign(x) => 0,
            _ => 1,
        };
        if binds < place {
            f.write_str("(")?;
        }
        match e {
            Expr::Const(c) => write!(f, "{c}")?,
            Expr::Var(v) => f.write_str(&(self.1)(*v))?,
            Expr::Add(..) => self.sum(f, &e.terms())?,
            Expr::Mul(x, -1) if !takes_sign(x) => {
                f.write_str("-")?;
                self.write(f, x, 2)?;
            }
            Expr::Mul(x, c) => {
                self.write(f, x, 2)?;
                write!(f, " * {c}")?;
            }
            Expr::FloorDiv(x, d) => match &x.terms()[..] {
                [above @ .., Expr::Const(c)] if !above.is_empty() && d.checked_sub(1) == Some(*c) => {
                    match above {
                        [one] => self.write(f, one, 2)?,
                        above => {
                            f.write_str("(")?;
                            self.sum(f, above)?;
                            f.write_str(")")?;
                        }
                    }
                    write!(f, " ceildiv {d}")?;
                }
                _ => {
                    self.write(f, x, 2)?;
                    write!(f, " floordiv {d}")?;
                }
            },
            Expr::Mod(x, m) => {
                self.write(f, x, 2)?;
                write!(f, " mod {m}")?;
            }
            Expr::Min(a, b) | Expr::Max(a, b) => {
                f.write_str(if matches!(e, Expr::Min(..)) { "min(" } else { "max(" })?;
                self.write(f, a, 0)?;
                f.write_str(", ")?;
                self.write(f, b, 0)?;
                f.write_str(")")?;
            }
        }
        if binds < place {
            f.write_str(")")?;
        }
        Ok(())
    }

    fn sum(&self, f: &mut fmt::Formatter<'_>, terms: &[&Expr]) -> fmt::Result {
        terms.iter().enumerate().try_for_each(|(k, term)| self.term(f, term, k == 0))
    }

    /// Writes a term of a sum with the sign before it.
    fn term(&self, f: &mut fmt::Formatter<'_>, e: &Expr, first: bool) -> fmt::Result {
        match e {
            e if first => self.write(f, e, 0),
            // The magnitude of the least number does not fit by itself.
            Expr::Const(c) if *c < 0 && *c != i64::MIN => write!(f, " - {}", -c),
            Expr::Mul(x, c) if *c < 0 && *c != i64::MIN && (*c != -1 || !takes_sign(x)) => {
                f.write_str(" - ")?;
                self.write(f, x, 2)?;
                if *c == -1 { Ok(()) } else { write!(f, " * {}", -c) }
            }
            e => {
                f.write_str(" + ")?;
                self.write(f, e, 0)
            }
        }
    }
}

/// Whether [`Expr::negated`] takes a sign before the expression into its number. The printer writes `x * -1` for the
/// product of such an expression with -1, which would be read as another expression if it were `-x`.
fn takes_sign(e: &Expr) -> bool {
    matches!(e, Expr::Const(c) | Expr::Mul(_, c) if *c != i64::MIN)
}

/// The cost of evaluating an expression: 3 for each division or remainder, 1 for any other operation, whatever the
/// order of terms: `-x + y` is the difference `y - x`, and `(7 + x) floordiv 8` is `x ceildiv 8`.
pub fn cost(e: &Expr) -> u32 {
    match e {
        Expr::Const(_) | Expr::Var(_) => 0,
        Expr::Add(..) => cost_of_sum(&e.terms(), None),
        Expr::Mul(a, _) => cost(a).saturating_add(1),
        Expr::FloorDiv(a, d) => match &**a {
            Expr::Add(..) => cost_of_sum(&a.terms(), d.checked_sub(1)),
            a => cost(a),
        }
        .saturating_add(3),
        Expr::Mod(a, _) => cost(a).saturating_add(3),
        Expr::Min(a, b) | Expr::Max(a, b) => cost(a).saturating_add(cost(b)).saturating_add(1),
    }
}

/// The cost of a sum, without the constant `free` if there is one.
fn cost_of_sum(terms: &[&Expr], free: Option<i64>) -> u32 {
    let free = terms.iter().position(|t| matches!(t, Expr::Const(c) if Some(*c) == free));
    let paid = || terms.iter().enumerate().filter(|t| Some(t.0) != free).map(|t| *t.1);
    let negative = |t: &Expr| matches!(t, Expr::Mul(_, -1));
    // A difference is one operation, not a product and a sum.
    let term = |t: &Expr| match t {
        Expr::Mul(x, -1) => cost(x),
        t => cost(t),
    };
    paid().map(term).fold(paid().count() as u32 - 1 + u32::from(paid().all(negative)), u32::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_do_not_exist() {
        let of = |e: Expr| e.evaluate(&[7]);
        let x = || Box::new(Expr::Var(0));
        assert_eq!(of(Expr::FloorDiv(x(), 2)), Some(3));
        for divisor in [0, -2, i64::MIN] {
            assert_eq!((of(Expr::FloorDiv(x(), divisor)), of(Expr::Mod(x(), divisor))), (None, None), "{divisor}");
        }
        assert_eq!(of(Expr::Var(1)), None);
        assert_eq!(of(Expr::Mul(x(), i64::MAX)), None);
    }

    #[test]
    fn printing() {
        let (a, b) = (Expr::Var(0), Expr::Var(1));
        for (e, expected) in [
            (a.clone() + (b.clone().times(-1) + Expr::Const(-4)), "d0 - d1 - 4"),
            (a.clone().times(-1).floor_div(4).times(-1), "-((-d0) floordiv 4)"),
            ((a.clone() + Expr::Const(7)).floor_div(8).times(3), "(d0 ceildiv 8) * 3"),
            ((a.clone() + b.clone() + Expr::Const(7)).floor_div(8), "(d0 + d1) ceildiv 8"),
            ((a.clone() + Expr::Const(6)).floor_div(8), "(d0 + 6) floordiv 8"),
            (Expr::Min(a.clone().into(), (b.clone() + Expr::Const(1)).into()).modulo(3), "min(d0, d1 + 1) mod 3"),
            (a.clone() + b.times(i64::MIN), "d0 + d1 * -9223372036854775808"),
            (a.clone() + Expr::Const(i64::MIN), "d0 + -9223372036854775808"),
            (a.clone().times(i64::MIN).times(-1), "-(d0 * -9223372036854775808)"),
            (a.clone().times(5).times(-1), "(d0 * 5) * -1"),
            (a.clone() + Expr::Const(-3).times(-1), "d0 + (-3) * -1"),
            ((a.clone() + (Expr::Const(1).times(3) + Expr::Const(7))).floor_div(8), "(d0 + 1 * 3) ceildiv 8"),
        ] {
            assert_eq!(Named(&e, &|v| format!("d{v}")).to_string(), expected);
        }
        let long = Expr::sum(vec![a; 100_000]);
        assert!(long.depth() <= 24);
        assert_eq!(long.evaluate(&[2, 0]), Some(200_000));
    }
}
