// Programs whose tensors are copied between memories, within a half and a third of what the faster one holds without a
// capacity: the numbers are those of the program without layouts, where copies are made as they start and where they are
// waited for, with what is not in use filled with ones.
// RUN: layout-opt %s --layout-to-llvm | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: for capacity in 1000000 200000 150000 100000; do for form in strided "physical vectorize=avx2"; do echo "form=$form capacity=$capacity"; done; done \
// RUN:     | while read options; do \
// RUN:   layout-opt %s --layout-to-llvm="$options plan machine=tpu_v5e spaces" \
// RUN:     | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s || exit 1; \
// RUN:   layout-opt %s --layout-to-memref="$options plan machine=tpu_v5e spaces" > %t.mlir || exit 1; \
// RUN:   layout-opt %t.mlir --layout-plan-memory=poison --layout-expand-dma=late --layout-convert-to-llvm \
// RUN:     | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s || exit 1; done
// RUN: for capacity in 200000 150000; do layout-opt %s --layout-to-memref="plan machine=tpu_v5e spaces capacity=$capacity"; done \
// RUN:   | grep -c dma_start | FileCheck %s --check-prefix=COPIES
// COPIES: 3

// Element (i, j) is (7 i + j) mod 5.
func.func private @numbers(%shift: index) -> tensor<128x128xi32> {
  %e = tensor.empty() : tensor<128x128xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<128x128xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %seven = arith.constant 7 : index
    %five = arith.constant 5 : index
    %k = arith.muli %i, %seven : index
    %s = arith.addi %k, %j : index
    %t = arith.addi %s, %shift : index
    %m = arith.remui %t, %five : index
    %n = arith.index_cast %m : index to i32
    linalg.yield %n : i32
  } -> tensor<128x128xi32>
  return %r : tensor<128x128xi32>
}

// The first product is read by the second and by the last.
func.func @long(%x: tensor<128x128xi32>, %w: tensor<128x128xi32>) -> tensor<128x128xi32> {
  %0 = arith.constant 0 : i32
  %e = tensor.empty() : tensor<128x128xi32>
  %z = linalg.fill ins(%0 : i32) outs(%e : tensor<128x128xi32>) -> tensor<128x128xi32>
  %a = linalg.matmul ins(%x, %w : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
  %b = linalg.matmul ins(%a, %w : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
  %c = linalg.matmul ins(%b, %w : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
  %d = linalg.matmul ins(%c, %w : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
  %f = linalg.matmul ins(%d, %x : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
  %y = linalg.matmul ins(%f, %a : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
  %v = linalg.sub ins(%y, %b : tensor<128x128xi32>, tensor<128x128xi32>) outs(%e : tensor<128x128xi32>) -> tensor<128x128xi32>
  return %v : tensor<128x128xi32>
}

func.func @main() {
  %zero = arith.constant 0 : index
  %three = arith.constant 3 : index
  %p = arith.constant 0 : i32
  %x = func.call @numbers(%zero) : (index) -> tensor<128x128xi32>
  %w = func.call @numbers(%three) : (index) -> tensor<128x128xi32>
  %y = func.call @long(%x, %w) : (tensor<128x128xi32>, tensor<128x128xi32>) -> tensor<128x128xi32>
  %row = arith.constant 77 : index
  %r = vector.transfer_read %y[%row, %zero], %p {in_bounds = [true]} : tensor<128x128xi32>, vector<8xi32>
  // CHECK: ( 651919850, -1936237962, 1997909036, 297436226, -2048056910, 651919850, -1936237962, 1997909036 )
  vector.print %r : vector<8xi32>
  // The sum of all elements, each times its number.
  %e = tensor.empty() : tensor<i32>
  %f = linalg.fill ins(%p : i32) outs(%e : tensor<i32>) -> tensor<i32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%y : tensor<128x128xi32>) outs(%f : tensor<i32>) {
  ^bb0(%a: i32, %o: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.muli %i, %three : index
    %n = arith.addi %k, %j : index
    %c = arith.index_cast %n : index to i32
    %m = arith.muli %a, %c : i32
    %t = arith.addi %o, %m : i32
    linalg.yield %t : i32
  } -> tensor<i32>
  %t = tensor.extract %s[] : tensor<i32>
  // CHECK: -1044404984
  vector.print %t : i32
  return
}
