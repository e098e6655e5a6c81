// layout-plan: structured operations are the operations of HLO that their maps and bodies say, whatever their names.
// RUN: layout-opt %s --mlir-print-local-scope --layout-plan="machine=tpu_v5e entry=default" | FileCheck %s
// RUN: layout-opt %s --layout-verify="passes=layout-plan{machine=tpu_v5e},layout-plan{machine=tpu_v5e entry=free}" -o /dev/null

// The padding of a convolution is in the order in which that takes its input, and nothing is converted for it.
// CHECK-LABEL: func.func @padded(
// CHECK-NOT: layout.convert %{{.*}}tensor<1x10x10x4xf32
// CHECK: return
func.func @padded(%x: tensor<1x8x8x4xf32>, %w: tensor<3x3x4x16xf32>) -> tensor<1x8x8x16xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<1x8x8x4xf32> to tensor<1x10x10x4xf32>
  %e = tensor.empty() : tensor<1x8x8x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
  %y = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%p, %w : tensor<1x10x10x4xf32>, tensor<3x3x4x16xf32>) outs(%f : tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
  return %y : tensor<1x8x8x16xf32>
}

// The features of a depthwise convolution are groups, whose kernel has one input feature each.
// CHECK-LABEL: func.func @depthwise(
// CHECK: linalg.depthwise_conv_2d_nhwc_hwc
func.func @depthwise(%x: tensor<1x9x9x8xf32>, %w: tensor<3x3x8xf32>) -> tensor<1x4x4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x4x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  %y = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
      ins(%x, %w : tensor<1x9x9x8xf32>, tensor<3x3x8xf32>) outs(%f : tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  return %y : tensor<1x4x4x8xf32>
}

// A window that is wider than its stride, whose largest element is taken.
// CHECK-LABEL: func.func @pool(
// CHECK: linalg.pooling_nhwc_max
func.func @pool(%x: tensor<1x9x9x8xf32>) -> tensor<1x4x4x8xf32> {
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<1x4x4x8xf32>
  %window = tensor.empty() : tensor<3x3xf32>
  %f = linalg.fill ins(%least : f32) outs(%e : tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  %y = linalg.pooling_nhwc_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
      ins(%x, %window : tensor<1x9x9x8xf32>, tensor<3x3xf32>) outs(%f : tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  return %y : tensor<1x4x4x8xf32>
}

// The data of a look-up are taken in the order of a gather: rows are lines.
// CHECK-LABEL: func.func @rows(
// CHECK: %[[DATA:.*]] = layout.convert %{{.*}} to tensor<256x100xf32, #layout.tiled<{1,0:T(8,128)}>>
// CHECK: tensor.extract %[[DATA]]
func.func @rows(%data: tensor<256x100xf32>, %rows: tensor<40xi32>) -> tensor<40x100xf32> {
  %e = tensor.empty() : tensor<40x100xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%rows : tensor<40xi32>) outs(%e : tensor<40x100xf32>) {
  ^bb0(%row: i32, %out: f32):
    %i = arith.index_cast %row : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %data[%i, %j] : tensor<256x100xf32>
    linalg.yield %v : f32
  } -> tensor<40x100xf32>
  return %y : tensor<40x100xf32>
}
