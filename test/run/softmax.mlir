// Softmax over a ragged last dimension, made of reductions and elementwise operations.
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

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#tile = #layout.tiled<{1,0:T(8,128)}>
#row = #layout.tiled<{0:T(1024)}>

func.func private @tiled(%x: tensor<15x250xf32, #tile>) -> tensor<15x250xf32, #tile> {
  %lowest = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<15xf32, #row>
  %m0 = linalg.fill ins(%lowest : f32) outs(%e : tensor<15xf32, #row>) -> tensor<15xf32, #row>
  %m = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<15x250xf32, #tile>) outs(%m0 : tensor<15xf32, #row>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<15xf32, #row>
  %f = tensor.empty() : tensor<15x250xf32, #tile>
  %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<15x250xf32, #tile>, tensor<15xf32, #row>) outs(%f : tensor<15x250xf32, #tile>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.subf %a, %b : f32
    %r = math.exp %s : f32
    linalg.yield %r : f32
  } -> tensor<15x250xf32, #tile>
  %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<15xf32, #row>) -> tensor<15xf32, #row>
  %s = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<15x250xf32, #tile>) outs(%s0 : tensor<15xf32, #row>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<15xf32, #row>
  %q = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%p, %s : tensor<15x250xf32, #tile>, tensor<15xf32, #row>) outs(%f : tensor<15x250xf32, #tile>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.divf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<15x250xf32, #tile>
  return %q : tensor<15x250xf32, #tile>
}

func.func private @untiled(%x: tensor<15x250xf32>) -> tensor<15x250xf32> {
  %lowest = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<15xf32>
  %m0 = linalg.fill ins(%lowest : f32) outs(%e : tensor<15xf32>) -> tensor<15xf32>
  %m = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<15x250xf32>) outs(%m0 : tensor<15xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<15xf32>
  %f = tensor.empty() : tensor<15x250xf32>
  %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<15x250xf32>, tensor<15xf32>) outs(%f : tensor<15x250xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.subf %a, %b : f32
    %r = math.exp %s : f32
    linalg.yield %r : f32
  } -> tensor<15x250xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<15xf32>) -> tensor<15xf32>
  %s = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<15x250xf32>) outs(%s0 : tensor<15xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<15xf32>
  %q = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%p, %s : tensor<15x250xf32>, tensor<15xf32>) outs(%f : tensor<15x250xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.divf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<15x250xf32>
  return %q : tensor<15x250xf32>
}

func.func @main() {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %m = arith.constant 15 : index
  %n = arith.constant 250 : index
  %big = arith.constant 1.0e6 : f32
  %small = arith.constant 0.0625 : f32
  %numbers = call @numbers_f32(%m, %n) : (index, index) -> tensor<?x?xf32>
  %d = tensor.cast %numbers : tensor<?x?xf32> to tensor<15x250xf32>
  // Numbers between -6.25 and 6.25, lowered by 100: what padding may hold would be greater.
  %x = linalg.map ins(%d : tensor<15x250xf32>) outs(%d : tensor<15x250xf32>) (%a: f32, %o: f32) {
    %hundred = arith.constant 100.0 : f32
    %b = arith.mulf %a, %small : f32
    %c = arith.subf %b, %hundred : f32
    linalg.yield %c : f32
  }
  %t = layout.convert %x : tensor<15x250xf32> to tensor<15x250xf32, #tile>
  %r = call @tiled(%t) : (tensor<15x250xf32, #tile>) -> tensor<15x250xf32, #tile>
  %p = call @untiled(%x) : (tensor<15x250xf32>) -> tensor<15x250xf32>
  %q = layout.convert %r : tensor<15x250xf32, #tile> to tensor<15x250xf32>
  // The greatest relative difference, in millionths, is a few roundings of a sum of 250 terms.
  %f0 = arith.constant 0.0 : f32
  %worst, %sum = scf.for %i = %zero to %m step %one iter_args(%w0 = %f0, %s0 = %f0) -> (f32, f32) {
    %w2, %s2 = scf.for %j = %zero to %n step %one iter_args(%w = %w0, %s = %s0) -> (f32, f32) {
      %a = tensor.extract %p[%i, %j] : tensor<15x250xf32>
      %b = tensor.extract %q[%i, %j] : tensor<15x250xf32>
      %c = arith.subf %a, %b : f32
      %e = math.absf %c : f32
      %g = arith.divf %e, %a : f32
      %w1 = arith.maximumf %g, %w : f32
      %s1 = arith.addf %b, %s : f32
      scf.yield %w1, %s1 : f32, f32
    }
    scf.yield %w2, %s2 : f32, f32
  }
  %millionths = arith.mulf %worst, %big : f32
  %four = arith.constant 4.0 : f32
  %close = arith.cmpf olt, %millionths, %four : f32
  // CHECK: 1
  vector.print %close : i1
  // All rows together sum up to 15.
  // CHECK-NEXT: {{14\.999|15($|\.000)}}
  vector.print %sum : f32
  return
}
