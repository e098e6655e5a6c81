// Functions of branches that return one buffer under several names: each is freed once.
// RUN: layout-opt %s --layout-to-llvm | MALLOC_PERTURB_=85 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: sed 's/, #T>/>/g' %s | layout-opt --layout-to-llvm | MALLOC_PERTURB_=85 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s

#T = #layout.tiled<{0:T(2)}>

func.func private @printMemrefF32(tensor<*xf32>)

func.func private @print(%x: tensor<4xf32, #T>) attributes {no_inline} {
  %p = layout.convert %x : tensor<4xf32, #T> to tensor<4xf32>
  %u = tensor.cast %p : tensor<4xf32> to tensor<*xf32>
  call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
  return
}

func.func @twice(%c: i1, %x: tensor<4xf32, #T>) -> (tensor<4xf32, #T>, tensor<4xf32, #T>) attributes {no_inline} {
  %y = arith.addf %x, %x : tensor<4xf32, #T>
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  return %y, %y : tensor<4xf32, #T>, tensor<4xf32, #T>
^bb2:
  return %x, %x : tensor<4xf32, #T>, tensor<4xf32, #T>
}

// As arguments of a block.
func.func @merged(%c: i1, %x: tensor<4xf32, #T>)
    -> (tensor<4xf32, #T>, tensor<4xf32, #T>, tensor<4xf32, #T>) attributes {no_inline} {
  %y = arith.addf %x, %x : tensor<4xf32, #T>
  %z = arith.mulf %x, %x : tensor<4xf32, #T>
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  cf.br ^bb3(%y, %y : tensor<4xf32, #T>, tensor<4xf32, #T>)
^bb2:
  cf.br ^bb3(%x, %z : tensor<4xf32, #T>, tensor<4xf32, #T>)
^bb3(%p: tensor<4xf32, #T>, %q: tensor<4xf32, #T>):
  return %p, %q, %z : tensor<4xf32, #T>, tensor<4xf32, #T>, tensor<4xf32, #T>
}

// Of memrefs: the conversions are one to the same type, and nothing is left of them.
func.func @memrefs(%c: i1, %x: memref<4xf32>) -> (memref<4xf32>, memref<4xf32>) attributes {no_inline} {
  %a = layout.convert %x : memref<4xf32> to memref<4xf32, #T>
  %d = layout.convert %a : memref<4xf32, #T> to memref<4xf32>
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  return %d, %d : memref<4xf32>, memref<4xf32>
^bb2:
  return %x, %d : memref<4xf32>, memref<4xf32>
}

func.func @main() {
  %true = arith.constant true
  %false = arith.constant false
  %x = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32, #T>
  %plain = layout.convert %x : tensor<4xf32, #T> to tensor<4xf32>
  %m = bufferization.to_buffer %plain : tensor<4xf32> to memref<4xf32>
  // CHECK-COUNT-2: {{^}}[2,  4,  6,  8]
  // CHECK-COUNT-2: {{^}}[1,  2,  3,  4]
  // CHECK-COUNT-2: {{^}}[2,  4,  6,  8]
  // CHECK: {{^}}[1,  4,  9,  16]
  // CHECK: {{^}}[1,  2,  3,  4]
  // CHECK-COUNT-2: {{^}}[1,  4,  9,  16]
  // CHECK-COUNT-4: {{^}}[1,  2,  3,  4]
  %twice_true:2 = call @twice(%true, %x) : (i1, tensor<4xf32, #T>) -> (tensor<4xf32, #T>, tensor<4xf32, #T>)
  call @print(%twice_true#0) : (tensor<4xf32, #T>) -> ()
  call @print(%twice_true#1) : (tensor<4xf32, #T>) -> ()
  %twice_false:2 = call @twice(%false, %x) : (i1, tensor<4xf32, #T>) -> (tensor<4xf32, #T>, tensor<4xf32, #T>)
  call @print(%twice_false#0) : (tensor<4xf32, #T>) -> ()
  call @print(%twice_false#1) : (tensor<4xf32, #T>) -> ()
  %merged_true:3 = call @merged(%true, %x) : (i1, tensor<4xf32, #T>) -> (tensor<4xf32, #T>, tensor<4xf32, #T>, tensor<4xf32, #T>)
  call @print(%merged_true#0) : (tensor<4xf32, #T>) -> ()
  call @print(%merged_true#1) : (tensor<4xf32, #T>) -> ()
  call @print(%merged_true#2) : (tensor<4xf32, #T>) -> ()
  %merged_false:3 = call @merged(%false, %x) : (i1, tensor<4xf32, #T>) -> (tensor<4xf32, #T>, tensor<4xf32, #T>, tensor<4xf32, #T>)
  call @print(%merged_false#0) : (tensor<4xf32, #T>) -> ()
  call @print(%merged_false#1) : (tensor<4xf32, #T>) -> ()
  call @print(%merged_false#2) : (tensor<4xf32, #T>) -> ()
  %memrefs_true:2 = call @memrefs(%true, %m) : (i1, memref<4xf32>) -> (memref<4xf32>, memref<4xf32>)
  %memrefs_true_t0 = bufferization.to_tensor %memrefs_true#0 restrict : memref<4xf32> to tensor<4xf32>
  %memrefs_true_0 = layout.convert %memrefs_true_t0 : tensor<4xf32> to tensor<4xf32, #T>
  call @print(%memrefs_true_0) : (tensor<4xf32, #T>) -> ()
  %memrefs_true_t1 = bufferization.to_tensor %memrefs_true#1 restrict : memref<4xf32> to tensor<4xf32>
  %memrefs_true_1 = layout.convert %memrefs_true_t1 : tensor<4xf32> to tensor<4xf32, #T>
  call @print(%memrefs_true_1) : (tensor<4xf32, #T>) -> ()
  %memrefs_false:2 = call @memrefs(%false, %m) : (i1, memref<4xf32>) -> (memref<4xf32>, memref<4xf32>)
  %memrefs_false_t0 = bufferization.to_tensor %memrefs_false#0 restrict : memref<4xf32> to tensor<4xf32>
  %memrefs_false_0 = layout.convert %memrefs_false_t0 : tensor<4xf32> to tensor<4xf32, #T>
  call @print(%memrefs_false_0) : (tensor<4xf32, #T>) -> ()
  %memrefs_false_t1 = bufferization.to_tensor %memrefs_false#1 restrict : memref<4xf32> to tensor<4xf32>
  %memrefs_false_1 = layout.convert %memrefs_false_t1 : tensor<4xf32> to tensor<4xf32, #T>
  call @print(%memrefs_false_1) : (tensor<4xf32, #T>) -> ()
  return
}
