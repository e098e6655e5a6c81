// What upstream MLIR makes of the layouts, by way of their interfaces.
// RUN: layout-opt %s --mlir-print-local-scope --normalize-memrefs | FileCheck %s --check-prefix=MAP
// RUN: layout-opt %s --expand-strided-metadata | FileCheck %s --check-prefix=STRIDES
// RUN: layout-opt %s --mlir-print-local-scope --fold-memref-alias-ops --canonicalize | FileCheck %s

// The affine map: one result for each of the expanded sizes, in memory order. So upstream's physical buffer is the
// tiled one, padding of ragged sizes included. It has no room where no index goes: of a tile longer than the rank.
// MAP-LABEL: func.func @maps
// MAP-SAME: memref<2x2x8x128xf32>
// MAP-SAME: memref<2x2x4x128x2x1xbf16, #layout.memory_space<vmem>>
// MAP-SAME: memref<5x3xf32>
// MAP-SAME: memref<?x?x?x?xf32>
// MAP-SAME: memref<1x2x1x128xf32>
func.func @maps(
    %a: memref<15x250xf32, #layout.tiled<{1,0:T(8,128)}>>,
    %b: memref<15x250xbf16, #layout.tiled<{1,0:T(8,128)(2,1)S(1)}>, #layout.memory_space<vmem>>,
    %c: memref<3x5xf32, #layout.tiled<{0,1}>>,
    %d: memref<?x?xf32, #layout.tiled<{1,0:T(8,128)}>>,
    %e: memref<250xf32, #layout.tiled<{0:T(8,128)}>>) {
  return
}

// MAP-LABEL: func.func @access
// MAP: %[[M:.*]] = memref.alloc() : memref<2x2x8x128xf32>
// MAP: affine.load %[[M]][%{{.*}} floordiv 8, %{{.*}} floordiv 128, %{{.*}} mod 8, %{{.*}} mod 128]
func.func @access() {
  %m = memref.alloc() : memref<15x250xf32, #layout.tiled<{1,0:T(8,128)}>>
  affine.for %i = 0 to 15 {
    affine.for %j = 0 to 250 {
      %0 = affine.load %m[%i, %j] : memref<15x250xf32, #layout.tiled<{1,0:T(8,128)}>>
    }
  }
  return
}

// A merged dimension's size is a symbol of the map, so upstream leaves it alone.
// MAP-LABEL: func.func @merged
// MAP-SAME: memref<4x6xf32, #layout.tiled<{1,0:T(*,8)}>>
func.func @merged(%a: memref<4x6xf32, #layout.tiled<{1,0:T(*,8)}>>) {
  return
}

// Untiled layouts have strides; a stride that depends on a dynamic size is dynamic.
// STRIDES-LABEL: func.func @strides
// STRIDES-SAME: %[[B:[^ ]*]]: memref<?x4x5xf32
func.func @strides(%a: memref<2x3xf32, #layout.tiled<{0,1}>>, %b: memref<?x4x5xf32, #layout.tiled<{1,0,2}>>)
    -> (index, index, index, index, index) {
  // STRIDES-DAG: %[[C1:.*]] = arith.constant 1 : index
  // STRIDES-DAG: %[[C2:.*]] = arith.constant 2 : index
  // STRIDES-DAG: %[[C4:.*]] = arith.constant 4 : index
  %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %a
    : memref<2x3xf32, #layout.tiled<{0,1}>> -> memref<f32>, index, index, index, index, index
  // STRIDES: %{{.*}}, %{{.*}}, %{{.*}}:3, %[[S:.*]]:3 = memref.extract_strided_metadata %[[B]]
  %base_1, %offset_1, %sizes_1:3, %strides_1:3 = memref.extract_strided_metadata %b
    : memref<?x4x5xf32, #layout.tiled<{1,0,2}>> -> memref<f32>, index, index, index, index, index, index, index
  // STRIDES: return %[[C1]], %[[C2]], %[[C4]], %[[C1]], %[[S]]#2
  return %strides#0, %strides#1, %strides_1#0, %strides_1#1, %strides_1#2 : index, index, index, index, index
}

// Upstream takes views of untiled layouts, and casts them.
// CHECK-LABEL: func.func @views
// CHECK: memref.subview {{.*}} : memref<2x3xf32, #layout.tiled<{0,1}>> to memref<1x2xf32, strided<[1, 2], offset: 2>>
// CHECK: memref.cast {{.*}} : memref<2x3xf32, #layout.tiled<{0,1}>> to memref<2x3xf32, strided<[?, ?], offset: ?>>
func.func @views(%a: memref<2x3xf32, #layout.tiled<{0,1}>>)
    -> (memref<1x2xf32, strided<[1, 2], offset: 2>>, memref<2x3xf32, strided<[?, ?], offset: ?>>) {
  %0 = memref.subview %a[0, 1] [1, 2] [1, 1]
    : memref<2x3xf32, #layout.tiled<{0,1}>> to memref<1x2xf32, strided<[1, 2], offset: 2>>
  %1 = memref.cast %a : memref<2x3xf32, #layout.tiled<{0,1}>> to memref<2x3xf32, strided<[?, ?], offset: ?>>
  return %0, %1 : memref<1x2xf32, strided<[1, 2], offset: 2>>, memref<2x3xf32, strided<[?, ?], offset: ?>>
}

// A TensorLayout's map gives the coordinate of each axis, in the order in which the layout names them, and last the
// address, those of padding where an index reaches them.
// MAP-LABEL: func.func @places
// MAP-SAME: memref<4x24xf32>
// MAP-SAME: memref<4x21xbf16, #layout.memory_space<vmem>>
// MAP-SAME: memref<8x8x6x1x1xf32>
func.func @places(
    %a: memref<12x8xf32, #layout.tensor_layout<((4_PE, 3:8), (8:1))>>,
    %b: memref<10x7xbf16, #layout.tensor_layout<((3:7, 4_PE), (7:1))>, #layout.memory_space<vmem>>,
    %c: memref<16x6xf32, #layout.tensor_layout<((4_L2B:2, 2_MAB:5, 2_MAB:2), (6_PE); B@[2_W])>>) {
  return
}

// MAP-LABEL: func.func @access_places
// MAP: %[[M:.*]] = memref.alloc() : memref<4x24xf32>
// MAP: affine.load %[[M]][%[[I:.*]] floordiv 3, %[[I]] * 8 + %{{.*}} - (%[[I]] floordiv 3) * 24]
func.func @access_places() {
  %m = memref.alloc() : memref<12x8xf32, #layout.tensor_layout<((4_PE, 3:8), (8:1))>>
  affine.for %i = 0 to 12 {
    affine.for %j = 0 to 8 {
      %0 = affine.load %m[%i, %j] : memref<12x8xf32, #layout.tensor_layout<((4_PE, 3:8), (8:1))>>
    }
  }
  return
}

// A swizzle is no affine map, so upstream keeps the memref as it is. Its map has no symbols, even where tiles merge
// dimensions.
// MAP-LABEL: func.func @swizzled
// MAP-SAME: memref<8x8xf32, #layout.swizzled<Sw<2,0,3> o ((8:8), (8:1))>>
// MAP-SAME: memref<15x250xf32, #layout.swizzled<Sw<3,3,3> o {1,0:T(8,128)}>>
// MAP: memref.alloc() : memref<64x64xf32, #layout.swizzled<Sw<3,3,3> o {1,0:T(*,8)}>>
func.func @swizzled(%a: memref<8x8xf32, #layout.swizzled<Sw<2,0,3> o ((8:8), (8:1))>>,
    %b: memref<15x250xf32, #layout.swizzled<Sw<3,3,3> o {1,0:T(8,128)}>>) -> f32 {
  %c0 = arith.constant 0 : index
  %m = memref.alloc() : memref<64x64xf32, #layout.swizzled<Sw<3,3,3> o {1,0:T(*,8)}>>
  %0 = affine.load %m[%c0, %c0] : memref<64x64xf32, #layout.swizzled<Sw<3,3,3> o {1,0:T(*,8)}>>
  memref.dealloc %m : memref<64x64xf32, #layout.swizzled<Sw<3,3,3> o {1,0:T(*,8)}>>
  return %0 : f32
}

// On the address alone, with one part to a dimension, it has strides.
// CHECK-LABEL: func.func @address_views
// CHECK: memref.subview {{.*}} : memref<2x3xf32, #layout.tensor_layout<((2:1), (3:2))>> to memref<1x2xf32, strided<[1, 2], offset: 2>>
func.func @address_views(%a: memref<2x3xf32, #layout.tensor_layout<((2:1), (3:2))>>)
    -> memref<1x2xf32, strided<[1, 2], offset: 2>> {
  %0 = memref.subview %a[0, 1] [1, 2] [1, 1]
    : memref<2x3xf32, #layout.tensor_layout<((2:1), (3:2))>> to memref<1x2xf32, strided<[1, 2], offset: 2>>
  return %0 : memref<1x2xf32, strided<[1, 2], offset: 2>>
}
