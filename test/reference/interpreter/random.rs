//! Random bits: the generators by their definitions, and numbers for `rng`.

use super::number::Number;
use super::{Value, array, each};
use crate::boxes::position;
use tensor_layout::element::ElementType;
use tensor_layout::hlo::Instruction;
use tensor_layout::operations::Shape;

/// Three-fry with 20 rounds: two words scrambled by a key.
fn three_fry(mut x: [u32; 2], key: [u32; 2]) -> [u32; 2] {
    let turns = [13, 15, 26, 6, 17, 29, 16, 24];
    let keys = [key[0], key[1], key[0] ^ key[1] ^ 0x1bd1_1bda];
    for round in 0..20 {
        if round % 4 == 0 {
            let k = round / 4;
            x[0] = x[0].wrapping_add(keys[k % 3]);
            x[1] = x[1].wrapping_add(keys[(k + 1) % 3]).wrapping_add(k as u32);
        }
        x[0] = x[0].wrapping_add(x[1]);
        x[1] = x[1].rotate_left(turns[round % 8]) ^ x[0];
    }
    [x[0].wrapping_add(keys[2]), x[1].wrapping_add(keys[0]).wrapping_add(5)]
}

/// Philox with 10 rounds: four words scrambled by a key.
fn philox(mut x: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let [a, b] = [0xd251_1f53 * u64::from(x[0]), 0xcd9e_8d57 * u64::from(x[2])];
        x = [(b >> 32) as u32 ^ x[1] ^ key[0], b as u32, (a >> 32) as u32 ^ x[3] ^ key[1], a as u32];
        key = [key[0].wrapping_add(0x9e37_79b9), key[1].wrapping_add(0xbb67_ae85)];
    }
    x
}

fn halves(x: u64) -> [u32; 2] {
    [x as u32, (x >> 32) as u32]
}

/// The next state, and the random bits.
pub fn bits(i: &Instruction, state: &Value) -> Vec<Value> {
    let Shape::Tuple(parts) = &i.shape else { panic!("no tuple") };
    let to = array(&parts[1]);
    let (element, sizes) = (to.element, to.sizes().unwrap());
    let state: Vec<u64> = state.data.iter().map(|x| x.int() as u64).collect();
    let is_three_fry = i.attribute("algorithm") == Some("rng_three_fry");
    let (next, data) = match is_three_fry {
        true => of_three_fry(&state, element, &sizes),
        false => of_philox(&state, element, sizes.iter().product::<i64>() as usize),
    };
    let next: Vec<Number> = next.into_iter().map(|x| Number::Int(x.into())).collect();
    let data = data.into_iter().map(|x| Number::Int(x.into()).to(element)).collect();
    vec![
        Value { element: ElementType::U64, sizes: vec![next.len() as i64], data: next },
        Value { element, sizes, data },
    ]
}

/// Pairs of 32-bit words along the first even dimension, or else the longest one.
fn of_three_fry(state: &[u64], element: ElementType, sizes: &[i64]) -> (Vec<u64>, Vec<u64>) {
    let at = |count: usize| three_fry(halves(state[1].wrapping_add(count as u64)), halves(state[0]));
    let (mut data, mut counters) = (Vec::new(), sizes.to_vec());
    if element.bits() == Some(64) {
        each(sizes, |index| {
            let [low, high] = at(position(index, sizes));
            data.push(u64::from(high) << 32 | u64::from(low));
        });
    } else if sizes.is_empty() {
        data.push(at(0)[0].into());
    } else {
        let longest = sizes.iter().max().unwrap();
        let split = sizes.iter().position(|n| n % 2 == 0).or(sizes.iter().position(|n| n == longest)).unwrap();
        counters[split] = (sizes[split] + 1) / 2;
        each(sizes, |index| {
            let mut half = index.to_vec();
            half[split] /= 2;
            data.push(at(position(&half, &counters))[index[split] as usize % 2].into());
        });
    }
    (vec![state[0], state[1].wrapping_add(counters.iter().product::<i64>() as u64)], data)
}

/// All words of a 128-bit counter, then those of the next.
fn of_philox(state: &[u64], element: ElementType, count: usize) -> (Vec<u64>, Vec<u64>) {
    let high = if state.len() == 3 { state[2] } else { state[0] };
    let begin = u128::from(high) << 64 | u128::from(state[1]);
    let mut data = Vec::new();
    let mut counter = begin;
    while data.len() < count {
        let ([a, b], [c, d]) = (halves(counter as u64), halves((counter >> 64) as u64));
        let words = philox([a, b, c, d], halves(state[0])).map(u64::from);
        match element.bits() {
            Some(64) => data.extend([words[1] << 32 | words[0], words[3] << 32 | words[2]]),
            _ => data.extend(words),
        }
        counter = counter.wrapping_add(1);
    }
    data.truncate(count);
    let next = [state[0], counter as u64, (counter >> 64) as u64];
    (next[..state.len()].to_vec(), data)
}

/// FNV-1a of the instruction's name.
fn hash(i: &Instruction) -> u64 {
    i.name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// The random state of an instruction, from the hash of its name.
pub fn state(i: &Instruction) -> Value {
    Value { element: ElementType::U64, sizes: vec![2], data: vec![Number::Int(hash(i).into()), Number::Int(0)] }
}

/// Random numbers from Philox, with the name's hash as the key and the element's number as the counter.
pub fn numbers(i: &Instruction, x: &[&Value]) -> Value {
    let to = array(&i.shape);
    let (a, b) = (x[0].data[0], x[1].data[0]);
    let mut count = 0u64;
    Value::build(to.element, &to.sizes().unwrap(), |_| {
        let [low, high] = halves(count);
        count += 1;
        let words = philox([low, high, 0, 0], halves(hash(i)));
        let fraction = |word: u32| f64::from(word >> 8) / 2f64.powi(24);
        let normal =
            || (-2.0 * (1.0 - fraction(words[0])).ln()).sqrt() * (std::f64::consts::TAU * fraction(words[1])).cos();
        match i.attribute("distribution") {
            Some("rng_normal") => Number::Float(a.real() + b.real() * normal()),
            _ if to.element.is_float() => Number::Float(a.real() + (b.real() - a.real()) * fraction(words[0])),
            _ => Number::Int(a.int() + (i128::from(words[1]) << 32 | i128::from(words[0])) % (b.int() - a.int())),
        }
    })
}
