//! Programs that move elements: transposes, slices, padding, reshapes.

use super::{arrays, unknown_dims, with_unknown};
use crate::array::{Array, Source, permutation, random_sizes, some_rank};
use crate::element::{ELEMENTS, F32, F64, I4, I8, I32};
use crate::program::Program;

/// A transpose.
pub fn transpose(rng: &mut Source) -> Program {
    let rank = rng.usize(2..=4);
    let (sizes, element) = (random_sizes(rng, rank), rng.choice(ELEMENTS));
    let permutation = permutation(rng, rank);
    let a = Array::new(rng, &sizes, element);
    let r = Array::new(rng, &permutation.iter().map(|d| sizes[*d]).collect::<Vec<_>>(), element);
    Program::new("transpose", &[&a]).returns(&r).set("permutation", permutation)
}

/// A slice of one tensor inserted into another, at run-time offsets.
pub fn slices(rng: &mut Source) -> Program {
    let rank = some_rank(rng);
    let element = rng.choice(ELEMENTS);
    let (from, to) = (random_sizes(rng, rank), random_sizes(rng, rank));
    let sizes: Vec<i64> = from.iter().zip(&to).map(|(a, b)| rng.i64(1..=*a.min(b))).collect();
    let [a, b, s] = [&from, &to, &sizes].map(|s| Array::new(rng, s, element));
    let s = match &a.layout {
        // The source's layout on other sizes.
        Some(layout) if rng.bool() => Array { layout: Some(layout.clone()), ..s },
        _ => s,
    };
    let mut indices = Vec::new();
    let mut place = |within: &[i64]| {
        let stride = |(n, w): (&i64, &i64)| if *n > 1 { rng.i64(1..=(w - 1) / (n - 1)) } else { 1 };
        let strides: Vec<i64> = sizes.iter().zip(within).map(stride).collect();
        // Each start is a number or an argument.
        let start = |d: usize| {
            let start = rng.i64(0..=within[d] - 1 - (sizes[d] - 1) * strides[d]);
            if rng.bool() {
                return start.to_string();
            }
            indices.push(start);
            format!("%i{}", indices.len() - 1)
        };
        ((0..rank).map(start).collect::<Vec<_>>(), strides)
    };
    let ((from, from_strides), (to, to_strides)) = (place(&from), place(&to));
    Program::new("slices", &[&a, &b])
        .returns(&b)
        .indices(&indices)
        .array("s", &s)
        .set("from", from)
        .set("from_strides", from_strides)
        .set("to", to)
        .set("to_strides", to_strides)
        .set("sizes", sizes)
}

/// Tensors with dynamic sizes, some of them cut by tiles; at times they pass through a call, a branch, or a type with
/// static sizes.
pub fn dynamic(rng: &mut Source) -> Program {
    let rank = rng.usize(1..=3);
    let (mut sizes, element) = (random_sizes(rng, rank), rng.choice(ELEMENTS));
    let mut unknown = unknown_dims(rng, &mut sizes);
    if unknown.is_empty() {
        unknown.push(rng.usize(..rank));
    }
    let [a, b, r] = [(); 3].map(|()| with_unknown(rng, &sizes, element, &unknown));
    Program::new("dynamic", &[&a, &b])
        .returns(&r)
        .array("known", &Array { unknown: Vec::new(), ..r.clone() })
        .set("unknown", unknown)
        .set("through", rng.u8(0..4))
        .set("dims", (0..rank).collect::<Vec<_>>())
        .set("rank", rank)
}

/// A matrix product with dynamic sizes.
pub fn product(rng: &mut Source) -> Program {
    let (mut sizes, element) = (random_sizes(rng, 3), rng.choice(&[I4, I8, I32, F32, F64]));
    let unknown = unknown_dims(rng, &mut sizes);
    let matrix = |rng: &mut Source, dims: [usize; 2]| {
        let unknown: Vec<usize> = (0..2).filter(|d| unknown.contains(&dims[*d])).collect();
        with_unknown(rng, &dims.map(|d| sizes[d]), element, &unknown)
    };
    let (a, b, r) = (matrix(rng, [0, 2]), matrix(rng, [2, 1]), matrix(rng, [0, 1]));
    let names = r.unknown.iter().map(|d| ["%m", "%n"][*d]).collect::<Vec<_>>();
    Program::new("product", &[&a, &b]).returns(&r).set("sizes", names)
}

/// A tensor with padding around it.
pub fn pad(rng: &mut Source) -> Program {
    let rank = some_rank(rng);
    let (sizes, element) = (random_sizes(rng, rank), rng.choice(ELEMENTS));
    let [low, high] = [(); 2].map(|()| (0..rank).map(|_| rng.i64(0..3)).collect::<Vec<i64>>());
    let padded: Vec<i64> = (0..rank).map(|d| low[d] + sizes[d] + high[d]).collect();
    let (a, r) = (Array::new(rng, &sizes, element), Array::new(rng, &padded, element));
    Program::new("pad", &[&a]).returns(&r).set("low", low).set("high", high)
}

/// Dimensions collapsed or expanded, and elementwise operations on the result.
pub fn reshape(rng: &mut Source) -> Program {
    let rank = rng.usize(1..=4);
    let (sizes, element) = (random_sizes(rng, rank), rng.choice(ELEMENTS));
    let mut groups: Vec<Vec<usize>> = vec![vec![0]];
    for d in 1..rank {
        if rng.bool() {
            groups.push(Vec::new());
        }
        groups.last_mut().expect("never empty").push(d);
    }
    let collapsed: Vec<i64> = groups.iter().map(|g| g.iter().map(|d| sizes[*d]).product()).collect();
    let collapse = rng.bool();
    let (from, to) = if collapse { (&sizes, &collapsed) } else { (&collapsed, &sizes) };
    let a = Array::new(rng, from, element);
    let [s, r] = arrays(rng, to, element);
    Program::new("reshape", &[&a])
        .returns(&r)
        .array("s", &s)
        .set("collapse", collapse)
        .set("groups", groups)
        .set("sizes", to.clone())
}
