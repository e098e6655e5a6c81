// linalg.softmax from one layout into another, and tensor.concat, by known numbers: rows of softmax(i*j), twice.
// RUN: layout-opt %s --layout-to-llvm \
// RUN:   | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm=form=physical \
// RUN:   | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s

// CHECK: [0.333333, {{ *}}0.333333, {{ *}}0.333333]
// CHECK-NEXT: [0.0900306, {{ *}}0.244728, {{ *}}0.665241]
// CHECK-NEXT: [0.0158762, {{ *}}0.11731, {{ *}}0.86681{{[34]}}]
// CHECK: [0.333333, {{ *}}0.333333, {{ *}}0.333333]
// CHECK-NEXT: [0.0900306, {{ *}}0.244728, {{ *}}0.665241]
#T = #layout.tiled<{1,0:T(8,128)}>
#C = #layout.tiled<{0,1:T(4,8)}>
func.func private @printMemrefF32(tensor<*xf32>)
func.func @main() {
  %e = tensor.empty() : tensor<5x3xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<5x3xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %n = arith.muli %i, %j : index
    %v = arith.index_cast %n : index to i32
    %f = arith.sitofp %v : i32 to f32
    linalg.yield %f : f32
  } -> tensor<5x3xf32>
  %t = layout.convert %x : tensor<5x3xf32> to tensor<5x3xf32, #T>
  %o = tensor.empty() : tensor<5x3xf32, #C>
  %s = linalg.softmax dimension(1) ins(%t : tensor<5x3xf32, #T>) outs(%o : tensor<5x3xf32, #C>) -> tensor<5x3xf32, #C>
  %c = tensor.concat dim(0) %s, %s : (tensor<5x3xf32, #C>, tensor<5x3xf32, #C>) -> tensor<10x3xf32, #C>
  %r = layout.convert %c : tensor<10x3xf32, #C> to tensor<10x3xf32>
  %u = tensor.cast %r : tensor<10x3xf32> to tensor<*xf32>
  call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
  return
}
