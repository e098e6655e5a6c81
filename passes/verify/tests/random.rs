//! Random pairs of small programs against an evaluator: if a proof accepts a pair, both leave the same arguments.
//!
//! A program has loops, parallel loops and conditions around copies between three buffers of 8 elements, two of them
//! arguments. A copy has one or several lanes and is plain, through an operation, or a sum with the old element. The
//! second program of a pair is the first one, or the first one with one change. The evaluator represents an element by
//! the text of its computation, so that one run covers all elements.

use super::programs::*;
use crate::proof::{Pairs, same};
use crate::reader::model::*;
use fastrand::Rng;

const SIZE: usize = 8;

/// An affine expression of the enclosing iterations, then a division and a remainder, unless they are 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Index {
    factors: Vec<i64>,
    constant: i64,
    divisor: i64,
    modulus: i64,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// The extent, its reduction in the first enclosing iteration (0 for no such bound), and the kind.
    Loop { extent: i64, bound: i64, parallel: bool, body: Vec<Statement> },
    /// Runs if the index is at least 0.
    If { index: Index, body: Vec<Statement> },
    /// A copy between buffers.
    Copy { from: (usize, Index), to: (usize, Index), lanes: i64, how: u8 },
}

fn index(rng: &mut Rng, depth: usize) -> Index {
    Index {
        factors: (0..depth).map(|_| [0, 0, 1, 1, 1, 2, 4, -1, 3][rng.usize(..9)]).collect(),
        constant: rng.i64(0..4),
        divisor: if rng.u8(..6) == 0 { rng.i64(2..4) } else { 0 },
        modulus: if rng.u8(..5) == 0 { [2, 4, 8, 3][rng.usize(..4)] } else { 0 },
    }
}

pub fn statements(rng: &mut Rng, depth: usize, left: &mut usize) -> Vec<Statement> {
    let mut all = vec![];
    for _ in 0..rng.usize(1..4).min(*left) {
        *left = left.saturating_sub(1);
        if depth == 0 || depth < 3 && rng.u8(..3) != 0 {
            let extent = rng.i64(1..5);
            let parallel = rng.u8(..6) == 0;
            let bound = if !parallel && rng.u8(..4) == 0 { extent - 1 } else { 0 };
            all.push(Statement::Loop { extent, bound, parallel, body: statements(rng, depth + 1, left) });
        } else if rng.u8(..6) == 0 {
            let mut index = index(rng, depth);
            index.constant -= 2;
            all.push(Statement::If { index, body: statements(rng, depth, left) });
        } else {
            let lanes = [0, 0, 0, 2, 4][rng.usize(..5)];
            let (from, to) = ((rng.usize(..3), index(rng, depth)), ([1, 1, 2][rng.usize(..3)], index(rng, depth)));
            all.push(Statement::Copy { from, to, lanes, how: rng.u8(..3) });
        }
    }
    all
}

/// Makes one change, in the statement of this number.
fn change(all: &mut [Statement], number: &mut usize, rng: &mut Rng) -> bool {
    for at in 0..all.len() {
        if *number == 0 {
            let other = (at + 1) % all.len();
            match &mut all[at] {
                _ if rng.u8(..6) == 0 && other != at => all.swap(at, other),
                Statement::Loop { extent, bound, parallel, .. } => match rng.u8(..4) {
                    0 => *extent += 1,
                    1 => *extent = (*extent - 1).max(1),
                    2 if !*parallel => *bound = if *bound > 0 { 0 } else { *extent - 1 },
                    _ => (*parallel, *bound) = (!*parallel, 0),
                },
                Statement::If { index, .. } => index.constant += rng.i64(-1..2),
                Statement::Copy { from, to, lanes, how } => match rng.u8(..6) {
                    0 => from.1.constant += 1,
                    1 => to.1.constant += 1,
                    2 => from.1.factors.iter_mut().for_each(|factor| *factor += i64::from(rng.bool())),
                    3 => from.0 = rng.usize(..3),
                    4 => *lanes = [0, 2, 4][rng.usize(..3)],
                    _ => *how = rng.u8(..3),
                },
            }
            return true;
        }
        *number -= 1;
        if let Statement::Loop { body, .. } | Statement::If { body, .. } = &mut all[at]
            && change(body, number, rng)
        {
            return true;
        }
    }
    false
}

/// The same copies, with the last iteration of some loops in a separate loop under a condition that always holds.
pub fn rewritten(all: &mut [Statement], rng: &mut Rng) {
    for statement in all.iter_mut() {
        let Statement::Loop { extent, bound: 0, body, .. } = statement else { continue };
        match rng.u8(..3) {
            // Splits a loop in two, the second one with the last iteration.
            0 if *extent > 1 => {
                let (last, mut end) = (*extent - 1, body.clone());
                shifted(&mut end, 0, last);
                let all = vec![
                    Statement::Loop { extent: last, bound: 0, parallel: false, body: body.clone() },
                    Statement::Loop { extent: 1, bound: 0, parallel: false, body: end },
                ];
                *statement = Statement::If { index: always(), body: all };
            }
            _ => rewritten(body, rng),
        }
    }
}

fn always() -> Index {
    Index { factors: vec![], constant: 0, divisor: 0, modulus: 0 }
}

/// Adds `by` to an iteration in all indices.
fn shifted(all: &mut [Statement], depth: usize, by: i64) {
    let shift = |index: &mut Index| {
        index.constant += by * index.factors.get(depth).copied().unwrap_or(0);
    };
    for statement in all {
        match statement {
            Statement::Loop { body, .. } => shifted(body, depth, by),
            Statement::If { index, body } => {
                shift(index);
                shifted(body, depth, by);
            }
            Statement::Copy { from, to, .. } => {
                shift(&mut from.1);
                shift(&mut to.1);
            }
        }
    }
}

impl Index {
    fn at(&self, iterations: &[i64]) -> i64 {
        let mut value = self.constant + self.factors.iter().zip(iterations).map(|(a, i)| a * i).sum::<i64>();
        if self.divisor > 0 {
            value = value.div_euclid(self.divisor);
        }
        if self.modulus > 0 { value.rem_euclid(self.modulus) } else { value }
    }

    fn expr(&self) -> Expr {
        let terms = (0..).zip(&self.factors).filter(|(_, a)| **a != 0);
        let mut e = terms.fold(number(self.constant), |e, (k, a)| sum(e, times(operand(k), *a)));
        if self.divisor > 0 {
            e = floordiv(e, self.divisor);
        }
        if self.modulus > 0 { modulo(e, self.modulus) } else { e }
    }
}

pub type Memory = [Vec<Option<String>>; 3];

/// Runs statements; `None` after an address outside of a buffer. Iterations of parallel loops run forwards or
/// backwards.
fn run(all: &[Statement], iterations: &mut Vec<i64>, memory: &mut Memory, backwards: bool) -> Option<()> {
    for statement in all {
        match statement {
            Statement::Loop { extent, bound, parallel, body } => {
                let most = bound + iterations.first().copied().unwrap_or(0);
                let end = if *bound > 0 { *extent.min(&most) } else { *extent };
                for i in 0..end {
                    iterations.push(if *parallel && backwards { end - 1 - i } else { i });
                    run(body, iterations, memory, backwards)?;
                    iterations.pop();
                }
            }
            Statement::If { index, body } if index.at(iterations) >= 0 => run(body, iterations, memory, backwards)?,
            Statement::If { .. } => {}
            Statement::Copy { from, to, lanes, how } => {
                let lanes = (*lanes).max(1) as usize;
                let begin = |index: &Index| {
                    let at = usize::try_from(index.at(iterations)).ok()?;
                    (at + lanes <= SIZE).then_some(at)
                };
                let (source, target) = (begin(&from.1)?, begin(&to.1)?);
                let new: Vec<Option<String>> = (0..lanes)
                    .map(|lane| {
                        let x = memory[from.0][source + lane].clone()?;
                        Some(match how {
                            0 => x,
                            1 => format!("f({x})"),
                            _ => format!("({}+{x})", memory[to.0][target + lane].clone()?),
                        })
                    })
                    .collect();
                // Texts beyond this length are not compared.
                if new.iter().flatten().any(|x| x.len() > 2000) {
                    return None;
                }
                memory[to.0][target..target + lanes].clone_from_slice(&new);
            }
        }
    }
    Some(())
}

/// The arguments after a program; `None` if they are undefined, ambiguous, or partly unwritten.
pub fn outcome(all: &[Statement]) -> Option<Memory> {
    let of = |backwards: bool| {
        let named = |name: &str| (0..SIZE).map(|k| Some(format!("{name}{k}"))).collect();
        let mut memory = [named("x"), named("y"), vec![None; SIZE]];
        run(all, &mut vec![], &mut memory, backwards)?;
        // The third buffer is no argument.
        memory[2].clear();
        Some(memory)
    };
    let (forwards, backwards) = (of(false)?, of(true)?);
    (forwards == backwards && forwards.iter().flatten().all(Option::is_some)).then_some(forwards)
}

fn write(all: &[Statement], f: &mut Writing, iterations: &mut Vec<Slot>, buffers: [Slot; 3]) {
    for statement in all {
        match statement {
            Statement::Loop { extent, parallel: true, body, .. } => f.parallel(*extent, |f, i| {
                iterations.push(i);
                write(body, f, iterations, buffers);
                iterations.pop();
            }),
            Statement::Loop { extent, bound, body, .. } => {
                let mut uppers = vec![number(*extent)];
                if *bound > 0 {
                    let first = if iterations.is_empty() { number(0) } else { operand(0) };
                    uppers.push(sum(number(*bound), first));
                }
                let operands = iterations.clone();
                f.carrying((0, uppers, 1), &operands, vec![], |f, arguments| {
                    iterations.push(arguments[0]);
                    write(body, f, iterations, buffers);
                    iterations.pop();
                    vec![]
                });
            }
            Statement::If { index, body } => {
                let then = f.region(vec![], |f, _| {
                    write(body, f, iterations, buffers);
                    vec![]
                });
                let condition =
                    Condition::Set { constraints: vec![(index.expr(), false)], operands: iterations.clone() };
                f.operation("affine.if", vec![], Action::If { condition, regions: vec![then] });
            }
            Statement::Copy { from, to, lanes, how } => {
                let of = if *lanes == 0 { scalar("f32") } else { vector(*lanes) };
                let (source, target) = (vec![from.1.expr()], vec![to.1.expr()]);
                let x = f.load_lanes(buffers[from.0], source, iterations, *lanes);
                let x = match how {
                    0 => x,
                    1 => f.compute("math.exp", of, vec![x]),
                    _ => {
                        let old = f.load_lanes(buffers[to.0], target.clone(), iterations, *lanes);
                        f.compute("arith.addf", of, vec![old, x])
                    }
                };
                f.store_lanes(x, buffers[to.0], target, iterations, *lanes);
            }
        }
    }
}

pub fn function(all: &[Statement]) -> Function {
    let size = [SIZE as i64];
    let mut f = Writing::new(vec![memref(&size), memref(&size)]);
    let own = f.allocate(&size);
    write(all, &mut f, &mut vec![], [0, 1, own]);
    f.done(vec![])
}

#[test]
fn accepted_pairs_compute_the_same() {
    let mut rng = Rng::with_seed(7);
    let program = Program::default();
    let (mut pairs, mut accepted, mut changed, mut different) = (0, 0, 0, 0);
    while pairs < 20_000 {
        let first = statements(&mut rng, 0, &mut 7);
        let Some(left) = outcome(&first).filter(|left| *left != outcome(&[]).expect("no statements")) else { continue };
        for attempt in 0..6 {
            let mut second = first.clone();
            match attempt {
                0 => {}
                1 => rewritten(&mut second, &mut rng),
                _ => drop(change(&mut second, &mut rng.usize(..7), &mut rng)),
            }
            let is_same = outcome(&second).as_ref() == Some(&left);
            let shown = same(
                (&program, &function(&first)),
                (&program, &function(&second)),
                (0, &mut 15_000, Pairs::All),
                false,
            );
            pairs += 1;
            different += usize::from(!is_same);
            accepted += usize::from(shown.is_ok());
            changed += usize::from(shown.is_ok() && second != first);
            assert!(is_same || shown.is_err(), "accepted, and not the same:\n{first:?}\n{second:?}");
        }
    }
    // The test needs enough pairs of each kind.
    println!("{pairs} pairs: {different} different, {accepted} accepted, {changed} of them not the same text");
    assert!(different > pairs / 10 && accepted > pairs / 10 && changed > pairs / 50);
}
