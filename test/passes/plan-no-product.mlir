// layout-plan: what only looks like a product or a look-up is the loops that it is.
// RUN: layout-opt %s --split-input-file --layout-plan="machine=tpu_v5e entry=free report" -o /dev/null 2>&1 | FileCheck %s

// A sum of exponentials of products costs what one of exponentials of sums costs.
// CHECK: remark: the plan costs [[COST:[0-9]+]] cycles
func.func @products(%x: tensor<100x200xf32>, %w: tensor<200x300xf32>, %z: tensor<100x300xf32>) -> tensor<100x300xf32> {
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<100x200xf32>, tensor<200x300xf32>) outs(%z : tensor<100x300xf32>) {
  ^bb0(%a: f32, %b: f32, %before: f32):
    %p = arith.mulf %a, %b : f32
    %e = math.exp %p : f32
    %s = arith.addf %e, %before : f32
    linalg.yield %s : f32
  } -> tensor<100x300xf32>
  return %y : tensor<100x300xf32>
}

// -----

// CHECK: remark: the plan costs [[COST]] cycles
func.func @sums(%x: tensor<100x200xf32>, %w: tensor<200x300xf32>, %z: tensor<100x300xf32>) -> tensor<100x300xf32> {
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<100x200xf32>, tensor<200x300xf32>) outs(%z : tensor<100x300xf32>) {
  ^bb0(%a: f32, %b: f32, %before: f32):
    %p = arith.addf %a, %b : f32
    %e = math.exp %p : f32
    %s = arith.addf %e, %before : f32
    linalg.yield %s : f32
  } -> tensor<100x300xf32>
  return %y : tensor<100x300xf32>
}

// -----

// A loop is an index of the data in two dimensions.
// CHECK: remark: the plan costs {{[0-9]+}} cycles
func.func @diagonal(%data: tensor<20x20x300xf32>, %columns: tensor<50xi32>) -> tensor<20x50xf32> {
  %e = tensor.empty() : tensor<20x50xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%columns : tensor<50xi32>) outs(%e : tensor<20x50xf32>) {
  ^bb0(%column: i32, %before: f32):
    %i = linalg.index 0 : index
    %k = arith.index_cast %column : i32 to index
    %v = tensor.extract %data[%i, %i, %k] : tensor<20x20x300xf32>
    linalg.yield %v : f32
  } -> tensor<20x50xf32>
  return %y : tensor<20x50xf32>
}
