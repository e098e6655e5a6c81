//! Programs with loops, branches and calls.

use super::arrays;
use crate::array::{Array, Source, random_sizes, some_rank};
use crate::element::{ELEMENTS, I8, I32, I64};
use crate::program::Program;

/// A loop that carries a tensor and updates one element, all elements, or one row in each iteration.
pub fn a_loop(rng: &mut Source) -> Program {
    let rank = rng.usize(1..=3);
    let (sizes, element) = (random_sizes(rng, rank), rng.choice(&[I8, I32, I64]));
    let [a, b] = arrays(rng, &sizes, element);
    let d = rng.usize(..rank);
    let along = |other: &str| (0..rank).map(|k| (if k == d { "%k" } else { other }).to_owned()).collect::<Vec<_>>();
    let mut row = a.clone();
    row.sizes[d] = 1;
    Program::new("loop", &[&a, &b])
        .returns(&a)
        .indices(&[0])
        .array("other", &Array { sizes: row.sizes.clone(), ..b })
        .set("step", rng.choice(&["element", "all", "row"]))
        .set("end", sizes[d])
        .set("index", along("%i0"))
        .set("starts", along("0"))
        .set("row_sizes", row.sizes.clone())
        .set("ones", vec![1; rank])
        .set("dims", (0..rank).collect::<Vec<_>>())
        .set("rank", rank)
        .array("row", &row)
}

/// One of two conversions, chosen at run time.
pub fn branch(rng: &mut Source) -> Program {
    let rank = some_rank(rng);
    let (sizes, element) = (random_sizes(rng, rank), rng.choice(ELEMENTS));
    let [a, b, r] = arrays(rng, &sizes, element);
    Program::new("branch", &[&a, &b]).returns(&r).indices(&[rng.i64(0..2)])
}

/// Layouts in the signatures of several functions.
pub fn call(rng: &mut Source) -> Program {
    let rank = some_rank(rng);
    let (sizes, element) = (random_sizes(rng, rank), rng.choice(ELEMENTS));
    let [a, b, r] = arrays(rng, &sizes, element);
    Program::new("call", &[&a, &b]).returns(&r).set("private", rng.bool())
}
