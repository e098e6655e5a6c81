// linalg.softmax from one layout into another, and tensor.concat, by known numbers: rows of softmax(i*j), twice. Then of
// memrefs, and of the columns of the result in place.
// RUN: layout-opt %s --layout-to-llvm \
// RUN:   | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm=form=physical \
// RUN:   | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s

// CHECK: [0.333333, {{ *}}0.333333, {{ *}}0.333333]
// CHECK-NEXT: [0.0900306, {{ *}}0.244728, {{ *}}0.665241]
// CHECK-NEXT: [0.0158762, {{ *}}0.11731, {{ *}}0.86681{{[34]}}]
// CHECK: [0.333333, {{ *}}0.333333, {{ *}}0.333333]
// CHECK-NEXT: [0.0900306, {{ *}}0.244728, {{ *}}0.665241]
// CHECK: [0.25335{{[0-9]*}}, {{ *}}0.23{{[0-9]*}}, {{ *}}0.12715
// CHECK-NEXT: [0.19863{{[0-9]*}}, {{ *}}0.21781{{[0-9]*}}, {{ *}}0.17721
#T = #layout.tiled<{1,0:T(8,128)}>
#C = #layout.tiled<{0,1:T(4,8)}>
func.func private @printMemrefF32(tensor<*xf32>)
func.func @memrefs(%x: memref<5x3xf32, #T>, %y: memref<5x3xf32>) {
  linalg.softmax dimension(1) ins(%x : memref<5x3xf32, #T>) outs(%y : memref<5x3xf32>)
  linalg.softmax dimension(0) ins(%y : memref<5x3xf32>) outs(%y : memref<5x3xf32>)
  return
}
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
  %mx = memref.alloc() : memref<5x3xf32, #T>
  %my = memref.alloc() : memref<5x3xf32>
  affine.for %i = 0 to 5 {
    affine.for %j = 0 to 3 {
      %n = arith.muli %i, %j : index
      %v = arith.index_cast %n : index to i32
      %f = arith.sitofp %v : i32 to f32
      affine.store %f, %mx[%i, %j] : memref<5x3xf32, #T>
    }
  }
  call @memrefs(%mx, %my) : (memref<5x3xf32, #T>, memref<5x3xf32>) -> ()
  %mt = bufferization.to_tensor %my restrict : memref<5x3xf32> to tensor<5x3xf32>
  %mu = tensor.cast %mt : tensor<5x3xf32> to tensor<*xf32>
  call @printMemrefF32(%mu) : (tensor<*xf32>) -> ()
  memref.dealloc %mx : memref<5x3xf32, #T>
  memref.dealloc %my : memref<5x3xf32>
  return
}
