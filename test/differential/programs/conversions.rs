//! Programs of conversions, whose intermediate values may have any layout.

use crate::array::{Array, Source, random_sizes};
use crate::element::{F32, I4, I8, I32, I64};
use crate::program::Program;
use serde_json::{Value, json};

/// The kinds of steps in `conversions.mlir`.
const STEPS: &[&str] = &[
    "convert",
    "add",
    "generic",
    "fill",
    "constant",
    "slice",
    "overwrite",
    "reshape",
    "reshaped_late",
    "loop",
    "while",
    "branch",
    "switch",
    "blocks",
    "pad",
    "call",
    "gather",
    "concat",
    "row",
];

/// A chain of steps, each from one type to another with the same sizes.
pub fn conversions(rng: &mut Source) -> Program {
    let rank = rng.usize(1..=3);
    let (sizes, element) = (random_sizes(rng, rank), rng.choice(&[I4, I8, I32, I64, F32]));
    let count = rng.usize(1..=5);
    let names: Vec<&str> = (0..count).map(|_| rng.choice(STEPS)).collect();
    let cut = rng.i64(1..=sizes[0]);
    let with_first = |n: i64| [&[n], &sizes[1..]].concat();
    let flat = [sizes.iter().product::<i64>()];
    let mut list = |sizes: &[i64]| (0..=count).map(|_| Array::new(rng, sizes, element)).collect::<Vec<Array>>();
    let types = list(&sizes);
    let lists = [
        ("types", types.clone()),
        ("parts", list(&with_first(cut))),
        ("rests", list(&with_first(sizes[0] - cut + 1))),
        ("longer", list(&with_first(sizes[0] + 1))),
        ("rows", list(&sizes[1..])),
        ("flats", list(&flat)),
    ];
    let place = |d: usize, first: String| if d == 0 { first } else { "0".to_owned() };
    let starts = |first: String| (0..rank).map(|d| place(d, first.clone())).collect::<Vec<_>>().join(", ");
    let start = rng.i64(0..=sizes[0] - cut);
    let steps: Vec<Value> = names
        .iter()
        .enumerate()
        .map(|(n, kind)| json!({"kind": kind, "n": n, "computed": rng.bool(), "scalar": rng.i64(0..4)}))
        .collect();
    let other = Array::new(rng, &sizes, element);
    let program =
        Program::new("conversions", &[&types[0], &other]).returns(&types[count]).indices(&[start, rng.i64(0..3)]);
    let program = lists.into_iter().fold(program, |program, (name, arrays)| program.list(name, arrays));
    program
        .set("steps", steps)
        .set("rank", rank)
        .set("sizes", sizes.clone())
        .set("cut", cut)
        .set("part_sizes", with_first(cut))
        .set("rest_sizes", with_first(sizes[0] - cut + 1))
        .set("row_sizes", with_first(1))
        .set("ones", vec![1; rank])
        .set("dims", (0..rank).collect::<Vec<_>>())
        .set("fixed_start", starts(start.to_string()))
        .set("start", starts("%i0".to_owned()))
        .set("first", starts("0".to_owned()))
        .set("zeros", vec!["%zero"; rank].join(", "))
        .set("last", starts((cut - 1).to_string()))
        .set("low", (0..rank).map(|d| if d == 0 { start } else { 0 }).collect::<Vec<_>>())
        .set("high", (0..rank).map(|d| if d == 0 { sizes[0] - cut - start } else { 0 }).collect::<Vec<_>>())
        .set("flat", flat[0])
}
