//! Programs that reduce along some dimensions.

use super::{WIDENED, arrays, of_extents, unknown_dims, with_unknown};
use crate::array::{Array, Source, permutation, random_sizes, some_rank};
use crate::element::{F32, F64, I8, I32, I64, Kind};
use crate::program::Program;

/// Sums, minima and maxima along some dimensions. The numbers of a minimum or maximum have one sign.
pub fn reduce(rng: &mut Source) -> Program {
    let rank = some_rank(rng);
    let (sizes, element) = (random_sizes(rng, rank), rng.choice(&[I8, I32, I64, F32, F64]));
    let a = Array::new(rng, &sizes, element);
    let kept: Vec<usize> = (0..rank).filter(|d| d + 1 < rank && rng.bool()).collect();
    let r = of_extents(rng, &sizes, &kept, element);
    // Squares are positive; for maxima they are negated.
    let (op, start, sign) = rng.choice(&[("add", 0, 1), ("max", -100, -1), ("min", 100, 1)]);
    Program::new("reduce", &[&a])
        .returns(&r)
        .inputs(&[(0..rank).collect()])
        .set("rank", rank)
        .set("kept", kept)
        .set("op", op)
        .set("start", start)
        .set("sign", sign)
        .ordered(true)
}

/// A reduction over any dimensions, of elements that are widened, onto an initial result.
pub fn fold(rng: &mut Source) -> Program {
    let rank = some_rank(rng);
    let mut extents = random_sizes(rng, rank);
    // At times with dynamic sizes.
    let unknown = if rng.one_in(3) { unknown_dims(rng, &mut extents) } else { Vec::new() };
    let mut kept = permutation(rng, rank);
    kept.truncate(rng.usize(..rank));
    let dims = if rng.bool() { permutation(rng, rank) } else { (0..rank).collect() };
    // Without layouts, one element at a time, they are added in memory order.
    let in_order = dims.iter().filter(|d| !kept.contains(d)).is_sorted();
    let (narrow, wide) = rng.choice(WIDENED);
    // With each number a digit of the sum, the result shows the order.
    let op = match rng.vectors && in_order && wide.kind == Kind::Integer {
        true => rng.choice(&["add", "max", "min", "mul", "digits"]),
        false => rng.choice(&["add", "max", "min"]),
    };
    let array = |rng: &mut Source, of: &[usize], element| {
        if unknown.is_empty() {
            return of_extents(rng, &extents, of, element);
        }
        let sizes: Vec<i64> = of.iter().map(|d| extents[*d]).collect();
        let unknown: Vec<usize> = (0..of.len()).filter(|k| unknown.contains(&of[*k])).collect();
        with_unknown(rng, &sizes, element, &unknown)
    };
    let (a, r) = (array(rng, &dims, narrow), array(rng, &kept, wide));
    // A factor for each row.
    let row = vec![rng.usize(..rank)];
    let factor = rng.bool().then(|| array(rng, &row, wide));
    let arguments: Vec<&Array> = [&a, &r].into_iter().chain(&factor).collect();
    let program = Program::new("fold", &arguments)
        .returns(&r)
        .set("rank", rank)
        .set("dims", dims)
        .set("kept", kept)
        .set("row", row)
        .set("scaled", factor.is_some())
        .set("op", op)
        .set("sum_last", rng.bool())
        .ordered(in_order || matches!(op, "max" | "min"));
    Program { digits: op == "digits", ..program }
}

/// The sum of a slice of dynamic size, with one index fixed.
pub fn window(rng: &mut Source) -> Program {
    let rank = rng.usize(2..=4);
    let (sizes, element) = (random_sizes(rng, rank), rng.choice(&[I8, I32, I64, F32, F64]));
    let lengths: Vec<i64> = sizes.iter().map(|n| rng.i64(1..=*n)).collect();
    let mut indices: Vec<i64> = sizes.iter().zip(&lengths).map(|(n, l)| rng.i64(0..=n - l)).collect();
    let a = Array::new(rng, &sizes, element);
    let (fixed, free) = (rng.usize(..rank), rng.usize(..rank));
    let length = |d: usize| match d {
        _ if d == fixed => "1".to_owned(),
        _ if d == free => format!("%i{rank}"),
        _ => lengths[d].to_string(),
    };
    let kept: Vec<usize> = (0..rank).filter(|d| *d != fixed).collect();
    let slice = Array {
        sizes: kept.iter().map(|d| lengths[*d]).collect(),
        element,
        layout: None,
        unknown: kept.iter().position(|d| *d == free).into_iter().collect(),
    };
    indices.push(lengths[free]);
    Program::new("window", &[&a])
        .returns(&Array { sizes: Vec::new(), element, layout: None, unknown: Vec::new() })
        .indices(&indices)
        .array("s", &slice)
        .set("starts", (0..rank).map(|d| format!("%i{d}")).collect::<Vec<_>>())
        .set("lengths", (0..rank).map(length).collect::<Vec<_>>())
        .set("ones", vec![1; rank])
        .set("dims", (0..rank - 1).collect::<Vec<_>>())
        .set("rank", rank - 1)
}

/// The softmax along one dimension: the maximum of each row, a sum, and results computed from both.
pub fn softmax(rng: &mut Source) -> Program {
    let rank = some_rank(rng);
    let (sizes, element) = (random_sizes(rng, rank), rng.choice(&[F32, F32, F64]));
    let [a, powers, r] = arrays(rng, &sizes, element);
    let along = rng.usize(..rank);
    let kept: Vec<usize> = (0..rank).filter(|d| *d != along).collect();
    let [greatest, sum] = [(); 2].map(|()| of_extents(rng, &sizes, &kept, element));
    let program = Program::new("softmax", &[&a])
        .returns(&r)
        .array("powers", &powers)
        .array("greatest", &greatest)
        .array("sum", &sum)
        .set("rank", rank)
        .set("all", (0..rank).collect::<Vec<_>>())
        .set("kept", kept)
        .ordered(true);
    Program { rounded: true, ..program }
}
