// The parser of linalg.generic crashes on an iterator type that is no string.
//
// Expected: an error, as for the string "other".
// Found, by MLIR 22.1.8: a crash. `parse` casts each entry of `iterator_types` to StringAttr without asking.
//
// Left out of the texts that fuzz/checks/mlir.rs gives to MLIR.
// RUN: not --crash mlir-opt %s 2>&1 | FileCheck %s

// CHECK: PLEASE submit a bug report
#id = affine_map<(d0) -> (d0)>
func.func @number(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = linalg.generic {indexing_maps = [#id], iterator_types = [7]} outs(%x : tensor<8xf32>) {
  ^bb0(%a: f32):
    linalg.yield %a : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}
