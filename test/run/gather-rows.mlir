// A gather as `linalg.generic` copies rows: of each block its first row and one more, from layouts of both kinds.
// RUN: %{lines} form=strided form=physical vectorize=avx2 | while read options; do \
// RUN:   layout-opt %s --layout-to-llvm="$options" 2> %t.remarks \
// RUN:     | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s || exit 1; \
// RUN: done

#in = affine_map<(i, j, k) -> (i)>
#out = affine_map<(i, j, k) -> (i, j, k)>
#each = affine_map<(i, j) -> (i, j)>
#T = #layout.tiled<{1,0:T(2,4)}>

func.func private @printMemrefF32(tensor<*xf32>)

func.func @main() {
  // data[r, c] = 100 r + c.
  %data = tensor.empty() : tensor<9x20xf32, #T>
  %hundred = arith.constant 100 : index
  %numbers = linalg.generic {indexing_maps = [#each], iterator_types = ["parallel", "parallel"]} outs(%data : tensor<9x20xf32, #T>) {
  ^bb0(%o: f32):
    %r = linalg.index 0 : index
    %c = linalg.index 1 : index
    %h = arith.muli %r, %hundred : index
    %s = arith.addi %h, %c : index
    %n = arith.index_cast %s : index to i32
    %f = arith.sitofp %n : i32 to f32
    linalg.yield %f : f32
  } -> tensor<9x20xf32, #T>
  %rows = arith.constant dense<[7, 0, 4]> : tensor<3xi32>
  %two = arith.constant 2 : index
  %empty = tensor.empty() : tensor<3x2x10xf32>
  // The column of a block is half its row.
  %blocks = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel", "parallel"]} ins(%rows : tensor<3xi32>) outs(%empty : tensor<3x2x10xf32>) {
  ^bb0(%row: i32, %o: f32):
    %i = arith.index_cast %row : i32 to index
    %half = arith.divui %i, %two : index
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %r = arith.addi %i, %j : index
    %c = arith.addi %k, %half : index
    %e = tensor.extract %numbers[%r, %c] : tensor<9x20xf32, #T>
    linalg.yield %e : f32
  } -> tensor<3x2x10xf32>
  %shown = tensor.cast %blocks : tensor<3x2x10xf32> to tensor<*xf32>
  // CHECK: [703, {{ *}}704, {{ *}}705, {{ *}}706, {{ *}}707, {{ *}}708, {{ *}}709, {{ *}}710, {{ *}}711, {{ *}}712]
  // CHECK-NEXT: [803, {{ *}}804, {{ *}}805, {{ *}}806, {{ *}}807, {{ *}}808, {{ *}}809, {{ *}}810, {{ *}}811, {{ *}}812]
  // CHECK: [0, {{ *}}1, {{ *}}2, {{ *}}3, {{ *}}4, {{ *}}5, {{ *}}6, {{ *}}7, {{ *}}8, {{ *}}9]
  // CHECK-NEXT: [100, {{ *}}101, {{ *}}102, {{ *}}103, {{ *}}104, {{ *}}105, {{ *}}106, {{ *}}107, {{ *}}108, {{ *}}109]
  // CHECK: [402, {{ *}}403, {{ *}}404, {{ *}}405, {{ *}}406, {{ *}}407, {{ *}}408, {{ *}}409, {{ *}}410, {{ *}}411]
  // CHECK-NEXT: [502, {{ *}}503, {{ *}}504, {{ *}}505, {{ *}}506, {{ *}}507, {{ *}}508, {{ *}}509, {{ *}}510, {{ *}}511]
  call @printMemrefF32(%shown) : (tensor<*xf32>) -> ()
  return
}
