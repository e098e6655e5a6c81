//! Random bits: `rng-bit-generator` gives the numbers of XLA's CPU backend, from a key and a counter.
//!
//! Both generators scramble a counter by a key. Three-fry (20 rounds of additions, rotations and exclusive ors) turns
//! a counter of 64 bits into two words of 32 bits, Philox (10 rounds of multiplications) one of 128 bits into four.
//!
//! `rng` and `rng-get-and-update-state` have a state that outlives the program and cannot be queried. Here they are
//! functions of the instruction's name, so a program gives the same numbers each time: `rng` uses Philox with the
//! name's hash as the key and the number of the element as the counter.

use super::shapes;
use crate::builder::{Builder, Generic};
use crate::loops::Typed;
use crate::scalar::convert::convert;
use crate::scalar::literal::decimal;
use crate::syntax::plain;
use crate::tensor::{Fault, ImportResult, Tensor};
use crate::writer::Writer;
use tensor_layout::element::ElementType::{self, S32, S64, U32, U64};
use tensor_layout::hlo::Instruction;
use tensor_layout::numbers::ceil_div;

/// Writes random bits. The operand is the state; the results are the next state and the bits.
pub fn bits(b: &mut Builder, i: &Instruction, state: &Tensor, outs: Vec<Tensor>) -> ImportResult<Vec<Tensor>> {
    let source = b.without_encoding(state);
    let size = source.sizes[0];
    let words = (0..size).map(|k| {
        let at = [b.w.index(k)];
        b.w.load(&Typed::new(&source.name, &source.ty), &at)
    });
    let words: Vec<String> = words.collect();
    let (next, bits) = match i.attribute("algorithm") {
        Some("rng_three_fry") => three_fry(b, &words, &outs[1])?,
        _ => philox(b, &words, &outs[1])?,
    };
    let text = format!("tensor.from_elements {} : {}", next.join(", "), outs[0].plain());
    let next = b.as_plain(&outs[0], &text);
    Ok(vec![b.converted(&next, &outs[0]), b.converted(&bits, &outs[1])])
}

/// A number of 64 bits as its low and its high half.
fn halves(w: &mut Writer, x: &str) -> [String; 2] {
    let shift = w.constant("32", "i64");
    let high = w.same("arith.shrui", &[x.to_string(), shift], "i64");
    [x, &high].map(|x| w.op(&format!("arith.trunci {x} : i64 to i32")))
}

/// Two words as one of 64 bits, the low one first.
fn whole(w: &mut Writer, [low, high]: [&str; 2]) -> String {
    let [low, high] = [low, high].map(|x| w.op(&format!("arith.extui {x} : i32 to i64")));
    let shift = w.constant("32", "i64");
    let high = w.same("arith.shli", &[high, shift], "i64");
    w.same("arith.ori", &[low, high], "i64")
}

fn add(w: &mut Writer, a: &str, b: &str, of: &str) -> String {
    w.op(&format!("arith.addi {a}, {b} : {of}"))
}

fn xor(w: &mut Writer, a: &str, b: &str) -> String {
    w.op(&format!("arith.xori {a}, {b} : i32"))
}

/// A word of 32 bits, as a literal of a signless type.
fn word(w: &mut Writer, x: u32) -> String {
    w.constant(&(x as i32).to_string(), "i32")
}

/// Two words scrambled by a key of two words.
fn three_fry_words(w: &mut Writer, counter: [String; 2], key: &[String; 2]) -> [String; 2] {
    const TURNS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
    let parity = word(w, 0x1bd1_1bda);
    let third = xor(w, &key[0], &key[1]);
    let third = xor(w, &third, &parity);
    let keys = [key[0].clone(), key[1].clone(), third];
    let mut x = [add(w, &counter[0], &keys[0], "i32"), add(w, &counter[1], &keys[1], "i32")];
    for round in 0..5 {
        for turn in TURNS[round % 2] {
            x[0] = add(w, &x[0], &x[1], "i32");
            let (left, right) = (word(w, turn), word(w, 32 - turn));
            let high = w.same("arith.shli", &[x[1].clone(), left], "i32");
            let low = w.same("arith.shrui", &[x[1].clone(), right], "i32");
            let turned = w.same("arith.ori", &[high, low], "i32");
            x[1] = xor(w, &x[0], &turned);
        }
        let number = word(w, round as u32 + 1);
        x[0] = add(w, &x[0], &keys[(round + 1) % 3], "i32");
        let last = add(w, &x[1], &keys[(round + 2) % 3], "i32");
        x[1] = add(w, &last, &number, "i32");
    }
    x
}

/// Four words scrambled by a key of two words.
fn philox_words(w: &mut Writer, mut x: [String; 4], key: [String; 2]) -> [String; 4] {
    let steps = [word(w, 0x9e37_79b9), word(w, 0xbb67_ae85)];
    let factors = [0xd251_1f53u32, 0xcd9e_8d57].map(|f| w.constant(&f.to_string(), "i64"));
    let mut key = key;
    for round in 0..10 {
        if round != 0 {
            key = [add(w, &key[0], &steps[0], "i32"), add(w, &key[1], &steps[1], "i32")];
        }
        let product = |w: &mut Writer, x: &str, factor: &str| {
            let long = w.op(&format!("arith.extui {x} : i32 to i64"));
            let product = w.op(&format!("arith.muli {long}, {factor} : i64"));
            halves(w, &product)
        };
        let ([low_a, high_a], [low_b, high_b]) = (product(w, &x[0], &factors[0]), product(w, &x[2], &factors[1]));
        let first = xor(w, &high_b, &x[1]);
        let third = xor(w, &high_a, &x[3]);
        x = [xor(w, &first, &key[0]), low_b, xor(w, &third, &key[1]), low_a];
    }
    x
}

/// A tensor without an encoding and without a name.
fn bare(sizes: &[i64], element: ElementType, of: &str) -> Tensor {
    Tensor { name: String::new(), sizes: sizes.to_vec(), element, element_text: of.to_string(), ty: plain(sizes, of) }
}

/// Integers of 32 or 64 bits cut to the bits of a result.
fn cut_to(b: &mut Builder, from: &Tensor, out: &Tensor) -> ImportResult<Tensor> {
    let to = bare(&out.sizes, out.element, &out.element_text);
    let shaped = shapes::reshape(b, from, &bare(&out.sizes, from.element, &from.element_text));
    let wrong = || Fault::from(format!("random bits as {} cannot be imported", out.element.name()));
    b.each(vec![crate::builder::Operand::own(&shaped)], &to, |w, args| {
        convert(w, &args[0], from.element, to.element).ok_or_else(wrong)
    })
}

/// The next state and the bits. A counter makes two words: neighbours along the first even dimension of the result, or
/// else along the largest one. An element of 64 bits takes both words.
fn three_fry(b: &mut Builder, state: &[String], out: &Tensor) -> ImportResult<(Vec<String>, Tensor)> {
    let key = halves(&mut b.w, &state[0]);
    let wide = out.element.bits() == Some(64);
    let sizes = &out.sizes;
    let even = sizes.iter().position(|n| n % 2 == 0);
    let largest = || (0..sizes.len()).rev().max_by_key(|k| sizes[*k]);
    let split = if wide { None } else { even.or_else(largest) };
    let mut counters = sizes.clone();
    if let Some(split) = split {
        counters[split] = (sizes[split] + 1) / 2;
    }
    let begin = state[1].clone();
    let words = |w: &mut Writer, counters: &[i64]| {
        let mut count = w.constant("0", "i64");
        for (k, n) in counters.iter().enumerate() {
            let index = w.op(&format!("linalg.index {k} : index"));
            let (index, size) = (w.index_as(&index, "i64"), w.constant(&n.to_string(), "i64"));
            let above = w.op(&format!("arith.muli {count}, {size} : i64"));
            count = add(w, &above, &index, "i64");
        }
        let counter = add(w, &begin, &count, "i64");
        let counter = halves(w, &counter);
        three_fry_words(w, counter, &key)
    };
    let total: i64 = counters.iter().product();
    let step = b.w.constant(&total.to_string(), "i64");
    let next = vec![state[0].clone(), add(&mut b.w, &state[1], &step, "i64")];
    if wide {
        let to = bare(sizes, U64, "i64");
        let bits = b.each(Vec::new(), &to, |w, _| {
            let [low, high] = words(w, &counters);
            Ok(whole(w, [&low, &high]))
        })?;
        return Ok((next, cut_to(b, &bits, out)?));
    }
    let half = bare(&counters, U32, "i32");
    let generic =
        Generic { loops: counters.len(), ins: Vec::new(), outs: vec![half.clone(), half], inits: vec![None, None] };
    let pairs = b.generic(generic, |w, _| Ok(words(w, &counters).to_vec()))?;
    let Some(split) = split else { return Ok((next, cut_to(b, &pairs[0], out)?)) };
    let mixed = b.each(Vec::new(), &bare(sizes, U32, "i32"), |w, _| {
        let mut index: Vec<String> = (0..sizes.len()).map(|k| w.op(&format!("linalg.index {k} : index"))).collect();
        let (zero, two) = (w.index(0), w.index(2));
        let rest = w.on_index("remui", &index[split], &two);
        let first = w.compare("eq", &rest, &zero, "index");
        index[split] = w.on_index("divui", &index[split], &two);
        let [a, b] = [0, 1].map(|k: usize| w.load(&Typed::new(&pairs[k].name, &pairs[k].ty), &index));
        Ok(w.select(&first, &a, &b, "i32"))
    })?;
    Ok((next, cut_to(b, &mixed, out)?))
}

/// The words of one counter after the other; the rest of the last one is dropped. The counter has 128
/// bits: in a state of two numbers its high half is the key.
fn philox(b: &mut Builder, state: &[String], out: &Tensor) -> ImportResult<(Vec<String>, Tensor)> {
    let total: i64 = out.sizes.iter().product();
    let wide = out.element.bits() == Some(64);
    let each = if wide { 2 } else { 4 };
    let blocks = ceil_div(total, each);
    let high = state.get(2).unwrap_or(&state[0]).clone();
    let low = state[1].clone();
    let w = &mut b.w;
    let key = halves(w, &state[0]);
    // The counter after some steps, with a carry from the low into the high half.
    let after = |w: &mut Writer, steps: &str| {
        let sum = add(w, &low, steps, "i64");
        let wraps = w.compare("ult", &sum, &low, "i64");
        let carry = w.op(&format!("arith.extui {wraps} : i1 to i64"));
        [sum, add(w, &high, &carry, "i64")]
    };
    let (element, of) = if wide { (U64, "i64") } else { (U32, "i32") };
    let line = bare(&[blocks * each], element, of);
    let name = w.op(&format!("tensor.empty() : {}", line.ty));
    let bounds = [w.index(blocks)];
    let done = w.nest(&bounds, vec![Typed::new(&name, &line.ty)], &mut |w, block, values| {
        let steps = w.index_as(&block[0], "i64");
        let [low, high] = after(w, &steps).map(|x| halves(w, &x));
        let ([a, b], [c, d]) = (low, high);
        let words = philox_words(w, [a, b, c, d], key.clone());
        let words = match wide {
            true => vec![whole(w, [&words[0], &words[1]]), whole(w, [&words[2], &words[3]])],
            false => words.to_vec(),
        };
        let stride = w.index(each);
        let first = w.on_index("muli", &block[0], &stride);
        let mut line = values[0].clone();
        for (k, value) in words.iter().enumerate() {
            let offset = w.index(k as i64);
            let at = [w.on_index("addi", &first, &offset)];
            line = w.store(value, &line, &at);
        }
        Ok(vec![line])
    })?;
    let steps = w.constant(&blocks.to_string(), "i64");
    let [next_low, next_high] = after(w, &steps);
    let next = [vec![state[0].clone(), next_low], state.get(2).map(|_| next_high).into_iter().collect()].concat();
    let line = Tensor { name: done[0].name.clone(), ..line };
    let cut = b.extract_slice(&line, &["0".to_string()], &[total], &[1]);
    Ok((next, cut_to(b, &cut, out)?))
}

/// The hash of a name (FNV-1a).
fn hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The state shared by all random numbers.
pub fn state(b: &mut Builder, i: &Instruction, out: &Tensor) -> Tensor {
    let text = format!("arith.constant dense<[{}, 0]> : {}", hash(&i.name) as i64, out.ty);
    b.named(out, &text)
}

/// Writes random numbers. The operands are the least number and the end, or the mean and the standard deviation.
pub fn numbers(b: &mut Builder, i: &Instruction, ins: &[Tensor], out: &Tensor) -> ImportResult<Tensor> {
    let normal = i.attribute("distribution") == Some("rng_normal");
    let (sizes, element) = (out.sizes.clone(), out.element);
    let wrong = || Fault::from(format!("random numbers of {} cannot be imported", element.name()));
    if element.is_complex() || normal && !element.is_float() {
        return Err(wrong());
    }
    let bounds = [b.number(&ins[0], element)?, b.number(&ins[1], element)?];
    let of = out.element_text.clone();
    let key = hash(&i.name);
    b.each(Vec::new(), out, |w, _| {
        let mut count = w.constant("0", "i64");
        for (k, n) in sizes.iter().enumerate() {
            let index = w.op(&format!("linalg.index {k} : index"));
            let (index, size) = (w.index_as(&index, "i64"), w.constant(&n.to_string(), "i64"));
            let above = w.op(&format!("arith.muli {count}, {size} : i64"));
            count = add(w, &above, &index, "i64");
        }
        let [low, high] = halves(w, &count);
        let zero = word(w, 0);
        let key = [word(w, key as u32), word(w, (key >> 32) as u32)];
        let words = philox_words(w, [low, high, zero.clone(), zero], key);
        if !element.is_float() {
            return integer(w, &words, &bounds, element, &of).ok_or_else(wrong);
        }
        let first = fraction(w, &words[0], element).ok_or_else(wrong)?;
        let on = |w: &mut Writer, name: &str, a: &str, b: &str| w.op(&format!("arith.{name} {a}, {b} : {of}"));
        if !normal {
            let width = on(w, "subf", &bounds[1], &bounds[0]);
            let part = on(w, "mulf", &width, &first);
            return Ok(on(w, "addf", &part, &bounds[0]));
        }
        // sqrt(-2 * log(1 - u)) * cos(2 * pi * v) of two fractions is normally distributed.
        let second = fraction(w, &words[1], element).ok_or_else(wrong)?;
        let [one, two, turn] = [1.0, -2.0, std::f64::consts::TAU].map(|x| w.constant(&decimal(x), &of));
        let above = on(w, "subf", &one, &first);
        let log = w.same("math.log", &[above], &of);
        let square = on(w, "mulf", &two, &log);
        let radius = w.same("math.sqrt", &[square], &of);
        let angle = on(w, "mulf", &turn, &second);
        let cosine = w.same("math.cos", &[angle], &of);
        let unit = on(w, "mulf", &radius, &cosine);
        let part = on(w, "mulf", &unit, &bounds[1]);
        Ok(on(w, "addf", &part, &bounds[0]))
    })
}

/// The upper 24 bits of a word as a fraction between 0 and 1.
fn fraction(w: &mut Writer, x: &str, e: ElementType) -> Option<String> {
    let shift = word(w, 8);
    let bits = w.same("arith.shrui", &[x.to_string(), shift], "i32");
    let number = convert(w, &bits, S32, ElementType::F32)?;
    let scale = w.constant(&decimal(2f64.powi(-24)), "f32");
    let part = w.same("arith.mulf", &[number, scale], "f32");
    convert(w, &part, ElementType::F32, e)
}

/// An integer from the first bound to before the second.
fn integer(w: &mut Writer, words: &[String; 4], bounds: &[String; 2], e: ElementType, of: &str) -> Option<String> {
    if e == ElementType::Pred {
        return Some(w.op(&format!("arith.trunci {} : i32 to i1", words[0])));
    }
    let bits = whole(w, [&words[0], &words[1]]);
    let wide = if e.is_signed() { S64 } else { U64 };
    let [least, end] = [convert(w, &bounds[0], e, wide)?, convert(w, &bounds[1], e, wide)?];
    let (zero, one) = (w.constant("0", "i64"), w.constant("1", "i64"));
    let width = w.same("arith.subi", &[end, least.clone()], "i64");
    let none = w.compare("eq", &width, &zero, "i64");
    let width = w.select(&none, &one, &width, "i64");
    let rest = w.same("arith.remui", &[bits, width], "i64");
    let sum = w.same("arith.addi", &[least, rest], "i64");
    if of == "i64" { Some(sum) } else { Some(w.op(&format!("arith.trunci {sum} : i64 to {of}"))) }
}
