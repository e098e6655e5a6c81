// Steps of a loop, for the C program beside it: each halves a matrix, transposes it and adds a half.
func.func @steps(%x: tensor<512x512xf32>, %n: index) -> tensor<512x512xf32> attributes {llvm.emit_c_interface} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %half = arith.constant dense<0.5> : tensor<512x512xf32>
  %y = scf.for %i = %zero to %n step %one iter_args(%a = %x) -> (tensor<512x512xf32>) {
    %b = arith.mulf %a, %half : tensor<512x512xf32>
    %e = tensor.empty() : tensor<512x512xf32>
    %t = linalg.transpose ins(%b : tensor<512x512xf32>) outs(%e : tensor<512x512xf32>) permutation = [1, 0]
    %c = arith.addf %t, %half : tensor<512x512xf32>
    scf.yield %c : tensor<512x512xf32>
  }
  return %y : tensor<512x512xf32>
}
