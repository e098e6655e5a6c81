//! Distances and addresses, partly known only at run time.
//!
//! In `memref<?x?xf32, strided<[?, 1]>>` row 8 begins `8 * s` elements after row 0, where `s` is a stride from the
//! descriptor. A [`Distance`] is a constant plus multiples of such values, each named by its number in
//! [`VectorPlan::values`](super::plan::Plan::values); an [`Address`] is a sum of loop variables, each times a distance.
//! Affine maps have no products of two values, so `arith.muli` multiplies these.

use crate::buffers::index::IndexVars;
use layout_ir::{Builder, Val};
use melior::ir::Type;
use tensor_layout::expr::Expr;

/// A distance in elements.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Distance {
    /// The static part.
    pub fixed: i64,
    /// Run-time values, each with its factor.
    pub terms: Vec<(usize, i64)>,
    /// An estimate of the terms' sum; only the order of loops depends on it.
    guess: i64,
}

impl Distance {
    /// A static distance.
    pub fn fixed(fixed: i64) -> Distance {
        Distance { fixed, ..Distance::default() }
    }

    /// The run-time value of this number, with an estimate.
    pub fn value(number: usize, guess: i64) -> Distance {
        Distance { fixed: 0, terms: vec![(number, 1)], guess }
    }

    /// The distance, if it is static.
    pub fn known(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.fixed)
    }

    pub fn is_zero(&self) -> bool {
        self.known() == Some(0)
    }

    /// The estimated size, for comparison.
    pub fn about(&self) -> i64 {
        self.fixed.saturating_abs().saturating_add(self.guess.saturating_abs())
    }

    /// The distance times `n`. A distance beyond 64 bits occurs in no real buffer.
    pub fn times(&self, n: i64) -> Distance {
        if n == 0 {
            return Distance::default();
        }
        Distance {
            fixed: self.fixed.saturating_mul(n),
            terms: self.terms.iter().map(|(value, times)| (*value, times.saturating_mul(n))).collect(),
            guess: self.guess.saturating_mul(n),
        }
    }

    /// The sum of two distances.
    pub fn plus(mut self, other: &Distance) -> Distance {
        self.fixed = self.fixed.saturating_add(other.fixed);
        self.guess = self.guess.saturating_add(other.guess);
        for (value, times) in &other.terms {
            match self.terms.iter_mut().find(|term| term.0 == *value) {
                Some(term) => term.1 = term.1.saturating_add(*times),
                None => self.terms.push((*value, *times)),
            }
        }
        self.terms.retain(|term| term.1 != 0);
        self
    }

    /// A sort key: the order in memory, as far as it is static.
    pub fn order(&self) -> (i64, Vec<(usize, i64)>) {
        (self.fixed.saturating_add(self.guess), self.terms.clone())
    }

    /// The index at this distance behind another.
    pub fn behind<'c>(&self, b: Builder<'c>, base: Val<'c>, values: &[Val<'c>]) -> Val<'c> {
        let index = Type::index(b.context());
        let add = |x: Val<'c>, y: Val<'c>| b.value("arith.addi", &[x, y], index, &[]);
        let scaled = self.terms.iter().map(|(value, times)| product(b, values[*value], *times));
        let far = scaled.fold(base, add);
        if self.fixed == 0 { far } else { add(far, b.index(self.fixed)) }
    }
}

/// A value times a number.
pub fn product<'c>(b: Builder<'c>, value: Val<'c>, times: i64) -> Val<'c> {
    if times == 1 { value } else { b.value("arith.muli", &[value, b.index(times)], Type::index(b.context()), &[]) }
}

/// An offset in an operand, in elements from its start: sums over loop variables, one static and one for each run-time
/// value that multiplies it.
#[derive(Clone)]
pub struct Address {
    fixed: Expr,
    scaled: Vec<(usize, Expr)>,
}

impl Address {
    /// The start.
    pub fn start() -> Address {
        Address { fixed: Expr::Const(0), scaled: Vec::new() }
    }

    /// Advances by `steps` times a distance.
    pub fn advance(&mut self, steps: &Expr, by: &Distance) {
        add(&mut self.fixed, steps, by.fixed);
        for (value, times) in &by.terms {
            let known = self.scaled.iter().position(|term| term.0 == *value);
            let known = known.unwrap_or_else(|| {
                self.scaled.push((*value, Expr::Const(0)));
                self.scaled.len() - 1
            });
            add(&mut self.scaled[known].1, steps, *times);
        }
    }

    /// The part without run-time factors.
    pub fn fixed_part(&self) -> &Expr {
        &self.fixed
    }

    /// The number of low bits that are 0, as far as factors show it.
    pub fn zero_bits(&self) -> u32 {
        if self.scaled.is_empty() { zero_bits(&self.fixed) } else { 0 }
    }

    /// The run-time values that multiply parts of it.
    pub fn values(&self) -> impl Iterator<Item = usize> {
        self.scaled.iter().map(|term| term.0)
    }

    /// Emits the index.
    pub fn value<'c>(&self, b: Builder<'c>, vars: &IndexVars<'c>, values: &[Val<'c>]) -> Val<'c> {
        let index = Type::index(b.context());
        let mut sum = (self.fixed != Expr::Const(0) || self.scaled.is_empty()).then(|| vars.value(b, &self.fixed));
        for (value, times) in &self.scaled {
            let term = match times {
                Expr::Const(times) => product(b, values[*value], *times),
                times => b.value("arith.muli", &[values[*value], vars.value(b, times)], index, &[]),
            };
            sum = Some(sum.map_or(term, |sum| b.value("arith.addi", &[sum, term], index, &[])));
        }
        sum.expect("there is a term")
    }
}

fn zero_bits(e: &Expr) -> u32 {
    match e {
        Expr::Const(c) => c.trailing_zeros(),
        Expr::Mul(a, c) => zero_bits(a) + c.trailing_zeros(),
        Expr::Add(a, b) => zero_bits(a).min(zero_bits(b)),
        _ => 0,
    }
}

/// Adds `steps` times a factor.
pub fn add(to: &mut Expr, steps: &Expr, factor: i64) {
    let step = match steps {
        Expr::Const(n) => Expr::Const(n.saturating_mul(factor)),
        e => e.clone().times(factor),
    };
    *to = match (std::mem::replace(to, Expr::Const(0)), step) {
        (Expr::Const(a), Expr::Const(b)) => Expr::Const(a.saturating_add(b)),
        (e, Expr::Const(0)) | (Expr::Const(0), e) => e,
        (a, b) => a + b,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_add_up() {
        let rows = Distance::value(0, 100);
        let sum = rows.times(3).plus(&Distance::fixed(5)).plus(&rows.times(-3));
        assert_eq!((sum.known(), sum.about()), (Some(5), 5));
        assert_eq!(rows.times(8).plus(&rows).terms, [(0, 9)]);
        assert!(rows.times(0).is_zero() && !rows.is_zero() && rows.known().is_none());
        assert!(rows.times(2).about() > Distance::fixed(199).about());
    }
}
