// Loops over blocks that are gathers and scatters, and loops that are not.
// RUN: layout-opt %s --mlir-print-local-scope --layout-plan="machine=tpu_v5e entry=fixed" --split-input-file | FileCheck %s

#C = #layout.tiled<{0,1:T(8,128)}>
#R = #layout.tiled<{1,0:T(8,128)}>
// Each row is written: what is there before is nothing.
// CHECK-LABEL: func.func @rows(
// CHECK: %[[E:.*]] = tensor.empty() : tensor<8x8xf32, #layout.tiled<{1,0:T(8,128)}>>
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[E]]) -> (tensor<8x8xf32, #layout.tiled<{1,0:T(8,128)}>>)
func.func @rows(%x: tensor<16x8xf32>, %idx: tensor<8xindex>, %init: tensor<8x8xf32, #C>) -> tensor<8x8xf32, #R> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %i0 = layout.convert %init : tensor<8x8xf32, #C> to tensor<8x8xf32>
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%all = %i0) -> (tensor<8x8xf32>) {
    %n = tensor.extract %idx[%i] : tensor<8xindex>
    %b = tensor.extract_slice %x[%n, 0] [1, 8] [1, 1] : tensor<16x8xf32> to tensor<1x8xf32>
    %o = tensor.insert_slice %b into %all[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<8x8xf32>
    scf.yield %o : tensor<8x8xf32>
  }
  %q = layout.convert %r : tensor<8x8xf32> to tensor<8x8xf32, #R>
  return %q : tensor<8x8xf32, #R>
}

// -----

#C = #layout.tiled<{0,1:T(8,128)}>
#R = #layout.tiled<{1,0:T(8,128)}>
// Rows 4 to 7 are those of before.
// CHECK-LABEL: func.func @half(
// CHECK-NOT: tensor.empty
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}})
func.func @half(%x: tensor<16x8xf32>, %idx: tensor<8xindex>, %init: tensor<8x8xf32, #C>) -> tensor<8x8xf32, #R> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %i0 = layout.convert %init : tensor<8x8xf32, #C> to tensor<8x8xf32>
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%all = %i0) -> (tensor<8x8xf32>) {
    %n = tensor.extract %idx[%i] : tensor<8xindex>
    %h = arith.divui %i, %c2 : index
    %b = tensor.extract_slice %x[%n, 0] [1, 8] [1, 1] : tensor<16x8xf32> to tensor<1x8xf32>
    %o = tensor.insert_slice %b into %all[%h, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<8x8xf32>
    scf.yield %o : tensor<8x8xf32>
  }
  %q = layout.convert %r : tensor<8x8xf32> to tensor<8x8xf32, #R>
  return %q : tensor<8x8xf32, #R>
}

// -----

#C = #layout.tiled<{0,1:T(8,128)}>
#R = #layout.tiled<{1,0:T(8,128)}>
// The loop looks at what was there before.
// CHECK-LABEL: func.func @looks(
// CHECK-NOT: tensor.empty
// CHECK: scf.for
func.func @looks(%x: tensor<16x8xf32>, %idx: tensor<8xindex>, %init: tensor<8x8xf32, #C>, %mem: memref<8xf32>) -> tensor<8x8xf32, #R> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %i0 = layout.convert %init : tensor<8x8xf32, #C> to tensor<8x8xf32>
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%all = %i0) -> (tensor<8x8xf32>) {
    %n = tensor.extract %idx[%i] : tensor<8xindex>
    %old = tensor.extract %all[%i, %c0] : tensor<8x8xf32>
    memref.store %old, %mem[%i] : memref<8xf32>
    %b = tensor.extract_slice %x[%n, 0] [1, 8] [1, 1] : tensor<16x8xf32> to tensor<1x8xf32>
    %o = tensor.insert_slice %b into %all[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<8x8xf32>
    scf.yield %o : tensor<8x8xf32>
  }
  %q = layout.convert %r : tensor<8x8xf32> to tensor<8x8xf32, #R>
  return %q : tensor<8x8xf32, #R>
}

// -----

#C = #layout.tiled<{0,1:T(8,128)}>
#R = #layout.tiled<{1,0:T(8,128)}>
// The outer loop may not run.
// CHECK-LABEL: func.func @perhaps(
// CHECK-NOT: tensor.empty
// CHECK: scf.for
func.func @perhaps(%x: tensor<16x8xf32>, %idx: tensor<8xindex>, %init: tensor<8x8xf32, #C>, %m: index) -> tensor<8x8xf32, #R> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %i0 = layout.convert %init : tensor<8x8xf32, #C> to tensor<8x8xf32>
  %r = scf.for %k = %c0 to %m step %c1 iter_args(%outer = %i0) -> (tensor<8x8xf32>) {
    %s = scf.for %i = %c0 to %c8 step %c1 iter_args(%all = %outer) -> (tensor<8x8xf32>) {
      %n = tensor.extract %idx[%i] : tensor<8xindex>
      %b = tensor.extract_slice %x[%n, 0] [1, 8] [1, 1] : tensor<16x8xf32> to tensor<1x8xf32>
      %o = tensor.insert_slice %b into %all[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<8x8xf32>
      scf.yield %o : tensor<8x8xf32>
    }
    scf.yield %s : tensor<8x8xf32>
  }
  %q = layout.convert %r : tensor<8x8xf32> to tensor<8x8xf32, #R>
  return %q : tensor<8x8xf32, #R>
}

// -----

#C = #layout.tiled<{0,1:T(8,128)}>
#R = #layout.tiled<{1,0:T(8,128)}>
// Starts of two tensors are no index vector.
// CHECK-LABEL: func.func @two(
// CHECK: scf.for
func.func @two(%x: tensor<16x8xf32>, %idx: tensor<8xindex>, %other: tensor<8x200xindex>, %init: tensor<8x8xf32, #C>) -> tensor<8x8xf32, #R> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %i0 = layout.convert %init : tensor<8x8xf32, #C> to tensor<8x8xf32>
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%all = %i0) -> (tensor<8x8xf32>) {
    %n = tensor.extract %idx[%i] : tensor<8xindex>
    %k = tensor.extract %other[%i, %c1] : tensor<8x200xindex>
    %m = arith.addi %n, %k : index
    %b = tensor.extract_slice %x[%m, 0] [1, 8] [1, 1] : tensor<16x8xf32> to tensor<1x8xf32>
    %o = tensor.insert_slice %b into %all[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<8x8xf32>
    scf.yield %o : tensor<8x8xf32>
  }
  %q = layout.convert %r : tensor<8x8xf32> to tensor<8x8xf32, #R>
  return %q : tensor<8x8xf32, #R>
}
