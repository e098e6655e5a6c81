// Row-major to tiled and back: every element comes back, and nothing else does.
// RUN: layout-opt %s --layout-to-llvm | MALLOC_PERTURB_=128 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm=form=physical | MALLOC_PERTURB_=85 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s

#full = #layout.tiled<{1,0:T(8,128)}>
#bf16 = #layout.tiled<{1,0:T(8,128)(2,1)}>
#i8 = #layout.tiled<{1,0:T(8,128)(4,1)S(1)}>
#small = #layout.tiled<{1,0:T(2,2)}>
#columns = #layout.tiled<{0,1}>
#columnTiles = #layout.tiled<{0,1:T(8,128)}>
#combined = #layout.tiled<{1,0:T(*,4)}>
#combined4 = #layout.tiled<{2,3,0,1:T(*,*,2,3)(4,1)}>
#row = #layout.tiled<{0:T(1024)(128)(2,1)}>
#longer = #layout.tiled<{0:T(8,128)}>
#uneven = #layout.tiled<{1,0:T(8,128)(3,1)}>
#grid = #layout.tiled<{1,0:T(2,4)(2,1,1,1)}>
#tail = #layout.tiled<{1,0:T(2,2)L(100)}>

// The numbers are those of a hash, so that no two places are alike by chance.
func.func private @hash(%i: index, %j: index) -> i32 {
  %a = arith.constant 7919 : index
  %b = arith.constant 104729 : index
  %m = arith.constant 65521 : index
  %x = arith.muli %i, %a : index
  %y = arith.muli %j, %b : index
  %z = arith.addi %x, %y : index
  %r = arith.remui %z, %m : index
  %n = arith.index_cast %r : index to i32
  return %n : i32
}

// f32: full tiles, and ragged ones.
func.func private @to_full(%x: tensor<16x256xf32>) -> tensor<16x256xf32, #full> {
  %y = layout.convert %x : tensor<16x256xf32> to tensor<16x256xf32, #full>
  return %y : tensor<16x256xf32, #full>
}
func.func private @from_full(%x: tensor<16x256xf32, #full>) -> tensor<16x256xf32> {
  %y = layout.convert %x : tensor<16x256xf32, #full> to tensor<16x256xf32>
  return %y : tensor<16x256xf32>
}
func.func private @full() {
  %e = tensor.empty() : tensor<16x256xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<16x256xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %h = func.call @hash(%i, %j) : (index, index) -> i32
    %f = arith.sitofp %h : i32 to f32
    linalg.yield %f : f32
  } -> tensor<16x256xf32>
  %t = call @to_full(%x) : (tensor<16x256xf32>) -> tensor<16x256xf32, #full>
  %y = call @from_full(%t) : (tensor<16x256xf32, #full>) -> tensor<16x256xf32>
  %zero = arith.constant 0 : index
  %i = arith.constant 9 : index
  %j = arith.constant 200 : index
  %s = tensor.extract %t[%i, %j] : tensor<16x256xf32, #full>
  vector.print %s : f32
  %c0 = arith.constant dense<0> : tensor<i32>
  %d = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>,
      affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%x, %y : tensor<16x256xf32>, tensor<16x256xf32>) outs(%c0 : tensor<i32>) {
  ^bb0(%a: f32, %b: f32, %o: i32):
    %ne = arith.cmpf une, %a, %b : f32
    %one = arith.extui %ne : i1 to i32
    %r = arith.addi %o, %one : i32
    linalg.yield %r : i32
  } -> tensor<i32>
  %n = tensor.extract %d[] : tensor<i32>
  vector.print %n : i32
  return
}
