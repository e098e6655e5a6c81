// Where sizes are known only at run time, what is larger than the caches is prefetched wherever the output begins, and stored
// past the caches where vectors keep their alignment.
// RUN: layout-opt %s "--layout-lower-memrefs=vectorize=avx2 cache-bytes=1000000" | FileCheck %s

// CHECK-LABEL: func.func @rows(
// CHECK:       %[[LARGE:.*]] = arith.ori
// CHECK:       scf.if %[[LARGE]] {
// CHECK:         memref.extract_aligned_pointer_as_index
// CHECK:         scf.if
// CHECK:           memref.prefetch
// CHECK:           nontemporal = true
// CHECK:         } else {
// CHECK-NOT:       nontemporal
// CHECK:           memref.prefetch
// CHECK-NOT:       nontemporal
// CHECK:       } else {
// CHECK-NOT:     memref.prefetch
// CHECK-NOT:     nontemporal
// CHECK:       return
func.func @rows(%a: memref<?x?xf32, #layout.tiled<{1,0:T(8,128)}>>, %r: memref<?x?xf32>) {
  linalg.copy ins(%a : memref<?x?xf32, #layout.tiled<{1,0:T(8,128)}>>) outs(%r : memref<?x?xf32>)
  return
}
