// Sizes, strides and offsets that are known only at run time: full tiles have the code of sizes in the types, in as many
// loops as there are; the ends have masks that are computed, under a condition.
// RUN: layout-opt %s --layout-lower-memrefs='vectorize=avx512' --canonicalize --cse | FileCheck %s
// RUN: layout-opt %s --layout-lower-memrefs='vectorize=avx512 form=physical' --canonicalize --cse | FileCheck %s
// RUN: layout-opt %s --layout-lower-memrefs='vectorize=avx512 cache-bytes=1000000' --canonicalize --cse | FileCheck %s --check-prefix=LARGE
// RUN: layout-opt %s --layout-to-llvm='vectorize=neon' -o /dev/null

#T = #layout.tiled<{1,0:T(8,128)}>

// CHECK-DAG: #[[TILES:.*]] = affine_map<()[s0] -> (s0 floordiv 128)>
// CHECK-DAG: #[[LEFT:.*]] = affine_map<()[s0] -> (s0 mod 128)>
// CHECK-DAG: #[[VECTORS:.*]] = affine_map<()[s0] -> ((s0 mod 128) floordiv 16)>
// CHECK-DAG: #[[LANES:.*]] = affine_map<()[s0] -> (s0 mod 16)>

// CHECK-LABEL: func.func @columns(
// CHECK-DAG: %[[NUMBERS:.*]] = arith.constant dense<[0, 1, 2, {{.*}}, 14, 2147483647]> : vector<16xi32>
// CHECK-DAG: %[[SIZE:.*]] = memref.dim
// CHECK-DAG: %[[N:.*]] = affine.apply #[[TILES]]()[%[[SIZE]]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[N]] step
// CHECK: scf.for %{{.*}} = %{{.*}} to %c8{{.*}} step
// CHECK: %[[V:.*]] = vector.load
// CHECK: vector.store %[[V]]
// CHECK: %[[REST:.*]] = affine.apply #[[LEFT]]()[%[[SIZE]]]
// CHECK: %[[SOME:.*]] = arith.cmpi sgt, %[[REST]], %c0
// CHECK: scf.if %[[SOME]] {
// CHECK: %[[FULL:.*]] = affine.apply #[[VECTORS]]()[%[[SIZE]]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[FULL]] step
// CHECK: vector.load
// CHECK: %[[END:.*]] = affine.apply #[[LANES]]()[%[[SIZE]]]
// CHECK: arith.cmpi sgt, %[[END]], %c0
// CHECK: %[[NARROW:.*]] = arith.index_cast %[[END]] : index to i32
// CHECK: %[[ALL:.*]] = vector.broadcast %[[NARROW]] : i32 to vector<16xi32>
// CHECK: %[[MASK:.*]] = arith.cmpi sgt, %[[ALL]], %[[NUMBERS]] : vector<16xi32>
// CHECK: %[[W:.*]] = vector.maskedload %{{.*}}, %[[MASK]],
// CHECK: vector.maskedstore %{{.*}}, %[[MASK]], %[[W]]
// LARGE-LABEL: func.func @columns(
// LARGE: memref.extract_aligned_pointer_as_index
// LARGE: scf.if
// LARGE: vector.store {{.*}}nontemporal = true
// LARGE: } else {
// LARGE-NOT: nontemporal
// LARGE: return
func.func @columns(%a: memref<16x?xf32>, %r: memref<16x?xf32, #T>) {
  memref.copy %a, %r : memref<16x?xf32> to memref<16x?xf32, #T>
  return
}

// A row that is there or not needs no mask: what is loaded then is a row that is there. Columns of the result have one.
// CHECK-LABEL: func.func @rows(
// CHECK: scf.if
// CHECK: %[[THERE:.*]] = arith.cmpi sgt, %{{.*}}, %c1{{.*}} : index
// CHECK: %[[AT:.*]] = arith.select %[[THERE]], %{{.*}}, %{{.*}} : index
// CHECK: vector.load %{{.*}}[%[[AT]]]
// CHECK-NOT: vector.maskedload
// CHECK: vector.maskedstore
func.func @rows(%a: memref<?x256xf32>, %r: memref<?x256xf32, #layout.tiled<{0,1}>>) {
  memref.copy %a, %r : memref<?x256xf32> to memref<?x256xf32, #layout.tiled<{0,1}>>
  return
}

// CHECK-LABEL: func.func @strides(
// CHECK: memref.extract_strided_metadata
// CHECK: vector.load
func.func @strides(%a: memref<16x16xf32, strided<[?, 1]>>, %r: memref<16x16xf32, #layout.tiled<{0,1}>>) {
  memref.copy %a, %r : memref<16x16xf32, strided<[?, 1]>> to memref<16x16xf32, #layout.tiled<{0,1}>>
  return
}

// CHECK-LABEL: func.func @offset(
// CHECK: memref.extract_strided_metadata
// CHECK: vector.load
func.func @offset(%a: memref<16x16xf32, strided<[16, 1], offset: ?>>, %r: memref<16x16xf32, #layout.tiled<{0,1}>>) {
  memref.copy %a, %r : memref<16x16xf32, strided<[16, 1], offset: ?>> to memref<16x16xf32, #layout.tiled<{0,1}>>
  return
}

// Sums go through the loop over full tiles and the code for the end.
// CHECK-LABEL: func.func @sums(
// CHECK: %[[FIRST:.*]]:{{.*}} = scf.for
// CHECK: scf.if %{{.*}} -> (vector<
// CHECK: arith.select
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[FIRST]]
// CHECK: vector.store
func.func @sums(%a: memref<?x16xf32, #layout.tiled<{0,1:T(8,128)}>>, %r: memref<16xf32>) {
  linalg.reduce ins(%a : memref<?x16xf32, #layout.tiled<{0,1:T(8,128)}>>) outs(%r : memref<16xf32>) dimensions = [0]
    (%x: f32, %sum: f32) {
      %next = arith.addf %x, %sum fastmath<reassoc> : f32
      linalg.yield %next : f32
    }
  return
}
