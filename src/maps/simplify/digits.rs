//! Normal forms as sums of digits.
//!
//! If `x mod 2` and `x mod 8` occur, the digits of `x` are `x mod 2`, `(x mod 8) floordiv 2` and `x floordiv 8`, of
//! places 1, 2 and 8. An atom is the sum of its lower digits times their places, so a digit's coefficient is its place
//! times the sum of the coefficients of all atoms that hold it: `6*x - 4*(x mod 2)` is
//! `2*(x mod 2) + 12*(x floordiv 2)`.

use super::form::{Form, What};
use super::sum::{Sum, divides};
use super::terms::Atom;
use crate::expr::Expr;
use crate::maps::domain::{Domain, Interval};
use crate::numbers::product;
use std::collections::BTreeSet;

/// `coefficient * ((variable floordiv place) mod count)`.
pub(crate) struct VariableDigit {
    pub coefficient: i64,
    pub variable: usize,
    pub place: i64,
    pub count: i64,
}

/// Each expression as a constant and digits; `None` if one is no such sum. Variables are from 0 to below their size.
/// Digits of a variable are cut in the same places in all expressions.
pub(crate) fn digits(exprs: &[Expr], sizes: &[i64]) -> Option<Vec<(i64, Vec<VariableDigit>)>> {
    let domain = Domain { vars: sizes.iter().map(|n| Interval::new(0, n - 1)).collect(), constraints: Vec::new() };
    let mut form = Form::new(&domain);
    let sums = exprs.iter().map(|e| form.normal(e)).collect::<Option<Vec<_>>>()?;
    let places = places(&form, &sums, sizes)?;
    let each = sums.iter().map(|sum| {
        let mut found = Vec::new();
        for (v, places) in places.iter().enumerate() {
            of_variable(&form, sum, v, sizes, places, &mut found)?;
        }
        let constant = divides(sum.den, sum.constant).then(|| sum.constant / sum.den)?;
        Some((constant, found))
    });
    each.collect()
}

/// The variable of an atom, and the modulus if the atom is a remainder; `None` for other atoms.
fn part(form: &Form, atom: Atom, variables: usize) -> Option<(usize, Option<i64>)> {
    match &form.atoms[atom as usize].what {
        What::Var(v) => Some((*v, None)),
        What::Remainder(y, m) if y.constant == 0 && y.terms.only().is_some_and(|t| t.1 == 1) => {
            let v = y.terms.first()?.0 as usize;
            (v < variables).then_some((v, Some(*m)))
        }
        _ => None,
    }
}

/// The places of the digits of each variable, the lowest first: 1, and the moduli of its remainders. `None` unless each
/// place divides the next.
fn places(form: &Form, sums: &[Sum], sizes: &[i64]) -> Option<Vec<Vec<i64>>> {
    let mut all: Vec<BTreeSet<i64>> = vec![BTreeSet::from([1]); sizes.len()];
    for (atom, _) in sums.iter().flat_map(|sum| sum.terms.iter()) {
        let (v, modulus) = part(form, atom, sizes.len())?;
        all[v].extend(modulus);
    }
    let all: Vec<Vec<i64>> = all.into_iter().map(|places| places.into_iter().collect()).collect();
    all.iter().flat_map(|places| places.windows(2)).all(|pair| divides(pair[0], pair[1])).then_some(all)
}

/// The digits of one variable in a sum; `None` if a coefficient is no integer or does not fit in 64 bits.
fn of_variable(
    form: &Form,
    sum: &Sum,
    variable: usize,
    sizes: &[i64],
    places: &[i64],
    found: &mut Vec<VariableDigit>,
) -> Option<()> {
    let modulus = |atom| part(form, atom, sizes.len()).filter(|part| part.0 == variable).map(|part| part.1);
    let atoms: Vec<(Option<i64>, i64)> = sum.terms.iter().filter_map(|(atom, c)| Some((modulus(atom)?, c))).collect();
    for (k, &place) in places.iter().enumerate() {
        let above = places.get(k + 1).copied();
        // An atom holds the digits below its modulus.
        let holding = atoms.iter().filter(|(m, _)| m.is_none_or(|m| above.is_none_or(|above| m >= above) && m > place));
        let coefficient = product(holding.map(|t| t.1).try_fold(0i64, i64::checked_add)?, place)?;
        if coefficient == 0 {
            continue;
        }
        let count = above.map_or((sizes[variable] - 1).div_euclid(place) + 1, |above| above / place);
        if !divides(sum.den, coefficient) {
            return None;
        }
        found.push(VariableDigit { coefficient: coefficient / sum.den, variable, place, count });
    }
    Some(())
}
