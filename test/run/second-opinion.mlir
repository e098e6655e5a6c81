// What proofs decide about addresses is decided again by z3, which knows nothing of them: no obligation has a counterexample.
// RUN: for o in form=strided form=physical vectorize=avx2; do \
// RUN:   layout-opt %s "--layout-verify=steps=1048576 passes={layout-to-memref{$o}} smt=%t.mlir" -o /dev/null 2>&1 || exit 1; \
// RUN:   mlir-translate --export-smtlib --smtlibexport-inline-single-use-values %t.mlir > %t.smt2 || exit 1; \
// RUN:   z3 -t:60000 %t.smt2 | LC_ALL=C sort | uniq -c > %t.answers; \
// RUN:   test "$(sed -n 's|^// obligations: ||p' %t.mlir) unsat" = "$(sed 's/^ *//' %t.answers)" || { cat %t.answers; exit 1; }; \
// RUN:   grep -q '^// without a formula: 0$' %t.mlir || exit 1; \
// RUN:   sed -n 's|^  // \(@.*\)|\1|p' %t.mlir | LC_ALL=C sort -u; \
// RUN: done | FileCheck %s

#tile = #layout.tiled<{1,0:T(2,4)}>
#turned = #layout.tiled<{0,1:T(4)}>

// CHECK-DAG: @product: an iteration of a store
func.func @product(%x: tensor<5x6xf32>, %y: tensor<6x9xf32>, %s: tensor<5x9xf32>) -> tensor<5x9xf32> {
  %z = linalg.matmul ins(%x, %y : tensor<5x6xf32>, tensor<6x9xf32>) outs(%s : tensor<5x9xf32>) -> tensor<5x9xf32>
  return %z : tensor<5x9xf32>
}

// CHECK-DAG: @relayout: an iteration of a store
func.func @relayout(%x: tensor<5x10xf32>) -> tensor<5x10xf32, #tile> {
  %z = layout.convert %x : tensor<5x10xf32> to tensor<5x10xf32, #tile>
  return %z : tensor<5x10xf32, #tile>
}

// CHECK-DAG: @from_tiles: an iteration of a store
func.func @from_tiles(%x: tensor<5x10xf32, #tile>) -> tensor<5x10xf32> {
  %z = layout.convert %x : tensor<5x10xf32, #tile> to tensor<5x10xf32>
  return %z : tensor<5x10xf32>
}

// CHECK-DAG: @between: an iteration of a store
func.func @between(%x: tensor<5x10xf32, #tile>) -> tensor<5x10xf32, #turned> {
  %z = layout.convert %x : tensor<5x10xf32, #tile> to tensor<5x10xf32, #turned>
  return %z : tensor<5x10xf32, #turned>
}

// CHECK-DAG: @transposition: an iteration of a store
func.func @transposition(%x: tensor<6x9xf32>, %o: tensor<9x6xf32>) -> tensor<9x6xf32> {
  %z = linalg.transpose ins(%x : tensor<6x9xf32>) outs(%o : tensor<9x6xf32>) permutation = [1, 0]
  return %z : tensor<9x6xf32>
}

// CHECK-DAG: @convolution: an iteration of a store
func.func @convolution(%x: tensor<1x4x5x2xf32>, %k: tensor<2x2x2x4xf32>, %s: tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32> {
  %z = linalg.conv_2d_nhwc_hwcf ins(%x, %k : tensor<1x4x5x2xf32>, tensor<2x2x2x4xf32>)
      outs(%s : tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  return %z : tensor<1x3x4x4xf32>
}

// CHECK-DAG: @slice: an iteration of a store
func.func @slice(%x: tensor<9x12xf32, #tile>) -> tensor<4x5xf32> {
  %z = tensor.extract_slice %x[1, 3] [4, 5] [2, 1] : tensor<9x12xf32, #tile> to tensor<4x5xf32>
  return %z : tensor<4x5xf32>
}

// CHECK-DAG: @sums: an iteration of a store
func.func @sums(%x: tensor<7x9xf32, #tile>, %s: tensor<7xf32>) -> tensor<7xf32> {
  %z = linalg.reduce ins(%x : tensor<7x9xf32, #tile>) outs(%s : tensor<7xf32>) dimensions = [1]
    (%a: f32, %b: f32) { %c = arith.addf %a, %b : f32 linalg.yield %c : f32 }
  return %z : tensor<7xf32>
}

// CHECK-DAG: @columns: an iteration of a store
func.func @columns(%x: tensor<7x19xf32>, %s: tensor<19xf32>) -> tensor<19xf32> {
  %z = linalg.reduce ins(%x : tensor<7x19xf32>) outs(%s : tensor<19xf32>) dimensions = [0]
    (%a: f32, %b: f32) { %c = arith.addf %a, %b : f32 linalg.yield %c : f32 }
  return %z : tensor<19xf32>
}

// CHECK-DAG: @elementwise: an iteration of a store
func.func @elementwise(%x: tensor<3x21xf32>, %y: tensor<3x21xf32, #tile>) -> tensor<3x21xf32> {
  %e = tensor.empty() : tensor<3x21xf32>
  %z = linalg.add ins(%x, %y : tensor<3x21xf32>, tensor<3x21xf32, #tile>) outs(%e : tensor<3x21xf32>) -> tensor<3x21xf32>
  return %z : tensor<3x21xf32>
}
