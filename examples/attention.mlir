// Attention as a TPU program has it: 16 heads of 40, bf16 in tiles, f32 inside the softmax, weights in vmem.
//
//   q, v           bf16[16,330,40]{2,1,0:T(8,128)(2,1)}    40 columns in tiles of 128: 69 % of it is padding
//   k              bf16[16,330,40]{1,2,0:T(8,128)(2,1)}    the sequence runs fastest: 14 % is padding
//   scores         f32[16,330,330]{2,1,0:T(8,128)}         softmax over rows of 330 = 2 * 128 + 74
//   probabilities  bf16[16,330,330]{2,1,0:T(8,128)(2,1)}
//   weights        bf16[640,640]{1,0:T(8,128)(2,1)}, brought to vmem by layout.convert: {1,0:T(8,128)(2,1)S(1)}
//
// XLA has these two layouts for its bf16[16,1280,40]. The sequence is 330 here and not 1280, because a run on one CPU
// core takes 2 seconds then and not half a minute, and because 330 fills neither the 8 rows nor the 128 columns of a
// tile: every operation below meets padding.
//
// Run it; it prints the end of the last row from both computations and the largest difference:
//
//   layout-opt examples/attention.mlir --layout-to-llvm | mlir-runner -e main -entry-point-result=void \
//     -shared-libs=/usr/lib/llvm-22/lib/libmlir_c_runner_utils.so
//
// tolerance: 0.01 (sums in another order may round to the next bf16)

#heads = #layout.tiled<{2,1,0:T(8,128)(2,1)}>
#keys = #layout.tiled<{1,2,0:T(8,128)(2,1)}>
#scores = #layout.tiled<{2,1,0:T(8,128)}>
#rows = #layout.tiled<{1,0:T(8,128)}>
#hbm = #layout.tiled<{1,0:T(8,128)(2,1)}>
#vmem = #layout.tiled<{1,0:T(8,128)(2,1)S(1)}>

func.func @attention(
    %q: tensor<16x330x40xbf16, #heads>, %k: tensor<16x330x40xbf16, #keys>,
    %v: tensor<16x330x40xbf16, #heads>, %weights: tensor<640x640xbf16, #hbm>) -> tensor<330x640xf32, #rows> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  // 1 / sqrt(40)
  %scale = arith.constant 0.158113882 : f32

  // The projection's weights go to vmem first.
  %fast = layout.convert %weights : tensor<640x640xbf16, #hbm> to tensor<640x640xbf16, #vmem>

  // scores[h, i, j] = scale * sum over d of q[h, i, d] * k[h, j, d]
  %scores_empty = tensor.empty() : tensor<16x330x330xf32, #scores>
  %scores_zero = linalg.fill ins(%zero : f32)
      outs(%scores_empty : tensor<16x330x330xf32, #scores>) -> tensor<16x330x330xf32, #scores>
  %products = linalg.generic {
    indexing_maps = [affine_map<(h, i, j, d) -> (h, i, d)>, affine_map<(h, i, j, d) -> (h, j, d)>,
                     affine_map<(h, i, j, d) -> (h, i, j)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction"]
  } ins(%q, %k : tensor<16x330x40xbf16, #heads>, tensor<16x330x40xbf16, #keys>)
    outs(%scores_zero : tensor<16x330x330xf32, #scores>) {
  ^bb0(%x: bf16, %y: bf16, %sum: f32):
    %x32 = arith.extf %x : bf16 to f32
    %y32 = arith.extf %y : bf16 to f32
    %product = arith.mulf %x32, %y32 : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  } -> tensor<16x330x330xf32, #scores>
  %scales = linalg.fill ins(%scale : f32)
      outs(%scores_empty : tensor<16x330x330xf32, #scores>) -> tensor<16x330x330xf32, #scores>
  %scores = linalg.mul ins(%products, %scales : tensor<16x330x330xf32, #scores>, tensor<16x330x330xf32, #scores>)
                       outs(%scores_empty : tensor<16x330x330xf32, #scores>) -> tensor<16x330x330xf32, #scores>

  // softmax over j
  %rows_empty = tensor.empty() : tensor<16x330xf32, #rows>
  %rows_lowest = linalg.fill ins(%lowest : f32)
      outs(%rows_empty : tensor<16x330xf32, #rows>) -> tensor<16x330xf32, #rows>
  %most = linalg.reduce { arith.maximumf }
    ins(%scores : tensor<16x330x330xf32, #scores>) outs(%rows_lowest : tensor<16x330xf32, #rows>) dimensions = [2]
  %exponentials = linalg.generic {
    indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i)>,
                     affine_map<(h, i, j) -> (h, i, j)>],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%scores, %most : tensor<16x330x330xf32, #scores>, tensor<16x330xf32, #rows>)
    outs(%scores_empty : tensor<16x330x330xf32, #scores>) {
  ^bb0(%score: f32, %max: f32, %unused: f32):
    %below = arith.subf %score, %max : f32
    %exponential = math.exp %below : f32
    linalg.yield %exponential : f32
  } -> tensor<16x330x330xf32, #scores>
  %rows_zero = linalg.fill ins(%zero : f32) outs(%rows_empty : tensor<16x330xf32, #rows>) -> tensor<16x330xf32, #rows>
  %sums = linalg.reduce { arith.addf }
    ins(%exponentials : tensor<16x330x330xf32, #scores>) outs(%rows_zero : tensor<16x330xf32, #rows>) dimensions = [2]
  %probabilities_empty = tensor.empty() : tensor<16x330x330xbf16, #heads>
  %probabilities = linalg.generic {
    indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i)>,
                     affine_map<(h, i, j) -> (h, i, j)>],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%exponentials, %sums : tensor<16x330x330xf32, #scores>, tensor<16x330xf32, #rows>)
    outs(%probabilities_empty : tensor<16x330x330xbf16, #heads>) {
  ^bb0(%exponential: f32, %sum: f32, %unused: bf16):
    %quotient = arith.divf %exponential, %sum : f32
    %probability = arith.truncf %quotient : f32 to bf16
    linalg.yield %probability : bf16
  } -> tensor<16x330x330xbf16, #heads>

  // context[h, i, d] = sum over j of probabilities[h, i, j] * v[h, j, d], then the heads side by side
  %context_empty = tensor.empty() : tensor<16x330x40xf32, #scores>
  %context_zero = linalg.fill ins(%zero : f32)
      outs(%context_empty : tensor<16x330x40xf32, #scores>) -> tensor<16x330x40xf32, #scores>
  %context = linalg.batch_matmul
      ins(%probabilities, %v : tensor<16x330x330xbf16, #heads>, tensor<16x330x40xbf16, #heads>)
      outs(%context_zero : tensor<16x330x40xf32, #scores>) -> tensor<16x330x40xf32, #scores>
  %swapped_empty = tensor.empty() : tensor<330x16x40xbf16, #heads>
  %swapped = linalg.generic {
    indexing_maps = [affine_map<(i, h, d) -> (h, i, d)>, affine_map<(i, h, d) -> (i, h, d)>],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%context : tensor<16x330x40xf32, #scores>) outs(%swapped_empty : tensor<330x16x40xbf16, #heads>) {
  ^bb0(%x: f32, %unused: bf16):
    %rounded = arith.truncf %x : f32 to bf16
    linalg.yield %rounded : bf16
  } -> tensor<330x16x40xbf16, #heads>
  %joined = tensor.collapse_shape %swapped [[0], [1, 2]] : tensor<330x16x40xbf16, #heads>
      into tensor<330x640xbf16, #hbm>

  // the output projection
  %output_empty = tensor.empty() : tensor<330x640xf32, #rows>
  %output_zero = linalg.fill ins(%zero : f32)
      outs(%output_empty : tensor<330x640xf32, #rows>) -> tensor<330x640xf32, #rows>
  %output = linalg.matmul ins(%joined, %fast : tensor<330x640xbf16, #hbm>, tensor<640x640xbf16, #vmem>)
                          outs(%output_zero : tensor<330x640xf32, #rows>) -> tensor<330x640xf32, #rows>
  return %output : tensor<330x640xf32, #rows>
}

// The same with every tensor row-major.
func.func @attention_plain(
    %q: tensor<16x330x40xbf16>, %k: tensor<16x330x40xbf16>,
    %v: tensor<16x330x40xbf16>, %weights: tensor<640x640xbf16>) -> tensor<330x640xf32> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  // 1 / sqrt(40)
  %scale = arith.constant 0.158113882 : f32

  // scores[h, i, j] = scale * sum over d of q[h, i, d] * k[h, j, d]
  %scores_empty = tensor.empty() : tensor<16x330x330xf32>
  %scores_zero = linalg.fill ins(%zero : f32) outs(%scores_empty : tensor<16x330x330xf32>) -> tensor<16x330x330xf32>
  %products = linalg.generic {
    indexing_maps = [affine_map<(h, i, j, d) -> (h, i, d)>, affine_map<(h, i, j, d) -> (h, j, d)>,
                     affine_map<(h, i, j, d) -> (h, i, j)>],
    iterator_types = ["parallel", "parallel", "parallel", "reduction"]
  } ins(%q, %k : tensor<16x330x40xbf16>, tensor<16x330x40xbf16>) outs(%scores_zero : tensor<16x330x330xf32>) {
  ^bb0(%x: bf16, %y: bf16, %sum: f32):
    %x32 = arith.extf %x : bf16 to f32
    %y32 = arith.extf %y : bf16 to f32
    %product = arith.mulf %x32, %y32 : f32
    %next = arith.addf %sum, %product : f32
    linalg.yield %next : f32
  } -> tensor<16x330x330xf32>
  %scales = linalg.fill ins(%scale : f32) outs(%scores_empty : tensor<16x330x330xf32>) -> tensor<16x330x330xf32>
  %scores = linalg.mul ins(%products, %scales : tensor<16x330x330xf32>, tensor<16x330x330xf32>)
                       outs(%scores_empty : tensor<16x330x330xf32>) -> tensor<16x330x330xf32>

  // softmax over j
  %rows_empty = tensor.empty() : tensor<16x330xf32>
  %rows_lowest = linalg.fill ins(%lowest : f32) outs(%rows_empty : tensor<16x330xf32>) -> tensor<16x330xf32>
  %most = linalg.reduce { arith.maximumf }
    ins(%scores : tensor<16x330x330xf32>) outs(%rows_lowest : tensor<16x330xf32>) dimensions = [2]
  %exponentials = linalg.generic {
    indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i)>,
                     affine_map<(h, i, j) -> (h, i, j)>],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%scores, %most : tensor<16x330x330xf32>, tensor<16x330xf32>) outs(%scores_empty : tensor<16x330x330xf32>) {
  ^bb0(%score: f32, %max: f32, %unused: f32):
    %below = arith.subf %score, %max : f32
    %exponential = math.exp %below : f32
    linalg.yield %exponential : f32
  } -> tensor<16x330x330xf32>
  %rows_zero = linalg.fill ins(%zero : f32) outs(%rows_empty : tensor<16x330xf32>) -> tensor<16x330xf32>
  %sums = linalg.reduce { arith.addf }
    ins(%exponentials : tensor<16x330x330xf32>) outs(%rows_zero : tensor<16x330xf32>) dimensions = [2]
  %probabilities_empty = tensor.empty() : tensor<16x330x330xbf16>
  %probabilities = linalg.generic {
    indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i)>,
                     affine_map<(h, i, j) -> (h, i, j)>],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%exponentials, %sums : tensor<16x330x330xf32>, tensor<16x330xf32>)
    outs(%probabilities_empty : tensor<16x330x330xbf16>) {
  ^bb0(%exponential: f32, %sum: f32, %unused: bf16):
    %quotient = arith.divf %exponential, %sum : f32
    %probability = arith.truncf %quotient : f32 to bf16
    linalg.yield %probability : bf16
  } -> tensor<16x330x330xbf16>

  // context[h, i, d] = sum over j of probabilities[h, i, j] * v[h, j, d], then the heads side by side
  %context_empty = tensor.empty() : tensor<16x330x40xf32>
  %context_zero = linalg.fill ins(%zero : f32) outs(%context_empty : tensor<16x330x40xf32>) -> tensor<16x330x40xf32>
  %context = linalg.batch_matmul
      ins(%probabilities, %v : tensor<16x330x330xbf16>, tensor<16x330x40xbf16>)
      outs(%context_zero : tensor<16x330x40xf32>) -> tensor<16x330x40xf32>
  %swapped_empty = tensor.empty() : tensor<330x16x40xbf16>
  %swapped = linalg.generic {
    indexing_maps = [affine_map<(i, h, d) -> (h, i, d)>, affine_map<(i, h, d) -> (i, h, d)>],
    iterator_types = ["parallel", "parallel", "parallel"]
  } ins(%context : tensor<16x330x40xf32>) outs(%swapped_empty : tensor<330x16x40xbf16>) {
  ^bb0(%x: f32, %unused: bf16):
    %rounded = arith.truncf %x : f32 to bf16
    linalg.yield %rounded : bf16
  } -> tensor<330x16x40xbf16>
  %joined = tensor.collapse_shape %swapped [[0], [1, 2]] : tensor<330x16x40xbf16> into tensor<330x640xbf16>

  // the output projection
  %output_empty = tensor.empty() : tensor<330x640xf32>
  %output_zero = linalg.fill ins(%zero : f32) outs(%output_empty : tensor<330x640xf32>) -> tensor<330x640xf32>
  %output = linalg.matmul ins(%joined, %weights : tensor<330x640xbf16>, tensor<640x640xbf16>)
                          outs(%output_zero : tensor<330x640xf32>) -> tensor<330x640xf32>
  return %output : tensor<330x640xf32>
}

// Element n of a tensor, counted row by row, is (n * factor mod 251) / 125 - 1, rounded to bf16.
func.func private @element(%n: index, %factor: index) -> bf16 {
  %modulus = arith.constant 251 : index
  %half = arith.constant 125.0 : f32
  %one = arith.constant 1.0 : f32
  %times = arith.muli %n, %factor : index
  %rest = arith.remui %times, %modulus : index
  %int = arith.index_cast %rest : index to i32
  %float = arith.sitofp %int : i32 to f32
  %scaled = arith.divf %float, %half : f32
  %centred = arith.subf %scaled, %one : f32
  %element = arith.truncf %centred : f32 to bf16
  return %element : bf16
}

func.func private @input(%factor: index) -> tensor<16x330x40xbf16> {
  %rows = arith.constant 330 : index
  %columns = arith.constant 40 : index
  %input = tensor.generate {
  ^bb0(%h: index, %i: index, %d: index):
    %before = arith.muli %h, %rows : index
    %row = arith.addi %before, %i : index
    %first = arith.muli %row, %columns : index
    %n = arith.addi %first, %d : index
    %x = func.call @element(%n, %factor) : (index, index) -> bf16
    tensor.yield %x : bf16
  } : tensor<16x330x40xbf16>
  return %input : tensor<16x330x40xbf16>
}

func.func private @difference(%a: tensor<330x640xf32, #rows>, %b: tensor<330x640xf32>) -> f32 {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %most = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>],
    iterator_types = ["reduction", "reduction"]
  } ins(%a, %b : tensor<330x640xf32, #rows>, tensor<330x640xf32>) outs(%start : tensor<f32>) {
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
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %seven = arith.constant 7 : index
  %eleven = arith.constant 11 : index
  %thirteen = arith.constant 13 : index
  %plain_q = call @input(%three) : (index) -> tensor<16x330x40xbf16>
  %plain_k = call @input(%seven) : (index) -> tensor<16x330x40xbf16>
  %plain_v = call @input(%eleven) : (index) -> tensor<16x330x40xbf16>
  %columns = arith.constant 640 : index
  %plain_w = tensor.generate {
  ^bb0(%i: index, %j: index):
    %first = arith.muli %i, %columns : index
    %n = arith.addi %first, %j : index
    %x = func.call @element(%n, %thirteen) : (index, index) -> bf16
    tensor.yield %x : bf16
  } : tensor<640x640xbf16>
  %q = layout.convert %plain_q : tensor<16x330x40xbf16> to tensor<16x330x40xbf16, #heads>
  %k = layout.convert %plain_k : tensor<16x330x40xbf16> to tensor<16x330x40xbf16, #keys>
  %v = layout.convert %plain_v : tensor<16x330x40xbf16> to tensor<16x330x40xbf16, #heads>
  %w = layout.convert %plain_w : tensor<640x640xbf16> to tensor<640x640xbf16, #hbm>

  %tiled = call @attention(%q, %k, %v, %w)
    : (tensor<16x330x40xbf16, #heads>, tensor<16x330x40xbf16, #keys>, tensor<16x330x40xbf16, #heads>,
       tensor<640x640xbf16, #hbm>) -> tensor<330x640xf32, #rows>
  %plain = call @attention_plain(%plain_q, %plain_k, %plain_v, %plain_w)
    : (tensor<16x330x40xbf16>, tensor<16x330x40xbf16>, tensor<16x330x40xbf16>, tensor<640x640xbf16>)
      -> tensor<330x640xf32>

  %from = arith.constant 636 : index
  %row = arith.constant 329 : index
  vector.print str "tiled"
  scf.for %j = %from to %columns step %one {
    %x = tensor.extract %tiled[%row, %j] : tensor<330x640xf32, #rows>
    vector.print str " "
    vector.print %x : f32 punctuation <no_punctuation>
  }
  vector.print str "\nplain"
  scf.for %j = %from to %columns step %one {
    %x = tensor.extract %plain[%row, %j] : tensor<330x640xf32>
    vector.print str " "
    vector.print %x : f32 punctuation <no_punctuation>
  }
  %difference = call @difference(%tiled, %plain) : (tensor<330x640xf32, #rows>, tensor<330x640xf32>) -> f32
  vector.print str "\nlargest difference "
  vector.print %difference : f32
  return
}
