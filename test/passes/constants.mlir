// The constants that bufferization makes are in the order of their first use, and numbered in that order for each type,
// whatever the order of upstream's bufferization, which differs from run to run.
// RUN: layout-opt %s --layout-to-memref | FileCheck %s

// CHECK-LABEL: module {
// CHECK-NEXT: memref.global "private" constant @__constant_2xf32 : memref<2xf32> = dense<[1.000000e+00, 2.000000e+00]>
// CHECK-NEXT: memref.global "private" constant @__constant_3xi8 : memref<3xi8> = dense<[1, 2, 3]>
// CHECK-NEXT: memref.global "private" constant @__constant_2xf32_0 : memref<2xf32> = dense<[3.000000e+00, 4.000000e+00]>
// CHECK-NEXT: memref.global "private" constant @__constant_2xf32_1 : memref<2xf32> = dense<[5.000000e+00, 6.000000e+00]>
// CHECK-NEXT: memref.global "private" constant @__constant_3xi8_{{.*}} : memref<3xi8> = dense<[4, 5, 6]>
// CHECK-NEXT: memref.global "private" constant @__constant_2xf32_{{.*}} : memref<2xf32> = dense<[7.000000e+00, 8.000000e+00]>
// CHECK: func.func @first
// CHECK: memref.get_global @__constant_2xf32 :
// CHECK: memref.get_global @__constant_3xi8 :
// CHECK: func.func @second
// CHECK: memref.get_global @__constant_2xf32_0 :
// CHECK: memref.get_global @__constant_2xf32_1 :
func.func @first(%i: index) -> (f32, i8) {
  %0 = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = arith.constant dense<[1, 2, 3]> : tensor<3xi8>
  %2 = tensor.extract %0[%i] : tensor<2xf32>
  %3 = tensor.extract %1[%i] : tensor<3xi8>
  return %2, %3 : f32, i8
}

func.func @second(%i: index) -> (f32, f32) {
  %0 = arith.constant dense<[3.0, 4.0]> : tensor<2xf32>
  %1 = arith.constant dense<[5.0, 6.0]> : tensor<2xf32>
  %2 = tensor.extract %0[%i] : tensor<2xf32>
  %3 = tensor.extract %1[%i] : tensor<2xf32>
  return %2, %3 : f32, f32
}

func.func @third(%i: index) -> (i8, f32) {
  %0 = arith.constant dense<[4, 5, 6]> : tensor<3xi8>
  %1 = arith.constant dense<[7.0, 8.0]> : tensor<2xf32>
  %2 = tensor.extract %0[%i] : tensor<3xi8>
  %3 = tensor.extract %1[%i] : tensor<2xf32>
  return %2, %3 : i8, f32
}
