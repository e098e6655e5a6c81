// --convert-to-llvm succeeds where it leaves operations that have no translation to LLVM IR.
//
// Expected: an error at the operation, or an option for one.
// Found, by MLIR 22.1.8: success; mlir-translate then fails, or the next pass.
//
// Worked around by layout-verify-llvm.
// RUN: mlir-opt %s --convert-to-llvm | FileCheck %s

// CHECK-LABEL: llvm.func @left(
// CHECK: tensor.empty
func.func @left() {
  %x = tensor.empty() : tensor<4xf32>
  return
}
