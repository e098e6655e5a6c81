// RUN: layout-opt %s --mlir-print-local-scope --allow-unregistered-dialect --layout-import-stablehlo | FileCheck %s

// What mhlo.layout_mode says is the layout of the tensor, which XLA's conversion drops.
// CHECK: module @jit_f
// CHECK: func.func private @add(%{{.*}}: tensor<4x2xf32
// CHECK: func.func @main(%{{.*}}: tensor<4x8xf32, #layout.tiled<{0,1}>>, %{{.*}}: tensor<8x2xf32, #layout.tiled<{1,0}>>) -> tensor<4x2xf32
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: call @add
// CHECK: scf.while
// CHECK-NOT: stablehlo
module @jit_f attributes {mhlo.num_partitions = 1 : i32} {
  func.func public @main(%arg0: tensor<4x8xf32> {mhlo.layout_mode = "{0,1}"}, %arg1: tensor<8x2xf32>) -> tensor<4x2xf32> {
    %0 = "stablehlo.dot_general"(%arg0, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    %1 = call @add(%0) : (tensor<4x2xf32>) -> tensor<4x2xf32>
    %c = "stablehlo.constant"() <{value = dense<1.000000e+01> : tensor<f32>}> : () -> tensor<f32>
    %2 = "stablehlo.while"(%1) ({
    ^bb0(%x: tensor<4x2xf32>):
      %z = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
      %3 = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 0, 1>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %5 = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%5) : (tensor<f32>) -> ()
      }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<f32>
      %4 = "stablehlo.compare"(%3, %c) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%4) : (tensor<i1>) -> ()
    }, {
    ^bb0(%x: tensor<4x2xf32>):
      %3 = "chlo.square"(%x) : (tensor<4x2xf32>) -> tensor<4x2xf32>
      "stablehlo.return"(%3) : (tensor<4x2xf32>) -> ()
    }) : (tensor<4x2xf32>) -> tensor<4x2xf32>
    return %2 : tensor<4x2xf32>
  }
  func.func private @add(%arg0: tensor<4x2xf32>) -> tensor<4x2xf32> {
    %0 = "stablehlo.add"(%arg0, %arg0) : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
    return %0 : tensor<4x2xf32>
  }
}
