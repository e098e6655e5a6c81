//! Obligations of random programs, at all small values of their variables: if the premises hold, so does the claim.

use super::programs::{Writing, floordiv, memref, modulo, operand, sum, times};
use super::random::{function, outcome, rewritten, statements};
use crate::proof::formula::{Formula, Obligation};
use crate::proof::subscript::Subscript;
use crate::proof::{Pairs, same};
use crate::reader::model::{Function, Program};
use fastrand::Rng;
use std::collections::BTreeMap;

fn value(s: &Subscript, variables: &[i64]) -> i64 {
    match s {
        Subscript::Constant(c) => *c,
        Subscript::Value(variable) => variables[*variable],
        Subscript::Sum(all) => all.iter().map(|s| value(s, variables)).sum(),
        Subscript::Times(s, c) => value(s, variables) * c,
        Subscript::Quotient(s, c) => value(s, variables).div_euclid(*c),
        Subscript::Remainder(s, c) => value(s, variables).rem_euclid(*c),
    }
}

fn holds(formula: &Formula, variables: &[i64]) -> bool {
    match formula {
        Formula::AtLeastZero(s) => value(s, variables) >= 0,
        Formula::Equal(a, b) => value(a, variables) == value(b, variables),
        Formula::All(all) => all.iter().all(|formula| holds(formula, variables)),
        Formula::Any(all) => all.iter().any(|formula| holds(formula, variables)),
        Formula::Not(formula) => !holds(formula, variables),
    }
}

/// The number of points from -1 to 8 that satisfy the premises, and a point that violates the claim. Variables are
/// tried in order, each with the values so far; points that violate a premise of these alone are skipped.
fn tried(obligation: &Obligation) -> (usize, Option<Vec<i64>>) {
    fn last(s: &Subscript) -> usize {
        match s {
            Subscript::Constant(_) => 0,
            Subscript::Value(variable) => variable + 1,
            Subscript::Sum(all) => all.iter().map(last).max().unwrap_or(0),
            Subscript::Times(s, _) | Subscript::Quotient(s, _) | Subscript::Remainder(s, _) => last(s),
        }
    }
    fn needs(formula: &Formula) -> usize {
        match formula {
            Formula::AtLeastZero(s) => last(s),
            Formula::Equal(a, b) => last(a).max(last(b)),
            Formula::All(all) | Formula::Any(all) => all.iter().map(needs).max().unwrap_or(0),
            Formula::Not(formula) => needs(formula),
        }
    }
    fn all(obligation: &Obligation, needs: &[usize], variables: &mut Vec<i64>, found: &mut (usize, Option<Vec<i64>>)) {
        let known = obligation.premises.iter().zip(needs).filter(|(_, needs)| **needs == variables.len());
        if !known.map(|(premise, _)| premise).all(|premise| holds(premise, variables)) {
            return;
        }
        if variables.len() < obligation.variables {
            for value in -1..9 {
                variables.push(value);
                all(obligation, needs, variables, found);
                variables.pop();
            }
            return;
        }
        found.0 += 1;
        if !holds(&obligation.claim, variables) {
            found.1.get_or_insert_with(|| variables.clone());
        }
    }
    let needs: Vec<usize> = obligation.premises.iter().map(needs).collect();
    let mut found = (0, None);
    all(obligation, &needs, &mut vec![], &mut found);
    found
}

/// The obligations of a proof that must succeed.
fn obligations(meant: &Function, made: &Function) -> Vec<Obligation> {
    let program = Program::default();
    let found = same((&program, meant), (&program, made), (0, &mut 500_000, Pairs::All), true).expect("a proof");
    assert_eq!(found.unwritten, 0, "an obligation without a formula");
    found.all
}

#[test]
fn obligations_hold_for_all_small_values() {
    let mut rng = Rng::with_seed(11);
    let program = Program::default();
    let (mut all, mut points) = (BTreeMap::<&str, usize>::new(), 0);
    for _ in 0..60_000 {
        let first = statements(&mut rng, 0, &mut 7);
        if outcome(&first).is_none_or(|left| Some(left) == outcome(&[])) {
            continue;
        }
        let mut second = first.clone();
        rewritten(&mut second, &mut rng);
        let (meant, made) = (function(&first), function(&second));
        let Ok(found) = same((&program, &meant), (&program, &made), (0, &mut 15_000, Pairs::All), true) else {
            continue;
        };
        assert_eq!(found.unwritten, 0, "an obligation without a formula: {first:?}");
        for obligation in &found.all {
            let (premises_hold, wrong) = tried(obligation);
            assert_eq!(wrong, None, "{obligation:?}\n{first:?}\n{second:?}");
            points += premises_hold;
            *all.entry(obligation.about).or_default() += 1;
        }
    }
    println!("{all:?}, {points} values for which the premises hold");
    let kinds =
        ["an iteration of a store", "no other iteration of a store", "a store elsewhere", "the later of two stores"];
    for about in kinds {
        assert!(all.get(about).is_some_and(|found| *found > 20), "few are about {about}: {all:?}");
    }
    assert!(points > 10_000, "{points} values for which the premises hold");
}

/// Rows of 6 in rows of 8, forwards and back, in two loops or in one.
fn rows(in_one: bool) -> Function {
    let mut f = Writing::new(vec![memref(&[24]), memref(&[32])]);
    let row = |f: &mut Writing, i, j| {
        let x = f.load(0, vec![sum(times(operand(0), 6), operand(1))], &[i, j]);
        f.store(x, 1, vec![sum(times(operand(0), 8), operand(1))], &[i, j]);
    };
    if in_one {
        f.each(24, |f, k| {
            let (i, j) = (f.apply(floordiv(operand(0), 6), vec![k]), f.apply(modulo(operand(0), 6), vec![k]));
            row(f, i, j);
        });
    } else {
        f.each(4, |f, i| f.each(6, |f, j| row(f, i, j)));
    }
    f.done(vec![])
}

/// A changed constant in a formula gives another obligation, which is wrong.
#[test]
fn wrong_obligations_are_found() {
    fn change(s: &mut Subscript, number: &mut usize) -> bool {
        match s {
            Subscript::Constant(c)
            | Subscript::Times(_, c)
            | Subscript::Quotient(_, c)
            | Subscript::Remainder(_, c)
                if *number == 0 =>
            {
                *c += 1;
                return true;
            }
            _ => {}
        }
        let inside = match s {
            Subscript::Constant(_) => None,
            Subscript::Value(_) => return false,
            Subscript::Sum(all) => return all.iter_mut().any(|s| change(s, number)),
            Subscript::Times(s, _) | Subscript::Quotient(s, _) | Subscript::Remainder(s, _) => Some(s),
        };
        *number -= 1;
        inside.is_some_and(|s| change(s, number))
    }
    fn change_in(formula: &mut Formula, number: &mut usize) -> bool {
        match formula {
            Formula::AtLeastZero(s) => change(s, number),
            Formula::Equal(a, b) => change(a, number) || change(b, number),
            Formula::All(all) | Formula::Any(all) => all.iter_mut().any(|formula| change_in(formula, number)),
            Formula::Not(formula) => change_in(formula, number),
        }
    }
    let (mut changed, mut wrong) = (0, BTreeMap::<&str, usize>::new());
    for obligation in obligations(&rows(false), &rows(true)) {
        for number in 0.. {
            let (mut other, mut left) = (obligation.clone(), number);
            if !change_in(&mut other.claim, &mut left) {
                break;
            }
            changed += 1;
            if tried(&other).1.is_some() {
                *wrong.entry(other.about).or_default() += 1;
            }
        }
    }
    // A bound that is not tight may grow by one.
    println!("{changed} changed, wrong: {wrong:?}");
    for about in ["an iteration of a store", "no other iteration of a store", "the address of a load"] {
        assert!(wrong.contains_key(about), "{wrong:?} of {changed}");
    }
}
