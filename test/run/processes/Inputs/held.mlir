// A chain over the rows of a tensor of SIZE x SIZE elements, which are spread, and the largest of all sums of a row.
#i = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
#rows = #layout.tensor_layout<((N_Process, {SIZE/N}:SIZE), (SIZE:1))>
#sums = #layout.tensor_layout<((N_Process, {SIZE/N}:1))>

module attributes {layout.machine = #layout.machine<axes: (N_Process), memories: (), word: 32>} {
func.func private @printMemrefF32(tensor<*xf32>)

func.func @main() {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<SIZExSIZExf32, #rows>
  %x = linalg.generic {indexing_maps = [#i], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<SIZExSIZExf32, #rows>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.constant 4 : index
    %p = arith.addi %i, %j : index
    %q = arith.remui %p, %c : index
    %k = arith.index_cast %q : index to i32
    %v = arith.sitofp %k : i32 to f32
    linalg.yield %v : f32
  } -> tensor<SIZExSIZExf32, #rows>
  %er = tensor.empty() : tensor<SIZExf32, #sums>
  %zr = linalg.fill ins(%z : f32) outs(%er : tensor<SIZExf32, #sums>) -> tensor<SIZExf32, #sums>
  %s = linalg.generic {indexing_maps = [#i, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<SIZExSIZExf32, #rows>) outs(%zr : tensor<SIZExf32, #sums>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.addf %a, %o : f32
    linalg.yield %p : f32
  } -> tensor<SIZExf32, #sums>
  // The tensor and what each row has too much of it are there at once.
  %y = linalg.generic {indexing_maps = [#i, #r, #i], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<SIZExSIZExf32, #rows>, tensor<SIZExf32, #sums>) outs(%e : tensor<SIZExSIZExf32, #rows>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.subf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<SIZExSIZExf32, #rows>
  %t = linalg.generic {indexing_maps = [#i, #i, #r], iterator_types = ["parallel", "reduction"]} ins(%x, %y : tensor<SIZExSIZExf32, #rows>, tensor<SIZExSIZExf32, #rows>) outs(%zr : tensor<SIZExf32, #sums>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.maximumf %a, %b : f32
    %m = arith.maximumf %p, %o : f32
    linalg.yield %m : f32
  } -> tensor<SIZExf32, #sums>
  %one = tensor.empty() : tensor<f32>
  %z0 = linalg.fill ins(%z : f32) outs(%one : tensor<f32>) -> tensor<f32>
  %all = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%t : tensor<SIZExf32, #sums>) outs(%z0 : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %o : f32
    linalg.yield %m : f32
  } -> tensor<f32>
  %u = tensor.cast %all : tensor<f32> to tensor<*xf32>
  func.call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
  return
}
}
