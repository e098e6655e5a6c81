//! Programs on memrefs.

use super::arrays;
use crate::array::{Array, Notation, Source, permutation, random_sizes, some_rank};
use crate::element::{BF16, ELEMENTS, Element, F32, F64, I1, I4, I8, I16, I32, I64};
use crate::program::Program;
use serde_json::{Value, json};
use tensor_layout::tiled::TileEntry;

/// Loads and stores of single elements in loops, at times backwards.
pub fn loads(rng: &mut Source) -> Program {
    let element = rng.choice(&[I1, I4, I8, I16, I32, I64, BF16, F32, F64]);
    loads_of(rng, element, Array::new)
}

/// Loads and stores of elements that share bytes.
pub fn bytes(rng: &mut Source) -> Program {
    let element = rng.choice(&[I1, I4]);
    loads_of(rng, element, Array::tiled)
}

fn loads_of(rng: &mut Source, element: Element, array: fn(&mut Source, &[i64], Element) -> Array) -> Program {
    let rank = some_rank(rng);
    let sizes = random_sizes(rng, rank);
    let order = permutation(rng, rank);
    let a = array(rng, &sizes, element);
    let b = array(rng, &order.iter().map(|d| sizes[*d]).collect::<Vec<_>>(), element);
    let back = rng.usize(..rank);
    let to = |d: &usize| if *d == back { "%back".to_owned() } else { format!("%j{d}") };
    Program::new("loads", &[&a, &b])
        .set("last", sizes[back] - 1)
        .set("back", back)
        .set("from", (0..rank).map(|d| format!("%j{d}")).collect::<Vec<_>>())
        .set("to", order.iter().map(to).collect::<Vec<_>>())
        .set("sizes", sizes)
}

/// Affine loops and accesses, with constant offsets and a run-time one.
pub fn affine(rng: &mut Source) -> Program {
    let rank = some_rank(rng);
    let (sizes, element) = (random_sizes(rng, rank), rng.choice(ELEMENTS));
    let [a, b] = arrays(rng, &sizes, element);
    let extents: Vec<i64> = sizes.iter().map(|n| rng.i64(1..=*n)).collect();
    let offsets: Vec<i64> = sizes.iter().zip(&extents).map(|(n, e)| rng.i64(0..=n - e)).collect();
    let unknown = rng.usize(..rank);
    Program::new("affine", &[&a, &b])
        .indices(&[offsets[unknown]])
        .set("extents", extents)
        .set("offsets", offsets)
        .set("unknown", unknown)
}

/// A local buffer, copies, conversions and a structured operation.
pub fn buffers(rng: &mut Source) -> Program {
    let rank = some_rank(rng);
    let (sizes, element) = (random_sizes(rng, rank), rng.choice(ELEMENTS));
    let [a, b, mut c, d] = arrays(rng, &sizes, element);
    while merges(&c) {
        c = Array::new(rng, &sizes, element);
    }
    Program::new("buffers", &[&a, &b]).array("c", &c).array("d", &d).set("heap", rng.bool())
}

/// Whether a tile merges dimensions: upstream wants their sizes as operands of an allocation.
fn merges(array: &Array) -> bool {
    let Some(Notation::Tiled(layout)) = &array.layout else { return false };
    layout.tiles.iter().flatten().any(|entry| *entry == TileEntry::Combine)
}

/// A sequence of operations on a few buffers, at times in place: elementwise, broadcasts of rows and columns,
/// transposes of square shapes, and sums along a dimension.
pub fn rows(rng: &mut Source) -> Program {
    let element = rng.choice(&[I16, I32, I32, I64]);
    let mut sizes = random_sizes(rng, 2);
    if rng.one_in(3) {
        sizes[1] = sizes[0];
    }
    let square = sizes[0] == sizes[1];
    let array = |rng: &mut Source, sizes: &[i64]| loop {
        let array = Array::new(rng, sizes, element);
        if !merges(&array) {
            return array;
        }
    };
    let [a0, a1, m, n] = [(); 4].map(|()| array(rng, &sizes));
    let [a2, v] = [(); 2].map(|()| array(rng, &sizes[..1]));
    let a3 = array(rng, &sizes[1..]);
    let both = |rng: &mut Source| if square && rng.one_in(6) { vec![1, 0] } else { vec![0, 1] };
    let pick = |rng: &mut Source| match rng.u8(0..10) {
        0..6 => (rng.choice(&["%a0", "%a1", "%m", "%n"]), both(rng)),
        6..9 => (rng.choice(&["%a2", "%v"]), vec![usize::from(square && rng.one_in(6))]),
        _ => ("%a3", vec![usize::from(!(square && rng.one_in(6)))]),
    };
    let mut steps = Vec::new();
    let count = rng.usize(2..=9);
    while steps.len() < count {
        let of: Vec<(&str, Vec<usize>)> = (0..3).map(|_| pick(rng)).collect();
        let (inputs, (to, dims)) = (&of[..2], &of[2]);
        // An input that is also the output must be read at the written element, and not before its sum is complete.
        let fits = inputs.iter().all(|(from, own)| from != to || dims.len() == 2 && own == dims);
        if !fits || inputs.iter().all(|(_, own)| own.len() < 2) {
            continue;
        }
        let (op, adds) = (rng.choice(&["add", "sub", "max"]), dims.len() < 2 || rng.one_in(4));
        let (of, dims): (Vec<&str>, Vec<Vec<usize>>) = of.into_iter().unzip();
        steps.push(json!({"of": of, "dims": dims, "op": op, "adds": adds}));
    }
    Program::new("rows", &[&a0, &a1, &a2, &a3]).array("m", &m).array("n", &n).array("v", &v).set("steps", steps)
}

/// Vector transfers across the edges, transposed, with a mask or without. None spans several places.
pub fn transfer(rng: &mut Source) -> Program {
    let rank = rng.usize(1..=3);
    let (sizes, element) = (random_sizes(rng, rank), rng.choice(&[I8, I32, I64, F32, F64]));
    let (a, b) = (Array::tiled(rng, &sizes, element), Array::tiled(rng, &sizes, element));
    let mut along = permutation(rng, rank);
    along.truncate(rng.usize(1..=rank.min(2)));
    let lengths: Vec<i64> = along.iter().map(|_| rng.choice(&[1, 2, 3, 4, 8])).collect();
    let starts: Vec<i64> = sizes.iter().map(|n| rng.i64(0..*n)).collect();
    let inside = |k: usize| starts[along[k]] + lengths[k] <= sizes[along[k]];
    let in_bounds: Vec<&str> =
        (0..along.len()).map(|k| if inside(k) && k % 2 == 0 { "true" } else { "false" }).collect();
    // Upstream's lowering supports masks only along the last dimensions; other masks have no reference to compare with.
    let last = along.iter().copied().eq(rank - along.len()..rank);
    Program::new("transfer", &[&a, &b])
        .indices(&starts)
        .set("index", (0..rank).map(|d| format!("%i{d}")).collect::<Vec<_>>())
        .set("rank", rank)
        .set("masked", last && rng.bool())
        .set("counts", lengths.iter().map(|n| rng.i64(0..=*n)).collect::<Vec<_>>())
        .set("in_bounds", in_bounds)
        .set("along", along)
        .set("lengths", lengths)
}

/// Copies from a subview of a plain buffer to one with a layout, and on to a subview of another plain one.
pub fn views(rng: &mut Source) -> Program {
    let rank = some_rank(rng);
    let (sizes, element) = (random_sizes(rng, rank), rng.choice(ELEMENTS));
    let b = Array::tiled(rng, &sizes, element);
    let mut part = || -> (Array, Value) {
        let steps: Vec<i64> = sizes.iter().map(|n| if *n < 20 && rng.one_in(4) { 2 } else { 1 }).collect();
        let starts: Vec<i64> = sizes.iter().map(|_| if rng.bool() { rng.i64(0..4) } else { 0 }).collect();
        let whole: Vec<i64> = (0..rank).map(|d| starts[d] + sizes[d] * steps[d] + rng.i64(0..2)).collect();
        let own: Vec<i64> = (0..rank).map(|d| whole[d + 1..].iter().product::<i64>()).collect();
        let offset: i64 = own.iter().zip(&starts).map(|(s, n)| s * n).sum();
        let strides: Vec<i64> = own.iter().zip(&steps).map(|(s, n)| s * n).collect();
        let shape = sizes.iter().map(|n| format!("{n}x")).collect::<String>();
        let offset = if offset == 0 { String::new() } else { format!(", offset: {offset}") };
        let view = format!("memref<{shape}{}, strided<{strides:?}{offset}>>", element.name);
        let array = Array { sizes: whole, element, layout: None, unknown: Vec::new() };
        (array, json!({"starts": starts, "steps": steps, "type": view}))
    };
    let ((a, from), (c, to)) = (part(), part());
    Program::new("views", &[&a, &b, &c]).set("from", from).set("to", to).set("sizes", sizes)
}
