// layout-deallocate: functions that came with tensors are freed for, others free for themselves.
// RUN: layout-opt %s --layout-to-memref | FileCheck %s

#T = #layout.tiled<{1,0:T(2,2)}>

// CHECK-LABEL: func.func @automatic(
// CHECK: memref.alloc()
// CHECK: memref.dealloc
// CHECK: return
func.func @automatic(%a: tensor<3x5xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %f = arith.constant 1.0 : f32
  %0 = tensor.insert %f into %a[%c0, %c0] : tensor<3x5xf32>
  %1 = tensor.extract %0[%c0, %c0] : tensor<3x5xf32>
  return %1 : f32
}

// A loop by branches, which upstream's deallocation does not take; what is not freed here is not freed.
// CHECK-LABEL: func.func @by_hand(
// CHECK-NOT: manual_deallocation
// CHECK: memref.alloc() : memref<2x3x2x2xf32>
// CHECK: memref.alloc() : memref<2x3x2x2xf32>
// CHECK-COUNT-1: memref.dealloc
// CHECK: return
func.func @by_hand(%c: i1) {
  %0 = memref.alloc() : memref<3x5xf32, #T>
  %1 = memref.alloc() : memref<3x5xf32, #T>
  cf.br ^bb1
^bb1:
  memref.copy %0, %1 : memref<3x5xf32, #T> to memref<3x5xf32, #T>
  cf.cond_br %c, ^bb1, ^bb2
^bb2:
  memref.dealloc %1 : memref<3x5xf32, #T>
  return
}

// What lowering allocates for a conversion of buffers is freed.
// CHECK-LABEL: func.func @convert(
// CHECK: memref.alloc()
// CHECK: memref.dealloc
// CHECK: return
func.func @convert(%a: memref<3x5xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %0 = layout.convert %a : memref<3x5xf32> to memref<3x5xf32, #T>
  %1 = memref.load %0[%c0, %c0] : memref<3x5xf32, #T>
  return %1 : f32
}
