//! Constants: computed ones, and those whose elements are elsewhere.

use super::{NONE, no_other, not_same};
use std::fmt::Write as _;

/// A product with a constant: a function of tensors with this one and what is done with it.
fn product(sizes: [usize; 2], table: impl Fn(usize, usize) -> f32, made: &str) -> String {
    let [n, m] = sizes;
    let mut text = String::new();
    for i in 0..n {
        let row: Vec<String> = (0..m).map(|j| format!("{:?}", table(i, j))).collect();
        let _ = write!(text, "{}[{}]", if i == 0 { "" } else { ", " }, row.join(", "));
    }
    format!(
        "func.func @f(%x: tensor<900x30xf32>) -> tensor<900x20xf32> {{
           %t = arith.constant dense<[{text}]> : tensor<{n}x{m}xf32>
           {made}
           %zero = arith.constant 0.0 : f32
           %e = tensor.empty() : tensor<900x20xf32>
           %z = linalg.fill ins(%zero : f32) outs(%e : tensor<900x20xf32>) -> tensor<900x20xf32>
           %y = linalg.matmul ins(%x, %w : tensor<900x30xf32>, tensor<30x20xf32>)
             outs(%z : tensor<900x20xf32>) -> tensor<900x20xf32>
           return %y : tensor<900x20xf32>
         }}"
    )
}

/// The elements of the table before, in rows of 30.
fn element(i: usize, j: usize) -> f32 {
    (30 * i + j) as f32 + 0.5
}

#[test]
fn transposed_constants() {
    let transposed = "%b = tensor.empty() : tensor<30x20xf32>
        %w = linalg.transpose ins(%t : tensor<20x30xf32>) outs(%b : tensor<30x20xf32>) permutation = [1, 0]";
    let before = product([20, 30], element, transposed);
    let named = |text: String| text.replace("%t =", "%w =");
    let after = named(product([30, 20], |i, j| element(j, i), ""));
    no_other(&before, &after, &[("37.5", "38.5"), ("0.5, 30.5", "30.5, 0.5")], NONE);
    // One element of many is another.
    let wrong = |i: usize, j: usize| if (i, j) == (29, 19) { 0.5 } else { element(j, i) };
    not_same(&before, &named(product([30, 20], wrong, "")), NONE);
}

/// A constant in tiles of 16 rows, with zeros behind the last one.
#[test]
fn padded_constants() {
    let packed = |before: &str| {
        format!(
            "{before}
             %b = tensor.empty() : tensor<2x16x20xf32>
             %q = linalg.transpose ins(%p : tensor<2x20x16xf32>) outs(%b : tensor<2x16x20xf32>) permutation = [0, 2, 1]
             %r = tensor.collapse_shape %q [[0, 1], [2]] : tensor<2x16x20xf32> into tensor<32x20xf32>
             %w = tensor.extract_slice %r[0, 0] [30, 20] [1, 1] : tensor<32x20xf32> to tensor<30x20xf32>"
        )
    };
    let pack = packed(
        "%none = arith.constant 0.0 : f32
         %long = tensor.pad %t low[0, 0] high[2, 0] { ^bb0(%i: index, %j: index): tensor.yield %none : f32 }
           : tensor<30x20xf32> to tensor<32x20xf32>
         %tiles = tensor.expand_shape %long [[0, 1], [2]] output_shape [2, 16, 20]
           : tensor<32x20xf32> into tensor<2x16x20xf32>
         %c = tensor.empty() : tensor<2x20x16xf32>
         %p = linalg.transpose ins(%tiles : tensor<2x16x20xf32>) outs(%c : tensor<2x20x16xf32>) permutation = [0, 2, 1]",
    );
    let table = |i: usize, j: usize| (20 * i + j) as f32 + 0.5;
    let before = product([30, 20], table, &pack);
    let tiles: Vec<String> = (0..2)
        .map(|b| {
            let row = |j: usize| (0..16).map(move |k| if 16 * b + k < 30 { table(16 * b + k, j) } else { 0.0 });
            let rows: Vec<String> = (0..20).map(|j| format!("{:?}", row(j).collect::<Vec<_>>())).collect();
            format!("[{}]", rows.join(", "))
        })
        .collect();
    let tiled = format!("%p = arith.constant dense<[{}]> : tensor<2x20x16xf32>", tiles.join(", "));
    let after = product([30, 20], table, &packed(&tiled));
    no_other(&before, &after, &[("320.5, 340.5", "340.5, 320.5"), ("[0.5, 20.5,", "[1.5, 20.5,")], NONE);
}

/// An operation on constants is a constant, and an integer of indices is an index.
#[test]
fn computed_constants() {
    let scaled = |factor: &str, index: &str| {
        format!(
            "func.func @f(%x: memref<6007xf32>, %y: memref<6007xf32>) {{
               %c0 = arith.constant 0 : index
               %c1 = arith.constant 1 : index
               %n = arith.constant 6000 : index
               {factor}
               {index}
                 %e = memref.load %x[%k] : memref<6007xf32>
                 %s = arith.mulf %e, %f : f32
                 memref.store %s, %y[%k] : memref<6007xf32>
               }}
               return
             }}"
        )
    };
    let plain = scaled(
        "%f = arith.constant -0.03125 : f32",
        "scf.for %i = %c0 to %n step %c1 { %c7 = arith.constant 7 : index %k = arith.addi %i, %c7 : index",
    );
    let computed = scaled(
        "%one = arith.constant 1 : i32
         %number = arith.sitofp %one : i32 to f32
         %minus = arith.negf %number : f32
         %c32 = arith.constant 32.0 : f32
         %quotient = arith.divf %minus, %c32 : f32
         %is = arith.cmpf olt, %quotient, %c32 : f32
         %f = arith.select %is, %quotient, %c32 : f32",
        "%low = arith.constant 0 : i32
         %high = arith.constant 6000 : i32
         scf.for %i = %low to %high step %one : i32 {
           %c6 = arith.constant 6 : i32
           %h = arith.addi %i, %c6 : i32
           %j = arith.addi %h, %one : i32
           %k = arith.index_cast %j : i32 to index",
    );
    let changes = [
        ("constant 32.0", "constant 31.0"),
        ("cmpf olt", "cmpf ogt"),
        ("constant 6 :", "constant 5 :"),
        ("%high = arith.constant 6000", "%high = arith.constant 5999"),
    ];
    no_other(&plain, &computed, &changes, NONE);
}
