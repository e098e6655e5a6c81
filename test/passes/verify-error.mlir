// A pass that changes what a function computes is an error of --layout-verify: where functions have memory for tensors, upstream's
// bufferization writes into that of arguments.
// RUN: layout-opt %s --verify-diagnostics '--layout-verify=passes={one-shot-bufferize{bufferize-function-boundaries=1}}' -o /dev/null

module {
  // expected-error @below {{after one-shot-bufferize{bufferize-function-boundaries=1}: @inserted: element 2 of argument 0 is %arg1[0], and was %arg0[2]}}
  func.func @inserted(%t: tensor<4xf32>, %x: f32) -> tensor<4xf32> {
    %i = arith.constant 2 : index
    %r = tensor.insert %x into %t[%i] : tensor<4xf32>
    return %r : tensor<4xf32>
  }
}
