// Operations that run in steps on a machine without places, since little fits into its fast memory: products in three orders,
// elementwise operations, one that computes with indices, one with two results, a reduction, a transposition. Sizes are no
// multiples of those of steps: 76 rows, 397 columns.
// RUN: layout-opt %s --layout-to-llvm | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: for options in entry=fixed spaces entry=free; do for capacity in 150000 270000 500000; do echo "$options capacity=$capacity"; done; done \
// RUN:     | while read options; do \
// RUN:   layout-opt %s --layout-to-llvm="plan machine=tpu_v5e $options" 2>/dev/null \
// RUN:     | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s || exit 1; done
// The same on 2 x 4 places, where the sums of rows stay.
// RUN: %{lines} "entry=fixed capacity=512" "entry=fixed capacity=2048" "entry=free capacity=512" "entry=free capacity=2048" | while read options; do \
// RUN:   (echo 'module attributes {layout.machine = #layout.machine<axes: (2_G, 4_PE), memories: (LM: 1 at PE with 65536 bytes), word: 32, unit: cycle, links: (G: 16, PE: 8)>} {'; cat %s; echo '}') \
// RUN:     | layout-opt --layout-to-llvm="plan $options" 2>/dev/null \
// RUN:     | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s || exit 1; done

// Element (i, j) is (7 i + j) mod 5 - 1.
func.func private @numbers() -> tensor<76x397xf32> {
  %e = tensor.empty() : tensor<76x397xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<76x397xf32>) {
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
  } -> tensor<76x397xf32>
  return %r : tensor<76x397xf32>
}

// x · xᵀ, the same added to it, and x · (xᵀ x) with the dimensions of its result turned.
func.func private @products(%x: tensor<76x397xf32>) -> (tensor<76x76xf32>, tensor<397x76xf32>) {
  %t = tensor.empty() : tensor<397x76xf32>
  %xt = linalg.transpose ins(%x : tensor<76x397xf32>) outs(%t : tensor<397x76xf32>) permutation = [1, 0]
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<76x76xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<76x76xf32>) -> tensor<76x76xf32>
  %p = linalg.matmul ins(%x, %xt : tensor<76x397xf32>, tensor<397x76xf32>) outs(%z : tensor<76x76xf32>) -> tensor<76x76xf32>
  %q = linalg.matmul ins(%x, %xt : tensor<76x397xf32>, tensor<397x76xf32>) outs(%p : tensor<76x76xf32>) -> tensor<76x76xf32>
  %f = linalg.fill ins(%zero : f32) outs(%t : tensor<397x76xf32>) -> tensor<397x76xf32>
  %u = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (j, i)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%p, %x : tensor<76x76xf32>, tensor<76x397xf32>) outs(%f : tensor<397x76xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %o, %m : f32
    linalg.yield %n : f32
  } -> tensor<397x76xf32>
  return %q, %u : tensor<76x76xf32>, tensor<397x76xf32>
}

// x x + x, then i - 2 j more; of that the sum of each row; and what is two less, with three times as much.
func.func private @others(%x: tensor<76x397xf32>) -> (tensor<76x397xf32>, tensor<76xf32>, tensor<76x397xf32>, tensor<76x397xf32>) {
  %m = arith.mulf %x, %x : tensor<76x397xf32>
  %a = arith.addf %m, %x : tensor<76x397xf32>
  %e = tensor.empty() : tensor<76x397xf32>
  %i = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<76x397xf32>) outs(%e : tensor<76x397xf32>) {
  ^bb0(%v: f32, %o: f32):
    %r = linalg.index 0 : index
    %c = linalg.index 1 : index
    %c2 = arith.addi %c, %c : index
    %d = arith.subi %r, %c2 : index
    %n = arith.index_cast %d : index to i32
    %f = arith.sitofp %n : i32 to f32
    %g = arith.addf %v, %f : f32
    linalg.yield %g : f32
  } -> tensor<76x397xf32>
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<76xf32>
  %z = linalg.fill ins(%zero : f32) outs(%er : tensor<76xf32>) -> tensor<76xf32>
  %s = linalg.reduce { arith.addf } ins(%i : tensor<76x397xf32>) outs(%z : tensor<76xf32>) dimensions = [1]
  %b:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%i : tensor<76x397xf32>) outs(%e, %e : tensor<76x397xf32>, tensor<76x397xf32>) {
  ^bb0(%v: f32, %o0: f32, %o1: f32):
    %two = arith.constant 2.0 : f32
    %three = arith.constant 3.0 : f32
    %g = arith.subf %v, %two : f32
    %h = arith.mulf %v, %three : f32
    linalg.yield %g, %h : f32, f32
  } -> (tensor<76x397xf32>, tensor<76x397xf32>)
  return %i, %s, %b#0, %b#1 : tensor<76x397xf32>, tensor<76xf32>, tensor<76x397xf32>, tensor<76x397xf32>
}

func.func private @printMemrefF32(tensor<*xf32>)
func.func @main() {
  %x = call @numbers() : () -> tensor<76x397xf32>
  %q, %u = call @products(%x) : (tensor<76x397xf32>) -> (tensor<76x76xf32>, tensor<397x76xf32>)
  %o:4 = call @others(%x) : (tensor<76x397xf32>) -> (tensor<76x397xf32>, tensor<76xf32>, tensor<76x397xf32>, tensor<76x397xf32>)
  %qs = tensor.extract_slice %q[73, 69] [3, 4] [1, 1] : tensor<76x76xf32> to tensor<3x4xf32>
  %qu = tensor.cast %qs : tensor<3x4xf32> to tensor<*xf32>
  call @printMemrefF32(%qu) : (tensor<*xf32>) -> ()
  %us = tensor.extract_slice %u[394, 60] [3, 4] [1, 1] : tensor<397x76xf32> to tensor<3x4xf32>
  %uu = tensor.cast %us : tensor<3x4xf32> to tensor<*xf32>
  call @printMemrefF32(%uu) : (tensor<*xf32>) -> ()
  %is = tensor.extract_slice %o#0[74, 393] [2, 4] [1, 1] : tensor<76x397xf32> to tensor<2x4xf32>
  %iu = tensor.cast %is : tensor<2x4xf32> to tensor<*xf32>
  call @printMemrefF32(%iu) : (tensor<*xf32>) -> ()
  %ss = tensor.extract_slice %o#1[71] [5] [1] : tensor<76xf32> to tensor<5xf32>
  %su = tensor.cast %ss : tensor<5xf32> to tensor<*xf32>
  call @printMemrefF32(%su) : (tensor<*xf32>) -> ()
  %as = tensor.extract_slice %o#2[74, 250] [2, 4] [1, 1] : tensor<76x397xf32> to tensor<2x4xf32>
  %au = tensor.cast %as : tensor<2x4xf32> to tensor<*xf32>
  call @printMemrefF32(%au) : (tensor<*xf32>) -> ()
  %bs = tensor.extract_slice %o#3[74, 250] [2, 4] [1, 1] : tensor<76x397xf32> to tensor<2x4xf32>
  %bu = tensor.cast %bs : tensor<2x4xf32> to tensor<*xf32>
  call @printMemrefF32(%bu) : (tensor<*xf32>) -> ()
  return
}

// CHECK: {{\[}}[6,   790,   794,   -2],
// CHECK-NEXT: [2396,   -4,   806,   796],
// CHECK-NEXT: [-4,   2372,   -2,   784]]
// CHECK: {{\[}}[62733,   72,   60651,   1185],
// CHECK-NEXT: [-1411,   30001,   59458,   -320],
// CHECK-NEXT: [-75,   59775,   0,   29850]]
// CHECK: {{\[}}[-712,   -712,   -710,   -706],
// CHECK-NEXT: [-705,   -701,   -715,   -717]]
// CHECK: [-127437,   -127036,   -126649,   -126236,   -125857]
// CHECK: {{\[}}[-422,   -418,   -432,   -434],
// CHECK-NEXT: [-427,   -429,   -429,   -427]]
// CHECK: {{\[}}[-1260,   -1248,   -1290,   -1296],
// CHECK-NEXT: [-1275,   -1281,   -1281,   -1275]]
