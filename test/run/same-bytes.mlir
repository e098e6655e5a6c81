// Reshapes, transposes and conversions after which every element is at its byte are no copies, unless both sides live and
// one of them is written; and what loops insert is computed in place. The numbers are those of copies.
// RUN: layout-opt %s --layout-to-llvm | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MALLOC_PERTURB_=85 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm='vectorize=avx2 form=physical' | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 \
// RUN:   MALLOC_PERTURB_=128 mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm='vectorize=avx2 padding=typed' | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 \
// RUN:   MALLOC_PERTURB_=128 mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s

#A = #layout.tiled<{1,0:T(2,4)}>
#C = #layout.tiled<{2,1,0:T(2,4)}>
#T = #layout.tiled<{0,1:T(2,4)}>
#P = #layout.tiled<{1,0:T(2,4)E(4)}>
#Q = #layout.tiled<{2,1,0:T(2,4)E(4)}>

// 10 i + j.
func.func private @numbers() -> tensor<4x8xi64, #A> attributes {no_inline} {
  %r = tensor.generate {
  ^bb0(%i: index, %j: index):
    %c10 = arith.constant 10 : index
    %t = arith.muli %i, %c10 : index
    %s = arith.addi %t, %j : index
    %v = arith.index_cast %s : index to i64
    tensor.yield %v : i64
  } : tensor<4x8xi64, #A>
  return %r : tensor<4x8xi64, #A>
}

func.func private @print(%x: tensor<4x8xi64, #A>) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %p = arith.constant 0 : i64
  %y = layout.convert %x : tensor<4x8xi64, #A> to tensor<4x8xi64>
  %v = vector.transfer_read %y[%c0, %c0], %p {in_bounds = [true, true]} : tensor<4x8xi64>, vector<4x8xi64>
  vector.print %v : vector<4x8xi64>
  return
}

func.func private @print3(%x: tensor<2x2x8xi64, #C>) attributes {no_inline} {
  %y = tensor.collapse_shape %x [[0, 1], [2]] : tensor<2x2x8xi64, #C> into tensor<4x8xi64, #A>
  call @print(%y) : (tensor<4x8xi64, #A>) -> ()
  return
}

// One element of the result is written; the source is in use or not.
func.func private @written(%in_use: i1) attributes {no_inline} {
  %c1 = arith.constant 1 : index
  %v = arith.constant -1 : i64
  %x = call @numbers() : () -> tensor<4x8xi64, #A>
  %y = arith.addi %x, %x : tensor<4x8xi64, #A>
  %z = tensor.expand_shape %y [[0, 1], [2]] output_shape [2, 2, 8] : tensor<4x8xi64, #A> into tensor<2x2x8xi64, #C>
  %w = tensor.insert %v into %z[%c1, %c1, %c1] : tensor<2x2x8xi64, #C>
  call @print3(%w) : (tensor<2x2x8xi64, #C>) -> ()
  scf.if %in_use {
    func.call @print(%y) : (tensor<4x8xi64, #A>) -> ()
  }
  return
}

// The source is written, and the result in use.
func.func private @source_written() attributes {no_inline} {
  %c1 = arith.constant 1 : index
  %v = arith.constant -1 : i64
  %x = call @numbers() : () -> tensor<4x8xi64, #A>
  %e = tensor.empty() : tensor<8x4xi64, #T>
  %t = linalg.transpose ins(%x : tensor<4x8xi64, #A>) outs(%e : tensor<8x4xi64, #T>) permutation = [1, 0]
  %w = tensor.insert %v into %x[%c1, %c1] : tensor<4x8xi64, #A>
  call @print(%w) : (tensor<4x8xi64, #A>) -> ()
  %f = tensor.empty() : tensor<4x8xi64, #A>
  %b = linalg.transpose ins(%t : tensor<8x4xi64, #T>) outs(%f : tensor<4x8xi64, #A>) permutation = [1, 0]
  call @print(%b) : (tensor<4x8xi64, #A>) -> ()
  return
}

// Each iteration begins with what was made before the loop, and with what the last one left.
func.func private @in_a_loop() attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %x = call @numbers() : () -> tensor<4x8xi64, #A>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %x) -> tensor<4x8xi64, #A> {
    %z = tensor.expand_shape %x [[0, 1], [2]] output_shape [2, 2, 8] : tensor<4x8xi64, #A> into tensor<2x2x8xi64, #C>
    %old = tensor.extract %z[%c0, %c0, %c1] : tensor<2x2x8xi64, #C>
    %one = arith.constant 1 : i64
    %new = arith.addi %old, %one : i64
    %w = tensor.insert %new into %z[%c0, %c0, %c1] : tensor<2x2x8xi64, #C>
    %b = tensor.collapse_shape %w [[0, 1], [2]] : tensor<2x2x8xi64, #C> into tensor<4x8xi64, #A>
    %n = arith.addi %s, %b : tensor<4x8xi64, #A>
    scf.yield %n : tensor<4x8xi64, #A>
  }
  call @print(%r) : (tensor<4x8xi64, #A>) -> ()
  return
}

// Packed elements stay where they are, too.
func.func private @packed() attributes {no_inline} {
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %x = tensor.generate {
  ^bb0(%i: index, %j: index):
    %s = arith.addi %i, %j : index
    %v = arith.index_cast %s : index to i4
    tensor.yield %v : i4
  } : tensor<4x8xi4, #P>
  %z = tensor.expand_shape %x [[0, 1], [2]] output_shape [2, 2, 8] : tensor<4x8xi4, #P> into tensor<2x2x8xi4, #Q>
  %f = arith.constant 5 : i4
  %w = tensor.insert %f into %z[%c1, %c1, %c7] : tensor<2x2x8xi4, #Q>
  %a = tensor.extract %w[%c1, %c1, %c1] : tensor<2x2x8xi4, #Q>
  %b = tensor.extract %w[%c1, %c1, %c7] : tensor<2x2x8xi4, #Q>
  %a64 = arith.extui %a : i4 to i64
  %b64 = arith.extui %b : i4 to i64
  vector.print %a64 : i64
  vector.print %b64 : i64
  return
}

// What a loop inserts is a function of what it inserts it into: all of that is read before it is written.
func.func private @inserted() attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %x = call @numbers() : () -> tensor<4x8xi64, #A>
  %r = scf.for %i = %c0 to %c4 step %c2 iter_args(%o = %x) -> tensor<4x8xi64, #A> {
    %from = arith.subi %c2, %i : index
    %a = tensor.extract_slice %o[%i, 0] [2, 8] [1, 1] : tensor<4x8xi64, #A> to tensor<2x8xi64, #A>
    %b = tensor.extract_slice %o[%from, 0] [2, 8] [1, 1] : tensor<4x8xi64, #A> to tensor<2x8xi64, #A>
    %e = tensor.empty() : tensor<2x8xi64, #A>
    // The rows of the two in the other order.
    %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (1 - i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]} ins(%a, %b : tensor<2x8xi64, #A>, tensor<2x8xi64, #A>) outs(%e : tensor<2x8xi64, #A>) {
    ^bb0(%p: i64, %q: i64, %z: i64):
      %s = arith.addi %p, %q : i64
      linalg.yield %s : i64
    } -> tensor<2x8xi64, #A>
    %n = tensor.insert_slice %t into %o[%i, 0] [2, 8] [1, 1] : tensor<2x8xi64, #A> into tensor<4x8xi64, #A>
    scf.yield %n : tensor<4x8xi64, #A>
  }
  call @print(%r) : (tensor<4x8xi64, #A>) -> ()
  %e = tensor.empty() : tensor<4x8xi64, #A>
  %f = scf.forall (%i) = (0) to (4) step (2) shared_outs(%o = %e) -> tensor<4x8xi64, #A> {
    %s = tensor.extract_slice %x[%i, 0] [2, 8] [1, 1] : tensor<4x8xi64, #A> to tensor<2x8xi64, #A>
    %t = arith.addi %s, %s : tensor<2x8xi64, #A>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%i, 0] [2, 8] [1, 1] : tensor<2x8xi64, #A> into tensor<4x8xi64, #A>
    }
  }
  call @print(%f) : (tensor<4x8xi64, #A>) -> ()
  return
}

// Sizes known only at run time: reshaped, transposed and back, with one element written; the source is in use.
func.func private @run_time(%n: index) attributes {no_inline} {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %v = arith.constant -1 : i64
  %x = call @numbers() : () -> tensor<4x8xi64, #A>
  %s = tensor.cast %x : tensor<4x8xi64, #A> to tensor<?x8xi64, #A>
  %y = arith.addi %s, %s : tensor<?x8xi64, #A>
  %half = arith.divui %n, %c2 : index
  %p = tensor.expand_shape %y [[0, 1], [2]] output_shape [%half, 2, 8] : tensor<?x8xi64, #A> into tensor<?x2x8xi64, #C>
  %w = tensor.insert %v into %p[%c1, %c1, %c1] : tensor<?x2x8xi64, #C>
  %u = tensor.collapse_shape %w [[0, 1], [2]] : tensor<?x2x8xi64, #C> into tensor<?x8xi64, #A>
  %g = tensor.empty(%n) : tensor<8x?xi64, #T>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%u : tensor<?x8xi64, #A>) outs(%g : tensor<8x?xi64, #T>) {
  ^bb0(%a: i64, %o: i64):
    linalg.yield %a : i64
  } -> tensor<8x?xi64, #T>
  %h = tensor.empty(%n) : tensor<?x8xi64, #A>
  %b = linalg.transpose ins(%t : tensor<8x?xi64, #T>) outs(%h : tensor<?x8xi64, #A>) permutation = [1, 0]
  %r = tensor.cast %b : tensor<?x8xi64, #A> to tensor<4x8xi64, #A>
  call @print(%r) : (tensor<4x8xi64, #A>) -> ()
  %z = tensor.cast %y : tensor<?x8xi64, #A> to tensor<4x8xi64, #A>
  call @print(%z) : (tensor<4x8xi64, #A>) -> ()
  return
}

func.func @main() {
  %c4 = arith.constant 4 : index
  %false = arith.constant false
  %true = arith.constant true
  // CHECK: ( ( 0, 2, 4, 6, 8, 10, 12, 14 ), ( 20, 22, 24, 26, 28, 30, 32, 34 ), ( 40, 42, 44, 46, 48, 50, 52, 54 ), ( 60, -1, 64, 66, 68, 70, 72, 74 ) )
  call @written(%false) : (i1) -> ()
  // CHECK-NEXT: ( ( 0, 2, 4, 6, 8, 10, 12, 14 ), ( 20, 22, 24, 26, 28, 30, 32, 34 ), ( 40, 42, 44, 46, 48, 50, 52, 54 ), ( 60, -1, 64, 66, 68, 70, 72, 74 ) )
  // CHECK-NEXT: ( ( 0, 2, 4, 6, 8, 10, 12, 14 ), ( 20, 22, 24, 26, 28, 30, 32, 34 ), ( 40, 42, 44, 46, 48, 50, 52, 54 ), ( 60, 62, 64, 66, 68, 70, 72, 74 ) )
  call @written(%true) : (i1) -> ()
  // CHECK-NEXT: ( ( 0, 1, 2, 3, 4, 5, 6, 7 ), ( 10, -1, 12, 13, 14, 15, 16, 17 ), ( 20, 21, 22, 23, 24, 25, 26, 27 ), ( 30, 31, 32, 33, 34, 35, 36, 37 ) )
  // CHECK-NEXT: ( ( 0, 1, 2, 3, 4, 5, 6, 7 ), ( 10, 11, 12, 13, 14, 15, 16, 17 ), ( 20, 21, 22, 23, 24, 25, 26, 27 ), ( 30, 31, 32, 33, 34, 35, 36, 37 ) )
  call @source_written() : () -> ()
  // 1 + 3 * 2: the loop adds 1 to the same number each time.
  // CHECK-NEXT: ( ( 0, 7, 8, 12, 16, 20, 24, 28 ), ( 40, 44, 48, 52, 56, 60, 64, 68 ), ( 80, 84, 88, 92, 96, 100, 104, 108 ), ( 120, 124, 128, 132, 136, 140, 144, 148 ) )
  call @in_a_loop() : () -> ()
  // CHECK-NEXT: 4
  // CHECK-NEXT: 5
  call @packed() : () -> ()
  // Rows 0 and 1 become 10 + 20, 0 + 30; then rows 2 and 3 are 30 + 30, 20 + 30, in the first column.
  // CHECK-NEXT: ( ( 30, 32, 34, 36, 38, 40, 42, 44 ), ( 30, 32, 34, 36, 38, 40, 42, 44 ), ( 60, 63, 66, 69, 72, 75, 78, 81 ), ( 50, 53, 56, 59, 62, 65, 68, 71 ) )
  // CHECK-NEXT: ( ( 0, 2, 4, 6, 8, 10, 12, 14 ), ( 20, 22, 24, 26, 28, 30, 32, 34 ), ( 40, 42, 44, 46, 48, 50, 52, 54 ), ( 60, 62, 64, 66, 68, 70, 72, 74 ) )
  call @inserted() : () -> ()
  // CHECK-NEXT: ( ( 0, 2, 4, 6, 8, 10, 12, 14 ), ( 20, 22, 24, 26, 28, 30, 32, 34 ), ( 40, 42, 44, 46, 48, 50, 52, 54 ), ( 60, -1, 64, 66, 68, 70, 72, 74 ) )
  // CHECK-NEXT: ( ( 0, 2, 4, 6, 8, 10, 12, 14 ), ( 20, 22, 24, 26, 28, 30, 32, 34 ), ( 40, 42, 44, 46, 48, 50, 52, 54 ), ( 60, 62, 64, 66, 68, 70, 72, 74 ) )
  call @run_time(%c4) : (index) -> ()
  return
}
