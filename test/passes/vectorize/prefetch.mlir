// What has more bytes than the cache is prefetched, and written with streaming stores.
// RUN: layout-opt %s --split-input-file --layout-lower-memrefs='vectorize=avx512 cache-bytes=20000' | FileCheck %s

// The output has 32768 bytes, and so has the input: while one row of tiles is worked on, the next one is prefetched. An
// output that is not streamed is prefetched, too.
#T = #layout.tiled<{1,0:T(8,128)}>
// CHECK-LABEL: func.func @to_tiles(
// CHECK: scf.if
// CHECK: memref.prefetch %reinterpret_cast[%{{.*}}], read, locality<3>, data
// CHECK-NOT: memref.prefetch
// CHECK: vector.store {{.*}}nontemporal = true{{.*}}
// CHECK: } else {
// CHECK: memref.prefetch %reinterpret_cast[%{{.*}}], read, locality<1>, data
// CHECK: memref.prefetch %reinterpret_cast_{{[0-9]+}}[%{{.*}}], write, locality<1>, data
// CHECK: vector.store
func.func @to_tiles(%a: memref<32x256xf32>, %r: memref<32x256xf32, #T>) {
  memref.copy %a, %r : memref<32x256xf32> to memref<32x256xf32, #T>
  return
}

// -----

// An output that is smaller than the cache is not streamed.
#B = #layout.tiled<{1,0:T(8,128)(2,1)}>
// CHECK-LABEL: func.func @interleave(
// CHECK-NOT: nontemporal
// CHECK: return
func.func @interleave(%a: memref<16x256xbf16>, %r: memref<16x256xbf16, #B>) {
  memref.copy %a, %r : memref<16x256xbf16> to memref<16x256xbf16, #B>
  return
}

// -----

// Streaming stores have no masks.
#T = #layout.tiled<{1,0:T(8,128)}>
// CHECK-LABEL: func.func @ragged(
// CHECK-NOT: maskedstore {{.*}}nontemporal
// CHECK: return
func.func @ragged(%a: memref<13x250xf32>, %r: memref<13x250xf32, #T>) {
  memref.copy %a, %r : memref<13x250xf32> to memref<13x250xf32, #T>
  return
}

// -----

// Four rows are interleaved in two steps, bytes and then pairs of bytes, and streamed in whole vectors, which are aligned.
#P = #layout.tiled<{1,0:T(8,128)(4,1)}>
// CHECK-LABEL: func.func @interleaved(
// CHECK: vector.shuffle %[[A:[0-9]+]], %{{[0-9]+}} [0, 64, 1, 65, 2, 66, 3, 67,
// CHECK: vector.shuffle %[[B:[0-9]+]], %{{[0-9]+}} [0, 1, 64, 65, 2, 3, 66, 67,
// CHECK: vector.store {{.*}}alignment = 64 : i64, nontemporal = true{{.*}}vector<64xi8>
func.func @interleaved(%a: memref<128x256xi8>, %r: memref<128x256xi8, #P>) {
  memref.copy %a, %r : memref<128x256xi8> to memref<128x256xi8, #P>
  return
}
