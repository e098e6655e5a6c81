//! Programs that compute each element of a result from the elements at the same index.

use super::{arrays, of_extents};
use crate::array::{Array, Notation, Source, permutation, random_sizes, shuffled, some_rank};
use crate::element::{BF16, ELEMENTS, Element, F32, F64, I1, I4, I8, I16, I32, I64, Kind, random_number};
use crate::program::Program;

/// A conversion between two layouts, at times through a third.
pub fn convert(rng: &mut Source) -> Program {
    let rank = rng.usize(0..=4);
    let (sizes, element) = (random_sizes(rng, rank), rng.choice(ELEMENTS));
    let [a, b, r] = arrays(rng, &sizes, element);
    Program::new("convert", &[&a]).returns(&r).array("b", &b).set("twice", rng.bool())
}

/// Two or three operands, each in its own layout. Integers are divided, which traps on padding of zeros.
pub fn elementwise(rng: &mut Source) -> Program {
    let rank = some_rank(rng);
    let (sizes, element) = (random_sizes(rng, rank), rng.choice(ELEMENTS));
    let operands: Vec<Array> = (0..rng.usize(2..=3)).map(|_| Array::new(rng, &sizes, element)).collect();
    let result = Array::new(rng, &sizes, element);
    let identity: Vec<usize> = (0..rank).collect();
    Program::new("elementwise", &operands.iter().collect::<Vec<_>>())
        .returns(&result)
        .inputs(&vec![identity.clone(); operands.len()])
        .set("rank", rank)
        .set("dims", identity)
        .set("first", if element.kind == Kind::Integer { "div" } else { "sub" })
        .set("second", rng.choice(&["add", "mul", "max"]))
}

/// A chain of `arith` operations on whole tensors, a comparison and a selection, all in one layout.
pub fn chain(rng: &mut Source) -> Program {
    let rank = rng.usize(0..=3);
    let (sizes, element) = (random_sizes(rng, rank), rng.choice(ELEMENTS));
    let [a, b] = arrays(rng, &sizes, element);
    Program::new("chain", &[&a, &b])
        .returns(&a)
        .array("bits", &Array { element: I1, ..a.clone() })
        .set("first", rng.choice(&["add", "sub"]))
        .set("second", rng.choice(&["mul", "min", "max"]))
}

/// Bitwise and at times other operations on elements that share bytes, mostly all in one layout.
pub fn bits(rng: &mut Source) -> Program {
    let rank = some_rank(rng);
    let (sizes, element) = (random_sizes(rng, rank), rng.choice(&[I1, I1, I4]));
    let packed = |rng: &mut Source| {
        let mut array = Array::tiled(rng, &sizes, element);
        if let Some(Notation::Tiled(layout)) = &mut array.layout {
            layout.element_bits = rng.choice(if element == I1 { &[1, 1, 2, 4] } else { &[4, 4, 4, 8] });
        }
        array
    };
    let a = packed(rng);
    let [b, r] = [(); 2].map(|()| if rng.one_in(6) { packed(rng) } else { a.clone() });
    let on_bits = rng.bool();
    let op = |rng: &mut Source| {
        rng.choice(if on_bits { &["andi", "ori", "xori"] } else { &["addi", "subi", "xori", "minsi", "maxui"] })
    };
    let names = [(); 3].map(|()| op(rng));
    // In one bit, -1 and 1 are the same number, and MLIR prints one of the two.
    let number = |rng: &mut Source| if element == I1 { rng.i64(0..=1) } else { rng.i64(-8..=7) };
    Program::new("bits", &[&a, &b])
        .returns(&r)
        .set("rank", rank)
        .set("dims", (0..rank).collect::<Vec<_>>())
        .set("first", names[0])
        .set("second", names[1])
        .set("third", names[2])
        .set("number", number(rng))
        .set("other", number(rng))
}

/// An operation with two results.
pub fn pair(rng: &mut Source) -> Program {
    let (sizes, element) = (random_sizes(rng, 2), rng.choice(&[I32, F32]));
    let [a, s, r] = arrays(rng, &sizes, element);
    Program::new("pair", &[&a]).returns(&r).array("s", &s)
}

/// Operands of any element type, transposed and broadcast, and indices, cast to a result of another element type.
pub fn cast(rng: &mut Source) -> Program {
    let rank = some_rank(rng);
    let sizes = random_sizes(rng, rank);
    let wide = rng.choice(&[F32, F32, F64, I32, I64]);
    let (mut operands, mut maps, mut ops) = (Vec::new(), Vec::new(), Vec::new());
    for k in 0..rng.usize(1..=3) {
        let dims = (0..rank).filter(|_| k == 0 || rng.bool()).collect();
        let (dims, element) = (shuffled(rng, dims), rng.choice(ELEMENTS));
        operands.push(of_extents(rng, &sizes, &dims, element));
        maps.push(dims);
        ops.push(rng.choice(&["add", "sub", "max", "min"]));
    }
    let index = rng.one_in(3).then(|| rng.usize(..rank));
    let select = rng.one_in(3);
    let dims = if rng.bool() { permutation(rng, rank) } else { (0..rank).collect() };
    let element = rng.choice(ELEMENTS);
    // A float that is out of the integer's range has no integer value.
    let element = if element == I4 && wide.kind == Kind::Float { I8 } else { element };
    let r = of_extents(rng, &sizes, &dims, element);
    // A large number does not fit in an integer.
    let fits = element.kind == Kind::Float || wide.kind == Kind::Integer;
    Program::new("cast", &operands.iter().collect::<Vec<_>>())
        .returns(&r)
        .inputs(&maps)
        .set("rank", rank)
        .set("dims", dims)
        .set("ops", ops)
        .set("wide", wide.name)
        .set("integer", if wide.size == 8 { I64.name } else { I32.name })
        .set("index", index)
        .set("select", select)
        .ordered(fits)
}

/// A dense constant, at times a splat.
pub fn constant(rng: &mut Source) -> Program {
    let rank = rng.usize(0..=3);
    let (sizes, element) = (random_sizes(rng, rank), rng.choice(&[I1, I4, I8, I16, I32, I64, BF16, F32, F64]));
    let a = Array::new(rng, &sizes, element);
    let data = if rng.one_in(4) { element.literal(3) } else { dense(rng, &sizes, element) };
    Program::new("constant", &[&a]).returns(&a).set("data", data)
}

/// The elements of a dense constant of these sizes.
fn dense(rng: &mut Source, sizes: &[i64], element: Element) -> String {
    let Some((first, rest)) = sizes.split_first() else { return element.literal(random_number(rng) as i64) };
    let parts: Vec<String> = (0..*first).map(|_| dense(rng, rest, element)).collect();
    format!("[{}]", parts.join(", "))
}

/// A result in reused memory, spread over more places than the tensor before it.
pub fn taken_over(rng: &mut Source) -> Program {
    let element = rng.choice(ELEMENTS);
    let sizes = loop {
        let rank = rng.usize(1..=2);
        let sizes = random_sizes(rng, rank);
        if sizes.iter().product::<i64>() <= 400 {
            break sizes;
        }
    };
    let [r, other] = Array::with_fewer_copies(rng, &sizes, element);
    Program::new("taken_over", &[&Array::new(rng, &sizes, element)]).returns(&r).array("other", &other)
}
