// Kernels as vector code: relayouts, ragged ones too, packed bf16 and bytes both ways, a matmul of mixed layouts, row
// maxima, row sums, a softmax and numbers that round to bf16, for several machines, in both forms. The numbers are those of plain loops.
// RUN: layout-opt %s --layout-to-llvm='vectorize=avx512 reassociate contract cache-bytes=4096' \
// RUN:   | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MALLOC_PERTURB_=128 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm='vectorize=avx512 form=physical' | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 \
// RUN:   MALLOC_PERTURB_=85 mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm='vectorize=avx2 form=physical reassociate parallel=forall' \
// RUN:   | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MALLOC_PERTURB_=85 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm='vectorize=neon parallel=parallel' | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 \
// RUN:   MALLOC_PERTURB_=128 mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 \
// RUN:   MALLOC_PERTURB_=128 mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s

// Prints how many elements of two tensors are alike, and the last one.
func.func private @compare(%x: tensor<61x250xf32>, %y: tensor<61x250xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %m = arith.constant 61 : index
  %n = arith.constant 250 : index
  %same = scf.for %i = %zero to %m step %one iter_args(%p = %zero) -> (index) {
    %row = scf.for %j = %zero to %n step %one iter_args(%s = %p) -> (index) {
      %a = tensor.extract %x[%i, %j] : tensor<61x250xf32>
      %b = tensor.extract %y[%i, %j] : tensor<61x250xf32>
      %equal = arith.cmpf oeq, %a, %b : f32
      %d = arith.index_castui %equal : i1 to index
      %t = arith.addi %s, %d : index
      scf.yield %t : index
    }
    scf.yield %row : index
  }
  %i = arith.constant 60 : index
  %j = arith.constant 249 : index
  %last = tensor.extract %y[%i, %j] : tensor<61x250xf32>
  vector.print %same : index
  vector.print %last : f32
  return
}

// Element (i, j) is (37*i + 101*j) mod 201 - 100, element by element.
func.func private @numbers() -> tensor<61x250xf32> {
  %x = tensor.generate {
  ^bb0(%i: index, %j: index):
    %c37 = arith.constant 37 : index
    %c101 = arith.constant 101 : index
    %c201 = arith.constant 201 : index
    %p = arith.muli %i, %c37 : index
    %q = arith.muli %j, %c101 : index
    %s = arith.addi %p, %q : index
    %r = arith.remui %s, %c201 : index
    %k = arith.index_cast %r : index to i32
    %c100 = arith.constant 100 : i32
    %h = arith.subi %k, %c100 : i32
    %v = arith.sitofp %h : i32 to f32
    tensor.yield %v : f32
  } : tensor<61x250xf32>
  return %x : tensor<61x250xf32>
}

#T = #layout.tiled<{1,0:T(8,128)}>
#B = #layout.tiled<{1,0:T(8,128)(2,1)}>
#P = #layout.tiled<{1,0:T(8,128)(4,1)}>
#Q = #layout.tiled<{1,0:T(16,128)(2,1)}>
#C = #layout.tiled<{0,1}>
#map = affine_map<(i, j) -> (i, j)>
#rows = affine_map<(i, j) -> (i)>

func.func private @f32(%x: tensor<61x250xf32>) {
  %t = layout.convert %x : tensor<61x250xf32> to tensor<61x250xf32, #T>
  %y = layout.convert %t : tensor<61x250xf32, #T> to tensor<61x250xf32>
  call @compare(%x, %y) : (tensor<61x250xf32>, tensor<61x250xf32>) -> ()
  %c = layout.convert %t : tensor<61x250xf32, #T> to tensor<61x250xf32, #C>
  %u = layout.convert %c : tensor<61x250xf32, #C> to tensor<61x250xf32, #P>
  %z = layout.convert %u : tensor<61x250xf32, #P> to tensor<61x250xf32>
  call @compare(%x, %z) : (tensor<61x250xf32>, tensor<61x250xf32>) -> ()
  return
}
// CHECK: 15250
// CHECK-NEXT: -67
// CHECK-NEXT: 15250
// CHECK-NEXT: -67

func.func private @bf16(%x: tensor<61x250xf32>) {
  %b = arith.truncf %x : tensor<61x250xf32> to tensor<61x250xbf16>
  %t = layout.convert %b : tensor<61x250xbf16> to tensor<61x250xbf16, #B>
  %y = layout.convert %t : tensor<61x250xbf16, #B> to tensor<61x250xbf16>
  %f = arith.extf %y : tensor<61x250xbf16> to tensor<61x250xf32>
  call @compare(%x, %f) : (tensor<61x250xf32>, tensor<61x250xf32>) -> ()
  // From tiles to packed tiles, made narrower on the way.
  %w = layout.convert %x : tensor<61x250xf32> to tensor<61x250xf32, #T>
  %e = tensor.empty() : tensor<61x250xbf16, #Q>
  %n = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<61x250xf32, #T>) outs(%e : tensor<61x250xbf16, #Q>) {
  ^bb0(%a: f32, %o: bf16):
    %s = arith.truncf %a : f32 to bf16
    linalg.yield %s : bf16
  } -> tensor<61x250xbf16, #Q>
  %z = layout.convert %n : tensor<61x250xbf16, #Q> to tensor<61x250xbf16>
  %g = arith.extf %z : tensor<61x250xbf16> to tensor<61x250xf32>
  call @compare(%x, %g) : (tensor<61x250xf32>, tensor<61x250xf32>) -> ()
  return
}
// CHECK-NEXT: 15250
// CHECK-NEXT: -67
// CHECK-NEXT: 15250
// CHECK-NEXT: -67

func.func private @i8(%x: tensor<61x250xf32>) {
  %b = arith.fptosi %x : tensor<61x250xf32> to tensor<61x250xi8>
  %t = layout.convert %b : tensor<61x250xi8> to tensor<61x250xi8, #P>
  %u = layout.convert %t : tensor<61x250xi8, #P> to tensor<61x250xi8, #B>
  %y = layout.convert %u : tensor<61x250xi8, #B> to tensor<61x250xi8>
  %f = arith.sitofp %y : tensor<61x250xi8> to tensor<61x250xf32>
  call @compare(%x, %f) : (tensor<61x250xf32>, tensor<61x250xf32>) -> ()
  return
}
// CHECK-NEXT: 15250
// CHECK-NEXT: -67

// Made narrower on the way out of tiles whose last column is alone: what is stored there is one byte and no more.
#W = #layout.tiled<{1,0:T(3,11)}>
func.func private @counted() -> tensor<3x12xi32, #W> {
  %x = tensor.generate {
  ^bb0(%i: index, %j: index):
    %c12 = arith.constant 12 : index
    %p = arith.muli %i, %c12 : index
    %s = arith.addi %p, %j : index
    %k = arith.index_cast %s : index to i32
    %c256 = arith.constant 256 : i32
    %v = arith.addi %k, %c256 : i32
    tensor.yield %v : i32
  } : tensor<3x12xi32>
  %t = layout.convert %x : tensor<3x12xi32> to tensor<3x12xi32, #W>
  return %t : tensor<3x12xi32, #W>
}

func.func private @narrow() {
  %t = call @counted() : () -> tensor<3x12xi32, #W>
  %e = tensor.empty() : tensor<3x12xi8>
  %n = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%t : tensor<3x12xi32, #W>) outs(%e : tensor<3x12xi8>) {
  ^bb0(%a: i32, %o: i8):
    %s = arith.trunci %a : i32 to i8
    linalg.yield %s : i8
  } -> tensor<3x12xi8>
  %o = arith.constant 0 : index
  %zero = arith.constant 0 : i8
  %rows = vector.transfer_read %n[%o, %o], %zero {in_bounds = [true, true]} : tensor<3x12xi8>, vector<3x12xi8>
  vector.print %rows : vector<3x12xi8>
  return
}
// CHECK-NEXT: ( ( 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 ), ( 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23 ), ( 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35 ) )

// The product with the transpose of its first 250 columns, each operand in a layout of its own: (i, i) is a sum of
// squares, and it is symmetric.
func.func private @matmul(%x: tensor<61x250xf32>) {
  %a = layout.convert %x : tensor<61x250xf32> to tensor<61x250xf32, #T>
  %e = tensor.empty() : tensor<250x61xf32, #C>
  %b = linalg.transpose ins(%x : tensor<61x250xf32>) outs(%e : tensor<250x61xf32, #C>) permutation = [1, 0]
  %zero = arith.constant 0.0 : f32
  %f = tensor.empty() : tensor<61x61xf32, #P>
  %g = linalg.fill ins(%zero : f32) outs(%f : tensor<61x61xf32, #P>) -> tensor<61x61xf32, #P>
  %r = linalg.matmul ins(%a, %b : tensor<61x250xf32, #T>, tensor<250x61xf32, #C>) outs(%g : tensor<61x61xf32, #P>)
      -> tensor<61x61xf32, #P>
  %p = layout.convert %r : tensor<61x61xf32, #P> to tensor<61x61xf32>
  %first = tensor.extract_slice %p[0, 0] [2, 5] [1, 1] : tensor<61x61xf32> to tensor<2x5xf32>
  %last = tensor.extract_slice %p[59, 56] [2, 5] [1, 1] : tensor<61x61xf32> to tensor<2x5xf32>
  %o = arith.constant 0 : index
  %v = vector.transfer_read %first[%o, %o], %zero {in_bounds = [true, true]} : tensor<2x5xf32>, vector<2x5xf32>
  %w = vector.transfer_read %last[%o, %o], %zero {in_bounds = [true, true]} : tensor<2x5xf32>, vector<2x5xf32>
  vector.print %v : vector<2x5xf32>
  vector.print %w : vector<2x5xf32>
  return
}
// CHECK-NEXT: ( ( 876500, 196366, -208599, -398695, -253322 ), ( 196366, 802981, 189928, -386744, -449459 ) )
// CHECK-NEXT: ( ( -407809, -214107, 190846, 865541, -106557 ), ( -19380, -390742, -387239, -106557, 846269 ) )

func.func private @rows(%x: tensor<61x250xf32>) {
  %t = layout.convert %x : tensor<61x250xf32> to tensor<61x250xf32, #T>
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<61xf32>
  %f = linalg.fill ins(%least : f32) outs(%e : tensor<61xf32>) -> tensor<61xf32>
  %m = linalg.generic {indexing_maps = [#map, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%t : tensor<61x250xf32, #T>) outs(%f : tensor<61xf32>) {
  ^bb0(%a: f32, %o: f32):
    // And in which column it is.
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i32
    %d = arith.sitofp %k : i32 to f32
    %c256 = arith.constant 256.0 : f32
    %q = arith.mulf %a, %c256 : f32
    %h = arith.addf %q, %d : f32
    %y = arith.maximumf %h, %o : f32
    linalg.yield %y : f32
  } -> tensor<61xf32>
  %zero = arith.constant 0.0 : f32
  %g = tensor.empty() : tensor<61xf32>
  %z = linalg.fill ins(%zero : f32) outs(%g : tensor<61xf32>) -> tensor<61xf32>
  %b = arith.truncf %x : tensor<61x250xf32> to tensor<61x250xbf16>
  %p = layout.convert %b : tensor<61x250xbf16> to tensor<61x250xbf16, #B>
  %s = linalg.generic {indexing_maps = [#map, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<61x250xbf16, #B>) outs(%z : tensor<61xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %w = arith.extf %a : bf16 to f32
    %y = arith.addf %w, %o : f32
    linalg.yield %y : f32
  } -> tensor<61xf32>
  %o = arith.constant 0 : index
  %last = arith.constant 53 : index
  %v = vector.transfer_read %m[%last], %zero {in_bounds = [true]} : tensor<61xf32>, vector<8xf32>
  vector.print %v : vector<8xf32>
  %v0 = vector.transfer_read %s[%o], %zero {in_bounds = [true]} : tensor<61xf32>, vector<8xf32>
  vector.print %v0 : vector<8xf32>
  %v1 = vector.transfer_read %s[%last], %zero {in_bounds = [true]} : tensor<61xf32>, vector<8xf32>
  vector.print %v1 : vector<8xf32>
  return
}
// CHECK-NEXT: ( 25696, 25823, 25749, 25675, 25802, 25728, 25654, 25781 )
// CHECK-NEXT: ( -1900, -87, 1726, -1285, 528, 532, -871, 942 )
// CHECK-NEXT: ( 724, -76, -675, 1138, -1672, -60, 1753, -1459 )

// Of 2 to the power of each, so that all numbers are exact: the share of each element, times the sum, is that power.
func.func private @softmax() {
  %x = tensor.generate {
  ^bb0(%i: index, %j: index):
    %c3 = arith.constant 3 : index
    %s = arith.addi %i, %j : index
    %r = arith.andi %s, %c3 : index
    %k = arith.index_cast %r : index to i32
    %v = arith.sitofp %k : i32 to f32
    tensor.yield %v : f32
  } : tensor<13x35xf32>
  %t = layout.convert %x : tensor<13x35xf32> to tensor<13x35xf32, #T>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<13xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<13xf32>) -> tensor<13xf32>
  %m = linalg.generic {indexing_maps = [#map, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%t : tensor<13x35xf32, #T>) outs(%f : tensor<13xf32>) {
  ^bb0(%a: f32, %o: f32):
    %y = arith.maximumf %a, %o : f32
    linalg.yield %y : f32
  } -> tensor<13xf32>
  %g = tensor.empty() : tensor<13x35xf32, #T>
  %p = linalg.generic {indexing_maps = [#map, #rows, #map], iterator_types = ["parallel", "parallel"]}
      ins(%t, %m : tensor<13x35xf32, #T>, tensor<13xf32>) outs(%g : tensor<13x35xf32, #T>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %d = arith.subf %a, %c : f32
    %y = math.exp2 %d : f32
    linalg.yield %y : f32
  } -> tensor<13x35xf32, #T>
  %s = linalg.generic {indexing_maps = [#map, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<13x35xf32, #T>) outs(%f : tensor<13xf32>) {
  ^bb0(%a: f32, %o: f32):
    %y = arith.addf %a, %o : f32
    linalg.yield %y : f32
  } -> tensor<13xf32>
  %h = tensor.empty() : tensor<13x35xf32, #B>
  %r = linalg.generic {indexing_maps = [#map, #rows, #map], iterator_types = ["parallel", "parallel"]}
      ins(%p, %s : tensor<13x35xf32, #T>, tensor<13xf32>) outs(%h : tensor<13x35xf32, #B>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %q = arith.divf %a, %c : f32
    %y = arith.mulf %q, %c : f32
    linalg.yield %y : f32
  } -> tensor<13x35xf32, #B>
  %u = layout.convert %r : tensor<13x35xf32, #B> to tensor<13x35xf32>
  %o = arith.constant 0 : index
  %sums = vector.transfer_read %s[%o], %zero {in_bounds = [true]} : tensor<13xf32>, vector<13xf32>
  vector.print %sums : vector<13xf32>
  %i = arith.constant 12 : index
  %j = arith.constant 27 : index
  %row = vector.transfer_read %u[%i, %j], %zero {in_bounds = [true]} : tensor<13x35xf32>, vector<8xf32>
  vector.print %row : vector<8xf32>
  return
}
// CHECK-NEXT: ( 15.875, 16.75, 16.625, 16.375, 15.875, 16.75, 16.625, 16.375, 15.875, 16.75, 16.625, 16.375, 15.875 )
// CHECK-NEXT: ( 1, 0.125, 0.25, 0.5, 1, 0.125, 0.25, 0.5 )

// To bf16: ties go to the even one, up and down; what is too large is infinite; NaN stays one, also where nothing but its
// low bits say so. In order: 1.0 and a half step, 1.0 and one and a half, just above and below a half, the largest
// number, an infinity, -0.0, and two NaNs, as bits. Of the second one a processor keeps the digits, and MLIR's runtime, which
// scalar code calls on processors without bf16, does not.
func.func private @rounding() {
  %x = arith.constant dense<[0x3F808000, 0x3F818000, 0x3F808001, 0x3F807FFF, 0x7F7FFFFF, 0xFF800000, 0x80000000,
                             0x7F800001, 0xFFFFFFFF]> : tensor<9xf32>
  %e = tensor.empty() : tensor<9xbf16, #layout.tiled<{0:T(16)}>>
  %n = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<9xf32>) outs(%e : tensor<9xbf16, #layout.tiled<{0:T(16)}>>) {
  ^bb0(%a: f32, %o: bf16):
    %s = arith.truncf %a : f32 to bf16
    linalg.yield %s : bf16
  } -> tensor<9xbf16, #layout.tiled<{0:T(16)}>>
  %y = layout.convert %n : tensor<9xbf16, #layout.tiled<{0:T(16)}>> to tensor<9xbf16>
  %o = arith.constant 0 : index
  %zero = arith.constant 0.0 : bf16
  %row = vector.transfer_read %y[%o], %zero {in_bounds = [true]} : tensor<9xbf16>, vector<9xbf16>
  %bits = vector.bitcast %row : vector<9xbf16> to vector<9xi16>
  %wide = arith.extui %bits : vector<9xi16> to vector<9xi32>
  vector.print %wide : vector<9xi32>
  return
}
// CHECK-NEXT: ( 16256, 16258, 16257, 16256, 32640, 65408, 32768, 32704, {{65535|65472}} )

func.func @main() {
  %x = call @numbers() : () -> tensor<61x250xf32>
  call @f32(%x) : (tensor<61x250xf32>) -> ()
  call @bf16(%x) : (tensor<61x250xf32>) -> ()
  call @i8(%x) : (tensor<61x250xf32>) -> ()
  call @narrow() : () -> ()
  call @matmul(%x) : (tensor<61x250xf32>) -> ()
  call @rows(%x) : (tensor<61x250xf32>) -> ()
  call @softmax() : () -> ()
  call @rounding() : () -> ()
  return
}
