// An encoding that is no layout and that a memref cannot have as its memory space is dropped, with vector code too.
// RUN: layout-opt %s --layout-to-memref | FileCheck %s
// RUN: layout-opt %s --layout-to-memref=vectorize=avx2 | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm=vectorize=avx2 | FileCheck %s --check-prefix=LLVM '--implicit-check-not=memref{{[.<]}}'

#other = affine_map<(i) -> (i)>
#tiled = #layout.tiled<{0:T(2)}>

// LLVM-LABEL: llvm.func @into(
// CHECK-LABEL: func.func @into(
// CHECK-SAME: memref<4xf32>) -> memref<2x2xf32>
func.func @into(%x: tensor<4xf32, #other>) -> tensor<4xf32, #tiled> {
  %y = layout.convert %x : tensor<4xf32, #other> to tensor<4xf32, #tiled>
  return %y : tensor<4xf32, #tiled>
}

// CHECK-LABEL: func.func @out_of(
// CHECK-SAME: memref<2x2xf32>) -> memref<4xf32>
func.func @out_of(%x: tensor<4xf32, #tiled>) -> tensor<4xf32, #other> {
  %y = layout.convert %x : tensor<4xf32, #tiled> to tensor<4xf32, #other>
  return %y : tensor<4xf32, #other>
}

// One that can be a memory space stays.
// CHECK-LABEL: func.func @space(
// CHECK-SAME: memref<4xf32, 3 : i32>
func.func @space(%x: tensor<4xf32, 3 : i32>) -> tensor<4xf32, 3 : i32> {
  return %x : tensor<4xf32, 3 : i32>
}
