// Matmuls whose three operands each have a layout of their own, with ragged tiles.
// RUN: layout-opt %s --layout-to-llvm | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MALLOC_PERTURB_=128 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm=form=physical | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MALLOC_PERTURB_=85 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s

// Numbers from -100 to 100, no two neighbours alike.
func.func private @numbers_f32(%m: index, %n: index) -> tensor<?x?xf32> {
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<?x?xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
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
    linalg.yield %v : f32
  } -> tensor<?x?xf32>
  return %x : tensor<?x?xf32>
}

// Prints how many elements are equal, how many are not, and the last one.
func.func private @compare_f32(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %m = tensor.dim %x, %zero : tensor<?x?xf32>
  %n = tensor.dim %x, %one : tensor<?x?xf32>
  %counts:2 = scf.for %i = %zero to %m step %one iter_args(%p = %zero, %q = %zero) -> (index, index) {
    %row:2 = scf.for %j = %zero to %n step %one iter_args(%s = %p, %t = %q) -> (index, index) {
      %a = tensor.extract %x[%i, %j] : tensor<?x?xf32>
      %b = tensor.extract %y[%i, %j] : tensor<?x?xf32>
      %same = arith.cmpf oeq, %a, %b : f32
      %d = arith.index_castui %same : i1 to index
      %o = arith.subi %one, %d : index
      %s1 = arith.addi %s, %d : index
      %t1 = arith.addi %t, %o : index
      scf.yield %s1, %t1 : index, index
    }
    scf.yield %row#0, %row#1 : index, index
  }
  %i = arith.subi %m, %one : index
  %j = arith.subi %n, %one : index
  %last = tensor.extract %y[%i, %j] : tensor<?x?xf32>
  vector.print %counts#0 : index
  vector.print %counts#1 : index
  vector.print %last : f32
  return
}

// Small integers in bf16, so that all sums are exact.
func.func private @narrow(%x: tensor<?x?xf32>) -> tensor<?x?xbf16> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %m = tensor.dim %x, %zero : tensor<?x?xf32>
  %n = tensor.dim %x, %one : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xbf16>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %b = arith.truncf %a : f32 to bf16
    linalg.yield %b : bf16
  } -> tensor<?x?xbf16>
  return %y : tensor<?x?xbf16>
}

#lhs = #layout.tiled<{1,0:T(8,128)(2,1)}>
#rhs = #layout.tiled<{0,1:T(8,128)(2,1)S(1)}>
#out = #layout.tiled<{1,0:T(4,64)}>
func.func @tiled(%a: tensor<15x250xbf16, #lhs>, %b: tensor<250x70xbf16, #rhs>) -> tensor<15x70xf32, #out> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<15x70xf32, #out>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<15x70xf32, #out>) -> tensor<15x70xf32, #out>
  %r = linalg.matmul ins(%a, %b : tensor<15x250xbf16, #lhs>, tensor<250x70xbf16, #rhs>)
      outs(%z : tensor<15x70xf32, #out>) -> tensor<15x70xf32, #out>
  return %r : tensor<15x70xf32, #out>
}
func.func @untiled(%a: tensor<15x250xbf16>, %b: tensor<250x70xbf16>) -> tensor<15x70xf32> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<15x70xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<15x70xf32>) -> tensor<15x70xf32>
  %r = linalg.matmul ins(%a, %b : tensor<15x250xbf16>, tensor<250x70xbf16>) outs(%z : tensor<15x70xf32>) -> tensor<15x70xf32>
  return %r : tensor<15x70xf32>
}
func.func private @matmul() {
  %m = arith.constant 15 : index
  %k = arith.constant 250 : index
  %n = arith.constant 70 : index
  %a0 = call @numbers_f32(%m, %k) : (index, index) -> tensor<?x?xf32>
  %a1 = call @narrow(%a0) : (tensor<?x?xf32>) -> tensor<?x?xbf16>
  %a = tensor.cast %a1 : tensor<?x?xbf16> to tensor<15x250xbf16>
  %b0 = call @numbers_f32(%k, %n) : (index, index) -> tensor<?x?xf32>
  %b1 = call @narrow(%b0) : (tensor<?x?xf32>) -> tensor<?x?xbf16>
  %b = tensor.cast %b1 : tensor<?x?xbf16> to tensor<250x70xbf16>
  %x = call @untiled(%a, %b) : (tensor<15x250xbf16>, tensor<250x70xbf16>) -> tensor<15x70xf32>
  %ta = layout.convert %a : tensor<15x250xbf16> to tensor<15x250xbf16, #lhs>
  %tb = layout.convert %b : tensor<250x70xbf16> to tensor<250x70xbf16, #rhs>
  %t = call @tiled(%ta, %tb) : (tensor<15x250xbf16, #lhs>, tensor<250x70xbf16, #rhs>) -> tensor<15x70xf32, #out>
  %y = layout.convert %t : tensor<15x70xf32, #out> to tensor<15x70xf32>
  %xd = tensor.cast %x : tensor<15x70xf32> to tensor<?x?xf32>
  %yd = tensor.cast %y : tensor<15x70xf32> to tensor<?x?xf32>
  call @compare_f32(%xd, %yd) : (tensor<?x?xf32>, tensor<?x?xf32>) -> ()
  return
}
// CHECK: 1050
// CHECK-NEXT: 0
// CHECK-NEXT: 3739

// A batch of them, the batch dimension innermost in one operand.
#blhs = #layout.tiled<{0,2,1:T(2,3)}>
#brhs = #layout.tiled<{1,2,0:T(*,4)}>
#bout = #layout.tiled<{2,0,1:T(2,2)L(7)}>
func.func private @batch() {
  %a = tensor.generate {
  ^bb0(%i: index, %j: index, %k: index):
    %s = arith.addi %i, %j : index
    %t = arith.muli %s, %k : index
    %n = arith.index_cast %t : index to i32
    tensor.yield %n : i32
  } : tensor<3x5x7xi32>
  %ta = layout.convert %a : tensor<3x5x7xi32> to tensor<3x5x7xi32, #blhs>
  %b = tensor.generate {
  ^bb0(%i: index, %j: index, %k: index):
    %s = arith.subi %i, %j : index
    %t = arith.addi %s, %k : index
    %n = arith.index_cast %t : index to i32
    tensor.yield %n : i32
  } : tensor<3x7x2xi32>
  %tb = layout.convert %b : tensor<3x7x2xi32> to tensor<3x7x2xi32, #brhs>
  %c = arith.constant 0 : i32
  %e = tensor.empty() : tensor<3x5x2xi32, #bout>
  %z = linalg.fill ins(%c : i32) outs(%e : tensor<3x5x2xi32, #bout>) -> tensor<3x5x2xi32, #bout>
  %r = linalg.batch_matmul ins(%ta, %tb : tensor<3x5x7xi32, #blhs>, tensor<3x7x2xi32, #brhs>)
      outs(%z : tensor<3x5x2xi32, #bout>) -> tensor<3x5x2xi32, #bout>
  %p = layout.convert %r : tensor<3x5x2xi32, #bout> to tensor<3x5x2xi32>
  %zero = arith.constant 0 : index
  %v = vector.transfer_read %p[%zero, %zero, %zero], %c {in_bounds = [true, true, true]} : tensor<3x5x2xi32>, vector<3x5x2xi32>
  vector.print %v : vector<3x5x2xi32>
  return
}
// CHECK-NEXT: ( ( ( 0, 0 ), ( -91, -70 ), ( -182, -140 ), ( -273, -210 ), ( -364, -280 ) ), ( ( -70, -49 ), ( -140, -98 ), ( -210, -147 ), ( -280, -196 ), ( -350, -245 ) ), ( ( -98, -56 ), ( -147, -84 ), ( -196, -112 ), ( -245, -140 ), ( -294, -168 ) ) )

func.func @main() {
  call @matmul() : () -> ()
  call @batch() : () -> ()
  return
}
