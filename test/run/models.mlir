// An operation with a model by known numbers, with and without a plan: x * w is [[1, -1, 3], [-2, 4, 4]], and then negative
// elements are 0.
// RUN: %{lines} form=strided form=physical "plan machine=tpu_v5e" "plan machine=tpu_v5e vectorize=avx2" \
// RUN: | while read options; do \
// RUN:   layout-opt %s --allow-unregistered-dialect --layout-to-llvm="$options" \
// RUN:     | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s || exit 1; \
// RUN: done

#rows = #layout.tiled<{1,0:T(8,128)}>
func.func private @printMemrefF32(tensor<*xf32>)

func.func private @product(%x: tensor<2x2xf32>, %w: tensor<2x3xf32>) -> tensor<2x3xf32>
    attributes {layout.model = "mini.product"} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x3xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = linalg.matmul ins(%x, %w : tensor<2x2xf32>, tensor<2x3xf32>) outs(%start : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

func.func private @relu(%x: tensor<2x3xf32, #rows>) -> tensor<2x3xf32, #rows>
    attributes {layout.model = "mini.relu", layout.cost = 10 : i64} {
  %zero = arith.constant dense<0.0> : tensor<2x3xf32, #rows>
  %y = arith.maximumf %x, %zero : tensor<2x3xf32, #rows>
  return %y : tensor<2x3xf32, #rows>
}

func.func @rows(%x: tensor<2x2xf32>, %w: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {no_inline} {
  %y = "mini.product"(%x, %w) : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = "mini.relu"(%y) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// CHECK: {{\[\[1, +0, +3\],}}
// CHECK-NEXT: {{\[0, +4, +4\]\]}}
func.func @main() {
  %x = arith.constant dense<[[1.0, 0.0], [0.0, 2.0]]> : tensor<2x2xf32>
  %w = arith.constant dense<[[1.0, -1.0, 3.0], [-1.0, 2.0, 2.0]]> : tensor<2x3xf32>
  %y = call @rows(%x, %w) : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %u = tensor.cast %y : tensor<2x3xf32> to tensor<*xf32>
  call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
  return
}
