// A relayout, and nothing else: 3×5 numbers from row-major to tiles of 2×2.
//
// `T(2,2)` cuts the 3×5 grid into 2×3 tiles of 2×2; the last row and the last column of tiles are padding in part.
// Element (2,3) is in tile (1,1), at (0,1) of it: offset 1*12 + 1*4 + 0*2 + 1 = 17. See all of them with
//
//   layout-inspect 'f32[3,5]{1,0:T(2,2)}'
//
// The lowered form is small enough to read:
//
//   layout-opt examples/relayout.mlir --layout-to-memref=form=physical
//
// Run it; it prints row 2 as read from the tiles, the same row of the row-major tensor, and the largest difference:
//
//   layout-opt examples/relayout.mlir --layout-to-llvm | mlir-runner -e main -entry-point-result=void \
//     -shared-libs=/usr/lib/llvm-22/lib/libmlir_c_runner_utils.so

#tiled = #layout.tiled<{1,0:T(2,2)}>

func.func @relayout(%plain: tensor<3x5xf32>) -> tensor<3x5xf32, #tiled> {
  %tiled = layout.convert %plain : tensor<3x5xf32> to tensor<3x5xf32, #tiled>
  return %tiled : tensor<3x5xf32, #tiled>
}

// Element (i, j) is 10 i + j.
func.func private @input() -> tensor<3x5xf32> {
  %ten = arith.constant 10 : index
  %input = tensor.generate {
  ^bb0(%i: index, %j: index):
    %row = arith.muli %i, %ten : index
    %sum = arith.addi %row, %j : index
    %int = arith.index_cast %sum : index to i32
    %float = arith.sitofp %int : i32 to f32
    tensor.yield %float : f32
  } : tensor<3x5xf32>
  return %input : tensor<3x5xf32>
}

func.func private @difference(%a: tensor<3x5xf32, #tiled>, %b: tensor<3x5xf32>) -> f32 {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %most = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>],
    iterator_types = ["reduction", "reduction"]
  } ins(%a, %b : tensor<3x5xf32, #tiled>, tensor<3x5xf32>) outs(%start : tensor<f32>) {
  ^bb0(%x: f32, %y: f32, %most: f32):
    %difference = arith.subf %x, %y : f32
    %size = math.absf %difference : f32
    %max = arith.maximumf %most, %size : f32
    linalg.yield %max : f32
  } -> tensor<f32>
  %result = tensor.extract %most[] : tensor<f32>
  return %result : f32
}

func.func @main() {
  %plain = call @input() : () -> tensor<3x5xf32>
  %tiled = call @relayout(%plain) : (tensor<3x5xf32>) -> tensor<3x5xf32, #tiled>

  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %five = arith.constant 5 : index
  vector.print str "tiled"
  scf.for %j = %zero to %five step %one {
    %x = tensor.extract %tiled[%two, %j] : tensor<3x5xf32, #tiled>
    vector.print str " "
    vector.print %x : f32 punctuation <no_punctuation>
  }
  vector.print str "\nplain"
  scf.for %j = %zero to %five step %one {
    %x = tensor.extract %plain[%two, %j] : tensor<3x5xf32>
    vector.print str " "
    vector.print %x : f32 punctuation <no_punctuation>
  }
  %difference = call @difference(%tiled, %plain) : (tensor<3x5xf32, #tiled>, tensor<3x5xf32>) -> f32
  vector.print str "\nlargest difference "
  vector.print %difference : f32
  return
}
