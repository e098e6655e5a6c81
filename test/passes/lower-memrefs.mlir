// layout-lower-memrefs on memrefs written by hand: types, accesses, loops over parts, views, and both forms.
// RUN: layout-opt %s --split-input-file --layout-lower-memrefs | FileCheck %s --check-prefixes=CHECK,STRIDED
// RUN: layout-opt %s --split-input-file --layout-lower-memrefs=form=physical | FileCheck %s --check-prefixes=CHECK,PHYSICAL

// The types of the table in the README.
// STRIDED-LABEL: func.func private @types(
// STRIDED-SAME: memref<2x2x3x2xf32, strided<[12, 2, 4, 1]>>, memref<2x3xf32, strided<[1, 2]>>,
// STRIDED-SAME: memref<2x4x2x2x128xbf16, strided<[2048, 256, 1, 1024, 2]>, #layout.memory_space<vmem>>
// STRIDED-SAME: memref<2x3xf32>, memref<128xi32>, memref<f32>, memref<2x4x2x128xbf16, strided<[1024, 256, 1, 2]>>
// PHYSICAL-LABEL: func.func private @types(
// PHYSICAL-SAME: memref<2x3x2x2xf32>, memref<3x2xf32>,
// PHYSICAL-SAME: memref<2x2x4x128x2xbf16, #layout.memory_space<vmem>>
// PHYSICAL-SAME: memref<2x3xf32>, memref<128xi32>, memref<f32>, memref<2x4x128x2xbf16>
func.func private @types(
  memref<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>, memref<2x3xf32, #layout.tiled<{0,1}>>,
  memref<16x256xbf16, #layout.tiled<{1,0:T(8,128)(2,1)S(1)}>>,
  memref<2x3xf32, #layout.tiled<{1,0}>>, memref<i32, #layout.tiled<{:T(128)}>>, memref<f32, #layout.tiled<{}>>,
  memref<2048xbf16, #layout.tiled<{0:T(1024)(128)(2,1)}>>)

// -----

// Dimensions merged by `*` are one; dynamic sizes may stay where a dimension is whole.
// STRIDED-LABEL: func.func private @shapes(
// STRIDED-SAME: memref<2x24x128xbf16, strided<[128, 256, 1]>>
// STRIDED-SAME: memref<?x2x8x2x128xf32, strided<[4096, 2048, 128, 1024, 1]>>
// PHYSICAL-LABEL: func.func private @shapes(
// PHYSICAL-SAME: memref<24x2x128xbf16>
// PHYSICAL-SAME: memref<?x2x2x8x128xf32>
func.func private @shapes(
  memref<2x3x1004xbf16, #layout.tiled<{2,1,0:T(2,*,128)}>>,
  memref<?x16x256xf32, #layout.tiled<{2,1,0:T(8,128)}>>)

// -----

// An index becomes quotients and remainders.
// CHECK-LABEL: func.func @load(
// CHECK-SAME: %[[M:[^:]*]]: memref<{{.*}}>, %[[I:.*]]: index, %[[J:.*]]: index)
// STRIDED: %[[I0:.*]] = affine.apply #[[DIV:.*]](%[[I]])
// STRIDED: %[[I1:.*]] = affine.apply #[[MOD:.*]](%[[I]])
// STRIDED: %[[J0:.*]] = affine.apply #[[DIV]](%[[J]])
// STRIDED: %[[J1:.*]] = affine.apply #[[MOD]](%[[J]])
// STRIDED: memref.load %[[M]][%[[I0]], %[[I1]], %[[J0]], %[[J1]]] : memref<2x2x3x2xf32, strided<[12, 2, 4, 1]>>
func.func @load(%m: memref<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>, %i: index, %j: index) -> f32 {
  %0 = memref.load %m[%i, %j] : memref<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>
  return %0 : f32
}

// -----

// Loops over tiles index tiles: their variables' ranges and steps leave no remainder to take.
#T = #layout.tiled<{1,0:T(8,128)}>
// CHECK-LABEL: func.func @tile_loops(
// CHECK-NOT: mod
// CHECK: affine.for %[[TI:.*]] = 0 to 2
// CHECK: affine.for %[[I:.*]] = 0 to 8
// CHECK: affine.for %[[TJ:.*]] = 0 to 256 step 128
// CHECK: affine.for %[[J:.*]] = 0 to 128
// STRIDED: affine.load %{{.*}}[%[[TI]], %[[I]], %[[TJ]] floordiv 128, %[[J]]]
// PHYSICAL: affine.load %{{.*}}[%[[TI]], %[[TJ]] floordiv 128, %[[I]], %[[J]]]
// CHECK-NOT: mod
func.func @tile_loops(%m: memref<16x256xf32, #T>, %n: memref<16x256xf32, #T>) {
  affine.for %ti = 0 to 2 {
    affine.for %i = 0 to 8 {
      affine.for %tj = 0 to 256 step 128 {
        affine.for %j = 0 to 128 {
          %x = affine.load %m[%ti * 8 + %i, %tj + %j] : memref<16x256xf32, #T>
          affine.store %x, %n[%ti * 8 + %i, %tj + %j] : memref<16x256xf32, #T>
        }
      }
    }
  }
  return
}

// -----

// The same through scf and arith.
#T = #layout.tiled<{1,0:T(8,128)}>
// CHECK: #[[DIV:.*]] = affine_map<(d0) -> (d0 floordiv 8)>
// CHECK-LABEL: func.func @scf_loops(
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK: scf.for %[[K:.*]] =
// CHECK: %[[D:.*]] = affine.apply #[[DIV]](%[[I]])
// STRIDED: memref.load %{{.*}}[%[[D]], %[[K]], %{{.*}}, %[[K]]]
// PHYSICAL: memref.load %{{.*}}[%[[D]], %{{.*}}, %[[K]], %[[K]]]
func.func @scf_loops(%m: memref<16x256xf32, #T>, %n: memref<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %c16 step %c8 {
    scf.for %k = %c0 to %c8 step %c1 {
      %s = arith.addi %i, %k : index
      %x = memref.load %m[%s, %k] : memref<16x256xf32, #T>
      memref.store %x, %n[%s] : memref<16xf32>
    }
  }
  return
}

// -----

// A copy is a nest over the parts of its target; ragged ends are bounds.
// STRIDED-DAG: #[[ROWS:.*]] = affine_map<(d0) -> (2, d0 * -2 + 3)>
// STRIDED-DAG: #[[COLUMNS:.*]] = affine_map<(d0) -> (2, d0 * -2 + 5)>
// CHECK-LABEL: func.func @copy(
// STRIDED: affine.for %[[I0:.*]] = 0 to 2 {
// STRIDED-NEXT: affine.for %[[J0:.*]] = 0 to 3 {
// STRIDED-NEXT: affine.for %[[I1:.*]] = 0 to min #[[ROWS]](%[[I0]]) {
// STRIDED-NEXT: affine.for %[[J1:.*]] = 0 to min #[[COLUMNS]](%[[J0]]) {
// STRIDED-NEXT: %[[X:.*]] = affine.load %{{.*}}[%[[I0]] * 2 + %[[I1]], %[[J0]] * 2 + %[[J1]]] : memref<3x5xf32>
// STRIDED-NEXT: affine.store %[[X]], %{{.*}}[%[[I0]], %[[I1]], %[[J0]], %[[J1]]]
func.func @copy(%from: memref<3x5xf32>, %to: memref<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>) {
  memref.copy %from, %to : memref<3x5xf32> to memref<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>
  return
}

// -----

// Tiles that do not divide each other: rows of three inside rows of eight.
// CHECK-LABEL: func.func @uneven(
// CHECK-NOT: floordiv
// CHECK: affine.for %{{.*}} = 0 to 2
// CHECK: affine.for %{{.*}} = 0 to 3
// CHECK: affine.for %{{.*}} = 0 to min
// CHECK: return
func.func @uneven(%x: f32, %to: memref<16x128xf32, #layout.tiled<{1,0:T(8,128)(3,1)}>>) {
  linalg.fill ins(%x : f32) outs(%to : memref<16x128xf32, #layout.tiled<{1,0:T(8,128)(3,1)}>>)
  return
}

// -----

// A contraction: the reduction runs outside the output's tile.
#T = #layout.tiled<{1,0:T(8,128)}>
// CHECK-LABEL: func.func @matmul(
// CHECK: affine.for %[[I0:.*]] = 0 to 2
// CHECK: affine.for %[[J0:.*]] = 0 to 3
// CHECK: affine.for %[[K0:.*]] = 0 to 2
// CHECK: affine.for %[[K1:.*]] = 0 to 16
// CHECK: affine.for %[[K2:.*]] = 0 to 8
// CHECK: affine.for %[[I1:.*]] = 0 to 8
// CHECK: affine.for %[[J1:.*]] = 0 to 128
// STRIDED: affine.load %{{.*}}[%[[I0]], %[[I1]], %[[K0]], %[[K1]] * 8 + %[[K2]]]
// STRIDED: affine.load %{{.*}}[%[[K0]] * 16 + %[[K1]], %[[K2]], %[[J0]], %[[J1]]]
// STRIDED: affine.load %{{.*}}[%[[I0]], %[[I1]], %[[J0]], %[[J1]]]
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: affine.store
func.func @matmul(%a: memref<16x256xf32, #T>, %b: memref<256x384xf32, #T>, %c: memref<16x384xf32, #T>) {
  linalg.matmul ins(%a, %b : memref<16x256xf32, #T>, memref<256x384xf32, #T>) outs(%c : memref<16x384xf32, #T>)
  return
}

// -----

// Tiles of an input alone: the output's fastest loop stays the innermost, which stores side by side.
// CHECK-LABEL: func.func @matmul_of_tiles(
// CHECK: affine.for %[[I0:.*]] = 0 to 2
// CHECK: affine.for %[[K0:.*]] = 0 to 2
// CHECK: affine.for %[[K1:.*]] = 0 to 128
// CHECK: affine.for %[[I1:.*]] = 0 to 8
// CHECK: affine.for %[[J:.*]] = 0 to 384
// CHECK: affine.store %{{.*}}, %{{.*}}[%[[I0]] * 8 + %[[I1]], %[[J]]]
func.func @matmul_of_tiles(%a: memref<16x256xf32, #layout.tiled<{1,0:T(8,128)}>>, %b: memref<256x384xf32>,
                           %c: memref<16x384xf32>) {
  linalg.matmul ins(%a, %b : memref<16x256xf32, #layout.tiled<{1,0:T(8,128)}>>, memref<256x384xf32>)
      outs(%c : memref<16x384xf32>)
  return
}

// -----

// A buffer is allocated in memory order and seen through its strides; L(n) makes the allocation longer.
// CHECK-LABEL: func.func @allocations(
// CHECK: memref.alloc() {alignment = 64 : i64} : memref<2x2x4x128x2xbf16, #layout.memory_space<vmem>>
// STRIDED-NEXT: memref.transpose %{{.*}} (d0, d1, d2, d3, d4) -> (d0, d2, d4, d1, d3)
// CHECK: memref.dealloc
// CHECK: %[[ROW:.*]] = memref.alloca() : memref<32xf32>
// STRIDED: memref.reinterpret_cast %[[ROW]] to offset: [0], sizes: [2, 2, 3, 2], strides: [12, 2, 4, 1]
// PHYSICAL: memref.reinterpret_cast %[[ROW]] to offset: [0], sizes: [2, 3, 2, 2], strides: [12, 4, 2, 1]
func.func @allocations() {
  %0 = memref.alloc() {alignment = 64 : i64} : memref<16x256xbf16, #layout.tiled<{1,0:T(8,128)(2,1)S(1)}>>
  memref.dealloc %0 : memref<16x256xbf16, #layout.tiled<{1,0:T(8,128)(2,1)S(1)}>>
  %1 = memref.alloca() : memref<3x5xf32, #layout.tiled<{1,0:T(2,2)L(32)}>>
  return
}

// -----

// Constants are rearranged; padding is zero.
// CHECK: memref.global "private" constant @c : memref<2x2x2xi8> = dense<
// CHECK-SAME{LITERAL}: [[[1, 2], [4, 5]], [[3, 0], [6, 0]]]>
// CHECK: memref.global "private" constant @bits : memref<1x2x2x2xi1> = dense<
// CHECK-SAME{LITERAL}: [[[[true, false], [false, true]], [[true, false], [true, false]]]]>
// CHECK: memref.global "private" constant @all : memref<2x2x2xi8> = dense<7>
// CHECK: memref.global "private" @none : memref<2x2x2xi8> = uninitialized
memref.global "private" constant @c : memref<2x3xi8, #layout.tiled<{1,0:T(2,2)}>> = dense<[[1, 2, 3], [4, 5, 6]]>
memref.global "private" constant @bits : memref<1x2x3xi1, #layout.tiled<{2,1,0:T(2,2)}>> = dense<[[[1, 0, 1], [0, 1, 1]]]>
memref.global "private" constant @all : memref<2x3xi8, #layout.tiled<{1,0:T(2,2)}>> = dense<7>
memref.global "private" @none : memref<2x3xi8, #layout.tiled<{1,0:T(2,2)}>> = uninitialized
// CHECK-LABEL: func.func @constant(
// CHECK: memref.get_global @c : memref<2x2x2xi8>
func.func @constant() -> memref<2x3xi8, #layout.tiled<{1,0:T(2,2)}>> {
  %0 = memref.get_global @c : memref<2x3xi8, #layout.tiled<{1,0:T(2,2)}>>
  return %0 : memref<2x3xi8, #layout.tiled<{1,0:T(2,2)}>>
}

// -----

// Sizes are logical ones. A cast, a slice of an untiled layout, and control flow follow the type.
#C = #layout.tiled<{0,1}>
// CHECK-LABEL: func.func @views(
// STRIDED-SAME: %[[M:[^:]*]]: memref<15x25xf32, strided<[1, 15]>>,
// CHECK: %[[SIZE:.*]] = arith.constant 25 : index
// PHYSICAL: %[[M:[^ ]*]] = memref.transpose %{{.*}} (d0, d1) -> (d1, d0) : memref<25x15xf32> to memref<15x25xf32, strided<[1, 15]>>
// CHECK: memref.subview %[[M]][{{.*}}, 3] [2, 4] [1, 1] : memref<15x25xf32, strided<[1, 15]>>
// CHECK: arith.select
// CHECK: cf.br
func.func @views(%m: memref<15x25xf32, #C>, %n: memref<15x25xf32, #C>, %i: index, %c: i1)
    -> (f32, index, memref<?x25xf32, #C>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d = memref.dim %m, %c1 : memref<15x25xf32, #C>
  %s = memref.subview %m[%i, 3][2, 4][1, 1] : memref<15x25xf32, #C> to memref<2x4xf32, strided<[1, 15], offset: ?>>
  %x = memref.load %s[%c0, %c0] : memref<2x4xf32, strided<[1, 15], offset: ?>>
  %o = arith.select %c, %m, %n : memref<15x25xf32, #C>
  cf.br ^bb1(%o : memref<15x25xf32, #C>)
^bb1(%p: memref<15x25xf32, #C>):
  %q = memref.cast %p : memref<15x25xf32, #C> to memref<?x25xf32, #C>
  return %x, %d, %q : f32, index, memref<?x25xf32, #C>
}

// -----

// layout.convert of a buffer to its own type is the buffer, to another a copy.
#T = #layout.tiled<{1,0:T(2,2)}>
// CHECK-LABEL: func.func @convert(
// CHECK: memref.alloc() {alignment = 64 : i64} : memref<3x5xf32>
// CHECK: affine.for
// CHECK: affine.store
// CHECK-NOT: layout.convert
func.func @convert(%m: memref<3x5xf32, #T>) -> (memref<3x5xf32, #T>, memref<3x5xf32>) {
  %0 = layout.convert %m : memref<3x5xf32, #T> to memref<3x5xf32, #T>
  %1 = layout.convert %0 : memref<3x5xf32, #T> to memref<3x5xf32>
  return %0, %1 : memref<3x5xf32, #T>, memref<3x5xf32>
}

// -----

// Slices and reshapes of a buffer that bufferization gave a layout compose into the index.
#P = #layout.pending<#layout.tiled<{1,0:T(2,2)}>>
// CHECK-LABEL: func.func @pending(
// CHECK-NOT: subview
// CHECK-NOT: collapse_shape
// CHECK: affine.for %[[I:.*]] = 0 to 2
// STRIDED: affine.load %{{.*}}[%[[I]] + 1, 0, 2, 0]
// PHYSICAL: affine.load %{{.*}}[%[[I]] + 1, 2, 0, 0]
func.func @pending(%m: memref<8x8xf32, #P>, %n: memref<2xf32>) {
  %0 = memref.subview %m[2, 4][2, 1][2, 1]
    : memref<8x8xf32, #P> to memref<2x1xf32, strided<[16, 1], offset: 20>, #P>
  %1 = memref.collapse_shape %0 [[0, 1]]
    : memref<2x1xf32, strided<[16, 1], offset: 20>, #P> into memref<2xf32, strided<[16], offset: 20>, #P>
  memref.copy %1, %n : memref<2xf32, strided<[16], offset: 20>, #P> to memref<2xf32>
  return
}

// -----

// No negative factor comes under a remainder, where upstream's canonicalizer would fold it wrongly.
// CHECK-LABEL: func.func @merged(
// CHECK: affine.load
// CHECK-SAME: ((%{{.*}} + %{{.*}} * 3) mod 5) mod 4
func.func @merged(%m: memref<7x3x4xi64, #layout.tiled<{1,2,0:T(1,*,5)(4,1,2,4)}>>, %n: memref<7x3x4xi64>) {
  memref.copy %m, %n : memref<7x3x4xi64, #layout.tiled<{1,2,0:T(1,*,5)(4,1,2,4)}>> to memref<7x3x4xi64>
  return
}

// -----

// Nor one inside a product.
// CHECK-LABEL: func.func @merged_twice(
// CHECK: affine.load
// CHECK-NOT: -
// CHECK: return
func.func @merged_twice(%m: memref<4x16xf32, #layout.tiled<{1,0:T(4,3)(*,*,5)(3)L(5)}>>, %n: memref<4x16xf32>) {
  memref.copy %m, %n : memref<4x16xf32, #layout.tiled<{1,0:T(4,3)(*,*,5)(3)L(5)}>> to memref<4x16xf32>
  return
}

// -----

// Sums are added up as the program has them: all of one dimension inside each step of the one before, wherever the tiles
// are. The two rows of a pair are 1 apart in memory and columns 2, rows of a tile 16.
// CHECK-LABEL: func.func @sums(
// CHECK: affine.for %[[I:.*]] = 0 to 7
// CHECK-NEXT: affine.for %[[TILE:.*]] = 0 to 2
// CHECK-NEXT: affine.for %[[PAIR:.*]] = 0 to 2
// CHECK-NEXT: affine.for %[[ROW:.*]] = 0 to 2
// CHECK-NEXT: affine.for %[[COLUMNS:.*]] = 0 to 4
// CHECK-NEXT: affine.for %[[COLUMN:.*]] = 0 to min #{{.*}}(%[[COLUMNS]])
// STRIDED-NEXT: affine.load %{{.*}}[%[[I]] * 2 + %[[TILE]], %[[PAIR]], %[[ROW]], %[[COLUMNS]], %[[COLUMN]]]
// PHYSICAL-NEXT: affine.load %{{.*}}[%[[I]] * 2 + %[[TILE]], %[[COLUMNS]], %[[PAIR]], %[[COLUMN]], %[[ROW]]]
func.func @sums(%a: memref<7x8x25xf32, #layout.tiled<{2,1,0:T(*,4,8)(2,1)}>>, %b: memref<7xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i)>],
                  iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%a : memref<7x8x25xf32, #layout.tiled<{2,1,0:T(*,4,8)(2,1)}>>) outs(%b : memref<7xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %o : f32
    linalg.yield %y : f32
  }
  return
}
