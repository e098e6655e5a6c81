// Operations after which every element is at its byte take no memory and copy nothing.
// RUN: layout-opt %s --split-input-file --layout-to-memref | FileCheck %s
// RUN: layout-opt %s --split-input-file --layout-to-memref=form=physical | FileCheck %s
// RUN: layout-opt %s --split-input-file --layout-to-memref=vectorize=avx2 2> %t | FileCheck %s --check-prefix=KERNEL

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

// -----

#A = #layout.tiled<{1,0:T(8,128)}>
#C = #layout.tiled<{2,1,0:T(8,128)}>
#R = #layout.tiled<{1,0:T(1,128)}>
#T = #layout.tiled<{0,1:T(8,128)}>
// Sizes known only at run time: the product of two of them is one number on both sides.
// CHECK-LABEL: func.func @collapse_run_time(
// CHECK-COUNT-1: memref.alloc
// CHECK-NOT: memref.alloc
func.func @collapse_run_time(%x: tensor<?x?xf32, #layout.tiled<{1,0}>>) -> tensor<?xf32, #layout.tiled<{0}>> {
  %y = math.exp %x : tensor<?x?xf32, #layout.tiled<{1,0}>>
  %r = tensor.collapse_shape %y [[0, 1]] : tensor<?x?xf32, #layout.tiled<{1,0}>> into tensor<?xf32, #layout.tiled<{0}>>
  return %r : tensor<?xf32, #layout.tiled<{0}>>
}

// CHECK-LABEL: func.func @expand_run_time(
// CHECK-COUNT-1: memref.alloc
// CHECK-NOT: memref.alloc
func.func @expand_run_time(%x: tensor<?x?xf32, #A>, %n: index, %m: index) -> tensor<?x16x?xf32, #C> {
  %y = math.exp %x : tensor<?x?xf32, #A>
  %r = tensor.expand_shape %y [[0, 1], [2]] output_shape [%n, 16, %m] : tensor<?x?xf32, #A> into tensor<?x16x?xf32, #C>
  return %r : tensor<?x16x?xf32, #C>
}

// CHECK-LABEL: func.func @reshape(
// CHECK-COUNT-1: memref.alloc
// CHECK-NOT: memref.alloc
func.func @reshape(%x: tensor<64x256xf32, #A>) -> tensor<8x8x256xf32, #C> {
  %y = math.exp %x : tensor<64x256xf32, #A>
  %s = arith.constant dense<[8, 8, 256]> : tensor<3xindex>
  %r = tensor.reshape %y(%s) : (tensor<64x256xf32, #A>, tensor<3xindex>) -> tensor<8x8x256xf32, #C>
  return %r : tensor<8x8x256xf32, #C>
}

// CHECK-LABEL: func.func @transpose_run_time(
// CHECK-COUNT-1: memref.alloc
// CHECK-NOT: memref.alloc
func.func @transpose_run_time(%x: tensor<?x?xf32, #A>, %n: index, %m: index) -> tensor<?x?xf32, #T> {
  %y = math.exp %x : tensor<?x?xf32, #A>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32, #T>
  %r = linalg.transpose ins(%y : tensor<?x?xf32, #A>) outs(%e : tensor<?x?xf32, #T>) permutation = [1, 0]
  return %r : tensor<?x?xf32, #T>
}

// A generic operation that only moves its elements is no other operation than a transpose.
// CHECK-LABEL: func.func @generic(
// CHECK-COUNT-1: memref.alloc
// CHECK-NOT: memref.alloc
func.func @generic(%x: tensor<64x256xf32, #A>) -> tensor<256x64xf32, #T> {
  %y = math.sqrt %x : tensor<64x256xf32, #A>
  %e = tensor.empty() : tensor<256x64xf32, #T>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%y : tensor<64x256xf32, #A>) outs(%e : tensor<256x64xf32, #T>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<256x64xf32, #T>
  return %r : tensor<256x64xf32, #T>
}

// What a call gives is the caller's.
// CHECK-LABEL: func.func @convert_run_time(
// CHECK-NOT: memref.alloc
// CHECK: memref.reinterpret_cast
func.func private @given(index) -> tensor<?x128xf32, #A>
func.func @convert_run_time(%n: index) -> tensor<?x128xf32, #R> {
  %y = call @given(%n) : (index) -> tensor<?x128xf32, #A>
  %r = layout.convert %y {keep} : tensor<?x128xf32, #A> to tensor<?x128xf32, #R>
  return %r : tensor<?x128xf32, #R>
}

// The tiles of a layout, as dimensions.
// CHECK-LABEL: func.func @pack(
// CHECK-COUNT-1: memref.alloc
// CHECK-NOT: memref.alloc
func.func @pack(%x: tensor<?x256xf32, #A>, %n: index) -> tensor<?x2x8x128xf32> {
  %y = math.exp %x : tensor<?x256xf32, #A>
  %e = tensor.empty(%n) : tensor<?x2x8x128xf32>
  %r = linalg.pack %y inner_dims_pos = [0, 1] inner_tiles = [8, 128] into %e : tensor<?x256xf32, #A> -> tensor<?x2x8x128xf32>
  return %r : tensor<?x2x8x128xf32>
}

// What is not unpacked becomes padding.
// CHECK-LABEL: func.func @unpack(
// CHECK-COUNT-1: memref.alloc
// CHECK-NOT: memref.alloc
func.func @unpack(%x: tensor<8x2x8x128xf32>) -> tensor<61x255xf32, #A> {
  %y = math.exp %x : tensor<8x2x8x128xf32>
  %e = tensor.empty() : tensor<61x255xf32, #A>
  %r = linalg.unpack %y inner_dims_pos = [0, 1] inner_tiles = [8, 128] into %e : tensor<8x2x8x128xf32> -> tensor<61x255xf32, #A>
  return %r : tensor<61x255xf32, #A>
}

// Without layouts.
// CHECK-LABEL: func.func @pack_plain(
// CHECK-COUNT-1: memref.alloc
// CHECK-NOT: memref.alloc
func.func @pack_plain(%x: tensor<64x128xf32>) -> tensor<8x1x8x128xf32> {
  %y = math.exp %x : tensor<64x128xf32>
  %e = tensor.empty() : tensor<8x1x8x128xf32>
  %r = linalg.pack %y inner_dims_pos = [0, 1] inner_tiles = [8, 128] into %e : tensor<64x128xf32> -> tensor<8x1x8x128xf32>
  return %r : tensor<8x1x8x128xf32>
}

#L = #layout.tiled<{1,0:T(8,128)L(4096)}>
#M = #layout.tiled<{0,1:T(8,128)L(4096)}>
// Who gets the buffer gets its tail, too.
// CHECK-LABEL: func.func @tail(
// CHECK-COUNT-1: memref.alloc
// CHECK-NOT: memref.alloc
func.func @tail(%x: tensor<?x256xf32, #L>, %n: index) -> tensor<256x?xf32, #M> {
  %y = math.exp %x : tensor<?x256xf32, #L>
  %e = tensor.empty(%n) : tensor<256x?xf32, #M>
  %r = linalg.transpose ins(%y : tensor<?x256xf32, #L>) outs(%e : tensor<256x?xf32, #M>) permutation = [1, 0]
  return %r : tensor<256x?xf32, #M>
}

// The buffer may be smaller than 8 rows for each 8 begun: a copy.
// CHECK-LABEL: func.func @larger_at_run_time(
// CHECK-COUNT-2: memref.alloc
func.func @larger_at_run_time(%x: tensor<?x128xf32, #R>, %n: index) -> tensor<128x?xf32, #T> {
  %y = math.exp %x : tensor<?x128xf32, #R>
  %e = tensor.empty(%n) : tensor<128x?xf32, #T>
  %r = linalg.transpose ins(%y : tensor<?x128xf32, #R>) outs(%e : tensor<128x?xf32, #T>) permutation = [1, 0]
  return %r : tensor<128x?xf32, #T>
}

// The padding of the last tile must be written: a copy.
// CHECK-LABEL: func.func @pack_with_padding(
// CHECK-COUNT-2: memref.alloc
func.func @pack_with_padding(%x: tensor<?x128xf32, #A>, %n: index) -> tensor<?x1x8x128xf32> {
  %y = math.exp %x : tensor<?x128xf32, #A>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?x1x8x128xf32>
  %r = linalg.pack %y padding_value(%z : f32) inner_dims_pos = [0, 1] inner_tiles = [8, 128] into %e : tensor<?x128xf32, #A> -> tensor<?x1x8x128xf32>
  return %r : tensor<?x1x8x128xf32>
}

// Two operations of the same types hand on different operands: one is transposed, the other is copied.
#maps = {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
  iterator_types = ["parallel", "parallel"]}
// CHECK-LABEL: func.func @either(
// CHECK-COUNT-3: memref.alloc
// CHECK-NOT: memref.alloc
func.func @either(%x: tensor<64x64xf32, #A>, %z: tensor<64x64xf32, #A>) -> (tensor<64x64xf32, #T>, tensor<64x64xf32, #T>) {
  %y = math.sqrt %x : tensor<64x64xf32, #A>
  %w = math.sqrt %z : tensor<64x64xf32, #A>
  %e = tensor.empty() : tensor<64x64xf32, #T>
  %f = tensor.empty() : tensor<64x64xf32, #T>
  %r = linalg.generic #maps ins(%y, %w : tensor<64x64xf32, #A>, tensor<64x64xf32, #A>) outs(%e : tensor<64x64xf32, #T>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<64x64xf32, #T>
  %s = linalg.generic #maps ins(%y, %w : tensor<64x64xf32, #A>, tensor<64x64xf32, #A>) outs(%f : tensor<64x64xf32, #T>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    linalg.yield %b : f32
  } -> tensor<64x64xf32, #T>
  return %r, %s : tensor<64x64xf32, #T>, tensor<64x64xf32, #T>
}

// -----

#A = #layout.tiled<{1,0:T(8,128)}>
#C = #layout.tiled<{2,1,0:T(8,128)}>
#T = #layout.tiled<{1,2,0:T(8,128)}>
// A chain: the transpose has all of the buffer that the reshape has.
// CHECK-LABEL: func.func @chain(
// CHECK-COUNT-1: memref.alloc
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @chain(%x: tensor<64x256xf32, #A>) -> tensor<8x256x8xf32, #T> {
  %y = math.exp %x : tensor<64x256xf32, #A>
  %h = tensor.expand_shape %y [[0, 1], [2]] output_shape [8, 8, 256] : tensor<64x256xf32, #A> into tensor<8x8x256xf32, #C>
  %e = tensor.empty() : tensor<8x256x8xf32, #T>
  %r = linalg.transpose ins(%h : tensor<8x8x256xf32, #C>) outs(%e : tensor<8x256x8xf32, #T>) permutation = [0, 2, 1]
  return %r : tensor<8x256x8xf32, #T>
}

// Part of a buffer: a copy.
// CHECK-LABEL: func.func @part(
// CHECK-COUNT-2: memref.alloc
// CHECK: return
func.func @part(%x: tensor<64x256xf32, #A>) -> tensor<256x32xf32, #layout.tiled<{0,1:T(8,128)}>> {
  %y = math.exp %x : tensor<64x256xf32, #A>
  %h = tensor.extract_slice %y[0, 0] [32, 256] [1, 1] : tensor<64x256xf32, #A> to tensor<32x256xf32, #A>
  %e = tensor.empty() : tensor<256x32xf32, #layout.tiled<{0,1:T(8,128)}>>
  %r = linalg.transpose ins(%h : tensor<32x256xf32, #A>) outs(%e : tensor<256x32xf32, #layout.tiled<{0,1:T(8,128)}>>) permutation = [1, 0]
  return %r : tensor<256x32xf32, #layout.tiled<{0,1:T(8,128)}>>
}

// A slice of all elements, no padding, and a cast.
// CHECK-LABEL: func.func @whole(
// CHECK-COUNT-1: memref.alloc
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @whole(%x: tensor<?x256xf32, #A>) -> tensor<64x256xf32, #A> {
  %c0 = arith.constant 0 : index
  %f = arith.constant 0.0 : f32
  %y = math.exp %x : tensor<?x256xf32, #A>
  %n = tensor.dim %y, %c0 : tensor<?x256xf32, #A>
  %s = tensor.extract_slice %y[0, 0] [%n, 256] [1, 1] : tensor<?x256xf32, #A> to tensor<?x256xf32, #A>
  %p = tensor.pad %s low[0, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %f : f32
  } : tensor<?x256xf32, #A> to tensor<?x256xf32, #A>
  %r = tensor.cast %p : tensor<?x256xf32, #A> to tensor<64x256xf32, #A>
  return %r : tensor<64x256xf32, #A>
}

// All elements, but backwards: a copy.
// CHECK-LABEL: func.func @reversed(
// CHECK-COUNT-2: memref.alloc
// CHECK: return
func.func @reversed(%x: tensor<4x6xf32, #layout.tiled<{1,0}>>) -> tensor<4x6xf32, #layout.tiled<{1,0}>> {
  %y = math.exp %x : tensor<4x6xf32, #layout.tiled<{1,0}>>
  %r = tensor.extract_slice %y[0, 5] [4, 6] [1, -1] : tensor<4x6xf32, #layout.tiled<{1,0}>> to tensor<4x6xf32, #layout.tiled<{1,0}>>
  return %r : tensor<4x6xf32, #layout.tiled<{1,0}>>
}

// As many tiles as the result needs, for all sizes.
// CHECK-LABEL: func.func @unpack_run_time(
// CHECK-COUNT-1: memref.alloc
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @unpack_run_time(%x: tensor<?x?x8x128xf32>, %n: index, %m: index) -> tensor<?x?xf32, #A> {
  %y = math.exp %x : tensor<?x?x8x128xf32>
  %e = tensor.empty(%n, %m) : tensor<?x?xf32, #A>
  %r = linalg.unpack %y inner_dims_pos = [0, 1] inner_tiles = [8, 128] into %e : tensor<?x?x8x128xf32> -> tensor<?x?xf32, #A>
  return %r : tensor<?x?xf32, #A>
}

// From rows to rows, of any sizes.
// CHECK-LABEL: func.func @reshape_run_time(
// CHECK-COUNT-1: memref.alloc
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @reshape_run_time(%x: tensor<?x256xf32, #layout.tiled<{1,0}>>, %s: tensor<3xi32>) -> tensor<?x?x?xf32> {
  %y = math.exp %x : tensor<?x256xf32, #layout.tiled<{1,0}>>
  %r = tensor.reshape %y(%s) : (tensor<?x256xf32, #layout.tiled<{1,0}>>, tensor<3xi32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// CHECK-LABEL: func.func @pack_into_allocation(
// CHECK-COUNT-1: memref.alloc
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @pack_into_allocation(%x: tensor<64x256xf32, #A>) -> tensor<8x2x8x128xf32> {
  %y = math.exp %x : tensor<64x256xf32, #A>
  %e = bufferization.alloc_tensor() : tensor<8x2x8x128xf32>
  %r = linalg.pack %y inner_dims_pos = [0, 1] inner_tiles = [8, 128] into %e : tensor<64x256xf32, #A> -> tensor<8x2x8x128xf32>
  return %r : tensor<8x2x8x128xf32>
}

// CHECK-LABEL: func.func @bits(
// CHECK: builtin.unrealized_conversion_cast {{.*}}xf32{{.*}}xi32
// CHECK-NOT: memref.alloc
// CHECK: return
func.func private @floats() -> tensor<64x256xf32, #A>
func.func @bits() -> tensor<64x256xi32, #A> {
  %x = call @floats() : () -> tensor<64x256xf32, #A>
  %r = tensor.bitcast %x : tensor<64x256xf32, #A> to tensor<64x256xi32, #A>
  return %r : tensor<64x256xi32, #A>
}

// A kernel computes the bits beside the elements.
// KERNEL-LABEL: func.func @bits_in_kernel(
// KERNEL-COUNT-1: memref.alloc
// KERNEL-NOT: memref.alloc
// KERNEL: arith.addf
// KERNEL: arith.bitcast
// KERNEL: arith.xori
// KERNEL: return
func.func @bits_in_kernel(%x: tensor<64x256xf32, #A>, %z: tensor<64x256xi32, #A>) -> tensor<64x256xi32, #A> {
  %y = arith.addf %x, %x : tensor<64x256xf32, #A>
  %b = tensor.bitcast %y : tensor<64x256xf32, #A> to tensor<64x256xi32, #A>
  %r = arith.xori %b, %z : tensor<64x256xi32, #A>
  return %r : tensor<64x256xi32, #A>
}

// A reshape of an empty tensor has sizes of its own.
// CHECK-LABEL: func.func @of_empty(
// CHECK: %[[SIZE:.*]] = arith.muli
// CHECK: sizes: [%[[SIZE]]]
func.func @of_empty(%n: index) -> (index, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %e = tensor.empty(%n) : tensor<?x8xf32, #layout.tiled<{1,0}>>
  %r = tensor.collapse_shape %e [[0, 1]] : tensor<?x8xf32, #layout.tiled<{1,0}>> into tensor<?xf32>
  %d = tensor.dim %r, %c0 : tensor<?xf32>
  return %d, %r : index, tensor<?xf32>
}

// -----

#A = #layout.tiled<{1,0:T(8,128)}>
#C = #layout.tiled<{2,1,0:T(8,128)}>
#F = #layout.tiled<{3,2,1,0:T(8,128)}>
#R = #layout.tiled<{1,0:T(1,128)}>
#S = #layout.tiled<{2,1,0:T(1,128)}>
#T = #layout.tiled<{0,1:T(8,128)}>
// One operation computes the elements and their bits.
// CHECK-LABEL: func.func @bits_of_sum(
// CHECK-COUNT-1: memref.alloc
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @bits_of_sum(%x: tensor<64x256xf32, #A>) -> tensor<64x256xi32, #A> {
  %y = arith.addf %x, %x : tensor<64x256xf32, #A>
  %r = tensor.bitcast %y : tensor<64x256xf32, #A> to tensor<64x256xi32, #A>
  return %r : tensor<64x256xi32, #A>
}

// CHECK-LABEL: func.func @bits_of_index(
// CHECK-COUNT-1: memref.alloc
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @bits_of_index() -> tensor<64x256xf32, #A> {
  %y = tensor.generate {
  ^bb0(%i: index, %j: index):
    %s = arith.addi %i, %j : index
    %v = arith.index_cast %s : index to i32
    tensor.yield %v : i32
  } : tensor<64x256xi32, #A>
  %r = tensor.bitcast %y : tensor<64x256xi32, #A> to tensor<64x256xf32, #A>
  return %r : tensor<64x256xf32, #A>
}

// CHECK-LABEL: func.func @bits_of_product(
// CHECK-COUNT-1: memref.alloc
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @bits_of_product(%x: tensor<64x256xf32, #A>, %z: tensor<256x128xf32, #A>, %o: tensor<64x128xf32, #A>) -> tensor<64x128xi32, #A> {
  %f = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x128xf32, #A>
  %i = linalg.fill ins(%f : f32) outs(%e : tensor<64x128xf32, #A>) -> tensor<64x128xf32, #A>
  %y = linalg.matmul ins(%x, %z : tensor<64x256xf32, #A>, tensor<256x128xf32, #A>) outs(%i : tensor<64x128xf32, #A>) -> tensor<64x128xf32, #A>
  %r = tensor.bitcast %y : tensor<64x128xf32, #A> to tensor<64x128xi32, #A>
  return %r : tensor<64x128xi32, #A>
}

// The branch that does not hand on the buffer frees it.
// CHECK-LABEL: func.func @in_a_branch(
// CHECK: %[[SOURCE:.*]] = memref.alloc
// CHECK: math.exp
// CHECK: scf.if
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: scf.yield
// CHECK: else
// CHECK: memref.dealloc %[[SOURCE]]
// CHECK: memref.alloc
// CHECK: scf.yield
// CHECK-NOT: memref.dealloc
// CHECK: return
func.func @in_a_branch(%x: tensor<64x256xf32, #A>, %c: i1) -> tensor<256x64xf32, #T> {
  %y = math.exp %x : tensor<64x256xf32, #A>
  %r = scf.if %c -> tensor<256x64xf32, #T> {
    %e = tensor.empty() : tensor<256x64xf32, #T>
    %t = linalg.transpose ins(%y : tensor<64x256xf32, #A>) outs(%e : tensor<256x64xf32, #T>) permutation = [1, 0]
    scf.yield %t : tensor<256x64xf32, #T>
  } else {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<256x64xf32, #T>
    %t = linalg.fill ins(%z : f32) outs(%e : tensor<256x64xf32, #T>) -> tensor<256x64xf32, #T>
    scf.yield %t : tensor<256x64xf32, #T>
  }
  return %r : tensor<256x64xf32, #T>
}

// Used after the conditional: a copy.
// CHECK-LABEL: func.func @used_afterwards(
// CHECK: memref.alloc
// CHECK: scf.if
// CHECK-COUNT-2: memref.alloc
// CHECK: return
func.func @used_afterwards(%x: tensor<64x256xf32, #A>, %c: i1) -> (tensor<64x256xf32, #A>, f32) {
  %c0 = arith.constant 0 : index
  %y = math.exp %x : tensor<64x256xf32, #A>
  %r = scf.if %c -> tensor<64x256xf32, #A> {
    scf.yield %y : tensor<64x256xf32, #A>
  } else {
    %s = math.sin %y : tensor<64x256xf32, #A>
    scf.yield %s : tensor<64x256xf32, #A>
  }
  %f = tensor.extract %y[%c0, %c0] : tensor<64x256xf32, #A>
  return %r, %f : tensor<64x256xf32, #A>, f32
}

// The size that is known only at run time counts whole tiles.
// CHECK-LABEL: func.func @reshape_to_tiles(
// CHECK-COUNT-1: memref.alloc
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @reshape_to_tiles(%x: tensor<?x256xf32, #A>, %s: tensor<4xi32>) -> tensor<?x?x16x256xf32, #F> {
  %y = math.exp %x : tensor<?x256xf32, #A>
  %r = tensor.reshape %y(%s) : (tensor<?x256xf32, #A>, tensor<4xi32>) -> tensor<?x?x16x256xf32, #F>
  return %r : tensor<?x?x16x256xf32, #F>
}

// CHECK-LABEL: func.func @reshape_from_tiles(
// CHECK-COUNT-1: memref.alloc
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @reshape_from_tiles(%x: tensor<?x8x256xf32, #C>, %s: tensor<2xi32>) -> tensor<?x256xf32, #A> {
  %y = math.exp %x : tensor<?x8x256xf32, #C>
  %r = tensor.reshape %y(%s) : (tensor<?x8x256xf32, #C>, tensor<2xi32>) -> tensor<?x256xf32, #A>
  return %r : tensor<?x256xf32, #A>
}

// CHECK-LABEL: func.func @reshape_from_two_sizes(
// CHECK-COUNT-1: memref.alloc
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @reshape_from_two_sizes(%x: tensor<?x?x128xf32, #S>, %s: tensor<2xi32>) -> tensor<?x128xf32, #R> {
  %y = math.exp %x : tensor<?x?x128xf32, #S>
  %r = tensor.reshape %y(%s) : (tensor<?x?x128xf32, #S>, tensor<2xi32>) -> tensor<?x128xf32, #R>
  return %r : tensor<?x128xf32, #R>
}

// The only size that is known only at run time follows from the number of elements.
// CHECK-LABEL: func.func @reshape_of_known(
// CHECK-COUNT-1: memref.alloc
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @reshape_of_known(%x: tensor<64x256xf32, #A>, %s: tensor<3xi32>) -> tensor<8x?x256xf32, #C> {
  %y = math.exp %x : tensor<64x256xf32, #A>
  %r = tensor.reshape %y(%s) : (tensor<64x256xf32, #A>, tensor<3xi32>) -> tensor<8x?x256xf32, #C>
  return %r : tensor<8x?x256xf32, #C>
}

// Four rows take the memory of eight: a copy.
// CHECK-LABEL: func.func @reshape_to_half_tiles(
// CHECK-COUNT-2: memref.alloc
// CHECK: return
func.func @reshape_to_half_tiles(%x: tensor<?x256xf32, #A>, %s: tensor<3xi32>) -> tensor<?x4x256xf32, #C> {
  %y = math.exp %x : tensor<?x256xf32, #A>
  %r = tensor.reshape %y(%s) : (tensor<?x256xf32, #A>, tensor<3xi32>) -> tensor<?x4x256xf32, #C>
  return %r : tensor<?x4x256xf32, #C>
}
