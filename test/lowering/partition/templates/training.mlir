#ik_kj_0 = affine_map<(i, j, k) -> (i, k)>
#ik_kj_1 = affine_map<(i, j, k) -> (k, j)>
#ki = affine_map<(i, j, k) -> (k, i)>
#jk = affine_map<(i, j, k) -> (j, k)>
#ij = affine_map<(i, j, k) -> (i, j)>
#id = affine_map<(i, j) -> (i, j)>
module attributes {layout.machine = #layout.machine<axes: ($processes_Process), memories: (), word: 64>} {
  func.func private @layer(%x: tensor<16x8xf32, #x>, %w: tensor<8x16xf32, #w1>) -> tensor<16x16xf32, #h> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<16x16xf32, #h>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16xf32, #h>) -> tensor<16x16xf32, #h>
    %h = linalg.matmul ins(%x, %w : tensor<16x8xf32, #x>, tensor<8x16xf32, #w1>) outs(%f : tensor<16x16xf32, #h>) -> tensor<16x16xf32, #h>
    return %h : tensor<16x16xf32, #h>
  }
  func.func @main(%x: tensor<16x8xf32, #x>, %w1: tensor<8x16xf32, #w1>, %w2: tensor<16x4xf32, #w2>, %y: tensor<16x4xf32, #o>) -> (tensor<8x16xf32, #w1>, tensor<16x4xf32, #w2>) {
    %zero = arith.constant 0.0 : f32
    %rate = arith.constant 0.125 : f32
    %zeros = arith.constant dense<0.0> : tensor<16x16xf32, #h>
    // Forward.
    %h = func.call @layer(%x, %w1) : (tensor<16x8xf32, #x>, tensor<8x16xf32, #w1>) -> tensor<16x16xf32, #h>
    %a = arith.maximumf %h, %zeros : tensor<16x16xf32, #h>
    %eo = tensor.empty() : tensor<16x4xf32, #o>
    %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<16x4xf32, #o>) -> tensor<16x4xf32, #o>
    %o = linalg.matmul ins(%a, %w2 : tensor<16x16xf32, #h>, tensor<16x4xf32, #w2>) outs(%fo : tensor<16x4xf32, #o>) -> tensor<16x4xf32, #o>
    // Backward.
    %d = arith.subf %o, %y : tensor<16x4xf32, #o>
    %e2 = tensor.empty() : tensor<16x4xf32, #w2>
    %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<16x4xf32, #w2>) -> tensor<16x4xf32, #w2>
    %g2 = linalg.generic {indexing_maps = [#ki, #ik_kj_1, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %d : tensor<16x16xf32, #h>, tensor<16x4xf32, #o>) outs(%f2 : tensor<16x4xf32, #w2>) {
    ^bb0(%l: f32, %r: f32, %s: f32):
      %p = arith.mulf %l, %r : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<16x4xf32, #w2>
    %eh = tensor.empty() : tensor<16x16xf32, #h>
    %fh = linalg.fill ins(%zero : f32) outs(%eh : tensor<16x16xf32, #h>) -> tensor<16x16xf32, #h>
    %da = linalg.generic {indexing_maps = [#ik_kj_0, #jk, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%d, %w2 : tensor<16x4xf32, #o>, tensor<16x4xf32, #w2>) outs(%fh : tensor<16x16xf32, #h>) {
    ^bb0(%l: f32, %r: f32, %s: f32):
      %p = arith.mulf %l, %r : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<16x16xf32, #h>
    %on = arith.cmpf ogt, %h, %zeros : tensor<16x16xf32, #h>
    %dh = arith.select %on, %da, %zeros : tensor<16x16xi1, #h>, tensor<16x16xf32, #h>
    %e1 = tensor.empty() : tensor<8x16xf32, #w1>
    %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8x16xf32, #w1>) -> tensor<8x16xf32, #w1>
    %g1 = linalg.generic {indexing_maps = [#ki, #ik_kj_1, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %dh : tensor<16x8xf32, #x>, tensor<16x16xf32, #h>) outs(%f1 : tensor<8x16xf32, #w1>) {
    ^bb0(%l: f32, %r: f32, %s: f32):
      %p = arith.mulf %l, %r : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<8x16xf32, #w1>
    // The weights go down the gradients.
    %r1 = tensor.splat %rate : tensor<8x16xf32, #w1>
    %r2 = tensor.splat %rate : tensor<16x4xf32, #w2>
    %m1 = arith.mulf %g1, %r1 : tensor<8x16xf32, #w1>
    %m2 = arith.mulf %g2, %r2 : tensor<16x4xf32, #w2>
    %n1 = arith.subf %w1, %m1 : tensor<8x16xf32, #w1>
    %n2 = arith.subf %w2, %m2 : tensor<16x4xf32, #w2>
    return %n1, %n2 : tensor<8x16xf32, #w1>, tensor<16x4xf32, #w2>
  }
}
