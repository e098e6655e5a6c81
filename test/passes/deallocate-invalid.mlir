// Buffers that nobody could free once.
// RUN: layout-opt %s --split-input-file --layout-to-memref --verify-diagnostics

#T = #layout.tiled<{0:T(2)}>
func.func @loop(%x: tensor<4xf32, #T>, %c: i1) -> tensor<4xf32, #T> {
  cf.br ^bb1(%x : tensor<4xf32, #T>)
^bb1(%y: tensor<4xf32, #T>):
  %z = arith.addf %y, %y : tensor<4xf32, #T>
  // expected-error@+1 {{'cf.cond_br' op leads back to a block before it, and so the buffers of 'func.func' op cannot be freed: expected a structured loop, such as scf.while}}
  cf.cond_br %c, ^bb1(%z : tensor<4xf32, #T>), ^bb2
^bb2:
  return %z : tensor<4xf32, #T>
}

// -----

func.func private @same(%m: memref<4xf32>) -> memref<4xf32> attributes {no_inline} {
  return %m : memref<4xf32>
}
func.func private @twice() -> (memref<4xf32>, memref<4xf32>) attributes {no_inline} {
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  return %a, %a : memref<4xf32>, memref<4xf32>
}
// What it calls returns the argument.
func.func private @outer(%m: memref<4xf32>) -> memref<4xf32> attributes {no_inline} {
  %r = call @same(%m) : (memref<4xf32>) -> memref<4xf32>
  return %r : memref<4xf32>
}
func.func @calls(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = arith.addf %x, %x : tensor<4xf32>
  %m = bufferization.to_buffer %y : tensor<4xf32> to memref<4xf32>
  // expected-error@+1 {{'func.call' op cannot be lowered: @outer has no tensors and frees its buffers itself, and a buffer that it returns may be an argument, a global or another result, and would be freed twice: return a copy}}
  %r = call @outer(%m) : (memref<4xf32>) -> memref<4xf32>
  // expected-error@+1 {{'func.call' op cannot be lowered: @twice has}}
  %s:2 = call @twice() : () -> (memref<4xf32>, memref<4xf32>)
  %f = constant @same : (memref<4xf32>) -> memref<4xf32>
  // expected-error@+1 {{'func.call_indirect' op cannot be lowered: a function that it may reach has}}
  %u = call_indirect %f(%m) : (memref<4xf32>) -> memref<4xf32>
  %t = bufferization.to_tensor %r restrict : memref<4xf32> to tensor<4xf32>
  return %t : tensor<4xf32>
}
