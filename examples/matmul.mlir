// A matrix product whose three operands have a layout each, none of whose sizes fills its tiles.
//
//   a  bf16 100×250  {1,0:T(8,128)(2,1)}  row-major order, pairs of rows interleaved inside each tile
//   b  bf16 250×70   {0,1:T(8,128)(2,1)}  column-major order: tiles of 8 columns by 128 rows
//   c  f32  100×70   {1,0:T(8,128)}
//
// All three share the loops: the dimension that is summed is cut at 128, the rows of c at 8 and 2, its columns at 128
// and 8 and 2, and no subscript needs a division. Nothing is read from padding, so nothing of it gets into a sum.
//
// Run it; it prints the end of row 99 from both computations and the largest difference:
//
//   layout-opt examples/matmul.mlir --layout-to-llvm | mlir-runner -e main -entry-point-result=void \
//     -shared-libs=/usr/lib/llvm-22/lib/libmlir_c_runner_utils.so
//
// tolerance: 0 (every product is a multiple of 1/1024 and every sum below 4096, so f32 holds them exactly)

#a = #layout.tiled<{1,0:T(8,128)(2,1)}>
#b = #layout.tiled<{0,1:T(8,128)(2,1)}>
#c = #layout.tiled<{1,0:T(8,128)}>

func.func @matmul(%a: tensor<100x250xbf16, #a>, %b: tensor<250x70xbf16, #b>) -> tensor<100x70xf32, #c> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<100x70xf32, #c>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<100x70xf32, #c>) -> tensor<100x70xf32, #c>
  %c = linalg.matmul ins(%a, %b : tensor<100x250xbf16, #a>, tensor<250x70xbf16, #b>)
                     outs(%start : tensor<100x70xf32, #c>) -> tensor<100x70xf32, #c>
  return %c : tensor<100x70xf32, #c>
}

// The same with every operand row-major.
func.func @matmul_plain(%a: tensor<100x250xbf16>, %b: tensor<250x70xbf16>) -> tensor<100x70xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<100x70xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<100x70xf32>) -> tensor<100x70xf32>
  %c = linalg.matmul ins(%a, %b : tensor<100x250xbf16>, tensor<250x70xbf16>)
                     outs(%start : tensor<100x70xf32>) -> tensor<100x70xf32>
  return %c : tensor<100x70xf32>
}

// Element n of a tensor, counted row by row, is (n * factor mod 127) / 32 - 2.
func.func private @element(%row: index, %column: index, %columns: index, %factor: index) -> bf16 {
  %modulus = arith.constant 127 : index
  %scale = arith.constant 3.125e-2 : f32
  %two = arith.constant 2.0 : f32
  %before = arith.muli %row, %columns : index
  %n = arith.addi %before, %column : index
  %times = arith.muli %n, %factor : index
  %rest = arith.remui %times, %modulus : index
  %int = arith.index_cast %rest : index to i32
  %float = arith.sitofp %int : i32 to f32
  %scaled = arith.mulf %float, %scale : f32
  %centred = arith.subf %scaled, %two : f32
  %element = arith.truncf %centred : f32 to bf16
  return %element : bf16
}

func.func private @difference(%a: tensor<100x70xf32, #c>, %b: tensor<100x70xf32>) -> f32 {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %most = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>],
    iterator_types = ["reduction", "reduction"]
  } ins(%a, %b : tensor<100x70xf32, #c>, tensor<100x70xf32>) outs(%start : tensor<f32>) {
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
  %three = arith.constant 3 : index
  %five = arith.constant 5 : index
  %columns_a = arith.constant 250 : index
  %columns_b = arith.constant 70 : index
  %plain_a = tensor.generate {
  ^bb0(%i: index, %j: index):
    %x = func.call @element(%i, %j, %columns_a, %three) : (index, index, index, index) -> bf16
    tensor.yield %x : bf16
  } : tensor<100x250xbf16>
  %plain_b = tensor.generate {
  ^bb0(%i: index, %j: index):
    %x = func.call @element(%i, %j, %columns_b, %five) : (index, index, index, index) -> bf16
    tensor.yield %x : bf16
  } : tensor<250x70xbf16>
  %a = layout.convert %plain_a : tensor<100x250xbf16> to tensor<100x250xbf16, #a>
  %b = layout.convert %plain_b : tensor<250x70xbf16> to tensor<250x70xbf16, #b>

  %tiled = call @matmul(%a, %b) : (tensor<100x250xbf16, #a>, tensor<250x70xbf16, #b>) -> tensor<100x70xf32, #c>
  %plain = call @matmul_plain(%plain_a, %plain_b) : (tensor<100x250xbf16>, tensor<250x70xbf16>) -> tensor<100x70xf32>

  %one = arith.constant 1 : index
  %from = arith.constant 66 : index
  %row = arith.constant 99 : index
  vector.print str "tiled"
  scf.for %j = %from to %columns_b step %one {
    %x = tensor.extract %tiled[%row, %j] : tensor<100x70xf32, #c>
    vector.print str " "
    vector.print %x : f32 punctuation <no_punctuation>
  }
  vector.print str "\nplain"
  scf.for %j = %from to %columns_b step %one {
    %x = tensor.extract %plain[%row, %j] : tensor<100x70xf32>
    vector.print str " "
    vector.print %x : f32 punctuation <no_punctuation>
  }
  %difference = call @difference(%tiled, %plain) : (tensor<100x70xf32, #c>, tensor<100x70xf32>) -> f32
  vector.print str "\nlargest difference "
  vector.print %difference : f32
  return
}
