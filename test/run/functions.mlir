// Layouts in the signatures of functions: public, private, external, of several results, recursive, indirect.
// RUN: layout-opt %s --layout-to-llvm | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MALLOC_PERTURB_=128 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm=form=physical | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MALLOC_PERTURB_=85 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-memref | FileCheck %s --check-prefix=STRIDED
// RUN: layout-opt %s --layout-to-memref=form=physical | FileCheck %s --check-prefix=PHYSICAL

#tile = #layout.tiled<{1,0:T(2,2)}>
#vmem = #layout.tiled<{0,1:T(2,4)S(1)}>
#tail = #layout.tiled<{1,0:T(2,2)L(50)}>

// STRIDED: func.func private @elsewhere(memref<2x2x3x2xf32, strided<[12, 2, 4, 1]>>)
// STRIDED-SAME: -> memref<4x3x2xf32, strided<[1, 8, 4]>, #layout.memory_space<vmem>>
// PHYSICAL: func.func private @elsewhere(memref<2x3x2x2xf32>) -> memref
func.func private @elsewhere(tensor<3x5xf32, #tile>) -> tensor<3x5xf32, #vmem>

// STRIDED: func.func @exported(%{{.*}}: memref<2x2x3x2xf32, strided<[12, 2, 4, 1]>>)
// STRIDED-SAME: -> memref<2x2x3x2xf32, strided<[12, 2, 4, 1]>>
// PHYSICAL: func.func @exported(%{{.*}}: memref<2x3x2x2xf32>) -> memref<2x3x2x2xf32>
func.func @exported(%x: tensor<3x5xf32, #tile>) -> tensor<3x5xf32, #tail> {
  %two = arith.constant dense<2.0> : tensor<3x5xf32, #tile>
  %y = arith.mulf %x, %two : tensor<3x5xf32, #tile>
  %z = layout.convert %y : tensor<3x5xf32, #tile> to tensor<3x5xf32, #tail>
  return %z : tensor<3x5xf32, #tail>
}

// Two results in two layouts, one of them the argument itself.
func.func private @both(%x: tensor<3x5xf32, #tile>) -> (tensor<3x5xf32, #tile>, tensor<3x5xf32, #vmem>) {
  %y = layout.convert %x : tensor<3x5xf32, #tile> to tensor<3x5xf32, #vmem>
  %z = arith.addf %y, %y : tensor<3x5xf32, #vmem>
  return %x, %z : tensor<3x5xf32, #tile>, tensor<3x5xf32, #vmem>
}

// A public function does not write into its argument; the caller's tensor stays.
func.func @update(%x: tensor<3x5xf32, #tile>) -> tensor<3x5xf32, #tile> {
  %i = arith.constant 2 : index
  %v = arith.constant -1.0 : f32
  %y = tensor.insert %v into %x[%i, %i] : tensor<3x5xf32, #tile>
  return %y : tensor<3x5xf32, #tile>
}

// A loop made of calls, by way of a function pointer.
func.func private @halve(%x: tensor<3x5xf32, #tile>) -> tensor<3x5xf32, #tile> {
  %half = arith.constant dense<0.5> : tensor<3x5xf32, #tile>
  %y = arith.mulf %x, %half : tensor<3x5xf32, #tile>
  return %y : tensor<3x5xf32, #tile>
}

func.func private @print(%x: tensor<3x5xf32>) {
  %zero = arith.constant 0 : index
  %p = arith.constant 0.0 : f32
  %v = vector.transfer_read %x[%zero, %zero], %p {in_bounds = [true, true]} : tensor<3x5xf32>, vector<3x5xf32>
  vector.print %v : vector<3x5xf32>
  return
}
func.func private @print_tile(%x: tensor<3x5xf32, #tile>) {
  %y = layout.convert %x : tensor<3x5xf32, #tile> to tensor<3x5xf32>
  call @print(%y) : (tensor<3x5xf32>) -> ()
  return
}
func.func private @print_vmem(%x: tensor<3x5xf32, #vmem>) {
  %y = layout.convert %x : tensor<3x5xf32, #vmem> to tensor<3x5xf32>
  call @print(%y) : (tensor<3x5xf32>) -> ()
  return
}

func.func @main() {
  %p = arith.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0], [11.0, 12.0, 13.0, 14.0, 15.0]]>
    : tensor<3x5xf32>
  %x = layout.convert %p : tensor<3x5xf32> to tensor<3x5xf32, #tile>
  %e = call @exported(%x) : (tensor<3x5xf32, #tile>) -> tensor<3x5xf32, #tail>
  %t = layout.convert %e : tensor<3x5xf32, #tail> to tensor<3x5xf32, #tile>
  // CHECK: ( ( 2, 4, 6, 8, 10 ), ( 12, 14, 16, 18, 20 ), ( 22, 24, 26, 28, 30 ) )
  call @print_tile(%t) : (tensor<3x5xf32, #tile>) -> ()
  %b:2 = call @both(%t) : (tensor<3x5xf32, #tile>) -> (tensor<3x5xf32, #tile>, tensor<3x5xf32, #vmem>)
  // CHECK-NEXT: ( ( 2, 4, 6, 8, 10 ), ( 12, 14, 16, 18, 20 ), ( 22, 24, 26, 28, 30 ) )
  call @print_tile(%b#0) : (tensor<3x5xf32, #tile>) -> ()
  // CHECK-NEXT: ( ( 4, 8, 12, 16, 20 ), ( 24, 28, 32, 36, 40 ), ( 44, 48, 52, 56, 60 ) )
  call @print_vmem(%b#1) : (tensor<3x5xf32, #vmem>) -> ()
  %u = call @update(%x) : (tensor<3x5xf32, #tile>) -> tensor<3x5xf32, #tile>
  // CHECK-NEXT: ( ( 1, 2, 3, 4, 5 ), ( 6, 7, 8, 9, 10 ), ( 11, 12, -1, 14, 15 ) )
  call @print_tile(%u) : (tensor<3x5xf32, #tile>) -> ()
  // CHECK-NEXT: ( ( 1, 2, 3, 4, 5 ), ( 6, 7, 8, 9, 10 ), ( 11, 12, 13, 14, 15 ) )
  call @print_tile(%x) : (tensor<3x5xf32, #tile>) -> ()
  %h1 = call @halve(%x) : (tensor<3x5xf32, #tile>) -> tensor<3x5xf32, #tile>
  %h2 = call @halve(%h1) : (tensor<3x5xf32, #tile>) -> tensor<3x5xf32, #tile>
  // CHECK-NEXT: ( ( 0.25, 0.5, 0.75, 1, 1.25 ), ( 1.5, 1.75, 2, 2.25, 2.5 ), ( 2.75, 3, 3.25, 3.5, 3.75 ) )
  call @print_tile(%h2) : (tensor<3x5xf32, #tile>) -> ()
  return
}
