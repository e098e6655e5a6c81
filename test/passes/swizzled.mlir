// Swizzled layouts, lowered: one dimension of addresses, in whole blocks, and each access flips the bits of its address.
// RUN: layout-opt %s --layout-to-memref | FileCheck %s
// RUN: layout-opt %s --layout-to-memref=form=physical | FileCheck %s
// RUN: layout-opt %s --layout-to-memref=vectorize=avx2 | FileCheck %s --check-prefix=VECTOR
// RUN: layout-opt %s --layout-to-memref=vectorize=avx512 --verify-diagnostics -o /dev/null
// RUN: layout-opt %s --layout-to-memref | FileCheck %s --check-prefix=CONSTANT
// RUN: layout-opt %s --layout-strip-memory-spaces --mlir-print-local-scope | FileCheck %s --check-prefix=SPACE

// Three higher bits flip those of each run of 8.
// CHECK: #[[ROW:.*]] = affine_map<(d0, d1) -> (d0 * 64 + d1)>
// CHECK-LABEL: func.func @copy(
// CHECK-SAME: %[[X:.*]]: memref<64x64xf32>, %[[Y:.*]]: memref<4096xf32>)
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG: %[[C448:.*]] = arith.constant 448 : index
// CHECK: affine.for %[[I:.*]] = 0 to 64
// CHECK-NEXT: affine.for %[[J:.*]] = 0 to 64
// CHECK-NEXT: %[[E:.*]] = affine.load %[[X]][%[[I]], %[[J]]]
// CHECK-NEXT: %[[A:.*]] = affine.apply #[[ROW]](%[[I]], %[[J]])
// CHECK-NEXT: %[[F:.*]] = arith.andi %[[A]], %[[C448]]
// CHECK-NEXT: %[[S:.*]] = arith.shrui %[[F]], %[[C3]]
// CHECK-NEXT: %[[P:.*]] = arith.xori %[[A]], %[[S]]
// CHECK-NEXT: memref.store %[[E]], %[[Y]][%[[P]]]
// A run is one vector.
// VECTOR-LABEL: func.func @copy(
// VECTOR: %[[E:.*]] = vector.load {{.*}} vector<8xf32>
// VECTOR: %[[P:.*]] = arith.xori
// VECTOR-NEXT: vector.store %[[E]], %{{.*}}[%[[P]]] : memref<4096xf32>, vector<8xf32>
func.func @copy(%x: memref<64x64xf32>, %y: memref<64x64xf32, #layout.swizzled<Sw<3,3,3> o {1,0}>>) {
  memref.copy %x, %y : memref<64x64xf32> to memref<64x64xf32, #layout.swizzled<Sw<3,3,3> o {1,0}>>
  return
}

// With a shift below 0 lower bits flip higher ones. The tiles of 3x5 elements are 32, and a block has 64.
// CHECK-LABEL: func.func @convert(
// CHECK: memref.alloc() {{.*}} : memref<64xf32, #layout.memory_space<vmem>>
// CHECK: arith.andi %{{.*}}, %[[C12:.*]] : index
// CHECK-NEXT: arith.shli
// CHECK-NEXT: arith.xori
// VECTOR-LABEL: func.func @convert(
// VECTOR: memref.alloc() {{.*}} : memref<64xf32, #layout.memory_space<vmem>>
// SPACE-LABEL: func.func @convert(
// SPACE-SAME: #layout.swizzled<Sw<2,2,-2> o {1,0:T(4,4)}>
func.func @convert(%x: tensor<3x5xf32>) -> tensor<3x5xf32, #layout.swizzled<Sw<2,2,-2> o {1,0:T(4,4)S(1)}>> {
  %z = layout.convert %x : tensor<3x5xf32> to tensor<3x5xf32, #layout.swizzled<Sw<2,2,-2> o {1,0:T(4,4)S(1)}>>
  return %z : tensor<3x5xf32, #layout.swizzled<Sw<2,2,-2> o {1,0:T(4,4)S(1)}>>
}

// Rows of 6 elements begin at even addresses, so that vectors of them have 2 and not 4 elements.
// CHECK-LABEL: func.func @ragged(
// VECTOR-LABEL: func.func @ragged(
// VECTOR-NOT: vector.load %{{.*}} : memref<96xf32>, vector<4xf32>
// VECTOR: vector.load %{{.*}} : memref<96xf32>, vector<2xf32>
func.func @ragged(%x: memref<16x6xf32, #layout.swizzled<Sw<1,2,2> o {1,0}>>, %y: memref<16x6xf32>) {
  memref.copy %x, %y : memref<16x6xf32, #layout.swizzled<Sw<1,2,2> o {1,0}>> to memref<16x6xf32>
  return
}

// Bits 3 to 5 of address 56 flip bits 0 to 2.
// CHECK-LABEL: func.func @single(
// CHECK: %[[C63:.*]] = arith.constant 63 : index
// CHECK-NEXT: memref.load %{{.*}}[%[[C63]]] : memref<64xf32>
func.func @single(%x: memref<8x8xf32, #layout.swizzled<Sw<3,0,3> o ((8:8), (8:1))>>) -> f32 {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %z = memref.load %x[%c7, %c0] : memref<8x8xf32, #layout.swizzled<Sw<3,0,3> o ((8:8), (8:1))>>
  return %z : f32
}

// A swizzle of single elements leaves none side by side.
// CHECK-LABEL: func.func @apart(
// VECTOR-LABEL: func.func @apart(
// VECTOR-NOT: vector.store
func.func @apart(%x: memref<8x8xf32, #layout.swizzled<Sw<3,0,3> o {1,0}>>, %y: memref<8x8xf32, #layout.swizzled<Sw<3,0,3> o {0,1}>>) {
  // expected-remark@+1 {{not vectorised: no operand has contiguous elements}}
  memref.copy %x, %y : memref<8x8xf32, #layout.swizzled<Sw<3,0,3> o {1,0}>> to memref<8x8xf32, #layout.swizzled<Sw<3,0,3> o {0,1}>>
  return
}

// A swizzle of no bits.
// CHECK-LABEL: func.func @none(
// CHECK-SAME: %[[X:.*]]: memref<8xf32>, %[[I:.*]]: index
// CHECK-NEXT: memref.load %[[X]][%[[I]]]
func.func @none(%x: memref<8xf32, #layout.swizzled<Sw<0,0,0> o {0}>>, %i: index) -> f32 {
  %z = affine.load %x[symbol(%i)] : memref<8xf32, #layout.swizzled<Sw<0,0,0> o {0}>>
  return %z : f32
}

// A constant is in the order of the addresses.
// CONSTANT: memref.global {{.*}} : memref<8xi32> = dense<[0, 1, 3, 2, 4, 0, 0, 0]>
func.func @constant() -> tensor<5xi32, #layout.swizzled<Sw<1,0,1> o {0}>> {
  %c = arith.constant dense<[0, 1, 2, 3, 4]> : tensor<5xi32, #layout.swizzled<Sw<1,0,1> o {0}>>
  return %c : tensor<5xi32, #layout.swizzled<Sw<1,0,1> o {0}>>
}
