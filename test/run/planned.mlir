// Programs whose layouts are planned: loops, branches, calls, products, slices, reshapes, reductions; the numbers are those
// of the program without layouts.
// RUN: layout-opt %s --layout-to-llvm | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: for machine in tpu_v5e cpu tpu_like mn_core; do for entry in fixed default free; do \
// RUN:   layout-opt %s --layout-to-llvm="plan machine=$machine entry=$entry" \
// RUN:     | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s || exit 1; done; done
// RUN: layout-opt %s --layout-plan=machine=tpu_v5e --layout-to-llvm="form=physical vectorize=avx2" \
// RUN:   | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s

// Element (i, j) is 7 i + j.
func.func private @numbers() -> tensor<12x20xi32> {
  %e = tensor.empty() : tensor<12x20xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<12x20xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %seven = arith.constant 7 : index
    %k = arith.muli %i, %seven : index
    %s = arith.addi %k, %j : index
    %n = arith.index_cast %s : index to i32
    linalg.yield %n : i32
  } -> tensor<12x20xi32>
  return %r : tensor<12x20xi32>
}

// The transpose, added to itself as often as it is told; then the sums of its rows.
func.func private @sums(%x: tensor<12x20xi32>, %n: index) -> tensor<20xi32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %e = tensor.empty() : tensor<20x12xi32>
  %t = linalg.transpose ins(%x : tensor<12x20xi32>) outs(%e : tensor<20x12xi32>) permutation = [1, 0]
  %r = scf.for %k = %zero to %n step %one iter_args(%a = %t) -> (tensor<20x12xi32>) {
    %odd = arith.remui %k, %one : index
    %c = arith.cmpi eq, %odd, %zero : index
    %b = scf.if %c -> (tensor<20x12xi32>) {
      %s = arith.addi %a, %t : tensor<20x12xi32>
      scf.yield %s : tensor<20x12xi32>
    } else {
      scf.yield %a : tensor<20x12xi32>
    }
    scf.yield %b : tensor<20x12xi32>
  }
  %0 = arith.constant 0 : i32
  %f = tensor.empty() : tensor<20xi32>
  %z = linalg.fill ins(%0 : i32) outs(%f : tensor<20xi32>) -> tensor<20xi32>
  %s = linalg.reduce { arith.addi } ins(%r : tensor<20x12xi32>) outs(%z : tensor<20xi32>) dimensions = [1]
  return %s : tensor<20xi32>
}

// A product of slices, reshaped.
func.func private @product(%x: tensor<12x20xi32>) -> tensor<4x6xi32> {
  %a = tensor.extract_slice %x[0, 0] [4, 10] [1, 1] : tensor<12x20xi32> to tensor<4x10xi32>
  %b = tensor.extract_slice %x[2, 4] [10, 6] [1, 2] : tensor<12x20xi32> to tensor<10x6xi32>
  %0 = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4x6xi32>
  %z = linalg.fill ins(%0 : i32) outs(%e : tensor<4x6xi32>) -> tensor<4x6xi32>
  %p = linalg.matmul ins(%a, %b : tensor<4x10xi32>, tensor<10x6xi32>) outs(%z : tensor<4x6xi32>) -> tensor<4x6xi32>
  %flat = tensor.collapse_shape %p [[0, 1]] : tensor<4x6xi32> into tensor<24xi32>
  %two = arith.constant dense<2> : tensor<24xi32>
  %twice = arith.muli %flat, %two : tensor<24xi32>
  %r = tensor.expand_shape %twice [[0, 1]] output_shape [4, 6] : tensor<24xi32> into tensor<4x6xi32>
  return %r : tensor<4x6xi32>
}

func.func @main() {
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  %p = arith.constant 0 : i32
  %x = func.call @numbers() : () -> tensor<12x20xi32>
  %s = func.call @sums(%x, %two) : (tensor<12x20xi32>, index) -> tensor<20xi32>
  %v = vector.transfer_read %s[%zero], %p {in_bounds = [true]} : tensor<20xi32>, vector<20xi32>
  // CHECK: ( 1386, 1422, 1458, 1494, 1530, 1566, 1602, 1638, 1674, 1710, 1746, 1782, 1818, 1854, 1890, 1926, 1962, 1998, 2034, 2070 )
  vector.print %v : vector<20xi32>
  %m = func.call @product(%x) : (tensor<12x20xi32>) -> tensor<4x6xi32>
  %w = vector.transfer_read %m[%zero, %zero], %p {in_bounds = [true, true]} : tensor<4x6xi32>, vector<4x6xi32>
  // CHECK: ( ( 5610, 5790, 5970, 6150, 6330, 6510 ), ( 12540, 13000, 13460, 13920, 14380, 14840 ), ( 19470, 20210, 20950, 21690, 22430, 23170 ), ( 26400, 27420, 28440, 29460, 30480, 31500 ) )
  vector.print %w : vector<4x6xi32>
  return
}
