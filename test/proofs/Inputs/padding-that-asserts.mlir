func.func @f(%s: tensor<4xf32>, %k: tensor<5xi1>) -> tensor<5xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %one = arith.constant 1.0 : f32
  %g = tensor.pad %s low[1] high[0] {
    ^bb0(%q: index):
    %b = tensor.extract %k[%q] : tensor<5xi1>
    cf.assert %b, "a"
    tensor.yield %one : f32 } : tensor<4xf32> to tensor<5xf32>
    return %g : tensor<5xf32>
  }
// -----
// remark: not proved
func.func @f(%s: tensor<4xf32>, %k: tensor<5xi1>) -> tensor<5xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %one = arith.constant 1.0 : f32
  scf.for %q = %c0 to %c5 step %c1 {
    %b = tensor.extract %k[%q] : tensor<5xi1>
    cf.assert %b, "a"
  }
  %g = tensor.pad %s low[1] high[0] {
    ^bb0(%q: index):
    tensor.yield %one : f32 } : tensor<4xf32> to tensor<5xf32>
    return %g : tensor<5xf32>
  }
// -----
// same: proved
func.func @f(%s: tensor<4xf32>, %k: tensor<5xi1>) -> tensor<5xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %one = arith.constant 1.0 : f32
  scf.for %q = %c0 to %c1 step %c1 {
    %b = tensor.extract %k[%q] : tensor<5xi1>
    cf.assert %b, "a"
  }
  %g = tensor.pad %s low[1] high[0] {
    ^bb0(%q: index):
    tensor.yield %one : f32 } : tensor<4xf32> to tensor<5xf32>
    return %g : tensor<5xf32>
  }
// -----
// same: proved
func.func @f(%s: tensor<4xf32>, %k: tensor<5xi1>) -> tensor<5xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %one = arith.constant 1.0 : f32
  %b = tensor.extract %k[%c0] : tensor<5xi1>
  cf.assert %b, "a"
  %g = tensor.pad %s low[1] high[0] {
    ^bb0(%q: index):
    tensor.yield %one : f32 } : tensor<4xf32> to tensor<5xf32>
    return %g : tensor<5xf32>
  }
