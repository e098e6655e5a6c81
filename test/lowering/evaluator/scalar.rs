//! Constants, and `arith` and `math` operations on numbers.

use super::tensor::Tensor;
use layout_ir::{self as ir, Op};

/// Parses a number of MLIR.
pub fn number(text: &str) -> f64 {
    match text {
        "true" => 1.0,
        "false" => 0.0,
        _ => match text.strip_prefix("0x") {
            Some(bits) => f32::from_bits(u32::from_str_radix(bits, 16).expect("the bits of a number")).into(),
            None => text.parse().unwrap_or_else(|_| panic!("`{text}` is no number")),
        },
    }
}

/// The value of a scalar constant.
pub fn constant(op: Op) -> f64 {
    let text = ir::attribute(op, "value").expect("a value").to_string();
    number(text.split(" : ").next().expect("a number"))
}

/// The elements of a constant.
pub fn elements(op: Op, sizes: &[usize]) -> Tensor {
    let text = ir::attribute(op, "value").expect("a value").to_string();
    let list = text.strip_prefix("dense<").and_then(|text| text.rsplit_once("> : ")).expect("dense elements").0;
    let data: Vec<f64> = list.split([',', '[', ']', ' ']).filter(|own| !own.is_empty()).map(number).collect();
    let count = sizes.iter().product();
    Tensor { sizes: sizes.to_vec(), data: if data.len() == count { data } else { vec![data[0]; count] } }
}

/// The result of an operation on these numbers.
pub fn scalar(op: Op, x: &[f64]) -> f64 {
    let bits = |f: fn(i64, i64) -> i64| f(x[0] as i64, x[1] as i64) as f64;
    match ir::name(op) {
        "arith.addf" | "arith.addi" => x[0] + x[1],
        "arith.subf" | "arith.subi" => x[0] - x[1],
        "arith.mulf" | "arith.muli" => x[0] * x[1],
        "arith.divf" => x[0] / x[1],
        "arith.remui" => x[0] % x[1],
        "arith.negf" => -x[0],
        "arith.maximumf" | "arith.maxnumf" | "arith.maxsi" => x[0].max(x[1]),
        "arith.minimumf" | "arith.minnumf" | "arith.minsi" => x[0].min(x[1]),
        "arith.andi" => bits(|a, b| a & b),
        "arith.ori" => bits(|a, b| a | b),
        "arith.xori" => bits(|a, b| a ^ b),
        "arith.select" => x[if x[0] != 0.0 { 1 } else { 2 }],
        "arith.sitofp" | "arith.index_cast" | "arith.extf" | "arith.truncf" | "arith.extsi" | "arith.trunci" => x[0],
        "arith.cmpi" => {
            let kind = ir::attribute(op, "predicate").and_then(ir::integer).expect("a predicate");
            f64::from([x[0] == x[1], x[0] != x[1], x[0] < x[1], x[0] <= x[1], x[0] > x[1], x[0] >= x[1]][kind as usize])
        }
        // Ordered comparisons.
        "arith.cmpf" => {
            let kind = ir::attribute(op, "predicate").and_then(ir::integer).expect("a predicate");
            f64::from([false, x[0] == x[1], x[0] > x[1], x[0] >= x[1], x[0] < x[1], x[0] <= x[1]][kind as usize])
        }
        "math.exp" => x[0].exp(),
        "math.tanh" => x[0].tanh(),
        "math.sqrt" => x[0].sqrt(),
        other => panic!("`{other}` is not evaluated"),
    }
}
