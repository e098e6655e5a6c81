// The product of a row and a column of 4,096 ones in f16, which ends at 2,048 where each step is rounded.
// RUN: layout-opt %s --layout-to-llvm | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} \
// RUN:   | FileCheck %s --check-prefix=ROUNDED
// RUN: %{lines} reassociate "reassociate form=physical" "reassociate vectorize=avx2" | while read options; do \
// RUN:   layout-opt %s --layout-to-llvm="$options" \
// RUN:     | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s || exit 1; \
// RUN: done

// ROUNDED: ( 2048, 2048 )
// CHECK: ( 4096, 4096 )
func.func @product(%a: tensor<2x4096xf16>, %b: tensor<4096x1xf16>) -> tensor<2x1xf16> attributes {no_inline} {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<2x1xf16>
  %zeros = linalg.fill ins(%zero : f16) outs(%empty : tensor<2x1xf16>) -> tensor<2x1xf16>
  %y = linalg.matmul ins(%a, %b : tensor<2x4096xf16>, tensor<4096x1xf16>) outs(%zeros : tensor<2x1xf16>) -> tensor<2x1xf16>
  return %y : tensor<2x1xf16>
}

func.func @main() {
  %a = arith.constant dense<1.0> : tensor<2x4096xf16>
  %b = arith.constant dense<1.0> : tensor<4096x1xf16>
  %y = call @product(%a, %b) : (tensor<2x4096xf16>, tensor<4096x1xf16>) -> tensor<2x1xf16>
  %wide = arith.extf %y : tensor<2x1xf16> to tensor<2x1xf32>
  %row = tensor.collapse_shape %wide [[0, 1]] : tensor<2x1xf32> into tensor<2xf32>
  %i = arith.constant 0 : index
  %pad = arith.constant 0.0 : f32
  %v = vector.transfer_read %row[%i], %pad : tensor<2xf32>, vector<2xf32>
  vector.print %v : vector<2xf32>
  return
}
