//! Quasi-affine expressions: sums, products with constants, `floordiv` and `mod` by positive constants.
//!
//! An expression is a small tree over numbered variables; division rounds towards minus infinity and a remainder is
//! never negative, so `-3 floordiv 2` is `-2` and `-3 mod 2` is `1`. Nothing here simplifies: see [`crate::simplify`].

use std::fmt;

/// A quasi-affine expression over the variables of some space, numbered from 0.
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

    /// `self floordiv divisor`; the divisor is positive.
    pub fn floor_div(self, divisor: i64) -> Expr {
        assert!(divisor > 0, "divisor {divisor} is not positive");
        if divisor == 1 { self } else { Expr::FloorDiv(Box::new(self), divisor) }
    }

    /// `self mod modulus`; the modulus is positive.
    pub fn modulo(self, modulus: i64) -> Expr {
        assert!(modulus > 0, "modulus {modulus} is not positive");
        if modulus == 1 { Expr::Const(0) } else { Expr::Mod(Box::new(self), modulus) }
    }

    /// The expression with each variable replaced: variable `v` by `by[v]`.
    pub fn substitute(&self, by: &[Expr]) -> Expr {
        match self {
            Expr::Const(c) => Expr::Const(*c),
            Expr::Var(v) => by[*v].clone(),
            Expr::Add(a, b) => a.substitute(by) + b.substitute(by),
            Expr::Mul(a, f) => a.substitute(by).times(*f),
            Expr::FloorDiv(a, d) => a.substitute(by).floor_div(*d),
            Expr::Mod(a, m) => a.substitute(by).modulo(*m),
        }
    }

    /// Calls back with the number of each variable, once for each place where it stands.
    pub fn for_each_var(&self, f: &mut impl FnMut(usize)) {
        match self {
            Expr::Const(_) => {}
            Expr::Var(v) => f(*v),
            Expr::Add(a, b) => {
                a.for_each_var(f);
                b.for_each_var(f);
            }
            Expr::Mul(a, _) | Expr::FloorDiv(a, _) | Expr::Mod(a, _) => a.for_each_var(f),
        }
    }

    /// The value at a point, which has one entry for each variable; `None` where 64 bits do not hold it.
    pub fn evaluate(&self, point: &[i64]) -> Option<i64> {
        match self {
            Expr::Const(c) => Some(*c),
            Expr::Var(v) => Some(point[*v]),
            Expr::Add(a, b) => a.evaluate(point)?.checked_add(b.evaluate(point)?),
            Expr::Mul(a, f) => a.evaluate(point)?.checked_mul(*f),
            Expr::FloorDiv(a, d) => Some(a.evaluate(point)?.div_euclid(*d)),
            Expr::Mod(a, m) => Some(a.evaluate(point)?.rem_euclid(*m)),
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

/// An expression with the names of its variables, which is how it prints.
pub struct Named<'a>(pub &'a Expr, pub &'a dyn Fn(usize) -> String);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, self.0, 0)
    }
}

impl Named<'_> {
    /// Writes `e`, in parentheses where the place binds tighter: 0 for a term of a sum, 2 for an operand of a product.
    fn write(&self, f: &mut fmt::Formatter<'_>, e: &Expr, place: u8) -> fmt::Result {
        let binds = match e {
            Expr::Add(..) => 0,
            Expr::Const(c) if *c < 0 => 0,
            Expr::Const(_) | Expr::Var(_) => 2,
            Expr::Mul(_, -1) => 0,
            _ => 1,
        };
        if binds < place {
            f.write_str("(")?;
        }
        match e {
            Expr::Const(c) => write!(f, "{c}")?,
            Expr::Var(v) => f.write_str(&(self.1)(*v))?,
            Expr::Add(a, b) => {
                self.write(f, a, 0)?;
                match &**b {
                    Expr::Const(c) if *c < 0 => write!(f, " - {}", c.unsigned_abs())?,
                    Expr::Mul(x, c) if *c < 0 => {
                        f.write_str(" - ")?;
                        self.write(f, x, 2)?;
                        if *c != -1 {
                            write!(f, " * {}", c.unsigned_abs())?;
                        }
                    }
                    b => {
                        f.write_str(" + ")?;
                        self.write(f, b, 0)?;
                    }
                }
            }
            Expr::Mul(x, -1) => {
                f.write_str("-")?;
                self.write(f, x, 2)?;
            }
            Expr::Mul(x, c) => {
                self.write(f, x, 2)?;
                write!(f, " * {c}")?;
            }
            Expr::FloorDiv(x, d) => {
                self.write(f, x, 2)?;
                write!(f, " floordiv {d}")?;
            }
            Expr::Mod(x, m) => {
                self.write(f, x, 2)?;
                write!(f, " mod {m}")?;
            }
        }
        if binds < place {
            f.write_str(")")?;
        }
        Ok(())
    }
}
