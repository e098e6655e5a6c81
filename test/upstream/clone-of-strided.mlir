// --convert-bufferization-to-memref cannot lower a clone of a buffer with strides.
//
// Expected: an allocation, and a copy into it, as of a buffer without strides.
// Found, by MLIR 22.1.8: an error, though ownership-based-buffer-deallocation makes such clones, here of an argument that
// is returned. What would be allocated has the identity layout, and cannot be cast to these strides.
//
// Worked around by layout-expand-clones.
// RUN: not mlir-opt %s --ownership-based-buffer-deallocation --canonicalize --convert-bufferization-to-memref 2>&1 \
// RUN:   | FileCheck %s

// CHECK: error: failed to legalize operation 'bufferization.clone' that was explicitly marked illegal
func.func @same(%m: memref<4x8xf32, strided<[1, 4]>>) -> memref<4x8xf32, strided<[1, 4]>> {
  return %m : memref<4x8xf32, strided<[1, 4]>>
}
