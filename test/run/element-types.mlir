// Every width of element: i1, i8, i16, i64, f16, bf16, f64, complex and index, each padded.
// RUN: layout-opt %s --layout-to-llvm | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MALLOC_PERTURB_=128 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm=form=physical | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MALLOC_PERTURB_=85 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s

#tile = #layout.tiled<{0,1:T(2,2)(2,1)}>

func.func private @i1_sum(%x: tensor<3x3xi1, #tile>) -> tensor<3x3xi1, #tile> {
  %c = arith.constant dense<false> : tensor<3x3xi1, #tile>
  %y = arith.xori %x, %c : tensor<3x3xi1, #tile>
  return %y : tensor<3x3xi1, #tile>
}
func.func private @i1() {
  %x = arith.constant dense<[[true, false, true], [false, true, false], [true, false, true]]> : tensor<3x3xi1>
  %t = layout.convert %x : tensor<3x3xi1> to tensor<3x3xi1, #tile>
  %u = call @i1_sum(%t) : (tensor<3x3xi1, #tile>) -> tensor<3x3xi1, #tile>
  %y = layout.convert %u : tensor<3x3xi1, #tile> to tensor<3x3xi1>
  %i = arith.constant 0 : index
  %w = arith.extui %y : tensor<3x3xi1> to tensor<3x3xi8>
  %z = arith.constant 0 : i8
  %v = vector.transfer_read %w[%i, %i], %z {in_bounds = [true, true]} : tensor<3x3xi8>, vector<3x3xi8>
  // CHECK: ( ( 1, 0, 1 ), ( 0, 1, 0 ), ( 1, 0, 1 ) )
  vector.print %v : vector<3x3xi8>
  return
}

func.func private @i8_sum(%x: tensor<3x3xi8, #tile>) -> tensor<3x3xi8, #tile> {
  %c = arith.constant dense<10> : tensor<3x3xi8, #tile>
  %y = arith.addi %x, %c : tensor<3x3xi8, #tile>
  return %y : tensor<3x3xi8, #tile>
}
func.func private @i8() {
  %x = arith.constant dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9]]> : tensor<3x3xi8>
  %t = layout.convert %x : tensor<3x3xi8> to tensor<3x3xi8, #tile>
  %u = call @i8_sum(%t) : (tensor<3x3xi8, #tile>) -> tensor<3x3xi8, #tile>
  %y = layout.convert %u : tensor<3x3xi8, #tile> to tensor<3x3xi8>
  %i = arith.constant 0 : index
  %z = arith.constant 0 : i8
  %v = vector.transfer_read %y[%i, %i], %z {in_bounds = [true, true]} : tensor<3x3xi8>, vector<3x3xi8>
  // CHECK: ( ( 11, 12, 13 ), ( 14, 15, 16 ), ( 17, 18, 19 ) )
  vector.print %v : vector<3x3xi8>
  return
}

func.func private @i16_sum(%x: tensor<3x3xi16, #tile>) -> tensor<3x3xi16, #tile> {
  %c = arith.constant dense<10> : tensor<3x3xi16, #tile>
  %y = arith.addi %x, %c : tensor<3x3xi16, #tile>
  return %y : tensor<3x3xi16, #tile>
}
func.func private @i16() {
  %x = arith.constant dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9]]> : tensor<3x3xi16>
  %t = layout.convert %x : tensor<3x3xi16> to tensor<3x3xi16, #tile>
  %u = call @i16_sum(%t) : (tensor<3x3xi16, #tile>) -> tensor<3x3xi16, #tile>
  %y = layout.convert %u : tensor<3x3xi16, #tile> to tensor<3x3xi16>
  %i = arith.constant 0 : index
  %z = arith.constant 0 : i16
  %v = vector.transfer_read %y[%i, %i], %z {in_bounds = [true, true]} : tensor<3x3xi16>, vector<3x3xi16>
  // CHECK: ( ( 11, 12, 13 ), ( 14, 15, 16 ), ( 17, 18, 19 ) )
  vector.print %v : vector<3x3xi16>
  return
}

func.func private @i64_sum(%x: tensor<3x3xi64, #tile>) -> tensor<3x3xi64, #tile> {
  %c = arith.constant dense<10> : tensor<3x3xi64, #tile>
  %y = arith.addi %x, %c : tensor<3x3xi64, #tile>
  return %y : tensor<3x3xi64, #tile>
}
func.func private @i64() {
  %x = arith.constant dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9]]> : tensor<3x3xi64>
  %t = layout.convert %x : tensor<3x3xi64> to tensor<3x3xi64, #tile>
  %u = call @i64_sum(%t) : (tensor<3x3xi64, #tile>) -> tensor<3x3xi64, #tile>
  %y = layout.convert %u : tensor<3x3xi64, #tile> to tensor<3x3xi64>
  %i = arith.constant 0 : index
  %z = arith.constant 0 : i64
  %v = vector.transfer_read %y[%i, %i], %z {in_bounds = [true, true]} : tensor<3x3xi64>, vector<3x3xi64>
  // CHECK: ( ( 11, 12, 13 ), ( 14, 15, 16 ), ( 17, 18, 19 ) )
  vector.print %v : vector<3x3xi64>
  return
}

func.func private @f16_sum(%x: tensor<3x3xf16, #tile>) -> tensor<3x3xf16, #tile> {
  %c = arith.constant dense<10.0> : tensor<3x3xf16, #tile>
  %y = arith.addf %x, %c : tensor<3x3xf16, #tile>
  return %y : tensor<3x3xf16, #tile>
}
func.func private @f16() {
  %x = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]> : tensor<3x3xf16>
  %t = layout.convert %x : tensor<3x3xf16> to tensor<3x3xf16, #tile>
  %u = call @f16_sum(%t) : (tensor<3x3xf16, #tile>) -> tensor<3x3xf16, #tile>
  %y = layout.convert %u : tensor<3x3xf16, #tile> to tensor<3x3xf16>
  %i = arith.constant 0 : index
  %z = arith.constant 0.0 : f16
  %v = vector.transfer_read %y[%i, %i], %z {in_bounds = [true, true]} : tensor<3x3xf16>, vector<3x3xf16>
  // CHECK: ( ( 11, 12, 13 ), ( 14, 15, 16 ), ( 17, 18, 19 ) )
  %w = arith.extf %v : vector<3x3xf16> to vector<3x3xf32>
  vector.print %w : vector<3x3xf32>
  return
}

func.func private @bf16_sum(%x: tensor<3x3xbf16, #tile>) -> tensor<3x3xbf16, #tile> {
  %c = arith.constant dense<10.0> : tensor<3x3xbf16, #tile>
  %y = arith.addf %x, %c : tensor<3x3xbf16, #tile>
  return %y : tensor<3x3xbf16, #tile>
}
func.func private @bf16() {
  %x = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]> : tensor<3x3xbf16>
  %t = layout.convert %x : tensor<3x3xbf16> to tensor<3x3xbf16, #tile>
  %u = call @bf16_sum(%t) : (tensor<3x3xbf16, #tile>) -> tensor<3x3xbf16, #tile>
  %y = layout.convert %u : tensor<3x3xbf16, #tile> to tensor<3x3xbf16>
  %i = arith.constant 0 : index
  %z = arith.constant 0.0 : bf16
  %v = vector.transfer_read %y[%i, %i], %z {in_bounds = [true, true]} : tensor<3x3xbf16>, vector<3x3xbf16>
  // CHECK: ( ( 11, 12, 13 ), ( 14, 15, 16 ), ( 17, 18, 19 ) )
  %w = arith.extf %v : vector<3x3xbf16> to vector<3x3xf32>
  vector.print %w : vector<3x3xf32>
  return
}

func.func private @f64_sum(%x: tensor<3x3xf64, #tile>) -> tensor<3x3xf64, #tile> {
  %c = arith.constant dense<10.0> : tensor<3x3xf64, #tile>
  %y = arith.addf %x, %c : tensor<3x3xf64, #tile>
  return %y : tensor<3x3xf64, #tile>
}
func.func private @f64() {
  %x = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]> : tensor<3x3xf64>
  %t = layout.convert %x : tensor<3x3xf64> to tensor<3x3xf64, #tile>
  %u = call @f64_sum(%t) : (tensor<3x3xf64, #tile>) -> tensor<3x3xf64, #tile>
  %y = layout.convert %u : tensor<3x3xf64, #tile> to tensor<3x3xf64>
  %i = arith.constant 0 : index
  %z = arith.constant 0.0 : f64
  %v = vector.transfer_read %y[%i, %i], %z {in_bounds = [true, true]} : tensor<3x3xf64>, vector<3x3xf64>
  // CHECK: ( ( 11, 12, 13 ), ( 14, 15, 16 ), ( 17, 18, 19 ) )
  vector.print %v : vector<3x3xf64>
  return
}

func.func private @complex() {
  %x = arith.constant dense<[[(1.0, 2.0), (3.0, 4.0), (5.0, 6.0)]]> : tensor<1x3xcomplex<f32>, #tile>
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  %e = tensor.empty() : tensor<1x3xcomplex<f32>>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<1x3xcomplex<f32>, #tile>) outs(%e : tensor<1x3xcomplex<f32>>) {
  ^bb0(%a: complex<f32>, %o: complex<f32>):
    %re = complex.re %a : complex<f32>
    %im = complex.im %a : complex<f32>
    %swapped = complex.create %im, %re : complex<f32>
    linalg.yield %swapped : complex<f32>
  } -> tensor<1x3xcomplex<f32>>
  %c = tensor.extract %y[%zero, %two] : tensor<1x3xcomplex<f32>>
  %re = complex.re %c : complex<f32>
  %im = complex.im %c : complex<f32>
  // CHECK: 6
  // CHECK-NEXT: 5
  vector.print %re : f32
  vector.print %im : f32
  return
}

func.func private @index() {
  %x = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xindex, #tile>
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %y = arith.addi %x, %x : tensor<2x3xindex, #tile>
  %v = tensor.extract %y[%one, %two] : tensor<2x3xindex, #tile>
  // CHECK-NEXT: 12
  vector.print %v : index
  return
}

func.func @main() {
  call @i1() : () -> ()
  call @i8() : () -> ()
  call @i16() : () -> ()
  call @i64() : () -> ()
  call @f16() : () -> ()
  call @bf16() : () -> ()
  call @f64() : () -> ()
  call @complex() : () -> ()
  call @index() : () -> ()
  return
}
