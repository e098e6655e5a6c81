// Structured operations: convolution, pooling, transposes, broadcasts, several results, linalg.index.
// RUN: layout-opt %s --layout-to-llvm | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MALLOC_PERTURB_=128 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm=form=physical | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MALLOC_PERTURB_=85 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s

#image = #layout.tiled<{3,2,1,0:T(2,2)}>
#image2 = #layout.tiled<{2,1,3,0:T(2,4)(2,1)}>
#filter = #layout.tiled<{0,1,2,3:T(*,4)}>
#small = #layout.tiled<{0,1:T(2,2)}>

func.func private @image() -> tensor<1x5x6x1xi32, #image> {
  %e = tensor.empty() : tensor<1x5x6x1xi32, #image>
  %x = linalg.generic {indexing_maps = [affine_map<(b, i, j, c) -> (b, i, j, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%e : tensor<1x5x6x1xi32, #image>) {
  ^bb0(%o: i32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %n = affine.apply affine_map<(i, j) -> ((i * 31) mod 11 + (j * 7) mod 5)>(%i, %j)
    %p = arith.muli %i, %j : index
    %three = arith.constant 3 : index
    %q = arith.remui %p, %three : index
    %r = arith.subi %n, %q : index
    %v = arith.index_cast %r : index to i32
    linalg.yield %v : i32
  } -> tensor<1x5x6x1xi32, #image>
  return %x : tensor<1x5x6x1xi32, #image>
}

func.func private @conv(%x: tensor<1x5x6x1xi32, #image>) -> tensor<1x3x5x2xi32, #image2> {
  %k = arith.constant dense<[[[[1, 0]], [[2, -1]]], [[[0, 3]], [[-1, 1]]], [[[1, 1]], [[0, 2]]]]> : tensor<3x2x1x2xi32, #filter>
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<1x3x5x2xi32, #image2>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<1x3x5x2xi32, #image2>) -> tensor<1x3x5x2xi32, #image2>
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %k : tensor<1x5x6x1xi32, #image>, tensor<3x2x1x2xi32, #filter>)
      outs(%f : tensor<1x3x5x2xi32, #image2>) -> tensor<1x3x5x2xi32, #image2>
  return %r : tensor<1x3x5x2xi32, #image2>
}

// The greatest of negative numbers in windows of 2x3, two apart.
func.func private @pool(%x: tensor<1x5x6x1xi32, #image>) -> tensor<1x2x2x1xi32, #image2> {
  %hundred = arith.constant dense<100> : tensor<1x5x6x1xi32, #image>
  %n = arith.subi %x, %hundred : tensor<1x5x6x1xi32, #image>
  %w = tensor.empty() : tensor<2x3xi32, #small>
  %least = arith.constant -2147483648 : i32
  %e = tensor.empty() : tensor<1x2x2x1xi32, #image2>
  %f = linalg.fill ins(%least : i32) outs(%e : tensor<1x2x2x1xi32, #image2>) -> tensor<1x2x2x1xi32, #image2>
  %r = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>}
      ins(%n, %w : tensor<1x5x6x1xi32, #image>, tensor<2x3xi32, #small>)
      outs(%f : tensor<1x2x2x1xi32, #image2>) -> tensor<1x2x2x1xi32, #image2>
  return %r : tensor<1x2x2x1xi32, #image2>
}

func.func private @transpose(%x: tensor<3x5xi32, #small>) -> tensor<5x3xi32, #small> {
  %e = tensor.empty() : tensor<5x3xi32, #small>
  %r = linalg.transpose ins(%x : tensor<3x5xi32, #small>) outs(%e : tensor<5x3xi32, #small>) permutation = [1, 0]
  return %r : tensor<5x3xi32, #small>
}

func.func private @broadcast(%x: tensor<3xi32, #layout.tiled<{0:T(2)}>>) -> tensor<3x5xi32, #small> {
  %e = tensor.empty() : tensor<3x5xi32, #small>
  %r = linalg.broadcast ins(%x : tensor<3xi32, #layout.tiled<{0:T(2)}>>) outs(%e : tensor<3x5xi32, #small>) dimensions = [1]
  return %r : tensor<3x5xi32, #small>
}

// Rows and columns at once: two results of one operation.
func.func private @sums(%x: tensor<3x5xi32, #small>) -> (tensor<3x5xi32>, tensor<5x3xi32, #small>) {
  %a = tensor.empty() : tensor<3x5xi32>
  %b = tensor.empty() : tensor<5x3xi32, #small>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>,
      affine_map<(i, j) -> (j, i)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<3x5xi32, #small>) outs(%a, %b : tensor<3x5xi32>, tensor<5x3xi32, #small>) {
  ^bb0(%v: i32, %o: i32, %p: i32):
    %i = linalg.index 0 : index
    %k = arith.index_cast %i : index to i32
    %s = arith.addi %v, %k : i32
    %t = arith.subi %v, %k : i32
    linalg.yield %s, %t : i32, i32
  } -> (tensor<3x5xi32>, tensor<5x3xi32, #small>)
  return %r#0, %r#1 : tensor<3x5xi32>, tensor<5x3xi32, #small>
}

func.func @main() {
  %zero = arith.constant 0 : index
  %n = arith.constant 0 : i32
  %x = call @image() : () -> tensor<1x5x6x1xi32, #image>
  %c = call @conv(%x) : (tensor<1x5x6x1xi32, #image>) -> tensor<1x3x5x2xi32, #image2>
  %cp = layout.convert %c : tensor<1x3x5x2xi32, #image2> to tensor<1x3x5x2xi32>
  %cv = vector.transfer_read %cp[%zero, %zero, %zero, %zero], %n {in_bounds = [true, true, true]}
      : tensor<1x3x5x2xi32>, vector<3x5x2xi32>
  // CHECK: ( ( ( 1, 56 ), ( 6, 64 ), ( 6, 68 ), ( 4, 62 ), ( 4, 60 ) ), ( ( 27, 37 ), ( 29, 45 ), ( 32, 49 ), ( 30, 43 ), ( 27, 41 ) ), ( ( 17, 26 ), ( 22, 34 ), ( 25, 38 ), ( 20, 32 ), ( 20, 30 ) ) )
  vector.print %cv : vector<3x5x2xi32>
  %p = call @pool(%x) : (tensor<1x5x6x1xi32, #image>) -> tensor<1x2x2x1xi32, #image2>
  %pp = layout.convert %p : tensor<1x2x2x1xi32, #image2> to tensor<1x2x2x1xi32>
  %pv = vector.transfer_read %pp[%zero, %zero, %zero, %zero], %n {in_bounds = [true, true, true]}
      : tensor<1x2x2x1xi32>, vector<2x2x1xi32>
  // CHECK-NEXT: ( ( ( -89 ), ( -89 ) ), ( ( -90 ), ( -90 ) ) )
  vector.print %pv : vector<2x2x1xi32>

  %y = arith.constant dense<[[1, 2, 3, 4, 5], [6, 7, 8, 9, 10], [11, 12, 13, 14, 15]]> : tensor<3x5xi32, #small>
  %t = call @transpose(%y) : (tensor<3x5xi32, #small>) -> tensor<5x3xi32, #small>
  %tp = layout.convert %t : tensor<5x3xi32, #small> to tensor<5x3xi32>
  %tv = vector.transfer_read %tp[%zero, %zero], %n {in_bounds = [true, true]} : tensor<5x3xi32>, vector<5x3xi32>
  // CHECK-NEXT: ( ( 1, 6, 11 ), ( 2, 7, 12 ), ( 3, 8, 13 ), ( 4, 9, 14 ), ( 5, 10, 15 ) )
  vector.print %tv : vector<5x3xi32>
  %l = arith.constant dense<[7, 8, 9]> : tensor<3xi32, #layout.tiled<{0:T(2)}>>
  %b = call @broadcast(%l) : (tensor<3xi32, #layout.tiled<{0:T(2)}>>) -> tensor<3x5xi32, #small>
  %bp = layout.convert %b : tensor<3x5xi32, #small> to tensor<3x5xi32>
  %bv = vector.transfer_read %bp[%zero, %zero], %n {in_bounds = [true, true]} : tensor<3x5xi32>, vector<3x5xi32>
  // CHECK-NEXT: ( ( 7, 7, 7, 7, 7 ), ( 8, 8, 8, 8, 8 ), ( 9, 9, 9, 9, 9 ) )
  vector.print %bv : vector<3x5xi32>
  %s:2 = call @sums(%y) : (tensor<3x5xi32, #small>) -> (tensor<3x5xi32>, tensor<5x3xi32, #small>)
  %sv = vector.transfer_read %s#0[%zero, %zero], %n {in_bounds = [true, true]} : tensor<3x5xi32>, vector<3x5xi32>
  // CHECK-NEXT: ( ( 1, 2, 3, 4, 5 ), ( 7, 8, 9, 10, 11 ), ( 13, 14, 15, 16, 17 ) )
  vector.print %sv : vector<3x5xi32>
  %up = layout.convert %s#1 : tensor<5x3xi32, #small> to tensor<5x3xi32>
  %uv = vector.transfer_read %up[%zero, %zero], %n {in_bounds = [true, true]} : tensor<5x3xi32>, vector<5x3xi32>
  // CHECK-NEXT: ( ( 1, 5, 9 ), ( 2, 6, 10 ), ( 3, 7, 11 ), ( 4, 8, 12 ), ( 5, 9, 13 ) )
  vector.print %uv : vector<5x3xi32>
  return
}
