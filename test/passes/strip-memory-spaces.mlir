// layout-strip-memory-spaces: this dialect's memory spaces go, in types everywhere; others stay.
// RUN: layout-opt %s --layout-strip-memory-spaces | FileCheck %s

// CHECK: memref.global "private" @g : memref<4xf32> = uninitialized
memref.global "private" @g : memref<4xf32, #layout.memory_space<vmem>> = uninitialized

// CHECK: func.func @f(%{{.*}}: memref<4xf32>, %{{.*}}: memref<4xf32, 3>) -> memref<4xf32>
func.func @f(%a: memref<4xf32, #layout.memory_space<host>>, %b: memref<4xf32, 3>) -> memref<4xf32, #layout.memory_space<vmem>> {
  // CHECK: memref.get_global @g : memref<4xf32>
  %0 = memref.get_global @g : memref<4xf32, #layout.memory_space<vmem>>
  return %0 : memref<4xf32, #layout.memory_space<vmem>>
}
