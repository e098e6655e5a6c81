// RUN: layout-opt %s --allow-unregistered-dialect --layout-import-stablehlo --split-input-file --verify-diagnostics

func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{unknown operation `stablehlo.tanhh`; did you mean `stablehlo.tanh`?}}
  %0 = "stablehlo.tanhh"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{`stablehlo.transpose` must have the attribute `permutation`, found none}}
  %1 = "stablehlo.transpose"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.exp ins(%arg0 : tensor<4xf32>) outs(%arg1 : tensor<4xf32>) -> tensor<4xf32>
  // expected-error @above {{unknown operation `linalg.exp`}}
  %1 = "stablehlo.tanh"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{the result of `exponential` must be f32[4], found f32[5]}}
  %0 = "stablehlo.exponential"(%arg0) : (tensor<4xf32>) -> tensor<5xf32>
  %1 = "stablehlo.slice"(%0) <{start_indices = array<i64: 0>, limit_indices = array<i64: 4>, strides = array<i64: 1>}> : (tensor<5xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
