#tile = #layout.tiled<{1,0:T(2,4)}>
#map = affine_map<(i, j) -> (i, j)>
func.func @part(%x: tensor<9x21xf32, #tile>, %y: tensor<9x21xf32>, %n: tensor<1xi64>) -> tensor<9x21xf32> {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %k = tensor.extract %n[%c0] : tensor<1xi64>
  %i = arith.index_cast %k : i64 to index
  %m = arith.addi %i, %c5 : index
  %s = tensor.extract_slice %x[0, 0] [%m, 21] [1, 1] : tensor<9x21xf32, #tile> to tensor<?x21xf32, #tile>
  %t = tensor.extract_slice %y[0, 0] [%m, 21] [1, 1] : tensor<9x21xf32> to tensor<?x21xf32>
  %z = linalg.sub ins(%s, %t : tensor<?x21xf32, #tile>, tensor<?x21xf32>) outs(%t : tensor<?x21xf32>) -> tensor<?x21xf32>
  %r = tensor.insert_slice %z into %y[0, 0] [%m, 21] [1, 1] : tensor<?x21xf32> into tensor<9x21xf32>
  return %r : tensor<9x21xf32>
}
func.func @columns(%x: tensor<7x21xf32>, %s: tensor<21xf32>, %n: tensor<1xi64>) -> tensor<21xf32> {
  %c0 = arith.constant 0 : index
  %c13 = arith.constant 13 : index
  %k = tensor.extract %n[%c0] : tensor<1xi64>
  %i = arith.index_cast %k : i64 to index
  %m = arith.addi %i, %c13 : index
  %t = tensor.extract_slice %x[0, 2] [7, %m] [1, 1] : tensor<7x21xf32> to tensor<7x?xf32>
  %u = tensor.extract_slice %s[2] [%m] [1] : tensor<21xf32> to tensor<?xf32>
  %z = linalg.reduce ins(%t : tensor<7x?xf32>) outs(%u : tensor<?xf32>) dimensions = [0]
    (%a: f32, %b: f32) { %c = arith.addf %b, %a : f32 linalg.yield %c : f32 }
  %r = tensor.insert_slice %z into %s[2] [%m] [1] : tensor<?xf32> into tensor<21xf32>
  return %r : tensor<21xf32>
}
