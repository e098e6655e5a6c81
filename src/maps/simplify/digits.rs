//! Normal forms as sums of digits.
//!
//! With `x mod 2` and `x mod 8` about, the digits of `x` are `x mod 2`, `(x mod 8) floordiv 2` and `x floordiv 8`, of
//! places 1, 2 and 8. An atom is the sum of its lower digits times their places, so a digit's coefficient is its place
//! times the sum of the coefficients of all atoms that hold it: `6*x - 4*(x mod 2)` is `2*(x mod 2) + 12*(x floordiv 2)`.

use super::form::{Form, What};
use super::sum::{Sum, divides, floor_div};
use super::terms::Atom;
use crate::expr::Expr;
use crate::maps::domain::{Domain, Interval};
use std::collections::BTreeSet;

/// `coefficient * ((variable floordiv place) mod count)`.
pub(crate) struct VariableDigit {
    pub coefficient: i64,
    pub variable: usize,
    pub place: i64,
    pub count: i64,
}

/// Each expression as a constant and digits; `None` where one is no such sum. Variables are from 0 to below their size.
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
        Some((i64::try_from(constant).ok()?, found))
    });
    each.collect()
}

/// The variable of an atom and its modulus, which is [`i128::MAX`] for the variable itself; `None` for other atoms.
fn part(form: &Form, atom: Atom, variables: usize) -> Option<(usize, i128)> {
    match &form.atoms[atom as usize].what {
        What::Var(v) => Some((*v, i128::MAX)),
        What::Remainder(y, m) if y.constant == 0 && y.terms.only().is_some_and(|t| t.1 == 1) => {
            let v = y.terms.first()?.0 as usize;
            (v < variables).then_some((v, *m))
        }
        _ => None,
    }
}

/// The places of the digits of each variable, the lowest first: 1, and the moduli of its remainders. `None` where one
/// of them does not divide the next.
fn places(form: &Form, sums: &[Sum], sizes: &[i64]) -> Option<Vec<Vec<i128>>> {
    let mut all: Vec<BTreeSet<i128>> = vec![BTreeSet::from([1]); sizes.len()];
    for (atom, _) in sums.iter().flat_map(|sum| sum.terms.iter()) {
        let (v, modulus) = part(form, atom, sizes.len())?;
        if modulus != i128::MAX {
            all[v].insert(modulus);
        }
    }
    let all: Vec<Vec<i128>> = all.into_iter().map(|places| places.into_iter().collect()).collect();
    all.iter().flat_map(|places| places.windows(2)).all(|pair| divides(pair[0], pair[1])).then_some(all)
}

/// The digits of one variable in a sum; `None` where a coefficient is no integer or does not fit in 64 bits.
fn of_variable(
    form: &Form,
    sum: &Sum,
    variable: usize,
    sizes: &[i64],
    places: &[i128],
    found: &mut Vec<VariableDigit>,
) -> Option<()> {
    let modulus = |atom| part(form, atom, sizes.len()).filter(|part| part.0 == variable).map(|part| part.1);
    let atoms: Vec<(i128, i128)> = sum.terms.iter().filter_map(|(atom, c)| Some((modulus(atom)?, c))).collect();
    for (k, &place) in places.iter().enumerate() {
        let above = places.get(k + 1).copied();
        // An atom holds the digits below its modulus.
        let holding = atoms.iter().filter(|(m, _)| above.is_none_or(|above| *m >= above) && *m > place);
        let coefficient = holding.map(|t| t.1).sum::<i128>().checked_mul(place)?;
        if coefficient == 0 {
            continue;
        }
        let count = above.map_or(floor_div(i128::from(sizes[variable]) - 1, place) + 1, |above| above / place);
        if !divides(sum.den, coefficient) {
            return None;
        }
        found.push(VariableDigit {
            coefficient: i64::try_from(coefficient / sum.den).ok()?,
            variable,
            place: i64::try_from(place).ok()?,
            count: i64::try_from(count).ok()?,
        });
    }
    Some(())
}
