// Operations after which every element is at its byte take no memory and copy nothing.
// RUN: layout-opt %s --split-input-file --layout-to-memref | FileCheck %s
// RUN: layout-opt %s --split-input-file --layout-to-memref=form=physical | FileCheck %s

#A = #layout.tiled<{1,0:T(8,128)}>
#C = #layout.tiled<{2,1,0:T(8,128)}>
// CHECK-LABEL: func.func @expand(
// CHECK: memref.alloc
// CHECK: math.exp
// CHECK-NOT: memref.alloc
// CHECK-NOT: affine.for
// CHECK: return
func.func @expand(%x: tensor<64x256xf32, #A>) -> tensor<8x8x256xf32, #C> {
  %y = math.exp %x : tensor<64x256xf32, #A>
  %r = tensor.expand_shape %y [[0, 1], [2]] output_shape [8, 8, 256] : tensor<64x256xf32, #A> into tensor<8x8x256xf32, #C>
  return %r : tensor<8x8x256xf32, #C>
}

// -----

#A = #layout.tiled<{1,0:T(8,128)}>
#C = #layout.tiled<{2,1,0:T(8,128)}>
// CHECK-LABEL: func.func @collapse(
// CHECK: memref.alloc
// CHECK: math.exp
// CHECK-NOT: memref.alloc
// CHECK-NOT: affine.for
// CHECK: return
func.func @collapse(%x: tensor<8x8x256xf32, #C>) -> tensor<64x256xf32, #A> {
  %y = math.exp %x : tensor<8x8x256xf32, #C>
  %r = tensor.collapse_shape %y [[0, 1], [2]] : tensor<8x8x256xf32, #C> into tensor<64x256xf32, #A>
  return %r : tensor<64x256xf32, #A>
}

// -----

#A = #layout.tiled<{1,0:T(8,128)}>
#T = #layout.tiled<{0,1:T(8,128)}>
// CHECK-LABEL: func.func @transpose(
// CHECK: memref.alloc
// CHECK: math.exp
// CHECK-NOT: memref.alloc
// CHECK-NOT: affine.for
// CHECK: return
func.func @transpose(%x: tensor<64x256xf32, #A>) -> tensor<256x64xf32, #T> {
  %y = math.exp %x : tensor<64x256xf32, #A>
  %e = tensor.empty() : tensor<256x64xf32, #T>
  %r = linalg.transpose ins(%y : tensor<64x256xf32, #A>) outs(%e : tensor<256x64xf32, #T>) permutation = [1, 0]
  return %r : tensor<256x64xf32, #T>
}

// -----

// To a type without a layout, and from one.
#S = #layout.tiled<{0,1}>
// CHECK-LABEL: func.func @plain(
// CHECK: memref.alloc
// CHECK: math.exp
// CHECK-NOT: memref.alloc
// CHECK-NOT: affine.for
// CHECK: return
func.func @plain(%x: tensor<64x256xf32, #S>) -> tensor<256x64xf32> {
  %y = math.exp %x : tensor<64x256xf32, #S>
  %e = tensor.empty() : tensor<256x64xf32>
  %r = linalg.transpose ins(%y : tensor<64x256xf32, #S>) outs(%e : tensor<256x64xf32>) permutation = [1, 0]
  return %r : tensor<256x64xf32>
}

// -----

// A conversion to another text of the same places: rows that are whole tiles.
#A = #layout.tiled<{1,0:T(8,128)}>
#R = #layout.tiled<{1,0:T(1,128)}>
// CHECK-LABEL: func.func @convert(
// CHECK: memref.alloc
// CHECK: math.exp
// CHECK-NOT: memref.alloc
// CHECK-NOT: affine.for
// CHECK: return
func.func @convert(%x: tensor<64x128xf32, #A>) -> tensor<64x128xf32, #R> {
  %y = math.exp %x : tensor<64x128xf32, #A>
  %r = layout.convert %y {keep} : tensor<64x128xf32, #A> to tensor<64x128xf32, #R>
  return %r : tensor<64x128xf32, #R>
}

// -----

// Both are read, and nothing is written: the argument's memory.
#A = #layout.tiled<{1,0:T(8,128)}>
#C = #layout.tiled<{2,1,0:T(8,128)}>
// CHECK-LABEL: func.func @both_read(
// CHECK-COUNT-1: memref.alloc
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @both_read(%x: tensor<64x128xf32, #A>, %k: index) -> (tensor<64x128xf32, #A>, f32) {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<128x64xf32, #layout.tiled<{0,1:T(8,128)}>>
  %t = linalg.transpose ins(%x : tensor<64x128xf32, #A>) outs(%e : tensor<128x64xf32, #layout.tiled<{0,1:T(8,128)}>>) permutation = [1, 0]
  %f = tensor.extract %t[%k, %c0] : tensor<128x64xf32, #layout.tiled<{0,1:T(8,128)}>>
  %y = math.exp %x : tensor<64x128xf32, #A>
  return %y, %f : tensor<64x128xf32, #A>, f32
}

// -----

// The caller owns what is returned: an argument is copied, once.
#A = #layout.tiled<{1,0:T(8,128)}>
#C = #layout.tiled<{2,1,0:T(8,128)}>
// CHECK-LABEL: func.func @argument(
// CHECK-COUNT-1: memref.alloc
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @argument(%x: tensor<64x256xf32, #A>) -> tensor<8x8x256xf32, #C> {
  %r = tensor.expand_shape %x [[0, 1], [2]] output_shape [8, 8, 256] : tensor<64x256xf32, #A> into tensor<8x8x256xf32, #C>
  return %r : tensor<8x8x256xf32, #C>
}

// -----

// Both are returned: two buffers.
#A = #layout.tiled<{1,0:T(8,128)}>
#C = #layout.tiled<{2,1,0:T(8,128)}>
// CHECK-LABEL: func.func @both(
// CHECK-COUNT-2: memref.alloc
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @both(%x: tensor<64x256xf32, #A>) -> (tensor<64x256xf32, #A>, tensor<8x8x256xf32, #C>) {
  %y = math.exp %x : tensor<64x256xf32, #A>
  %r = tensor.expand_shape %y [[0, 1], [2]] output_shape [8, 8, 256] : tensor<64x256xf32, #A> into tensor<8x8x256xf32, #C>
  return %y, %r : tensor<64x256xf32, #A>, tensor<8x8x256xf32, #C>
}

// -----

// The result takes more memory, 8 rows for each 4: a copy.
#A = #layout.tiled<{1,0:T(8,128)}>
#C = #layout.tiled<{2,1,0:T(8,128)}>
// CHECK-LABEL: func.func @larger(
// CHECK-COUNT-2: memref.alloc
// CHECK: return
func.func @larger(%x: tensor<8x256xf32, #A>) -> tensor<2x4x256xf32, #C> {
  %y = math.exp %x : tensor<8x256xf32, #A>
  %r = tensor.expand_shape %y [[0, 1], [2]] output_shape [2, 4, 256] : tensor<8x256xf32, #A> into tensor<2x4x256xf32, #C>
  return %r : tensor<2x4x256xf32, #C>
}

// -----

// The same bytes of which other bits are elements: a copy.
#E = #layout.tiled<{1,0:E(8)}>
// CHECK-LABEL: func.func @bits(
// CHECK-COUNT-2: memref.alloc
// CHECK: arith.trunci
// CHECK: return
func.func @bits(%x: tensor<8x256xi4, #E>) -> (tensor<8x256xi4, #E>, tensor<8x256xi4>) {
  %y = arith.addi %x, %x : tensor<8x256xi4, #E>
  %r = layout.convert %y {keep} : tensor<8x256xi4, #E> to tensor<8x256xi4>
  return %y, %r : tensor<8x256xi4, #E>, tensor<8x256xi4>
}
