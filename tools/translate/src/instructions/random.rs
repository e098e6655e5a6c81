//! Random bits: `templates/three_fry.mlir`, `philox.mlir` and `numbers.mlir`.
//!
//! `rng-bit-generator` gives the numbers of XLA's CPU backend. Both generators scramble a counter by a key. Three-fry
//! (20 rounds of additions, rotations and exclusive ors) turns a counter of 64 bits into two words of 32 bits, Philox
//! (10 rounds of multiplications) one of 128 bits into four.
//!
//! `rng` and `rng-get-and-update-state` have a state that outlives the program and cannot be queried. Here they are
//! functions of the instruction's name, so a program gives the same numbers each time: `rng` uses Philox with the
//! name's hash as the key and the number of the element as the counter.

use super::shapes;
use crate::builder::{Builder, Generic, Operand};
use crate::scalar::convert::convert;
use crate::syntax::plain;
use crate::template::no_callee;
use crate::tensor::{Fault, ImportResult, Tensor};
use layout_programs::{Program, Template, parsed};
use minijinja::context;
use tensor_layout::element::ElementType::{self, F32, S64, U32, U64};
use tensor_layout::hlo::Instruction;
use tensor_layout::numbers::ceil_div;

static NUMBERS: Template =
    Template::new(|| parsed(concat!(include_str!("templates/words.mlir"), include_str!("templates/numbers.mlir"))));
static PHILOX: Template =
    Template::new(|| parsed(concat!(include_str!("templates/words.mlir"), include_str!("templates/philox.mlir"))));
static THREE_FRY: Template =
    Template::new(|| parsed(concat!(include_str!("templates/words.mlir"), include_str!("templates/three_fry.mlir"))));

/// Writes random bits. The operand is the state; the results are the next state and the bits.
pub fn bits(b: &mut Builder, i: &Instruction, state: &Tensor, outs: Vec<Tensor>) -> ImportResult<Vec<Tensor>> {
    let source = b.without_encoding(state);
    let wide = outs[1].element.bits() == Some(64);
    let (next, bits) = match i.attribute("algorithm") {
        Some("rng_three_fry") => three_fry(b, &source, &outs[1], wide)?,
        _ => philox(b, &source, &outs[1], wide)?,
    };
    let next = Tensor { name: next, ty: outs[0].plain(), ..outs[0].clone() };
    let bits = cut_to(b, &bits, &outs[1])?;
    Ok(vec![b.converted(&next, &outs[0]), b.converted(&bits, &outs[1])])
}

/// The next state and the words. A counter makes two words: neighbours along the first even dimension of the result, or
/// else along the largest one. An element of 64 bits takes both words.
fn three_fry(b: &mut Builder, state: &Tensor, out: &Tensor, wide: bool) -> ImportResult<(String, Tensor)> {
    let sizes = &out.sizes;
    let even = sizes.iter().position(|n| n % 2 == 0);
    let largest = || (0..sizes.len()).rev().max_by_key(|k| sizes[*k]);
    let split = if wide { None } else { even.or_else(largest) };
    let mut counters = sizes.clone();
    if let Some(split) = split {
        counters[split] = (sizes[split] + 1) / 2;
    }
    let (half, steps) = (bare(&counters, U32, "i32"), counters.iter().product::<i64>());
    let values = context! { state => state.ty, steps, sizes => counters, half => half.ty, split, wide };
    let program = Program::new(&THREE_FRY, values);
    let mut key = b.w.inline(&program, "state", std::slice::from_ref(&state.name), &mut no_callee)?;
    let next = key.remove(0);
    let word = |b: &mut Builder, name: &str, arguments: &[String]| {
        let out = if wide { bare(sizes, U64, "i64") } else { bare(sizes, U32, "i32") };
        b.each(Vec::new(), &out, |w, _| Ok(w.inline(&program, name, arguments, &mut no_callee)?.remove(0)))
    };
    if wide {
        return Ok((next, word(b, "words", &key)?));
    }
    let outs = vec![half.clone(), half];
    let generic = Generic { loops: sizes.len(), ins: Vec::new(), outs, inits: vec![None, None] };
    let mut pairs = b.generic(generic, |w, _| w.inline(&program, "words", &key, &mut no_callee))?;
    let names: Vec<String> = pairs.iter().map(|t| t.name.clone()).collect();
    let words = if split.is_some() { word(b, "neighbour", &names)? } else { pairs.remove(0) };
    Ok((next, words))
}

/// The next state and the words, in a line; the rest of the last block is dropped.
fn philox(b: &mut Builder, state: &Tensor, out: &Tensor, wide: bool) -> ImportResult<(String, Tensor)> {
    let total: i64 = out.sizes.iter().product();
    let (size, element, of) = if wide { (2, U64, "i64") } else { (4, U32, "i32") };
    let blocks = ceil_div(total, size);
    let line = bare(&[blocks * size], element, of);
    let long = state.sizes[0] == 3;
    let values = context! { state => state.ty, line => line.ty, blocks, size, wide, long, sizes => [total] };
    let program = Program::new(&PHILOX, values);
    let mut done = b.w.inline(&program, "bits", std::slice::from_ref(&state.name), &mut no_callee)?;
    let line = Tensor { name: done.remove(1), ..line };
    let has_rest = line.sizes != [total];
    let words = if has_rest { b.extract_slice(&line, &["0".to_string()], &[total], &[1]) } else { line };
    Ok((done.remove(0), words))
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
    b.each(vec![Operand::own(&shaped)], &to, |w, args| convert(w, &args[0], from.element, to.element).ok_or_else(wrong))
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
    let (element, key) = (out.element, hash(&i.name));
    let wrong = || Fault::from(format!("random numbers of {} cannot be imported", element.name()));
    if element.is_complex() || normal && !element.is_float() {
        return Err(wrong());
    }
    let bounds = [b.number(&ins[0], element)?, b.number(&ins[1], element)?];
    let (pred, float, of) = (element == ElementType::Pred, element.is_float(), &out.element_text);
    let values = context! { pred, float, normal, of, sizes => out.sizes, key => [key as i32, (key >> 32) as i32] };
    let program = Program::new(&NUMBERS, values);
    let long = if element.is_signed() { S64 } else { U64 };
    b.each(Vec::new(), out, |w, _| {
        let mut number = w.inline(&program, "random", &bounds, &mut |w, callee, x| {
            let (from, to) = match callee {
                "of_f32" => (F32, element),
                "to_i64" => (element, long),
                _ => (long, element),
            };
            Ok(vec![convert(w, &x[0], from, to).ok_or_else(wrong)?])
        })?;
        Ok(number.remove(0))
    })
}
