// The verifier of tensor.concat crashes on a dimension below zero.
//
// Expected: an error, "concatenation dim must be less than the tensor rank" or another.
// Found, by MLIR 22.1.8: a crash. `dim` is compared with the rank as unsigned only after it was an index of the shape.
//
// Left out of the texts that fuzz/checks/mlir.rs gives to MLIR.
// RUN: not --crash mlir-opt %s 2>&1 | FileCheck %s

// CHECK: PLEASE submit a bug report
func.func @negative(%x: tensor<4xf32>) -> tensor<8xf32> {
  %y = tensor.concat dim(-1) %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
