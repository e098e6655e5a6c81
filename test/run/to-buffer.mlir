// Tensors with layouts that come from buffers and go to buffers, in the same layout and in another; allocated tensors;
// atomic updates and prefetches of one element.
// RUN: layout-opt %s --layout-to-llvm \
// RUN:   | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm=form=physical \
// RUN:   | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm=vectorize=avx2 2> %t.remarks \
// RUN:   | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
#T = #layout.tiled<{1,0:T(8,128)S(1)}>
#C = #layout.tiled<{0,1:T(4,8)}>
func.func private @printMemrefF32(memref<*xf32>)

// A buffer's elements, doubled, into another buffer.
func.func private @double(%from: memref<3x4xf32, #T>, %to: memref<3x4xf32, #C>) {
  %x = bufferization.to_tensor %from restrict : memref<3x4xf32, #T> to tensor<3x4xf32, #T>
  %y = arith.addf %x, %x : tensor<3x4xf32, #T>
  bufferization.materialize_in_destination %y in restrict writable %to : (tensor<3x4xf32, #T>, memref<3x4xf32, #C>) -> ()
  return
}
// A buffer in another layout than its tensor.
func.func private @other(%from: memref<3x4xf32, #T>) -> f32 {
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2 : index
  %x = bufferization.to_tensor %from restrict : memref<3x4xf32, #T> to tensor<3x4xf32, #C>
  %y = arith.addf %x, %x : tensor<3x4xf32, #C>
  %m = bufferization.to_buffer %y read_only : tensor<3x4xf32, #C> to memref<3x4xf32>
  %n = bufferization.to_buffer %y read_only : tensor<3x4xf32, #C> to memref<3x4xf32, #C>
  %a = memref.load %m[%two, %two] : memref<3x4xf32>
  %b = memref.load %n[%two, %two] : memref<3x4xf32, #C>
  %c = arith.addf %a, %b : f32
  return %c : f32
}
// A tensor stored into another one, and what is allocated.
func.func private @stored(%x: tensor<3x4xf32, #T>) -> tensor<3x4xf32, #C> {
  %copy = bufferization.alloc_tensor() copy(%x) : tensor<3x4xf32, #T>
  %new = bufferization.alloc_tensor() : tensor<3x4xf32, #C>
  %0 = bufferization.materialize_in_destination %copy in %new : (tensor<3x4xf32, #T>, tensor<3x4xf32, #C>) -> tensor<3x4xf32, #C>
  return %0 : tensor<3x4xf32, #C>
}
// One of known and one of unknown size.
func.func private @open(%n: index, %v: f32) -> f32 {
  %zero = arith.constant 0 : index
  %e = bufferization.alloc_tensor(%n) : tensor<?x4xf32, #C>
  %f = linalg.fill ins(%v : f32) outs(%e : tensor<?x4xf32, #C>) -> tensor<?x4xf32, #C>
  %x = tensor.extract %f[%zero, %zero] : tensor<?x4xf32, #C>
  return %x : f32
}
func.func private @atomic(%x: memref<3x4xf32, #C>, %y: memref<3x4xi32, #C>, %i: index, %v: f32) -> (f32, i32) {
  memref.prefetch %x[%i, %i], read, locality<3>, data : memref<3x4xf32, #C>
  affine.prefetch %x[2, 1], write, locality<0>, data : memref<3x4xf32, #C>
  %before = memref.atomic_rmw addf %v, %x[%i, %i] : (f32, memref<3x4xf32, #C>) -> f32
  %after = memref.generic_atomic_rmw %y[%i, %i] : memref<3x4xi32, #C> {
  ^bb0(%now: i32):
    %three = arith.constant 3 : i32
    %more = arith.muli %now, %three : i32
    memref.atomic_yield %more : i32
  }
  return %before, %after : f32, i32
}

func.func private @print(%x: memref<3x4xf32, #C>) {
  %p = memref.alloc() : memref<3x4xf32>
  memref.copy %x, %p : memref<3x4xf32, #C> to memref<3x4xf32>
  %u = memref.cast %p : memref<3x4xf32> to memref<*xf32>
  call @printMemrefF32(%u) : (memref<*xf32>) -> ()
  memref.dealloc %p : memref<3x4xf32>
  return
}

func.func @main() {
  %one = arith.constant 1 : index
  %x = arith.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]]> : tensor<3x4xf32, #T>
  %m = bufferization.to_buffer %x read_only : tensor<3x4xf32, #T> to memref<3x4xf32, #T>
  %to = memref.alloc() : memref<3x4xf32, #C>
  call @double(%m, %to) : (memref<3x4xf32, #T>, memref<3x4xf32, #C>) -> ()
  // CHECK: [2, {{ *}}4, {{ *}}6, {{ *}}8],
  // CHECK-NEXT: [10, {{ *}}12, {{ *}}14, {{ *}}16],
  // CHECK-NEXT: [18, {{ *}}20, {{ *}}22, {{ *}}24]]
  call @print(%to) : (memref<3x4xf32, #C>) -> ()
  %other = call @other(%m) : (memref<3x4xf32, #T>) -> f32
  // CHECK: 44
  vector.print %other : f32
  %stored = call @stored(%x) : (tensor<3x4xf32, #T>) -> tensor<3x4xf32, #C>
  %s = bufferization.to_buffer %stored read_only : tensor<3x4xf32, #C> to memref<3x4xf32, #C>
  // CHECK: [1, {{ *}}2, {{ *}}3, {{ *}}4],
  // CHECK-NEXT: [5, {{ *}}6, {{ *}}7, {{ *}}8],
  // CHECK-NEXT: [9, {{ *}}10, {{ *}}11, {{ *}}12]]
  call @print(%s) : (memref<3x4xf32, #C>) -> ()
  %seven = arith.constant 7.0 : f32
  %open = call @open(%one, %seven) : (index, f32) -> f32
  // CHECK: 7
  vector.print %open : f32
  %numbers = memref.alloc() : memref<3x4xi32, #C>
  %five = arith.constant 5 : i32
  linalg.fill ins(%five : i32) outs(%numbers : memref<3x4xi32, #C>)
  %atomic, %number = call @atomic(%to, %numbers, %one, %seven)
    : (memref<3x4xf32, #C>, memref<3x4xi32, #C>, index, f32) -> (f32, i32)
  // What was there before, and what there is after.
  // CHECK: 12
  vector.print %atomic : f32
  // CHECK: 5
  vector.print %number : i32
  %after = memref.load %numbers[%one, %one] : memref<3x4xi32, #C>
  // CHECK: 15
  vector.print %after : i32
  // CHECK: [10, {{ *}}19, {{ *}}14, {{ *}}16],
  call @print(%to) : (memref<3x4xf32, #C>) -> ()
  memref.dealloc %numbers : memref<3x4xi32, #C>
  memref.dealloc %to : memref<3x4xf32, #C>
  return
}
