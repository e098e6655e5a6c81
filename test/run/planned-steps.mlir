// Programs that run in steps, since little fits into 2 x 4 places: what comes out computes what went in. Products, one of
// them added to what is there, a chain as in attention, a convolution; also on one place.
// RUN: layout-opt %s --layout-to-llvm | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: for entry in fixed free; do for capacity in 320 512 4096; do echo "entry=$entry capacity=$capacity"; done; done \
// RUN:     | while read options; do \
// RUN:   layout-opt %s --layout-to-llvm="plan $options" 2>/dev/null \
// RUN:     | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s || exit 1; done
// RUN: sed 's/2_G, 4_PE/1_G, 1_PE/' %s | layout-opt --layout-to-llvm="plan capacity=512" 2>/dev/null \
// RUN:   | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s

module attributes {layout.machine = #layout.machine<axes: (2_G, 4_PE), memories: (LM: 1 at PE with 65536 bytes), word: 32, unit: cycle, links: (G: 16, PE: 8)>} {
  // Element (i, j) is (7 i + j) mod 5 - 1.
  func.func private @numbers() -> tensor<32x64xf32> {
    %e = tensor.empty() : tensor<32x64xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        outs(%e : tensor<32x64xf32>) {
    ^bb0(%o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %seven = arith.constant 7 : index
      %five = arith.constant 5 : index
      %one = arith.constant 1.0 : f32
      %k = arith.muli %i, %seven : index
      %s = arith.addi %k, %j : index
      %m = arith.remui %s, %five : index
      %n = arith.index_cast %m : index to i32
      %f = arith.sitofp %n : i32 to f32
      %g = arith.subf %f, %one : f32
      linalg.yield %g : f32
    } -> tensor<32x64xf32>
    return %r : tensor<32x64xf32>
  }

  // x · xᵀ, and the same added to it.
  func.func private @products(%x: tensor<32x64xf32>) -> tensor<32x32xf32> {
    %t = tensor.empty() : tensor<64x32xf32>
    %xt = linalg.transpose ins(%x : tensor<32x64xf32>) outs(%t : tensor<64x32xf32>) permutation = [1, 0]
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<32x32xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x32xf32>) -> tensor<32x32xf32>
    %p = linalg.matmul ins(%x, %xt : tensor<32x64xf32>, tensor<64x32xf32>) outs(%z : tensor<32x32xf32>) -> tensor<32x32xf32>
    %q = linalg.matmul ins(%x, %xt : tensor<32x64xf32>, tensor<64x32xf32>) outs(%p : tensor<32x32xf32>) -> tensor<32x32xf32>
    return %q : tensor<32x32xf32>
  }

  // s = x · yᵀ, less the largest of each row, then times y.
  func.func private @chain(%x: tensor<32x64xf32>, %y: tensor<32x64xf32>) -> tensor<32x64xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<32x32xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x32xf32>) -> tensor<32x32xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>],
        iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %y : tensor<32x64xf32>, tensor<32x64xf32>) outs(%z : tensor<32x32xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %n = arith.addf %o, %m : f32
      linalg.yield %n : f32
    } -> tensor<32x32xf32>
    %r = tensor.empty() : tensor<32xf32>
    %rz = linalg.fill ins(%zero : f32) outs(%r : tensor<32xf32>) -> tensor<32xf32>
    %t = linalg.reduce { arith.maximumf } ins(%s : tensor<32x32xf32>) outs(%rz : tensor<32xf32>) dimensions = [1]
    %d = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]}
        ins(%s, %t : tensor<32x32xf32>, tensor<32xf32>) outs(%e : tensor<32x32xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.subf %a, %b : f32
      linalg.yield %m : f32
    } -> tensor<32x32xf32>
    %f = tensor.empty() : tensor<32x64xf32>
    %fz = linalg.fill ins(%zero : f32) outs(%f : tensor<32x64xf32>) -> tensor<32x64xf32>
    %o = linalg.matmul ins(%d, %y : tensor<32x32xf32>, tensor<32x64xf32>) outs(%fz : tensor<32x64xf32>) -> tensor<32x64xf32>
    return %o : tensor<32x64xf32>
  }

  func.func private @convolution(%x: tensor<32x64xf32>) -> tensor<1x8x16x8xf32> {
    %flat = tensor.collapse_shape %x [[0, 1]] : tensor<32x64xf32> into tensor<2048xf32>
    %i = tensor.extract_slice %flat[0] [720] [1] : tensor<2048xf32> to tensor<720xf32>
    %a = tensor.expand_shape %i [[0, 1, 2, 3]] output_shape [1, 10, 18, 4] : tensor<720xf32> into tensor<1x10x18x4xf32>
    %w = tensor.extract_slice %x[0, 0] [9, 32] [1, 1] : tensor<32x64xf32> to tensor<9x32xf32>
    %v = tensor.expand_shape %w [[0, 1], [2, 3]] output_shape [3, 3, 4, 8] : tensor<9x32xf32> into tensor<3x3x4x8xf32>
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<1x8x16x8xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x8x16x8xf32>) -> tensor<1x8x16x8xf32>
    %c = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
        ins(%a, %v : tensor<1x10x18x4xf32>, tensor<3x3x4x8xf32>) outs(%z : tensor<1x8x16x8xf32>) -> tensor<1x8x16x8xf32>
    return %c : tensor<1x8x16x8xf32>
  }

  func.func private @printMemrefF32(tensor<*xf32>)
  func.func @main() {
    %x = call @numbers() : () -> tensor<32x64xf32>
    %p = call @products(%x) : (tensor<32x64xf32>) -> tensor<32x32xf32>
    %c = call @chain(%x, %x) : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
    %v = call @convolution(%x) : (tensor<32x64xf32>) -> tensor<1x8x16x8xf32>
    %ps = tensor.extract_slice %p[9, 4] [3, 6] [1, 1] : tensor<32x32xf32> to tensor<3x6xf32>
    %cs = tensor.extract_slice %c[17, 40] [3, 6] [1, 1] : tensor<32x64xf32> to tensor<3x6xf32>
    %vs = tensor.extract_slice %v[0, 5, 11, 0] [1, 1, 3, 8] [1, 1, 1, 1] : tensor<1x8x16x8xf32> to tensor<3x8xf32>
    %up = tensor.cast %ps : tensor<3x6xf32> to tensor<*xf32>
    call @printMemrefF32(%up) : (tensor<*xf32>) -> ()
    %uc = tensor.cast %cs : tensor<3x6xf32> to tensor<*xf32>
    call @printMemrefF32(%uc) : (tensor<*xf32>) -> ()
    %uv = tensor.cast %vs : tensor<3x8xf32> to tensor<*xf32>
    call @printMemrefF32(%uv) : (tensor<*xf32>) -> ()
    return
  }
}

// CHECK: {{\[}}[388,   -6,   130,   126,   2,   388],
// CHECK-NEXT: [-6,   372,   0,   118,   136,   -6],
// CHECK-NEXT: [130,   0,   390,   0,   130,   130]]
// CHECK: {{\[}}[-1949,   -6112,   -6435,   -3913,   -2406,   -1949],
// CHECK-NEXT: [-5793,   -4128,   -2433,   -2013,   -6108,   -5793],
// CHECK-NEXT: [-1882,   -2178,   -6404,   -6115,   -4551,   -1882]]
// CHECK: {{\[}}[38,   57,   36,   30,   34,   38,   57,   36],
// CHECK-NEXT: [24,   22,   30,   53,   36,   24,   22,   30],
// CHECK-NEXT: [50,   27,   14,   16,   28,   50,   27,   14]]
