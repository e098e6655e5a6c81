// Layouts and machines print by aliases, which stand in front of the module; `--mlir-print-local-scope` prints them in place.
// RUN: layout-opt %s | FileCheck %s
// RUN: layout-opt %s | layout-opt | FileCheck %s
// RUN: layout-opt %s --mlir-print-local-scope | FileCheck %s --check-prefix=LOCAL

// CHECK-DAG: #[[LAYOUT:layout]] = #layout.tensor_layout<((4_PE, 3:8), (8:1))>
// CHECK-DAG: #[[SWIZZLED:swizzled]] = #layout.swizzled<Sw<3,3,3> o {1,0}>
// CHECK-DAG: #[[MACHINE:machine]] = #layout.machine<axes: (4_PE)
// CHECK-DAG: #[[ROWS:tiled[0-9]*]] = #layout.tiled<{1,0:T(8,128)}>
// CHECK-DAG: #[[COLUMNS:tiled[0-9]*]] = #layout.tiled<{0,1:T(8,128)}>
// CHECK: module attributes {layout.machine = #[[MACHINE]]}
// CHECK: @f(%{{.*}}: tensor<16x256xf32, #[[ROWS]]>, %{{.*}}: tensor<12x8xf32, #[[LAYOUT]]>, %{{.*}}: memref<16x256xf32, #[[COLUMNS]]>)
// CHECK: layout.convert {{.*}} : tensor<16x256xf32, #[[ROWS]]> to tensor<16x256xf32, #[[COLUMNS]]>
// CHECK: func.func private @g(memref<64x64xf32, #[[SWIZZLED]]>)
// LOCAL-NOT: {{^}}#
// LOCAL: module attributes {layout.machine = #layout.machine<axes: (4_PE)
// LOCAL: layout.convert {{.*}} : tensor<16x256xf32, #layout.tiled<{1,0:T(8,128)}>> to tensor<16x256xf32, #layout.tiled<{0,1:T(8,128)}>>
module attributes {layout.machine = #layout.machine<axes: (4_PE), memories: (LM: 1 at PE with 16384 bytes), word: 64>} {
  func.func @f(%x: tensor<16x256xf32, #layout.tiled<{1,0:T(8,128)}>>, %y: tensor<12x8xf32, #layout.tensor_layout<((4_PE, 3:8), (8:1))>>,
      %z: memref<16x256xf32, #layout.tiled<{0,1:T(8,128)}>>) -> tensor<16x256xf32, #layout.tiled<{0,1:T(8,128)}>> {
    %0 = layout.convert %x : tensor<16x256xf32, #layout.tiled<{1,0:T(8,128)}>> to tensor<16x256xf32, #layout.tiled<{0,1:T(8,128)}>>
    return %0 : tensor<16x256xf32, #layout.tiled<{0,1:T(8,128)}>>
  }
  func.func private @g(memref<64x64xf32, #layout.swizzled<Sw<3,3,3> o {1,0}>>)
}
