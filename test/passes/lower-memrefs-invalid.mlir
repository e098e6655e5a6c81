// What layout-lower-memrefs cannot lower is an error at the operation, one for each, and the module stays as it was.
// RUN: layout-opt %s --split-input-file --layout-lower-memrefs --verify-diagnostics
// RUN: not layout-opt %s --mlir-print-local-scope --split-input-file --layout-lower-memrefs --mlir-print-ir-after-failure 2>&1 | FileCheck %s

// CHECK: IR Dump After LayoutLowerMemrefs Failed
// CHECK: func.func @unknown(%{{.*}}: memref<16x256xf32, #layout.tiled<{1,0:T(8,128)}>>
// CHECK: memref.load %{{.*}} : memref<16x256xf32, #layout.tiled<{1,0:T(8,128)}>>
#T = #layout.tiled<{1,0:T(8,128)}>
func.func @unknown(%m: memref<16x256xf32, #T>, %i: index) -> f32 {
  %a = memref.load %m[%i, %i] : memref<16x256xf32, #T>
  // expected-error@+1 {{'bufferization.clone' op cannot be lowered: unsupported operation on a buffer with layout {1,0:T(8,128)}}}
  %0 = bufferization.clone %m : memref<16x256xf32, #T> to memref<16x256xf32, #T>
  // expected-error@+1 {{'bufferization.clone' op cannot be lowered: unsupported operation}}
  %1 = bufferization.clone %m : memref<16x256xf32, #T> to memref<16x256xf32, #T>
  return %a : f32
}

// -----

// expected-error@+1 {{its elements are split over several memories (SC)}}
func.func @split(%m: memref<6xi32, #layout.tiled<{0:T(128)SC(0:3)}>>) { return }

// -----

// expected-error@+1 {{its metadata (M) must be a multiple of 4 bytes, as the offset of a memref counts elements, found 17}}
func.func @metadata(%m: memref<6xi32, #layout.tiled<{0:T(128)M(17)}>>) { return }

// -----

// expected-error@+1 {{its bytes overflow 64 bits}}
func.func private @bytes(%m: memref<2000000000000000000xi12, #layout.tiled<{0:E(100)}>>)

// -----

// expected-error@+1 {{the product of its tile sizes overflows}}
func.func private @tiles(%m: memref<?xi32, #layout.tiled<{0:T(4000000000)(3000000000)}>>)

// -----

// expected-error@+1 {{its memory space must be that of its layout, S(1), found #layout.memory_space<host>}}
func.func @spaces(%m: memref<16x6xi32, #layout.tiled<{1,0:T(8,128)S(1)}>, #layout.memory_space<host>>) { return }

// -----

// expected-error@+1 {{expected E of at least 8, the bits of i8, found E(4)}}
func.func @bits(%m: memref<16x6xi8, #layout.tiled<{1,0:T(8,128)E(4)}>>) { return }

// -----

// expected-error@+1 {{expected E(64) for elements of index, found E(32)}}
func.func @index(%m: memref<16x6xindex, #layout.tiled<{1,0:T(8,128)E(32)}>>) { return }

// -----

// expected-error@+1 {{expected no E for elements of vector<4xf32>, found E(128)}}
func.func @vectors(%m: memref<16x6xvector<4xf32>, #layout.tiled<{1,0:T(8,128)E(128)}>>) { return }

// -----

#T = #layout.tiled<{1,0:T(8,128)}>
func.func @pointer(%m: memref<16x256xf32, #T>) -> index {
  // expected-error@+1 {{expected a buffer with strides, found layout {1,0:T(8,128)}}}
  %p = memref.extract_aligned_pointer_as_index %m : memref<16x256xf32, #T> -> index
  return %p : index
}

// -----

#P = #layout.pending<#layout.tiled<{1,0:T(8,128)}>>
// expected-error@+1 {{it is a slice whose buffer is not known here}}
func.func private @slice(memref<2x4xf32, strided<[256, 1]>, #P>)
func.func @pass_slice(%m: memref<16x256xf32, #P>) {
  %s = memref.subview %m[0, 0][2, 4][1, 1] : memref<16x256xf32, #P> to memref<2x4xf32, strided<[256, 1]>, #P>
  // expected-error@+1 {{expected a whole tiled buffer, found a slice or reshape of one}}
  func.call @slice(%s) : (memref<2x4xf32, strided<[256, 1]>, #P>) -> ()
  return
}

// -----

// expected-error@+1 {{cannot lower memref<2xmemref<2x3xf32, #layout.tiled<{0,1}>>>: a type nested in it contains a layout}}
func.func @buffers(%m: memref<2xmemref<2x3xf32, #layout.tiled<{0,1}>>>) { return }

// -----

#packed = #layout.tiled<{0:T(8)E(4)}>
func.func @shared_bytes(%m: memref<16xi4, #packed>, %i: index, %v: i4) -> i4 {
  // expected-error@+1 {{'memref.atomic_rmw' op cannot be lowered: an element that shares its bytes with others cannot be updated atomically}}
  %0 = memref.atomic_rmw addi %v, %m[%i] : (i4, memref<16xi4, #packed>) -> i4
  return %0 : i4
}

// -----

#wide = #layout.tiled<{0:T(8)E(8)}>
func.func @wider_element(%m: memref<16xi4, #wide>, %i: index, %v: i4) -> i4 {
  // expected-error@+1 {{'memref.atomic_rmw' op cannot be lowered: an element of i4 is stored as one of i8, and no atomic operation converts between them}}
  %0 = memref.atomic_rmw addi %v, %m[%i] : (i4, memref<16xi4, #wide>) -> i4
  return %0 : i4
}

// -----

// expected-error@+1 {{cannot lower memref<4x4xf32, affine_map<(d0, d1) -> (d0 floordiv 2, d1)>>: its map must not put two elements at one place, as it does with [0, 0] and [1, 0]}}
func.func @two_at_one_place(%m: memref<4x4xf32, affine_map<(i, j) -> (i floordiv 2, j)>>) { return }

// -----

// expected-error@+1 {{cannot lower memref<4x4xf32, affine_map<(d0, d1) -> (d0 - d1, d1)>>: result 0 of its map must not be negative, found -3}}
func.func @negative(%m: memref<4x4xf32, affine_map<(i, j) -> (i - j, j)>>) { return }

// -----

// expected-error@+1 {{its map must have no symbols unless it is a sum of strides}}
func.func @symbols(%m: memref<4x4xf32, affine_map<(i, j)[s] -> (i floordiv s, i mod s, j)>>) { return }

// -----

// expected-error@+1 {{dimension 0, whose size is known only at run time, must be a result of its map as it is}}
func.func @unknown_size(%m: memref<?x4xf32, affine_map<(i, j) -> (i floordiv 2, j, i mod 2)>>) { return }

// -----

func.func @broadcast() {
  // expected-error@+1 {{'memref.alloc' op cannot be lowered: its map must not put two elements at one place, as it does with [0, 0] and [0, 1]}}
  %m = memref.alloc() : memref<4x4xf32, affine_map<(i, j) -> (i)>>
  memref.dealloc %m : memref<4x4xf32, affine_map<(i, j) -> (i)>>
  return
}

// -----

func.func @before_the_first() {
  // expected-error@+1 {{'memref.alloc' op cannot be lowered: an element of what it allocates is at -1, before the first}}
  %m = memref.alloc() : memref<8xf32, affine_map<(i) -> (6 - i)>>
  memref.dealloc %m : memref<8xf32, affine_map<(i) -> (6 - i)>>
  return
}

// -----

func.func @too_far() {
  // expected-error@+1 {{'memref.alloc' op cannot be lowered: a result of its map overflows 64 bits}}
  %m = memref.alloc() : memref<4x4xf32, strided<[4611686018427387904, 1]>>
  memref.dealloc %m : memref<4x4xf32, strided<[4611686018427387904, 1]>>
  return
}

// -----

func.func @run_time_strides(%s: index) {
  // expected-error@+1 {{'memref.alloc' op cannot be lowered: the strides and the offset of what it allocates must be numbers, found memref<4x4xf32, strided<[?, 1]>>: allocate the elements without a layout, and give strides that are values to a memref.reinterpret_cast}}
  %m = memref.alloc()[%s] : memref<4x4xf32, affine_map<(i, j)[s] -> (i * s + j)>>
  memref.dealloc %m : memref<4x4xf32, affine_map<(i, j)[s] -> (i * s + j)>>
  return
}
