// What threads.test runs, for arrays of ROWS times COLUMNS elements. `main` prints a sum over the bits of each result, in
// which every place has a weight of its own.
#tile = #layout.tiled<{1,0:T(8,128)}>
#row = affine_map<(i, j) -> (i, j)>

func.func @product(%x: tensor<ROWSxCOLUMNSxf32, #tile>, %y: tensor<COLUMNSxROWSxf32, #tile>) -> tensor<ROWSxROWSxf32, #tile> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<ROWSxROWSxf32, #tile>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<ROWSxROWSxf32, #tile>) -> tensor<ROWSxROWSxf32, #tile>
  %z = linalg.matmul ins(%x, %y : tensor<ROWSxCOLUMNSxf32, #tile>, tensor<COLUMNSxROWSxf32, #tile>)
      outs(%f : tensor<ROWSxROWSxf32, #tile>) -> tensor<ROWSxROWSxf32, #tile>
  return %z : tensor<ROWSxROWSxf32, #tile>
}

func.func @sums(%x: tensor<ROWSxCOLUMNSxf32>) -> tensor<ROWSxf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<ROWSxf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<ROWSxf32>) -> tensor<ROWSxf32>
  %z = linalg.reduce {arith.addf} ins(%x : tensor<ROWSxCOLUMNSxf32>) outs(%f : tensor<ROWSxf32>) dimensions = [1]
  return %z : tensor<ROWSxf32>
}

func.func @ragged(%x: tensor<?x?xf32, #tile>) -> tensor<?x?xf32, #tile> {
  %z = arith.addf %x, %x : tensor<?x?xf32, #tile>
  return %z : tensor<?x?xf32, #tile>
}

func.func @numbers() -> tensor<ROWSxCOLUMNSxf32> {
  %e = tensor.empty() : tensor<ROWSxCOLUMNSxf32>
  %x = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<ROWSxCOLUMNSxf32>) {
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
    %n = arith.index_cast %r : index to i32
    %f = arith.sitofp %n : i32 to f32
    linalg.yield %f : f32
  } -> tensor<ROWSxCOLUMNSxf32>
  return %x : tensor<ROWSxCOLUMNSxf32>
}

func.func @print(%x: tensor<?x?xf32>) {
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<i64>
  %f = linalg.fill ins(%zero : i64) outs(%e : tensor<i64>) -> tensor<i64>
  %z = linalg.generic {indexing_maps = [#row, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%f : tensor<i64>) {
  ^bb0(%a: f32, %sum: i64):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c1000 = arith.constant 1000 : index
    %c1 = arith.constant 1 : index
    %p = arith.muli %i, %c1000 : index
    %q = arith.addi %p, %j : index
    %weight = arith.addi %q, %c1 : index
    %w = arith.index_cast %weight : index to i64
    %bits = arith.bitcast %a : f32 to i32
    %b = arith.extui %bits : i32 to i64
    %m = arith.muli %w, %b : i64
    %s = arith.addi %sum, %m : i64
    linalg.yield %s : i64
  } -> tensor<i64>
  %n = tensor.extract %z[] : tensor<i64>
  vector.print %n : i64
  return
}

func.func @main() {
  %x = call @numbers() : () -> tensor<ROWSxCOLUMNSxf32>
  %t = layout.convert %x : tensor<ROWSxCOLUMNSxf32> to tensor<ROWSxCOLUMNSxf32, #tile>
  %e = tensor.empty() : tensor<COLUMNSxROWSxf32>
  %y = linalg.transpose ins(%x : tensor<ROWSxCOLUMNSxf32>) outs(%e : tensor<COLUMNSxROWSxf32>) permutation = [1, 0]
  %u = layout.convert %y : tensor<COLUMNSxROWSxf32> to tensor<COLUMNSxROWSxf32, #tile>
  %p = call @product(%t, %u)
      : (tensor<ROWSxCOLUMNSxf32, #tile>, tensor<COLUMNSxROWSxf32, #tile>) -> tensor<ROWSxROWSxf32, #tile>
  %q = layout.convert %p : tensor<ROWSxROWSxf32, #tile> to tensor<ROWSxROWSxf32>
  %q1 = tensor.cast %q : tensor<ROWSxROWSxf32> to tensor<?x?xf32>
  call @print(%q1) : (tensor<?x?xf32>) -> ()
  %s = call @sums(%x) : (tensor<ROWSxCOLUMNSxf32>) -> tensor<ROWSxf32>
  %s1 = tensor.expand_shape %s [[0, 1]] output_shape [ROWS, 1] : tensor<ROWSxf32> into tensor<ROWSx1xf32>
  %s2 = tensor.cast %s1 : tensor<ROWSx1xf32> to tensor<?x?xf32>
  call @print(%s2) : (tensor<?x?xf32>) -> ()
  %d = tensor.cast %t : tensor<ROWSxCOLUMNSxf32, #tile> to tensor<?x?xf32, #tile>
  %r = call @ragged(%d) : (tensor<?x?xf32, #tile>) -> tensor<?x?xf32, #tile>
  %r1 = layout.convert %r : tensor<?x?xf32, #tile> to tensor<?x?xf32>
  call @print(%r1) : (tensor<?x?xf32>) -> ()
  return
}
