// What same-bytes.mlir has not: chains, whole slices, sizes known only at run time, casts, other destinations, bits read as
// another type, arrays without elements. Each result is that of the program without layouts.
// RUN: layout-opt %s --layout-to-llvm | MALLOC_PERTURB_=85 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm='vectorize=avx2 form=physical' 2> %t.remarks | MALLOC_PERTURB_=128 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: sed 's/, #[A-Z]>/>/g' %s | layout-opt --layout-to-llvm | MALLOC_PERTURB_=85 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s

#A = #layout.tiled<{1,0:T(2,4)}>
#C = #layout.tiled<{2,1,0:T(2,4)}>
#T = #layout.tiled<{1,2,0:T(2,4)}>
#R = #layout.tiled<{1,0}>
#D = #layout.tiled<{2,1,0}>
#S = #layout.tiled<{1,0:T(1,4)}>
#U = #layout.tiled<{0,1:T(2,4)}>

func.func private @printMemrefI64(tensor<*xi64>)

func.func private @print(%x: tensor<?x?x?xi64>) attributes {no_inline} {
  %u = tensor.cast %x : tensor<?x?x?xi64> to tensor<*xi64>
  call @printMemrefI64(%u) : (tensor<*xi64>) -> ()
  return
}

func.func private @print_2(%x: tensor<?x?xi64, #A>) attributes {no_inline} {
  %p = layout.convert %x : tensor<?x?xi64, #A> to tensor<?x?xi64>
  %u = tensor.cast %p : tensor<?x?xi64> to tensor<*xi64>
  call @printMemrefI64(%u) : (tensor<*xi64>) -> ()
  return
}

// 10 i + j, of the first rows.
func.func private @numbers(%n: index) -> tensor<?x8xi64, #A> attributes {no_inline} {
  %all = tensor.generate {
  ^bb0(%i: index, %j: index):
    %c10 = arith.constant 10 : index
    %t = arith.muli %i, %c10 : index
    %s = arith.addi %t, %j : index
    %v = arith.index_cast %s : index to i64
    tensor.yield %v : i64
  } : tensor<4x8xi64, #A>
  %r = tensor.extract_slice %all[0, 0] [%n, 8] [1, 1] : tensor<4x8xi64, #A> to tensor<?x8xi64, #A>
  return %r : tensor<?x8xi64, #A>
}

// A reshape and a transpose; both tensors live, and one of them is written.
func.func @chain(%n: index, %v: i64) -> (tensor<2x8x2xi64, #T>, tensor<4x8xi64, #A>) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %x = func.call @numbers(%n) : (index) -> tensor<?x8xi64, #A>
  %y = tensor.cast %x : tensor<?x8xi64, #A> to tensor<4x8xi64, #A>
  %h = tensor.expand_shape %y [[0, 1], [2]] output_shape [2, 2, 8] : tensor<4x8xi64, #A> into tensor<2x2x8xi64, #C>
  %e = tensor.empty() : tensor<2x8x2xi64, #T>
  %t = linalg.transpose ins(%h : tensor<2x2x8xi64, #C>) outs(%e : tensor<2x8x2xi64, #T>) permutation = [0, 2, 1]
  %w = tensor.insert %v into %t[%c0, %c0, %c0] : tensor<2x8x2xi64, #T>
  return %w, %y : tensor<2x8x2xi64, #T>, tensor<4x8xi64, #A>
}

// All of a tensor whose size is known only at run time, and no padding.
func.func @whole(%n: index) -> tensor<?x8xi64, #A> attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %v = arith.constant -1 : i64
  %x = func.call @numbers(%n) : (index) -> tensor<?x8xi64, #A>
  %size = tensor.dim %x, %c0 : tensor<?x8xi64, #A>
  %s = tensor.extract_slice %x[0, 0] [%size, 8] [1, 1] : tensor<?x8xi64, #A> to tensor<?x8xi64, #A>
  %w = tensor.insert %v into %s[%c0, %c0] : tensor<?x8xi64, #A>
  %p = tensor.pad %w low[0, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : i64
  } : tensor<?x8xi64, #A> to tensor<?x8xi64, #A>
  return %p : tensor<?x8xi64, #A>
}

// All elements, but backwards.
func.func @reversed(%n: index) -> tensor<4x8xi64, #A> attributes {no_inline} {
  %x = func.call @numbers(%n) : (index) -> tensor<?x8xi64, #A>
  %y = tensor.cast %x : tensor<?x8xi64, #A> to tensor<4x8xi64, #A>
  %z = layout.convert %y : tensor<4x8xi64, #A> to tensor<4x8xi64, #R>
  %r = tensor.extract_slice %z[0, 7] [4, 8] [1, -1] : tensor<4x8xi64, #R> to tensor<4x8xi64, #R>
  %a = layout.convert %r : tensor<4x8xi64, #R> to tensor<4x8xi64, #A>
  return %a : tensor<4x8xi64, #A>
}

// As many tiles as the result needs.
func.func @unpacked(%y: tensor<?x?x2x4xi64>, %n: index, %m: index) -> tensor<?x?xi64, #A> attributes {no_inline} {
  %x = arith.addi %y, %y : tensor<?x?x2x4xi64>
  %e = tensor.empty(%n, %m) : tensor<?x?xi64, #A>
  %u = linalg.unpack %x inner_dims_pos = [0, 1] inner_tiles = [2, 4] into %e : tensor<?x?x2x4xi64> -> tensor<?x?xi64, #A>
  return %u : tensor<?x?xi64, #A>
}

// To sizes known only at run time, between tensors in row-major order.
func.func @reshaped(%x: tensor<?x8xi64, #A>, %sizes: tensor<3xi32>) -> (tensor<?x?x?xi64, #D>, tensor<?x8xi64, #R>) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %v = arith.constant -1 : i64
  %y = layout.convert %x : tensor<?x8xi64, #A> to tensor<?x8xi64, #R>
  %s = arith.addi %y, %y : tensor<?x8xi64, #R>
  %r = tensor.reshape %s(%sizes) : (tensor<?x8xi64, #R>, tensor<3xi32>) -> tensor<?x?x?xi64, #D>
  %w = tensor.insert %v into %r[%c0, %c0, %c0] : tensor<?x?x?xi64, #D>
  return %w, %s : tensor<?x?x?xi64, #D>, tensor<?x8xi64, #R>
}

// Into a tensor that bufferization allocates.
func.func @packed(%n: index) -> tensor<2x2x2x4xi64> attributes {no_inline} {
  %x = func.call @numbers(%n) : (index) -> tensor<?x8xi64, #A>
  %y = tensor.cast %x : tensor<?x8xi64, #A> to tensor<4x8xi64, #A>
  %e = bufferization.alloc_tensor() : tensor<2x2x2x4xi64>
  %p = linalg.pack %y inner_dims_pos = [0, 1] inner_tiles = [2, 4] into %e : tensor<4x8xi64, #A> -> tensor<2x2x2x4xi64>
  return %p : tensor<2x2x2x4xi64>
}

// Bits as another type; -0.0 is the least integer. The floats live, and the integers are written.
func.func @bits(%n: index, %f: f64) -> (tensor<?x8xi64, #A>, f64) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %v = arith.constant 7 : i64
  %x = func.call @numbers(%n) : (index) -> tensor<?x8xi64, #A>
  %y = tensor.bitcast %x : tensor<?x8xi64, #A> to tensor<?x8xf64, #A>
  %z = tensor.insert %f into %y[%c0, %c0] : tensor<?x8xf64, #A>
  %b = tensor.bitcast %z : tensor<?x8xf64, #A> to tensor<?x8xi64, #A>
  %w = tensor.insert %v into %b[%c0, %n] : tensor<?x8xi64, #A>
  %g = tensor.extract %z[%c0, %n] : tensor<?x8xf64, #A>
  return %w, %g : tensor<?x8xi64, #A>, f64
}

// A row of size 1, and one of which that is not known: the dimension of size 1 has another stride.
func.func @one_row(%x: tensor<?x8xi64, #A>) -> (tensor<1x8xi64, #S>, tensor<?x8xi64, #S>) attributes {no_inline} {
  %y = layout.convert %x {keep} : tensor<?x8xi64, #A> to tensor<?x8xi64, #S>
  %r = tensor.cast %y : tensor<?x8xi64, #S> to tensor<1x8xi64, #S>
  %s = arith.addi %r, %r : tensor<1x8xi64, #S>
  %t = tensor.cast %s : tensor<1x8xi64, #S> to tensor<?x8xi64, #S>
  return %s, %t : tensor<1x8xi64, #S>, tensor<?x8xi64, #S>
}

// Nothing, between elements and after them.
func.func @empty(%y: tensor<?x4x0xi64>, %zero: index) -> (tensor<3x4xi64, #A>, tensor<3x4xi64, #A>, index) attributes {no_inline} {
  %v = arith.constant 5 : i64
  %x = tensor.empty() : tensor<0x4xi64, #A>
  %p = tensor.pad %x low[3, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : i64
  } : tensor<0x4xi64, #A> to tensor<3x4xi64, #A>
  %one = arith.constant 1 : i64
  %w = tensor.insert %one into %p[%zero, %zero] : tensor<3x4xi64, #A>
  %c = tensor.concat dim(0) %w, %x : (tensor<3x4xi64, #A>, tensor<0x4xi64, #A>) -> tensor<3x4xi64, #A>
  %f = tensor.collapse_shape %y [[0, 1, 2]] : tensor<?x4x0xi64> into tensor<?xi64>
  %size = tensor.dim %f, %zero : tensor<?xi64>
  return %p, %c, %size : tensor<3x4xi64, #A>, tensor<3x4xi64, #A>, index
}

// Bits of computed elements, of which another operation reads the elements, or none does. The bits are written.
func.func @bits_of_sum(%n: index, %f: f64) -> (tensor<?x8xi64, #A>, tensor<?x8xi64, #A>, f64) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %v = arith.constant 7 : i64
  %x = func.call @numbers(%n) : (index) -> tensor<?x8xi64, #A>
  %y = arith.sitofp %x : tensor<?x8xi64, #A> to tensor<?x8xf64, #A>
  %b = tensor.bitcast %y : tensor<?x8xf64, #A> to tensor<?x8xi64, #A>
  %w = tensor.insert %v into %b[%c0, %c0] : tensor<?x8xi64, #A>
  %z = arith.addf %y, %y : tensor<?x8xf64, #A>
  %i = tensor.insert %f into %z[%c0, %c0] : tensor<?x8xf64, #A>
  %m = arith.negf %i : tensor<?x8xf64, #A>
  %d = tensor.bitcast %m : tensor<?x8xf64, #A> to tensor<?x8xi64, #A>
  %g = tensor.extract %y[%c0, %n] : tensor<?x8xf64, #A>
  return %w, %d, %g : tensor<?x8xi64, #A>, tensor<?x8xi64, #A>, f64
}

// A transpose in one of two branches; the other one reads the source and fills another buffer.
func.func @in_a_branch(%n: index, %c: i1) -> tensor<8x4xi64, #U> attributes {no_inline} {
  %c1 = arith.constant 1 : index
  %v = arith.constant 99 : i64
  %x = func.call @numbers(%n) : (index) -> tensor<?x8xi64, #A>
  %y = tensor.cast %x : tensor<?x8xi64, #A> to tensor<4x8xi64, #A>
  %s = arith.addi %y, %y : tensor<4x8xi64, #A>
  %r = scf.if %c -> tensor<8x4xi64, #U> {
    %e = tensor.empty() : tensor<8x4xi64, #U>
    %t = linalg.transpose ins(%s : tensor<4x8xi64, #A>) outs(%e : tensor<8x4xi64, #U>) permutation = [1, 0]
    %w = tensor.insert %v into %t[%c1, %c1] : tensor<8x4xi64, #U>
    scf.yield %w : tensor<8x4xi64, #U>
  } else {
    %f = tensor.extract %s[%c1, %c1] : tensor<4x8xi64, #A>
    %e = tensor.empty() : tensor<8x4xi64, #U>
    %t = linalg.fill ins(%f : i64) outs(%e : tensor<8x4xi64, #U>) -> tensor<8x4xi64, #U>
    scf.yield %t : tensor<8x4xi64, #U>
  }
  return %r : tensor<8x4xi64, #U>
}

// Either branch hands on the tensor, the first one with an element written; and in a loop, where it lives on.
func.func @in_both_branches(%n: index, %c: i1) -> (tensor<4x8xi64, #A>, tensor<4x8xi64, #A>) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %v = arith.constant 99 : i64
  %x = func.call @numbers(%n) : (index) -> tensor<?x8xi64, #A>
  %y = tensor.cast %x : tensor<?x8xi64, #A> to tensor<4x8xi64, #A>
  %s = arith.addi %y, %y : tensor<4x8xi64, #A>
  %l = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %y) -> tensor<4x8xi64, #A> {
    %m = arith.addi %a, %s : tensor<4x8xi64, #A>
    %b = scf.if %c -> tensor<4x8xi64, #A> {
      scf.yield %m : tensor<4x8xi64, #A>
    } else {
      %z = arith.muli %m, %a : tensor<4x8xi64, #A>
      scf.yield %z : tensor<4x8xi64, #A>
    }
    scf.yield %b : tensor<4x8xi64, #A>
  }
  %r = scf.if %c -> tensor<4x8xi64, #A> {
    %w = tensor.insert %v into %s[%c1, %c1] : tensor<4x8xi64, #A>
    scf.yield %w : tensor<4x8xi64, #A>
  } else {
    %e = tensor.empty() : tensor<8x4xi64, #U>
    %t = linalg.transpose ins(%s : tensor<4x8xi64, #A>) outs(%e : tensor<8x4xi64, #U>) permutation = [1, 0]
    %o = arith.addi %t, %t : tensor<8x4xi64, #U>
    %f = tensor.empty() : tensor<4x8xi64, #A>
    %b = linalg.transpose ins(%o : tensor<8x4xi64, #U>) outs(%f : tensor<4x8xi64, #A>) permutation = [1, 0]
    scf.yield %b : tensor<4x8xi64, #A>
  }
  return %r, %l : tensor<4x8xi64, #A>, tensor<4x8xi64, #A>
}

// Between tiled tensors, to and from sizes known only at run time; the source lives.
func.func @reshaped_tiles(%x: tensor<?x8xi64, #A>, %to: tensor<3xi32>, %from: tensor<2xi32>) -> (tensor<?x2x8xi64, #C>, tensor<?x8xi64, #A>, tensor<?x8xi64, #A>) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %v = arith.constant -1 : i64
  %u = arith.constant -2 : i64
  %s = arith.addi %x, %x : tensor<?x8xi64, #A>
  %r = tensor.reshape %s(%to) : (tensor<?x8xi64, #A>, tensor<3xi32>) -> tensor<?x2x8xi64, #C>
  %w = tensor.insert %v into %r[%c0, %c0, %c0] : tensor<?x2x8xi64, #C>
  %b = tensor.reshape %w(%from) : (tensor<?x2x8xi64, #C>, tensor<2xi32>) -> tensor<?x8xi64, #A>
  %z = tensor.insert %u into %b[%c0, %c0] : tensor<?x8xi64, #A>
  return %w, %z, %s : tensor<?x2x8xi64, #C>, tensor<?x8xi64, #A>, tensor<?x8xi64, #A>
}

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c7 = arith.constant 7 : index
  %v = arith.constant 99 : i64

  // CHECK: sizes = [2, 8, 2]
  // CHECK: [99,    10],
  // CHECK-NEXT: [1,    11],
  // CHECK: sizes = [4, 8]
  // CHECK: [0,   1,   2,   3,   4,   5,   6,   7],
  %chain:2 = call @chain(%c4, %v) : (index, i64) -> (tensor<2x8x2xi64, #T>, tensor<4x8xi64, #A>)
  %chain_p = layout.convert %chain#0 : tensor<2x8x2xi64, #T> to tensor<2x8x2xi64>
  %chain_u = tensor.cast %chain_p : tensor<2x8x2xi64> to tensor<?x?x?xi64>
  call @print(%chain_u) : (tensor<?x?x?xi64>) -> ()
  %chain_s = tensor.cast %chain#1 : tensor<4x8xi64, #A> to tensor<?x?xi64, #A>
  call @print_2(%chain_s) : (tensor<?x?xi64, #A>) -> ()

  // CHECK: sizes = [3, 8]
  // CHECK: [-1,   1,   2,
  // CHECK-NEXT: [10,   11,
  // CHECK-NEXT: [20,
  %whole = call @whole(%c3) : (index) -> tensor<?x8xi64, #A>
  %whole_u = tensor.cast %whole : tensor<?x8xi64, #A> to tensor<?x?xi64, #A>
  call @print_2(%whole_u) : (tensor<?x?xi64, #A>) -> ()

  // CHECK: sizes = [4, 8]
  // CHECK: [7,   6,   5,   4,   3,   2,   1,   0],
  // CHECK-NEXT: [17,   16,   15,   14,   13,   12,   11,   10],
  %reversed = call @reversed(%c4) : (index) -> tensor<4x8xi64, #A>
  %reversed_u = tensor.cast %reversed : tensor<4x8xi64, #A> to tensor<?x?xi64, #A>
  call @print_2(%reversed_u) : (tensor<?x?xi64, #A>) -> ()

  // CHECK: sizes = [3, 7]
  // CHECK: [0,   2,   4,   6,   20,   22,   24],
  // CHECK-NEXT: [8,   10,   12,   14,   28,   30,   32],
  // CHECK-NEXT: [200,   202,   204,   206,   220,   222,   224]
  %tiles = tensor.generate {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    %c100 = arith.constant 100 : index
    %c10 = arith.constant 10 : index
    %p = arith.muli %i, %c100 : index
    %q = arith.muli %j, %c10 : index
    %r = arith.muli %k, %c4 : index
    %s = arith.addi %p, %q : index
    %t = arith.addi %r, %l : index
    %u = arith.addi %s, %t : index
    %w = arith.index_cast %u : index to i64
    tensor.yield %w : i64
  } : tensor<2x2x2x4xi64>
  %tiles_u = tensor.cast %tiles : tensor<2x2x2x4xi64> to tensor<?x?x2x4xi64>
  %unpacked = call @unpacked(%tiles_u, %c3, %c7) : (tensor<?x?x2x4xi64>, index, index) -> tensor<?x?xi64, #A>
  call @print_2(%unpacked) : (tensor<?x?xi64, #A>) -> ()

  // CHECK: sizes = [3, 2, 4]
  // CHECK: [-1,    2,    4,    6],
  // CHECK-NEXT: [8,    10,    12,    14]
  // CHECK: sizes = [3, 8]
  // CHECK: [0,   2,   4,   6,   8,
  %numbers = call @numbers(%c3) : (index) -> tensor<?x8xi64, #A>
  %sizes = arith.constant dense<[3, 2, 4]> : tensor<3xi32>
  %reshaped:2 = call @reshaped(%numbers, %sizes) : (tensor<?x8xi64, #A>, tensor<3xi32>) -> (tensor<?x?x?xi64, #D>, tensor<?x8xi64, #R>)
  %reshaped_p = layout.convert %reshaped#0 : tensor<?x?x?xi64, #D> to tensor<?x?x?xi64>
  call @print(%reshaped_p) : (tensor<?x?x?xi64>) -> ()
  %reshaped_a = layout.convert %reshaped#1 : tensor<?x8xi64, #R> to tensor<?x8xi64, #A>
  %reshaped_u = tensor.cast %reshaped_a : tensor<?x8xi64, #A> to tensor<?x?xi64, #A>
  call @print_2(%reshaped_u) : (tensor<?x?xi64, #A>) -> ()

  // CHECK: sizes = [4, 2, 4]
  // CHECK: [0,    1,    2,    3],
  // CHECK-NEXT: [10,    11,    12,    13]
  // CHECK: [4,    5,    6,    7],
  %packed = call @packed(%c4) : (index) -> tensor<2x2x2x4xi64>
  %packed_s = tensor.collapse_shape %packed [[0, 1], [2], [3]] : tensor<2x2x2x4xi64> into tensor<4x2x4xi64>
  %packed_u = tensor.cast %packed_s : tensor<4x2x4xi64> to tensor<?x?x?xi64>
  call @print(%packed_u) : (tensor<?x?x?xi64>) -> ()

  // CHECK: sizes = [2, 8]
  // CHECK: [-9223372036854775808,   1,   7,   3,
  // CHECK: sizes = [1, 1]
  // CHECK: [2]
  %negative_zero = arith.constant -0.0 : f64
  %bits:2 = call @bits(%c2, %negative_zero) : (index, f64) -> (tensor<?x8xi64, #A>, f64)
  %bits_u = tensor.cast %bits#0 : tensor<?x8xi64, #A> to tensor<?x?xi64, #A>
  call @print_2(%bits_u) : (tensor<?x?xi64, #A>) -> ()
  %bits_i = arith.bitcast %bits#1 : f64 to i64
  %bits_1 = tensor.splat %bits_i[%c1, %c1] : tensor<?x?xi64, #A>
  call @print_2(%bits_1) : (tensor<?x?xi64, #A>) -> ()

  // CHECK: sizes = [1, 8]
  // CHECK: [0,   2,   4,   6,   8,   10,   12,   14]
  // CHECK: sizes = [1, 8]
  // CHECK: [0,   2,   4,   6,   8,   10,   12,   14]
  %row = call @numbers(%c1) : (index) -> tensor<?x8xi64, #A>
  %rows:2 = call @one_row(%row) : (tensor<?x8xi64, #A>) -> (tensor<1x8xi64, #S>, tensor<?x8xi64, #S>)
  %rows_0 = layout.convert %rows#0 : tensor<1x8xi64, #S> to tensor<1x8xi64, #A>
  %rows_1 = tensor.cast %rows_0 : tensor<1x8xi64, #A> to tensor<?x?xi64, #A>
  call @print_2(%rows_1) : (tensor<?x?xi64, #A>) -> ()
  %rows_a = layout.convert %rows#1 : tensor<?x8xi64, #S> to tensor<?x8xi64, #A>
  %rows_u = tensor.cast %rows_a : tensor<?x8xi64, #A> to tensor<?x?xi64, #A>
  call @print_2(%rows_u) : (tensor<?x?xi64, #A>) -> ()

  // CHECK: sizes = [3, 4]
  // CHECK: [5,   5,   5,   5],
  // CHECK: sizes = [3, 4]
  // CHECK: [1,   5,   5,   5],
  // CHECK: sizes = [1, 1]
  // CHECK: [0]
  %none = tensor.empty(%c2) : tensor<?x4x0xi64>
  %empty:3 = call @empty(%none, %c0) : (tensor<?x4x0xi64>, index) -> (tensor<3x4xi64, #A>, tensor<3x4xi64, #A>, index)
  %empty_0 = tensor.cast %empty#0 : tensor<3x4xi64, #A> to tensor<?x?xi64, #A>
  call @print_2(%empty_0) : (tensor<?x?xi64, #A>) -> ()
  %empty_1 = tensor.cast %empty#1 : tensor<3x4xi64, #A> to tensor<?x?xi64, #A>
  call @print_2(%empty_1) : (tensor<?x?xi64, #A>) -> ()
  %empty_i = arith.index_cast %empty#2 : index to i64
  %empty_2 = tensor.splat %empty_i[%c1, %c1] : tensor<?x?xi64, #A>
  call @print_2(%empty_2) : (tensor<?x?xi64, #A>) -> ()

  // CHECK: sizes = [2, 8]
  // CHECK: [7,   4607182418800017408,   4611686018427387904,
  // CHECK: sizes = [2, 8]
  // CHECK: [-4611686018427387904,   -4611686018427387904,   -4607182418800017408,
  // CHECK: sizes = [1, 1]
  // CHECK: [2]
  %two = arith.constant 2.0 : f64
  %sums:3 = call @bits_of_sum(%c2, %two) : (index, f64) -> (tensor<?x8xi64, #A>, tensor<?x8xi64, #A>, f64)
  %sums_0 = tensor.cast %sums#0 : tensor<?x8xi64, #A> to tensor<?x?xi64, #A>
  call @print_2(%sums_0) : (tensor<?x?xi64, #A>) -> ()
  %sums_1 = tensor.cast %sums#1 : tensor<?x8xi64, #A> to tensor<?x?xi64, #A>
  call @print_2(%sums_1) : (tensor<?x?xi64, #A>) -> ()
  %sums_i = arith.fptosi %sums#2 : f64 to i64
  %sums_2 = tensor.splat %sums_i[%c1, %c1] : tensor<?x?xi64, #A>
  call @print_2(%sums_2) : (tensor<?x?xi64, #A>) -> ()

  // CHECK: sizes = [8, 4]
  // CHECK: [0,   20,   40,   60],
  // CHECK-NEXT: [2,   99,   42,   62],
  // CHECK: sizes = [8, 4]
  // CHECK: [22,   22,   22,   22],
  %true = arith.constant true
  %false = arith.constant false
  %then = call @in_a_branch(%c4, %true) : (index, i1) -> tensor<8x4xi64, #U>
  %then_a = layout.convert %then : tensor<8x4xi64, #U> to tensor<8x4xi64, #A>
  %then_u = tensor.cast %then_a : tensor<8x4xi64, #A> to tensor<?x?xi64, #A>
  call @print_2(%then_u) : (tensor<?x?xi64, #A>) -> ()
  %else = call @in_a_branch(%c4, %false) : (index, i1) -> tensor<8x4xi64, #U>
  %else_a = layout.convert %else : tensor<8x4xi64, #U> to tensor<8x4xi64, #A>
  %else_u = tensor.cast %else_a : tensor<8x4xi64, #A> to tensor<?x?xi64, #A>
  call @print_2(%else_u) : (tensor<?x?xi64, #A>) -> ()

  // CHECK: sizes = [4, 8]
  // CHECK: [0,   2,   4,   6,   8,   10,   12,   14],
  // CHECK-NEXT: [20,   99,   24,
  // CHECK: sizes = [4, 8]
  // CHECK: [0,   7,   14,   21,   28,   35,   42,   49],
  // CHECK: sizes = [4, 8]
  // CHECK: [0,   4,   8,   12,   16,   20,   24,   28],
  // CHECK: sizes = [4, 8]
  // CHECK: [0,   255,
  %both:2 = call @in_both_branches(%c4, %true) : (index, i1) -> (tensor<4x8xi64, #A>, tensor<4x8xi64, #A>)
  %both_0 = tensor.cast %both#0 : tensor<4x8xi64, #A> to tensor<?x?xi64, #A>
  call @print_2(%both_0) : (tensor<?x?xi64, #A>) -> ()
  %both_1 = tensor.cast %both#1 : tensor<4x8xi64, #A> to tensor<?x?xi64, #A>
  call @print_2(%both_1) : (tensor<?x?xi64, #A>) -> ()
  %other:2 = call @in_both_branches(%c4, %false) : (index, i1) -> (tensor<4x8xi64, #A>, tensor<4x8xi64, #A>)
  %other_0 = tensor.cast %other#0 : tensor<4x8xi64, #A> to tensor<?x?xi64, #A>
  call @print_2(%other_0) : (tensor<?x?xi64, #A>) -> ()
  %other_1 = tensor.cast %other#1 : tensor<4x8xi64, #A> to tensor<?x?xi64, #A>
  call @print_2(%other_1) : (tensor<?x?xi64, #A>) -> ()

  // CHECK: sizes = [2, 2, 8]
  // CHECK: [-1,    2,    4,
  // CHECK: sizes = [4, 8]
  // CHECK: [-2,   2,   4,
  // CHECK: sizes = [4, 8]
  // CHECK: [0,   2,   4,
  %all = call @numbers(%c4) : (index) -> tensor<?x8xi64, #A>
  %to = arith.constant dense<[2, 2, 8]> : tensor<3xi32>
  %from = arith.constant dense<[4, 8]> : tensor<2xi32>
  %tiles_r:3 = call @reshaped_tiles(%all, %to, %from) : (tensor<?x8xi64, #A>, tensor<3xi32>, tensor<2xi32>) -> (tensor<?x2x8xi64, #C>, tensor<?x8xi64, #A>, tensor<?x8xi64, #A>)
  %tiles_0 = layout.convert %tiles_r#0 : tensor<?x2x8xi64, #C> to tensor<?x2x8xi64>
  %tiles_d = tensor.cast %tiles_0 : tensor<?x2x8xi64> to tensor<?x?x?xi64>
  call @print(%tiles_d) : (tensor<?x?x?xi64>) -> ()
  %tiles_1 = tensor.cast %tiles_r#1 : tensor<?x8xi64, #A> to tensor<?x?xi64, #A>
  call @print_2(%tiles_1) : (tensor<?x?xi64, #A>) -> ()
  %tiles_2 = tensor.cast %tiles_r#2 : tensor<?x8xi64, #A> to tensor<?x?xi64, #A>
  call @print_2(%tiles_2) : (tensor<?x?xi64, #A>) -> ()
  return
}
