// layout-strip-memory-spaces: this dialect's memory spaces go, in types everywhere; others stay. The machine goes, too, where
// nothing is left to lower.
// RUN: layout-opt %s --mlir-print-local-scope --split-input-file --layout-strip-memory-spaces | FileCheck %s
// RUN: layout-opt %s --split-input-file --layout-to-llvm -o /dev/null

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

// -----

// CHECK: module attributes {layout.machine = #layout.machine<{{.*}}
module attributes {layout.machine = #layout.machine<mn_core>} {
// CHECK: func.func private @g(tensor<4xf32, #layout.tensor_layout<{{.*}}>>)
func.func private @g(tensor<4xf32, #layout.tensor_layout<((4_PE:1))>>)
}

// -----

// CHECK: module attributes {layout.machine = #layout.machine<{{.*}}
module attributes {layout.machine = #layout.machine<mn_core>} {
// CHECK: func.func private @h(memref<4x4xf32, #layout.tiled<{1,0:T(2,2)}>>)
func.func private @h(memref<4x4xf32, #layout.tiled<{1,0:T(2,2)S(1)}>>)
}

// -----

// The copy of a table into another memory is none.
// CHECK: func.func @row(%[[T:.*]]: tensor<32x256xf32, #layout.tiled<{1,0:T(8,128)}>>, %{{.*}}: index) -> tensor<1x256xf32>
// CHECK: layout.convert %[[T]] : tensor<32x256xf32, #layout.tiled<{1,0:T(8,128)}>> to tensor<32x256xf32, #layout.tiled<{1,0:T(8,128)}>>
#hbm = #layout.tiled<{1,0:T(8,128)}>
#vmem = #layout.tiled<{1,0:T(8,128)S(1)}>
func.func @row(%table: tensor<32x256xf32, #hbm>, %row: index) -> tensor<1x256xf32> {
  %near = layout.convert %table : tensor<32x256xf32, #hbm> to tensor<32x256xf32, #vmem>
  %plain = layout.convert %near : tensor<32x256xf32, #vmem> to tensor<32x256xf32>
  %slice = tensor.extract_slice %plain[%row, 0] [1, 256] [1, 1] : tensor<32x256xf32> to tensor<1x256xf32>
  return %slice : tensor<1x256xf32>
}
