func.func @f(%t: tensor<10xf32>, %s: tensor<4xf32>, %k: memref<5xi64>, %o: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %one = arith.constant 1.0 : f32
  %g = tensor.pad %s low[1] high[0] {
    ^bb0(%q: index):
    %i = memref.load %k[%q] : memref<5xi64>
    %ii = arith.index_cast %i : i64 to index
    %x = tensor.extract %t[%ii] : tensor<10xf32>
    tensor.yield %x : f32 } : tensor<4xf32> to tensor<5xf32>
    memref.store %one, %o[%c0] : memref<1xf32>
    return
  }
// -----
// error: index
func.func @f(%t: tensor<10xf32>, %s: tensor<4xf32>, %k: memref<5xi64>, %o: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %one = arith.constant 1.0 : f32
  %i = memref.load %k[%c3] : memref<5xi64>
  %ii = arith.index_cast %i : i64 to index
  %vd = tensor.extract %t[%ii] : tensor<10xf32>
  memref.store %one, %o[%c0] : memref<1xf32>
  return
}
