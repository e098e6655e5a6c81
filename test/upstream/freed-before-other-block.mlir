// --ownership-based-buffer-deallocation frees the result of scf.if before another block reads it.
//
// Expected: bufferization.dealloc after the load, at the end of ^next.
// Found, by MLIR 22.1.8: bufferization.dealloc before the branch, and a load of freed memory behind it. The pass replaces
// the scf.if by one with ownerships as results, and its liveness analysis still asks for uses of the old results.
//
// Worked around by `end_block` in passes/bufferize/deallocate.rs, which ends the block after such an operation.
// RUN: mlir-opt %s --ownership-based-buffer-deallocation | FileCheck %s

// CHECK-LABEL: func.func @use_after_free(
// CHECK: %[[RESULT:.*]]:2 = scf.if
// CHECK: %[[BASE:.*]], %{{.*}}, %{{.*}}, %{{.*}} = memref.extract_strided_metadata %[[RESULT]]#0
// CHECK-NEXT: bufferization.dealloc (%[[BASE]] : memref<f32>) if (%[[RESULT]]#1)
// CHECK-NEXT: cf.br
// CHECK: memref.load %[[RESULT]]#0
func.func @use_after_free(%if: i1, %n: index) -> f32 {
  %zero = arith.constant 0 : index
  %m = scf.if %if -> memref<?xf32> {
    %a = memref.alloc(%n) : memref<?xf32>
    scf.yield %a : memref<?xf32>
  } else {
    %b = memref.alloc(%n) : memref<?xf32>
    scf.yield %b : memref<?xf32>
  }
  cf.br ^next
^next:
  %x = memref.load %m[%zero] : memref<?xf32>
  return %x : f32
}
