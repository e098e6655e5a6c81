// What padding holds is never seen: greatest of negative numbers, least of positive ones, division, and sums.
// RUN: layout-opt %s --layout-to-llvm > %t
// RUN: layout-opt %s --layout-to-llvm=form=physical > %t.physical
// Fresh memory holds large numbers, negative ones, or zeros (glibc fills it with the complement of the given byte).
// RUN: for garbage in 128 85 255; do \
// RUN:   for program in %t %t.physical; do \
// RUN:     GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MALLOC_PERTURB_=$garbage \
// RUN:     mlir-runner $program -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s || exit 1; \
// RUN:   done; \
// RUN: done

// 3x5 in 2x2 tiles leaves 9 places of padding.
#tile = #layout.tiled<{1,0:T(2,2)}>
#column = #layout.tiled<{0:T(4)L(11)}>
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>
#none = affine_map<(i, j) -> ()>

func.func private @greatest(%x: tensor<3x5xf32, #tile>) -> f32 {
  %lowest = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<f32>
  %o = linalg.fill ins(%lowest : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r = linalg.generic {indexing_maps = [#ij, #none], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<3x5xf32, #tile>) outs(%o : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %m = arith.maximumf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<f32>
  %s = tensor.extract %r[] : tensor<f32>
  return %s : f32
}

func.func private @least(%x: tensor<3x5xi32, #tile>) -> tensor<5xi32, #column> {
  %most = arith.constant 2147483647 : i32
  %e = tensor.empty() : tensor<5xi32, #column>
  %o = linalg.fill ins(%most : i32) outs(%e : tensor<5xi32, #column>) -> tensor<5xi32, #column>
  %r = linalg.reduce ins(%x : tensor<3x5xi32, #tile>) outs(%o : tensor<5xi32, #column>) dimensions = [0]
    (%a: i32, %b: i32) {
      %m = arith.minsi %a, %b : i32
      linalg.yield %m : i32
    }
  return %r : tensor<5xi32, #column>
}

// A sum is the same whichever padding it is made over; so is a product with one operand untiled.
func.func private @weighted(%x: tensor<3x5xf32, #tile>, %w: tensor<5xf32>) -> tensor<3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3xf32>
  %o = linalg.fill ins(%zero : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %r = linalg.generic {indexing_maps = [#ij, #j, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<3x5xf32, #tile>, tensor<5xf32>) outs(%o : tensor<3xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %p, %c : f32
    linalg.yield %s : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// Padding may be 0: dividing by it would trap. And the least number divided by -1 would.
func.func private @quotient(%x: tensor<3x5xi32, #tile>, %y: tensor<3x5xi32, #tile>) -> tensor<3x5xi32, #tile> {
  %q = arith.divsi %x, %y : tensor<3x5xi32, #tile>
  return %q : tensor<3x5xi32, #tile>
}

func.func @main() {
  %zero = arith.constant 0 : index
  %i0 = arith.constant 0 : i32
  %f0 = arith.constant 0.0 : f32
  %n = tensor.generate {
  ^bb0(%i: index, %j: index):
    %five = arith.constant 5 : index
    %row = arith.muli %i, %five : index
    %at = arith.addi %row, %j : index
    %one = arith.constant 7 : index
    %next = arith.addi %at, %one : index
    %k = arith.index_cast %next : index to i32
    tensor.yield %k : i32
  } : tensor<3x5xi32>
  %t = layout.convert %n : tensor<3x5xi32> to tensor<3x5xi32, #tile>
  %f = arith.sitofp %t : tensor<3x5xi32, #tile> to tensor<3x5xf32, #tile>
  %neg = arith.negf %f : tensor<3x5xf32, #tile>

  %g = call @greatest(%neg) : (tensor<3x5xf32, #tile>) -> f32
  // CHECK: -7
  vector.print %g : f32

  %l = call @least(%t) : (tensor<3x5xi32, #tile>) -> tensor<5xi32, #column>
  %lp = layout.convert %l : tensor<5xi32, #column> to tensor<5xi32>
  %lv = vector.transfer_read %lp[%zero], %i0 {in_bounds = [true]} : tensor<5xi32>, vector<5xi32>
  // CHECK-NEXT: ( 7, 8, 9, 10, 11 )
  vector.print %lv : vector<5xi32>

  %weights = arith.constant dense<[1.0, 10.0, 100.0, 1000.0, 10000.0]> : tensor<5xf32>
  %w = call @weighted(%f, %weights) : (tensor<3x5xf32, #tile>, tensor<5xf32>) -> tensor<3xf32>
  %wv = vector.transfer_read %w[%zero], %f0 {in_bounds = [true]} : tensor<3xf32>, vector<3xf32>
  // CHECK-NEXT: ( 120987, 176542, 232097 )
  vector.print %wv : vector<3xf32>

  %hundred = arith.constant dense<100> : tensor<3x5xi32, #tile>
  %q = call @quotient(%hundred, %t) : (tensor<3x5xi32, #tile>, tensor<3x5xi32, #tile>) -> tensor<3x5xi32, #tile>
  %qp = layout.convert %q : tensor<3x5xi32, #tile> to tensor<3x5xi32>
  %qv = vector.transfer_read %qp[%zero, %zero], %i0 {in_bounds = [true, true]} : tensor<3x5xi32>, vector<3x5xi32>
  // CHECK-NEXT: ( ( 14, 12, 11, 10, 9 ), ( 8, 7, 7, 6, 6 ), ( 5, 5, 5, 5, 4 ) )
  vector.print %qv : vector<3x5xi32>
  return
}
