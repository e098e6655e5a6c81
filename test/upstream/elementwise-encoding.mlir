// --convert-elementwise-to-linalg loses the encoding of a result whose element type is another than its operand's.
//
// Expected: tensor.empty() : tensor<4xf32, 7 : i64>, the type of the result.
// Found, by MLIR 22.1.8: an error of the verifier. `getOrCreateOperandsMatchingResultTypes` makes the empty tensor of the
// sizes and the element type alone.
//
// Worked around by layout-prepare-bufferization, which makes linalg.generic of elementwise operations itself.
// RUN: not mlir-opt %s --convert-elementwise-to-linalg 2>&1 | FileCheck %s

// CHECK: error: 'linalg.generic' op expected type of operand #1 ('tensor<4xf32>') to match type of corresponding result ('tensor<4xf32, 7 : i64>')
func.func @float(%x: tensor<4xi32, 7>) -> tensor<4xf32, 7> {
  %y = arith.sitofp %x : tensor<4xi32, 7> to tensor<4xf32, 7>
  return %y : tensor<4xf32, 7>
}
