// layout-strip-memory-spaces: this dialect's memory spaces go, in types everywhere; others stay. The machine goes.
// RUN: layout-opt %s --layout-strip-memory-spaces | FileCheck %s

// CHECK-NOT: layout.machine
// CHECK: module attributes {test.other = 3 : i64}
module attributes {layout.machine = #layout.machine<mn_core>, test.other = 3} {

// CHECK: memref.global "private" @g : memref<4xf32> = uninitialized
memref.global "private" @g : memref<4xf32, #layout.memory_space<vmem>> = uninitialized

// CHECK: func.func @f(%{{.*}}: memref<4xf32>, %{{.*}}: memref<4xf32, 3>) -> memref<4xf32>
func.func @f(%a: memref<4xf32, #layout.memory_space<host>>, %b: memref<4xf32, 3>) -> memref<4xf32, #layout.memory_space<vmem>> {
  // CHECK: memref.get_global @g : memref<4xf32>
  %0 = memref.get_global @g : memref<4xf32, #layout.memory_space<vmem>>
  return %0 : memref<4xf32, #layout.memory_space<vmem>>
}

}
