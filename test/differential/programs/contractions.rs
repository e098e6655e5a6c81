//! Programs that multiply and add up.

use super::{WIDENED, of_extents};
use crate::array::{Array, Notation, Source, permutation, shuffled};
use crate::element::{BF16, F32, F64, I8, I32, I64};
use crate::program::Program;

/// Two operands and a result, each indexed by any dimensions in any order: contractions, broadcasts, transposes,
/// reductions. Every dimension indexes an operand.
pub fn generic(rng: &mut Source) -> Program {
    let rank = rng.usize(1..=4);
    let mut extents: Vec<i64> = (0..rank).map(|_| rng.i64(1..9)).collect();
    if rng.vectors && rank < 4 {
        let long = rng.usize(..rank);
        extents[long] = rng.i64(8..60);
    }
    let mut some = |all: bool| {
        let dims = (0..rank).filter(|_| all || !rng.one_in(3)).collect();
        shuffled(rng, dims)
    };
    let [first, second, output] = [some(false), some(true), some(false)];
    let element = rng.choice(&[I32, F32, F64, I8, I64]);
    let [a, b, r] = [&first, &second, &output].map(|dims| of_extents(rng, &extents, dims, element));
    let op = rng.choice(&["add", "max", "min"]);
    let ordered = op != "add" || output.len() + 1 >= rank;
    Program::new("generic", &[&a, &b])
        .returns(&r)
        .inputs(&[first, second])
        .set("rank", rank)
        .set("dims", output)
        .set("op", op)
        .ordered(ordered)
}

/// A named product of `linalg`, at times with batches.
pub fn matmul(rng: &mut Source) -> Program {
    let larger = if rng.vectors { 2 } else { 4 };
    let [m, n, k] = [(); 3].map(|()| if rng.one_in(larger) { rng.i64(10..40) } else { rng.i64(1..10) });
    let (narrow, wide) = rng.choice(&[(BF16, F32), (F32, F32), (I8, I32), (F64, F64), (I32, I32)]);
    let batch = if rng.one_in(4) { vec![rng.i64(1..4)] } else { Vec::new() };
    let a = Array::new(rng, &[&batch[..], &[m, k]].concat(), narrow);
    let b = Array::new(rng, &[&batch[..], &[k, n]].concat(), narrow);
    let r = Array::new(rng, &[&batch[..], &[m, n]].concat(), wide);
    Program::new("matmul", &[&a, &b])
        .returns(&r)
        .set("op", if batch.is_empty() { "linalg.matmul" } else { "linalg.batch_matmul" })
        .set("start", 0)
        .ordered(true)
}

/// A product whose contracted dimension is spread over an axis that the result does not use.
pub fn contract(rng: &mut Source) -> Program {
    let [m, n, k] = [rng.i64(1..8), rng.i64(1..8), rng.i64(2..14)];
    let (narrow, wide) = rng.choice(&[(F32, F32), (I8, I32), (F64, F64)]);
    // Every array may be spread over places, for any kind of program.
    let mut rng = Source { choices: rng.choices, vectors: false, plain: false };
    loop {
        let (a, b) = (Array::new(&mut rng, &[m, k], narrow), Array::new(&mut rng, &[k, n], narrow));
        let r = Array::new(&mut rng, &[m, n], wide);
        let (Some(Notation::Spread(from)), Some(Notation::Spread(to))) = (&a.layout, &r.layout) else { continue };
        if from.only_over(1).into_iter().any(|axis| !to.is_over(axis)) {
            return Program::new("matmul", &[&a, &b])
                .returns(&r)
                .set("op", "linalg.matmul")
                .set("start", 3)
                .ordered(false);
        }
    }
}

/// A contraction with batch dimensions, each array in any order of its dimensions.
pub fn batches(rng: &mut Source) -> Program {
    let (narrow, wide) = rng.choice(WIDENED);
    let rank = if rng.one_in(3) { 3 } else { 4 };
    // The rows, the columns, the contracted dimension, and the batches.
    let roles = permutation(rng, rank);
    let mut extents: Vec<i64> = (0..rank).map(|_| rng.i64(1..8)).collect();
    if rng.vectors {
        for role in &roles[..3] {
            extents[*role] = if rng.bool() { rng.i64(8..34) } else { rng.choice(&[1, 4, 8, 16, 32]) };
        }
    }
    let [first, second, output] = [[0, 2], [2, 1], [0, 1]].map(|which| {
        let dims = which.into_iter().chain(3..rank).map(|k| roles[k]).collect();
        if rng.bool() { shuffled(rng, dims) } else { dims }
    });
    let [a, b] = [&first, &second].map(|dims| of_extents(rng, &extents, dims, narrow));
    let r = of_extents(rng, &extents, &output, wide);
    Program::new("batches", &[&a, &b])
        .returns(&r)
        .inputs(&[first, second])
        .set("rank", rank)
        .set("dims", output)
        .ordered(true)
}
