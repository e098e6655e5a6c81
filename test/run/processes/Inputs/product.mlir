#i = affine_map<(i, j) -> (i, j)>
#rows = #layout.tensor_layout<((N_Process, {64/N}:48), (48:1))>
#made = #layout.tensor_layout<((N_Process, {64/N}:32), (32:1))>
#left = #layout.tensor_layout<((64:{48/N}), (N_Process, {48/N}:1))>
#right = #layout.tensor_layout<((N_Process, {48/N}:32), (32:1))>

module attributes {layout.machine = #layout.machine<axes: (N_Process), memories: (), word: 32>} {
func.func private @printMemrefF32(tensor<*xf32>)

func.func private @left() -> tensor<64x48xf32> {
  %e = tensor.empty() : tensor<64x48xf32>
  %x = linalg.generic {indexing_maps = [#i], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<64x48xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c3 = arith.constant 3 : index
    %c7 = arith.constant 7 : index
    %a = arith.muli %i, %c3 : index
    %s = arith.addi %a, %j : index
    %r = arith.remui %s, %c7 : index
    %k = arith.index_cast %r : index to i32
    %v = arith.sitofp %k : i32 to f32
    linalg.yield %v : f32
  } -> tensor<64x48xf32>
  return %x : tensor<64x48xf32>
}

func.func private @right() -> tensor<48x32xf32> {
  %e = tensor.empty() : tensor<48x32xf32>
  %x = linalg.generic {indexing_maps = [#i], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<48x32xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c5 = arith.constant 5 : index
    %c11 = arith.constant 11 : index
    %a = arith.muli %j, %c5 : index
    %s = arith.addi %a, %i : index
    %r = arith.remui %s, %c11 : index
    %k = arith.index_cast %r : index to i32
    %v = arith.sitofp %k : i32 to f32
    linalg.yield %v : f32
  } -> tensor<48x32xf32>
  return %x : tensor<48x32xf32>
}

func.func @main() {
  %a = func.call @left() : () -> tensor<64x48xf32>
  %b = func.call @right() : () -> tensor<48x32xf32>
  %z = arith.constant 0.0 : f32
  // Rows of the result are spread: nothing is sent for the product.
  %rows = layout.convert %a : tensor<64x48xf32> to tensor<64x48xf32, #rows>
  %e = tensor.empty() : tensor<64x32xf32, #made>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x32xf32, #made>) -> tensor<64x32xf32, #made>
  %p = linalg.matmul ins(%rows, %b : tensor<64x48xf32, #rows>, tensor<48x32xf32>) outs(%f : tensor<64x32xf32, #made>) -> tensor<64x32xf32, #made>
  %whole = layout.convert %p : tensor<64x32xf32, #made> to tensor<64x32xf32>
  %u = tensor.cast %whole : tensor<64x32xf32> to tensor<*xf32>
  func.call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
  // The sum is spread: each process has a part of it.
  %left = layout.convert %a : tensor<64x48xf32> to tensor<64x48xf32, #left>
  %right = layout.convert %b : tensor<48x32xf32> to tensor<48x32xf32, #right>
  %e2 = tensor.empty() : tensor<64x32xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<64x32xf32>) -> tensor<64x32xf32>
  %q = linalg.matmul ins(%left, %right : tensor<64x48xf32, #left>, tensor<48x32xf32, #right>) outs(%f2 : tensor<64x32xf32>) -> tensor<64x32xf32>
  %v = tensor.cast %q : tensor<64x32xf32> to tensor<*xf32>
  func.call @printMemrefF32(%v) : (tensor<*xf32>) -> ()
  return
}
}
