// layout-plan for `cpu`: kernels read arrays in any order where they are, so that nothing is copied for them.
// RUN: layout-opt %s --mlir-print-local-scope --layout-plan=machine=cpu | FileCheck %s

#C = #layout.tiled<{0,1}>

// An elementwise operation with operands of two layouts is written down as loops.
// CHECK-LABEL: func.func @added(
// CHECK-NOT: layout.convert
// CHECK: linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<64x48xf32>, tensor<64x48xf32, #layout.tiled<{0,1}>>)
// CHECK-NOT: layout.convert
// CHECK: return
func.func @added(%x: tensor<64x48xf32>, %y: tensor<64x48xf32, #C>) -> tensor<64x48xf32> {
  %c = layout.convert %y : tensor<64x48xf32, #C> to tensor<64x48xf32>
  %z = arith.addf %x, %c : tensor<64x48xf32>
  return %z : tensor<64x48xf32>
}

// What is sliced has one layout before and after.
// CHECK-LABEL: func.func @sliced(
// CHECK: layout.convert
// CHECK: return
func.func @sliced(%y: tensor<64x48xf32, #C>) -> tensor<32x48xf32> {
  %c = layout.convert %y : tensor<64x48xf32, #C> to tensor<64x48xf32>
  %z = tensor.extract_slice %c[8, 0] [32, 48] [1, 1] : tensor<64x48xf32> to tensor<32x48xf32>
  return %z : tensor<32x48xf32>
}
