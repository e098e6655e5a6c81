//! Expressions that are linear sums of variables.

use crate::expr::Expr;
use std::collections::BTreeMap;

/// The coefficient of each variable, and the constant.
pub type LinearSum = (BTreeMap<usize, i128>, i128);

/// An expression as a linear sum of variables; `None` if it is none.
pub fn linear(e: &Expr) -> Option<LinearSum> {
    let (mut all, mut constant): (BTreeMap<usize, i128>, i128) = Default::default();
    for term in e.terms() {
        match term {
            Expr::Const(c) => constant += i128::from(*c),
            Expr::Var(v) => *all.entry(*v).or_default() += 1,
            Expr::Mul(x, c) => {
                let (vars, more) = linear(x)?;
                constant = constant.checked_add(more.checked_mul((*c).into())?)?;
                for (v, f) in vars {
                    let sum = all.entry(v).or_default();
                    *sum = sum.checked_add(f.checked_mul((*c).into())?)?;
                }
            }
            _ => return None,
        }
    }
    all.retain(|_, c| *c != 0);
    Some((all, constant))
}

/// The number of distinct sums of these terms `(step, count)`, and their common step, if they leave no gap.
pub(super) fn gapless(mut terms: Vec<(i128, u128)>) -> Option<(u128, i128)> {
    terms.retain(|t| t.1 != 1);
    for t in &mut terms {
        t.0 = t.0.checked_abs()?;
    }
    terms.sort_unstable();
    let step = terms.first().map_or(1, |t| t.0);
    let mut reach = 1u128;
    for (c, n) in terms {
        let wide = u128::try_from(c / step).ok()?;
        if c % step != 0 || wide > reach {
            return None;
        }
        reach = reach.checked_add(wide.checked_mul(n.checked_sub(1)?)?)?;
    }
    Some((reach, step))
}
