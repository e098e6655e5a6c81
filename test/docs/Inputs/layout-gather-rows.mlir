// layout-opt --layout-gather-rows
func.func @rows(%data: tensor<9x16xf32>, %rows: tensor<5xi32>) -> tensor<5x16xf32> {
  %empty = tensor.empty() : tensor<5x16xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%rows : tensor<5xi32>) outs(%empty : tensor<5x16xf32>) {
  ^bb0(%row: i32, %o: f32):
    %j = linalg.index 1 : index
    %i = arith.index_cast %row : i32 to index
    %e = tensor.extract %data[%i, %j] : tensor<9x16xf32>
    linalg.yield %e : f32
  } -> tensor<5x16xf32>
  return %0 : tensor<5x16xf32>
}
