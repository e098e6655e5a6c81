// What the README says is not lowered yet: an error at the operation or type, for the reason given there.
// RUN: not layout-opt %s --layout-to-memref --split-input-file 2>&1 | FileCheck %s
// RUN: not layout-opt %s --layout-to-memref --split-input-file 2>/dev/null | FileCheck %s --check-prefix=LOWERED

// Sizes known only at run time wherever they are: merged, cut by tiles and merged, and where rows begin inside a byte.
// LOWERED: func.func private @merged(memref<?x?x2xf32, strided<[0, 2, 1]>>)
func.func private @merged(tensor<5x?xf32, #layout.tiled<{1,0:T(*,2)}>>)
// LOWERED: func.func private @tiles(memref<?x?x3xi8, strided<[0, 3, 1]>>)
func.func private @tiles(tensor<5x?xi8, #layout.tiled<{1,0:T(2,4)(*,*,*,3)}>>)
// LOWERED: func.func private @rows(memref<?x?xi8, strided<[0, 1]>>)
func.func private @rows(tensor<5x?xi4, #layout.tiled<{1,0:E(4)}>>)

// -----

// A dimension that no tile cuts may be dynamic.
// LOWERED: func.func private @major(memref<?x3x2x3x2xf32, strided<[36, 12, 2, 4, 1]>>)
func.func private @major(tensor<?x5x5xf32, #layout.tiled<{2,1,0:T(2,2)}>>)

// -----

// CHECK: error: cannot lower {{.*}}: its elements are split over several memories (SC), and a memref is in one
func.func private @split(tensor<3x5xf32, #layout.tiled<{1,0:SC(0:1)}>>)

// -----

// CHECK: error: cannot lower {{.*}}: its metadata (M) must be a multiple of 4 bytes, as the offset of a memref counts elements, found 6
func.func private @metadata(tensor<3x5xf32, #layout.tiled<{1,0:T(2,2)M(6)}>>)

// -----

// LOWERED: func.func private @bits(memref<8x96xi8>)
func.func private @bits(tensor<3x5xi4, #layout.tiled<{1,0:T(8,128)E(6)}>>)
// LOWERED: func.func private @odd(memref<9xi8>)
func.func private @odd(tensor<3x5xi3, #layout.tiled<{1,0:T(2,2)E(3)}>>)

// -----

// CHECK: error: cannot lower {{.*}}: expected E of at most 128, the most bits that an element has, found E(129)
func.func private @packed(tensor<3x5xi4, #layout.tiled<{1,0:T(2,2)E(129)}>>)

// -----

// CHECK: error: cannot lower {{.*}}: expected E(64) for elements of complex<f32>, found E(128)
func.func private @wide(tensor<3x5xcomplex<f32>, #layout.tiled<{1,0:T(2,2)E(128)}>>)

// -----

#t = #layout.tiled<{1,0:T(8,128)}>
func.func @load(%x: memref<16x256xf32, #t>, %i: index) -> vector<8xf32> {
  // CHECK: [[@LINE+3]]:{{[0-9]+}}: error: 'vector.load' op most minor memref dim must have unit stride
  // CHECK: note: see current operation
  // CHECK: note: a memref with tiles or a swizzle has no strides: use affine.vector_load
  %r = vector.load %x[%i, %i] : memref<16x256xf32, #t>, vector<8xf32>
  return %r : vector<8xf32>
}

// -----

#t = #layout.tiled<{1,0:T(8,128)}>
func.func @slice(%x: memref<16x256xf32, #t>) -> memref<8x128xf32, #t> {
  // CHECK: [[@LINE+2]]:{{[0-9]+}}: error: base type {{.*}} is not strided
  // CHECK: note: a memref with tiles or a swizzle has no strides: slice the tensor
  %s = memref.subview %x[8, 128] [8, 128] [1, 1] : memref<16x256xf32, #t> to memref<8x128xf32, #t>
  return %s : memref<8x128xf32, #t>
}

// -----

// Upstream's bufferization, with or without layouts.
func.func @twice(%x: tensor<3xf32>, %y: tensor<3xf32>, %if: i1) -> tensor<3xf32> {
  // CHECK: [[@LINE+1]]:{{[0-9]+}}: error: type mismatch for bb argument #0 of successor #1
  cf.cond_br %if, ^join(%x : tensor<3xf32>), ^join(%y : tensor<3xf32>)
^join(%z: tensor<3xf32>):
  return %z : tensor<3xf32>
}
