// Elements that do not take their own bytes: `E(n)`; and metadata in front, `M(n)`.
// RUN: layout-opt %s --layout-lower-memrefs | FileCheck %s
// RUN: layout-opt %s --layout-lower-memrefs=form=physical | FileCheck %s --check-prefix=PHYSICAL

// Two in a byte: the part that varies fastest has half as many bytes.
// CHECK: func.func private @nibbles(memref<2x8x64xi8>)
func.func private @nibbles(memref<16x6xi4, #layout.tiled<{1,0:T(8,128)E(4)}>>)

// The sixth format of a TPU, one bit for each: 32 rows are 4 bytes.
// CHECK: func.func private @bits(memref<2x4x2x128xi8, strided<[1024, 1, 512, 4]>>)
// PHYSICAL: func.func private @bits(memref<2x2x128x4xi8>)
func.func private @bits(memref<64x256xi1, #layout.tiled<{1,0:T(32,128)(32,1)E(1)}>>)

// CHECK: func.func private @columns(memref<8x4x16x8xi8, strided<[512, 1, 32, 4]>>)
// CHECK: func.func private @floats(memref<4x3xi8>)
// CHECK: func.func private @two_bits(memref<4x2xi8>)
func.func private @columns(memref<8x4x128xi4, #layout.tiled<{1,2,0:T(8,8)E(4)}>>)
func.func private @floats(memref<4x6xf4E2M1FN, #layout.tiled<{1,0:E(4)}>>)
func.func private @two_bits(memref<4x8xi2, #layout.tiled<{1,0:E(2)}>>)

// Rows of 5 begin inside bytes: all elements are one row of bytes. So are those of a scalar, and of nothing.
// CHECK: func.func private @rows(memref<8xi8>)
// CHECK: func.func private @scalar(memref<1xi8>)
// CHECK: func.func private @none(memref<0xi8>)
func.func private @rows(memref<3x5xi4, #layout.tiled<{1,0:E(4)}>>)
func.func private @scalar(memref<i4, #layout.tiled<{:E(4)}>>)
func.func private @none(memref<0x5xi4, #layout.tiled<{1,0:E(4)}>>)

// One in an integer.
// CHECK: func.func private @words(memref<4x6xi32>)
// CHECK: func.func private @byte(memref<4x6xi8>)
// CHECK: func.func private @bool(memref<4x6xi8>)
// CHECK: func.func private @twelve(memref<4x6xi16>)
// CHECK: func.func private @halves(memref<2x2x3x2xi16, strided<[12, 2, 4, 1]>>)
// CHECK: func.func private @own(memref<2x2x3x2xf32, strided<[12, 2, 4, 1]>>)
func.func private @words(memref<4x6xi1, #layout.tiled<{1,0:E(32)}>>)
func.func private @byte(memref<4x6xi4, #layout.tiled<{1,0:E(8)}>>)
func.func private @bool(memref<4x6xi1, #layout.tiled<{1,0:E(8)}>>)
func.func private @twelve(memref<4x6xi12, #layout.tiled<{1,0:E(16)}>>)
func.func private @halves(memref<4x6xi8, #layout.tiled<{1,0:T(2,2)E(16)}>>)
func.func private @own(memref<4x6xf32, #layout.tiled<{1,0:T(2,2)E(32)}>>)

// An element of whole bytes where there is no E.
// CHECK: func.func private @plain(memref<4x6xi4>)
func.func private @plain(memref<4x6xi4, #layout.tiled<{1,0}>>)

// Metadata are in front of the offset; the tail does not show.
// CHECK: func.func private @metadata(memref<2x2x3x2xi16, strided<[12, 2, 4, 1], offset: 8>>)
// PHYSICAL: func.func private @metadata(memref<2x3x2x2xi16, strided<[12, 4, 2, 1], offset: 8>>)
func.func private @metadata(memref<4x6xi16, #layout.tiled<{1,0:T(2,2)L(100)M(16)}>>)

// CHECK-LABEL: func.func @allocate
func.func @allocate() {
  // 24 elements, rounded up to 100, are 50 bytes, and 16 bytes of metadata.
  // CHECK: %[[ROW:.*]] = memref.alloc() : memref<66xi8>
  // CHECK: memref.reinterpret_cast %[[ROW]] to offset: [16], sizes: [2, 3, 2], strides: [1, 4, 2]
  %0 = memref.alloc() : memref<4x6xi4, #layout.tiled<{0,1:T(2,4)L(100)E(4)M(16)}>>
  memref.dealloc %0 : memref<4x6xi4, #layout.tiled<{0,1:T(2,4)L(100)E(4)M(16)}>>
  return
}

// A constant is packed when it is lowered: 1, 2, 3 and 4, -1, then nothing.
// CHECK: memref.global "private" constant @nibbles_of_a_constant : memref<2x2xi8> = dense<{{\[\[}}33, 3], [-12, 0{{\]\]}}>
memref.global "private" constant @nibbles_of_a_constant : memref<2x3xi4, #layout.tiled<{1,0:T(1,4)E(4)}>> = dense<[[1, 2, 3], [4, -1, 0]]>
// CHECK: memref.global "private" constant @ones : memref<2x2xi8> = dense<-1>
memref.global "private" constant @ones : memref<2x9xi1, #layout.tiled<{1,0:T(1,16)E(1)}>> = dense<true>
// CHECK: memref.global "private" constant @wide : memref<2xi32> = dense<[1, 0]>
memref.global "private" constant @wide : memref<2xi1, #layout.tiled<{0:E(32)}>> = dense<[true, false]>

// A store changes its own bits of the byte.
// CHECK-LABEL: func.func @store(
// CHECK-SAME: %[[M:.*]]: memref<4x3xi8>, %[[V:.*]]: i4
// CHECK: %[[BYTE:.*]] = memref.load %[[M]][%{{.*}}, %{{.*}}] : memref<4x3xi8>
// CHECK: arith.andi %[[BYTE]]
// CHECK: %[[NEW:.*]] = arith.ori
// CHECK: memref.store %[[NEW]], %[[M]][%{{.*}}, %{{.*}}] : memref<4x3xi8>
func.func @store(%m: memref<4x6xi4, #layout.tiled<{1,0:E(4)}>>, %v: i4, %i: index, %j: index) {
  memref.store %v, %m[%i, %j] : memref<4x6xi4, #layout.tiled<{1,0:E(4)}>>
  return
}

// Iterations that may write to one byte at the same time clear and set the bits of an element by atomic operations; in a
// buffer of its own an iteration is alone.
// CHECK-LABEL: func.func @at_the_same_time(
// CHECK-SAME: %[[M:.*]]: memref<4x3xi8>
// CHECK: scf.forall
// CHECK: memref.alloc
// CHECK: memref.store
// CHECK: memref.atomic_rmw andi %{{.*}}, %[[M]][%{{.*}}, %{{.*}}] : (i8, memref<4x3xi8>) -> i8
// CHECK: memref.atomic_rmw ori %{{.*}}, %[[M]][%{{.*}}, %{{.*}}] : (i8, memref<4x3xi8>) -> i8
// CHECK-NOT: memref.store
// CHECK: return
func.func @at_the_same_time(%m: memref<4x6xi4, #layout.tiled<{1,0:E(4)}>>, %v: i4, %i: index) {
  scf.forall (%j) in (6) {
    %own = memref.alloc() : memref<1x2xi4, #layout.tiled<{1,0:E(4)}>>
    %zero = arith.constant 0 : index
    memref.store %v, %own[%zero, %zero] : memref<1x2xi4, #layout.tiled<{1,0:E(4)}>>
    memref.dealloc %own : memref<1x2xi4, #layout.tiled<{1,0:E(4)}>>
    memref.store %v, %m[%i, %j] : memref<4x6xi4, #layout.tiled<{1,0:E(4)}>>
  }
  return
}
