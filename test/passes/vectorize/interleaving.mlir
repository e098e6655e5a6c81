// Rows that a layout interleaves, as (2,1) and (4,1) do, are shuffled in registers.
// RUN: bash %S/Inputs/both-forms.sh %s %t
// RUN: FileCheck %s --input-file=%t
// RUN: FileCheck %s --input-file=%t.physical

// Two rows at a time; elements of bf16 are moved as integers of 16 bits.
#B = #layout.tiled<{1,0:T(8,128)(2,1)}>
// CHECK-LABEL: func.func @interleave(
// CHECK-DAG: vector.load {{.*}}vector<32xbf16>
// CHECK-DAG: vector.bitcast {{.*}} : vector<32xbf16> to vector<32xi16>
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 32, 1, 33, 2, 34, 3, 35, {{.*}}] : vector<32xi16>, vector<32xi16>
// CHECK: vector.bitcast {{.*}} : vector<32xi16> to vector<32xbf16>
// CHECK: vector.store {{.*}}vector<32xbf16>
// CHECK-NOT: memref.store
// CHECK: return
func.func @interleave(%a: memref<16x256xbf16>, %r: memref<16x256xbf16, #B>) {
  memref.copy %a, %r : memref<16x256xbf16> to memref<16x256xbf16, #B>
  return
}

// -----

// Bytes, four rows at a time, taken apart.
#P = #layout.tiled<{1,0:T(8,128)(4,1)}>
// CHECK-LABEL: func.func @bytes(
// CHECK: vector.load {{.*}}vector<64xi8>
// CHECK: vector.shuffle {{.*}} : vector<64xi8>, vector<64xi8>
// CHECK: vector.store {{.*}}vector<64xi8>
// CHECK-NOT: memref.store
// CHECK: return
func.func @bytes(%a: memref<16x256xi8, #P>, %r: memref<16x256xi8>) {
  memref.copy %a, %r : memref<16x256xi8, #P> to memref<16x256xi8>
  return
}

// -----

// And put together, in two steps.
#P = #layout.tiled<{1,0:T(8,128)(4,1)}>
// CHECK-LABEL: func.func @interleaved(
// CHECK: vector.shuffle {{.*}} [0, 64, 1, 65, 2, 66, 3, 67,
// CHECK: vector.shuffle {{.*}} [0, 1, 64, 65, 2, 3, 66, 67,
// CHECK-NOT: nontemporal
// CHECK: return
func.func @interleaved(%a: memref<128x256xi8>, %r: memref<128x256xi8, #P>) {
  memref.copy %a, %r : memref<128x256xi8> to memref<128x256xi8, #P>
  return
}
