// Chains of arith and math on whole tensors, and operands that differ in their layouts.
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

#tile = #layout.tiled<{1,0:T(8,128)}>
#other = #layout.tiled<{0,1:T(4,16)(4,1)}>
func.func private @tiled(%x: tensor<15x250xf32, #tile>, %y: tensor<15x250xf32, #tile>) -> tensor<15x250xf32, #tile> {
  %half = arith.constant dense<0.5> : tensor<15x250xf32, #tile>
  %a = arith.mulf %x, %half : tensor<15x250xf32, #tile>
  %b = arith.subf %a, %y : tensor<15x250xf32, #tile>
  %c = math.absf %b : tensor<15x250xf32, #tile>
  %d = math.sqrt %c : tensor<15x250xf32, #tile>
  %e = math.floor %d : tensor<15x250xf32, #tile>
  %f = arith.maximumf %e, %half : tensor<15x250xf32, #tile>
  %g = arith.divf %x, %f : tensor<15x250xf32, #tile>
  %p = arith.cmpf olt, %g, %y : tensor<15x250xf32, #tile>
  %h = arith.select %p, %g, %y : tensor<15x250xi1, #tile>, tensor<15x250xf32, #tile>
  %i = arith.fptosi %h : tensor<15x250xf32, #tile> to tensor<15x250xi32, #tile>
  %j = arith.sitofp %i : tensor<15x250xi32, #tile> to tensor<15x250xf32, #tile>
  %k = math.fma %j, %half, %x : tensor<15x250xf32, #tile>
  return %k : tensor<15x250xf32, #tile>
}

func.func private @untiled(%x: tensor<15x250xf32>, %y: tensor<15x250xf32>) -> tensor<15x250xf32> {
  %half = arith.constant dense<0.5> : tensor<15x250xf32>
  %a = arith.mulf %x, %half : tensor<15x250xf32>
  %b = arith.subf %a, %y : tensor<15x250xf32>
  %c = math.absf %b : tensor<15x250xf32>
  %d = math.sqrt %c : tensor<15x250xf32>
  %e = math.floor %d : tensor<15x250xf32>
  %f = arith.maximumf %e, %half : tensor<15x250xf32>
  %g = arith.divf %x, %f : tensor<15x250xf32>
  %p = arith.cmpf olt, %g, %y : tensor<15x250xf32>
  %h = arith.select %p, %g, %y : tensor<15x250xi1>, tensor<15x250xf32>
  %i = arith.fptosi %h : tensor<15x250xf32> to tensor<15x250xi32>
  %j = arith.sitofp %i : tensor<15x250xi32> to tensor<15x250xf32>
  %k = math.fma %j, %half, %x : tensor<15x250xf32>
  return %k : tensor<15x250xf32>
}

// Operands and result each in a layout of its own, in one named operation and in one map.
func.func private @mixed(%x: tensor<15x250xf32, #tile>, %y: tensor<15x250xf32, #other>) -> tensor<15x250xf32> {
  %e = tensor.empty() : tensor<15x250xf32>
  %s = linalg.sub ins(%x, %y : tensor<15x250xf32, #tile>, tensor<15x250xf32, #other>)
      outs(%e : tensor<15x250xf32>) -> tensor<15x250xf32>
  %f = tensor.empty() : tensor<15x250xf32, #other>
  %t = linalg.map ins(%s, %x : tensor<15x250xf32>, tensor<15x250xf32, #tile>) outs(%f : tensor<15x250xf32, #other>)
    (%a: f32, %b: f32, %o: f32) {
      %c = arith.mulf %a, %b : f32
      linalg.yield %c : f32
    }
  %r = layout.convert %t : tensor<15x250xf32, #other> to tensor<15x250xf32>
  return %r : tensor<15x250xf32>
}

func.func @main() {
  %m = arith.constant 15 : index
  %n = arith.constant 250 : index
  %numbers = call @numbers_f32(%m, %n) : (index, index) -> tensor<?x?xf32>
  %x = tensor.cast %numbers : tensor<?x?xf32> to tensor<15x250xf32>
  %y = math.absf %x : tensor<15x250xf32>
  %tx = layout.convert %x : tensor<15x250xf32> to tensor<15x250xf32, #tile>
  %ty = layout.convert %y : tensor<15x250xf32> to tensor<15x250xf32, #tile>
  %oy = layout.convert %y : tensor<15x250xf32> to tensor<15x250xf32, #other>

  %t = call @tiled(%tx, %ty) : (tensor<15x250xf32, #tile>, tensor<15x250xf32, #tile>) -> tensor<15x250xf32, #tile>
  %u = call @untiled(%x, %y) : (tensor<15x250xf32>, tensor<15x250xf32>) -> tensor<15x250xf32>
  %p = layout.convert %t : tensor<15x250xf32, #tile> to tensor<15x250xf32>
  %a = tensor.cast %p : tensor<15x250xf32> to tensor<?x?xf32>
  %b = tensor.cast %u : tensor<15x250xf32> to tensor<?x?xf32>
  // CHECK: 3750
  // CHECK-NEXT: 0
  // CHECK-NEXT: 45{{$}}
  call @compare_f32(%a, %b) : (tensor<?x?xf32>, tensor<?x?xf32>) -> ()

  // (x - |x|) * x is twice the square where x is negative, else 0.
  %r = call @mixed(%tx, %oy) : (tensor<15x250xf32, #tile>, tensor<15x250xf32, #other>) -> tensor<15x250xf32>
  %d = arith.subf %x, %y : tensor<15x250xf32>
  %q = arith.mulf %d, %x : tensor<15x250xf32>
  %c = tensor.cast %r : tensor<15x250xf32> to tensor<?x?xf32>
  %e = tensor.cast %q : tensor<15x250xf32> to tensor<?x?xf32>
  // CHECK-NEXT: 3750
  // CHECK-NEXT: 0
  // CHECK-NEXT: 0{{$}}
  call @compare_f32(%c, %e) : (tensor<?x?xf32>, tensor<?x?xf32>) -> ()
  return
}
