// A tensor that leaves the faster memory and comes back, in a program and in each round of a loop, within what three and
// two tensors take: the numbers are those of the program without layouts, where copies are made as they start and
// where they are waited for, with what is not in use filled with ones.
// RUN: layout-opt %s --layout-to-llvm | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: for capacity in 200704 135168; do for form in strided "physical vectorize=avx2"; do echo "form=$form capacity=$capacity"; done; done \
// RUN:     | while read options; do \
// RUN:   layout-opt %s --layout-to-memref="$options plan machine=tpu_v5e spaces" 2>/dev/null > %t || exit 1; \
// RUN:   for late in "" "=late"; do layout-opt %t --layout-plan-memory=poison --layout-expand-dma$late --layout-convert-to-llvm \
// RUN:     | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s || exit 1; done; done
// With three, one copy leaves and one comes back, in the loop as well.
// RUN: layout-opt %s --mlir-print-local-scope --layout-plan="machine=tpu_v5e spaces capacity=200704" 2>/dev/null | FileCheck %s --check-prefix=COPIES
// COPIES-LABEL: @straight
// COPIES: layout.convert {{.*}} {async{{.*}} : tensor<128x128xi32, #layout.tiled<{1,0:S(1)}>> to tensor<128x128xi32>
// COPIES: layout.convert {{.*}} {async{{.*}} : tensor<128x128xi32> to tensor<128x128xi32, #layout.tiled<{1,0:S(1)}>>
// COPIES-NOT: async
// COPIES-LABEL: @loop
// COPIES: scf.for {{.*}}(tensor<128x128xi32
// COPIES: layout.convert {{.*}} {async{{.*}} : tensor<128x128xi32, #layout.tiled<{1,0:S(1)}>> to tensor<128x128xi32>
// COPIES: layout.convert {{.*}} {async{{.*}} : tensor<128x128xi32> to tensor<128x128xi32, #layout.tiled<{1,0:S(1)}>>
// COPIES-NOT: async

// `%a` is read at the beginning and at the end.
func.func @straight() {
  %zero = arith.constant 0 : index
  %three = arith.constant 3 : index
  %five = arith.constant 5 : index
  %seven = arith.constant 7 : index
  %p = arith.constant 0 : i32
  %e = tensor.empty() : tensor<128x128xi32>
  %z = linalg.fill ins(%p : i32) outs(%e : tensor<128x128xi32>) -> tensor<128x128xi32>
  // Element (i, j) is twice (7 i + j + shift) mod 5, and 1 more where i is j: the determinant is odd, so no product is zero.
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<128x128xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.muli %i, %seven : index
    %s = arith.addi %k, %j : index
    %t = arith.addi %s, %zero : index
    %m = arith.remui %t, %five : index
    %two = arith.addi %m, %m : index
    %n = arith.index_cast %two : index to i32
    %same = arith.cmpi eq, %i, %j : index
    %odd = arith.extui %same : i1 to i32
    %own = arith.addi %n, %odd : i32
    linalg.yield %own : i32
  } -> tensor<128x128xi32>
  %w = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<128x128xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.muli %i, %seven : index
    %s = arith.addi %k, %j : index
    %t = arith.addi %s, %three : index
    %m = arith.remui %t, %five : index
    %two = arith.addi %m, %m : index
    %n = arith.index_cast %two : index to i32
    %same = arith.cmpi eq, %i, %j : index
    %odd = arith.extui %same : i1 to i32
    %own = arith.addi %n, %odd : i32
    linalg.yield %own : i32
  } -> tensor<128x128xi32>
  %a = linalg.matmul ins(%x, %w : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
  %b0 = linalg.matmul ins(%a, %w : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
  %b1 = linalg.matmul ins(%b0, %w : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
  %b2 = linalg.matmul ins(%b1, %w : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
  %b3 = linalg.matmul ins(%b2, %w : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
  %b4 = linalg.matmul ins(%b3, %w : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
  %b5 = linalg.matmul ins(%b4, %w : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
  %b6 = linalg.matmul ins(%b5, %w : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
  %b7 = linalg.matmul ins(%b6, %w : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
  %c0 = linalg.matmul ins(%b7, %a : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
  %c1 = linalg.matmul ins(%c0, %a : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
  %c2 = linalg.matmul ins(%c1, %a : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
  %c3 = linalg.matmul ins(%c2, %a : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
  %c4 = linalg.matmul ins(%c3, %a : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
  %c5 = linalg.matmul ins(%c4, %a : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
  %c6 = linalg.matmul ins(%c5, %a : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
  %c7 = linalg.matmul ins(%c6, %a : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
  %row = arith.constant 77 : index
  %r = vector.transfer_read %c7[%row, %zero], %p {in_bounds = [true]} : tensor<128x128xi32>, vector<8xi32>
  // CHECK: ( -1359508616, 684932566, 2063055830, -1386831292, -747528360, -1359508616, 684932566, 2063055830 )
  vector.print %r : vector<8xi32>
  // The sum of all elements, each times its number.
  %d = tensor.empty() : tensor<i32>
  %f = linalg.fill ins(%p : i32) outs(%d : tensor<i32>) -> tensor<i32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%c7 : tensor<128x128xi32>) outs(%f : tensor<i32>) {
  ^bb0(%v: i32, %o: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.muli %i, %three : index
    %n = arith.addi %k, %j : index
    %c = arith.index_cast %n : index to i32
    %m = arith.muli %v, %c : i32
    %t = arith.addi %o, %m : i32
    linalg.yield %t : i32
  } -> tensor<i32>
  %t = tensor.extract %s[] : tensor<i32>
  // CHECK: 671499916
  vector.print %t : i32
  return
}

// The same in each round of a loop.
func.func @loop() {
  %zero = arith.constant 0 : index
  %three = arith.constant 3 : index
  %five = arith.constant 5 : index
  %seven = arith.constant 7 : index
  %p = arith.constant 0 : i32
  %e = tensor.empty() : tensor<128x128xi32>
  %z = linalg.fill ins(%p : i32) outs(%e : tensor<128x128xi32>) -> tensor<128x128xi32>
  // Element (i, j) is twice (7 i + j + shift) mod 5, and 1 more where i is j: the determinant is odd, so no product is zero.
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<128x128xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.muli %i, %seven : index
    %s = arith.addi %k, %j : index
    %t = arith.addi %s, %zero : index
    %m = arith.remui %t, %five : index
    %two = arith.addi %m, %m : index
    %n = arith.index_cast %two : index to i32
    %same = arith.cmpi eq, %i, %j : index
    %odd = arith.extui %same : i1 to i32
    %own = arith.addi %n, %odd : i32
    linalg.yield %own : i32
  } -> tensor<128x128xi32>
  %w = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<128x128xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.muli %i, %seven : index
    %s = arith.addi %k, %j : index
    %t = arith.addi %s, %three : index
    %m = arith.remui %t, %five : index
    %two = arith.addi %m, %m : index
    %n = arith.index_cast %two : index to i32
    %same = arith.cmpi eq, %i, %j : index
    %odd = arith.extui %same : i1 to i32
    %own = arith.addi %n, %odd : i32
    linalg.yield %own : i32
  } -> tensor<128x128xi32>
  %upper = arith.constant 3 : index
  %step = arith.constant 1 : index
  %l = scf.for %round = %zero to %upper step %step iter_args(%v = %x) -> (tensor<128x128xi32>) {
    %a = linalg.matmul ins(%v, %w : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
    %b0 = linalg.matmul ins(%a, %w : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
    %b1 = linalg.matmul ins(%b0, %w : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
    %b2 = linalg.matmul ins(%b1, %w : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
    %b3 = linalg.matmul ins(%b2, %w : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
    %b4 = linalg.matmul ins(%b3, %w : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
    %b5 = linalg.matmul ins(%b4, %w : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
    %b6 = linalg.matmul ins(%b5, %w : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
    %b7 = linalg.matmul ins(%b6, %w : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
    %c0 = linalg.matmul ins(%b7, %a : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
    %c1 = linalg.matmul ins(%c0, %a : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
    %c2 = linalg.matmul ins(%c1, %a : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
    %c3 = linalg.matmul ins(%c2, %a : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
    %c4 = linalg.matmul ins(%c3, %a : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
    %c5 = linalg.matmul ins(%c4, %a : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
    %c6 = linalg.matmul ins(%c5, %a : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
    %c7 = linalg.matmul ins(%c6, %a : tensor<128x128xi32>, tensor<128x128xi32>) outs(%z : tensor<128x128xi32>) -> tensor<128x128xi32>
    scf.yield %c7 : tensor<128x128xi32>
  }
  %row = arith.constant 77 : index
  %r = vector.transfer_read %l[%row, %zero], %p {in_bounds = [true]} : tensor<128x128xi32>, vector<8xi32>
  // CHECK: ( -1530376220, -1905446254, 702335298, 1136747436, -1303227972, -1530376220, -1905446254, 702335298 )
  vector.print %r : vector<8xi32>
  // The sum of all elements, each times its number.
  %d = tensor.empty() : tensor<i32>
  %f = linalg.fill ins(%p : i32) outs(%d : tensor<i32>) -> tensor<i32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%l : tensor<128x128xi32>) outs(%f : tensor<i32>) {
  ^bb0(%v: i32, %o: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.muli %i, %three : index
    %n = arith.addi %k, %j : index
    %c = arith.index_cast %n : index to i32
    %m = arith.muli %v, %c : i32
    %t = arith.addi %o, %m : i32
    linalg.yield %t : i32
  } -> tensor<i32>
  %t = tensor.extract %s[] : tensor<i32>
  // CHECK: 1640535368
  vector.print %t : i32
  return
}

func.func @main() {
  func.call @straight() : () -> ()
  func.call @loop() : () -> ()
  return
}
