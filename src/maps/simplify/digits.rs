//! Normal forms as sums of digits.
//!
//! With `x mod 2` and `x mod 8` about, the digits of `x` are `x mod 2`, `(x mod 8) floordiv 2` and `x floordiv 8`, of
//! places 1, 2 and 8. An atom is the sum of its lower digits times their places, so a digit's coefficient is its place
//! times the sum of the coefficients of all atoms that hold it: `6*x - 4*(x mod 2)` is `2*(x mod 2) + 12*(x floordiv 2)`.

use super::form::{Form, What};
use super::sum::{Atom, divides, floor_div};
use crate::expr::Expr;
use crate::maps::domain::{Domain, Interval};
use std::collections::BTreeSet;

/// `coefficient * ((variable floordiv place) mod count)`.
pub(crate) struct Digit {
    pub coefficient: i64,
    pub variable: usize,
    pub place: i64,
    pub count: i64,
}

/// Each expression as a constant and digits; `None` where one is no such sum. Variables are from 0 to below their size.
/// Digits of a variable are cut in the same places in all expressions.
pub(crate) fn digits(exprs: &[Expr], sizes: &[i64]) -> Option<Vec<(i64, Vec<Digit>)>> {
    let domain = Domain { vars: sizes.iter().map(|n| Interval::new(0, n - 1)).collect(), constraints: Vec::new() };
    let mut form = Form::new(&domain);
    let sums = exprs.iter().map(|e| form.normal(e)).collect::<Option<Vec<_>>>()?;
    // The variable of an atom and its modulus, the variable's own size for the variable itself.
    let part = |a: Atom| match &form.atoms[a as usize].what {
        What::Var(v) => Some((*v, i128::MAX)),
        What::Remainder(y, m) if y.constant == 0 && y.terms.len() == 1 && y.terms[0].1 == 1 => {
            let v = y.terms[0].0 as usize;
            (v < sizes.len()).then_some((v, *m))
        }
        _ => None,
    };
    let mut cuts: Vec<BTreeSet<i128>> = vec![BTreeSet::from([1]); sizes.len()];
    for &(a, _) in sums.iter().flat_map(|s| &s.terms) {
        let (v, m) = part(a)?;
        if m != i128::MAX {
            cuts[v].insert(m);
        }
    }
    for cuts in &cuts {
        let each: Vec<i128> = cuts.iter().copied().collect();
        if each.windows(2).any(|pair| !divides(pair[0], pair[1])) {
            return None;
        }
    }
    let mut all = Vec::with_capacity(sums.len());
    for s in &sums {
        let mut found = Vec::new();
        for (v, cuts) in cuts.iter().enumerate() {
            let atoms: Vec<(i128, i128)> =
                s.terms.iter().filter_map(|&(a, c)| part(a).filter(|p| p.0 == v).map(|p| (p.1, c))).collect();
            if atoms.is_empty() {
                continue;
            }
            let each: Vec<i128> = cuts.iter().copied().collect();
            for (k, &place) in each.iter().enumerate() {
                let above = each.get(k + 1).copied();
                let holding = atoms.iter().filter(|(m, _)| above.is_none_or(|above| *m >= above) && *m > place);
                let sum = holding.map(|t| t.1).sum::<i128>().checked_mul(place)?;
                if sum == 0 {
                    continue;
                }
                let count = above.map_or(floor_div(i128::from(sizes[v]) - 1, place) + 1, |above| above / place);
                if !divides(s.den, sum) {
                    return None;
                }
                found.push(Digit {
                    coefficient: i64::try_from(sum / s.den).ok()?,
                    variable: v,
                    place: i64::try_from(place).ok()?,
                    count: i64::try_from(count).ok()?,
                });
            }
        }
        if !divides(s.den, s.constant) {
            return None;
        }
        all.push((i64::try_from(s.constant / s.den).ok()?, found));
    }
    Some(all)
}
