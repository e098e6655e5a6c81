// Reshapes of which a group of dimensions has several sizes that only the program has: read at every place, written through, of
// buffers with an offset and strides, beside known sizes and without elements.
// RUN: layout-opt %s --layout-to-llvm | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm='vectorize=avx2' \
// RUN:   | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s

// A tensor: bufferization makes such a reshape of it.
func.func private @tensor(%x: tensor<?xi64>, %p: index, %q: index) -> tensor<?x?xi64> attributes {no_inline} {
  %0 = tensor.expand_shape %x [[0, 1]] output_shape [%p, %q] : tensor<?xi64> into tensor<?x?xi64>
  %1 = arith.addi %0, %0 : tensor<?x?xi64>
  return %1 : tensor<?x?xi64>
}

// Buffers of tensors are freed, so they are not in a function with those above.
func.func private @tensors() attributes {no_inline} {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %twelve = arith.constant 12 : index
  %t = tensor.generate %twelve {
  ^bb0(%i: index):
    %v = arith.index_cast %i : index to i64
    tensor.yield %v : i64
  } : tensor<?xi64>
  %u = call @tensor(%t, %c3, %c4) : (tensor<?xi64>, index, index) -> tensor<?x?xi64>
  %x = tensor.extract %u[%c2, %c3] : tensor<?x?xi64>
  vector.print %x : i64
  return
}

func.func private @memrefs(%n1: index, %n2: index, %n3: index, %n4: index) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  %c12 = arith.constant 12 : index
  %c48 = arith.constant 48 : index
  %pad = arith.constant 0 : i64
  %row = memref.alloc(%c48) : memref<?xi64>
  scf.for %i = %c0 to %c48 step %c1 {
    %v = arith.index_cast %i : index to i64
    memref.store %v, %row[%i] : memref<?xi64>
  }
  // CHECK: ( ( 0, 1, 2 ), ( 3, 4, 5 ), ( 6, 7, 8 ), ( 9, 10, 11 ) )
  %twelve = memref.subview %row[0] [%c12] [1] : memref<?xi64> to memref<?xi64, strided<[1]>>
  %plain = memref.cast %twelve : memref<?xi64, strided<[1]>> to memref<?xi64>
  %two = memref.expand_shape %plain [[0, 1]] output_shape [%n4, %n3] : memref<?xi64> into memref<?x?xi64>
  %v2 = vector.transfer_read %two[%c0, %c0], %pad {in_bounds = [true, true]} : memref<?x?xi64>, vector<4x3xi64>
  vector.print %v2 : vector<4x3xi64>
  // What is written through it is there.
  memref.store %pad, %two[%c2, %c1] : memref<?x?xi64>
  // CHECK-NEXT: 0
  %seven = arith.constant 7 : index
  %zero = memref.load %row[%seven] : memref<?xi64>
  vector.print %zero : i64
  // Every second element from the fourth on, rows of two.
  %base, %o, %n, %st = memref.extract_strided_metadata %row : memref<?xi64> -> memref<i64>, index, index, index
  %some = memref.reinterpret_cast %base to offset: [%c4], sizes: [%c12, 2], strides: [%c3, %c2]
      : memref<i64> to memref<?x2xi64, strided<[?, ?], offset: ?>>
  %five = memref.expand_shape %some [[0, 1, 2, 3], [4]] output_shape [%n2, %n1, 3, %n2, 2]
      : memref<?x2xi64, strided<[?, ?], offset: ?>> into memref<?x?x3x?x2xi64, strided<[?, ?, ?, ?, ?], offset: ?>>
  // 4 + 3 * ((1 * 1 + 0) * 3 + 2) * 2 + 3 * 1 + 2 * 1 = 39.
  // CHECK-NEXT: 39
  %w = memref.load %five[%c1, %c0, %c2, %c1, %c1] : memref<?x?x3x?x2xi64, strided<[?, ?, ?, ?, ?], offset: ?>>
  vector.print %w : i64
  // CHECK-NEXT: ( ( ( ( 0, 1, 2 ), ( 3, 4, 5 ) ), ( ( 6, 0, 8 ), ( 9, 10, 11 ) ) ), ( ( ( 12, 13, 14 ), ( 15, 16, 17 ) ), ( ( 18, 19, 20 ), ( 21, 22, 23 ) ) ) )
  %square = memref.reinterpret_cast %base to offset: [0], sizes: [%c4, %c6], strides: [%c6, 1]
      : memref<i64> to memref<?x?xi64, strided<[?, 1]>>
  %matrix = memref.cast %square : memref<?x?xi64, strided<[?, 1]>> to memref<?x?xi64>
  %four = memref.expand_shape %matrix [[0, 1], [2, 3]] output_shape [%n2, %n2, %n2, %n3]
      : memref<?x?xi64> into memref<?x?x?x?xi64>
  %v4 = vector.transfer_read %four[%c0, %c0, %c0, %c0], %pad {in_bounds = [true, true, true, true]}
      : memref<?x?x?x?xi64>, vector<2x2x2x3xi64>
  vector.print %v4 : vector<2x2x2x3xi64>
  %nothing = memref.alloc(%c0) : memref<?xi64>
  %e0 = memref.expand_shape %nothing [[0, 1]] output_shape [%n3, 0] : memref<?xi64> into memref<?x0xi64>
  %e1 = memref.expand_shape %nothing [[0, 1, 2]] output_shape [%n3, %n4, 0] : memref<?xi64> into memref<?x?x0xi64>
  %d0 = memref.dim %e0, %c0 : memref<?x0xi64>
  %d1 = memref.dim %e1, %c1 : memref<?x?x0xi64>
  // CHECK-NEXT: 3
  // CHECK-NEXT: 4
  vector.print %d0 : index
  vector.print %d1 : index
  memref.dealloc %row : memref<?xi64>
  memref.dealloc %nothing : memref<?xi64>
  return
}

func.func @main() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  call @memrefs(%c1, %c2, %c3, %c4) : (index, index, index, index) -> ()
  // CHECK-NEXT: 22
  call @tensors() : () -> ()
  return
}
