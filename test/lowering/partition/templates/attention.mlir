#ik = affine_map<(i, j, k) -> (i, k)>
#jk = affine_map<(i, j, k) -> (j, k)>
#ij = affine_map<(i, j, k) -> (i, j)>
#both = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
module attributes {layout.machine = #layout.machine<axes: ($processes_Process), memories: (), word: 64>} {
  func.func @main(%q: tensor<16x8xf32, #q>, %k: tensor<16x8xf32, #k>, %v: tensor<16x8xf32, #k>) -> tensor<16x8xf32, #q> {
    %zero = arith.constant 0.0 : f32
    %least = arith.constant 0xFF800000 : f32
    %scale = arith.constant 0.375 : f32
    %es = tensor.empty() : tensor<16x16xf32, #s>
    %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<16x16xf32, #s>) -> tensor<16x16xf32, #s>
    %s = linalg.generic {indexing_maps = [#ik, #jk, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%q, %k : tensor<16x8xf32, #q>, tensor<16x8xf32, #k>) outs(%fs : tensor<16x16xf32, #s>) {
    ^bb0(%l: f32, %r: f32, %so: f32):
      %p = arith.mulf %l, %r : f32
      %t = arith.addf %so, %p : f32
      linalg.yield %t : f32
    } -> tensor<16x16xf32, #s>
    %er = tensor.empty() : tensor<16xf32, #r>
    %fm = linalg.fill ins(%least : f32) outs(%er : tensor<16xf32, #r>) -> tensor<16xf32, #r>
    %m = linalg.reduce { arith.maximumf } ins(%s : tensor<16x16xf32, #s>) outs(%fm : tensor<16xf32, #r>) dimensions = [1]
    %x = linalg.generic {indexing_maps = [#both, #row, #both], iterator_types = ["parallel", "parallel"]}
        ins(%s, %m : tensor<16x16xf32, #s>, tensor<16xf32, #r>) outs(%es : tensor<16x16xf32, #s>) {
    ^bb0(%l: f32, %r: f32, %o: f32):
      %p = arith.subf %l, %r : f32
      %t = arith.mulf %p, %scale : f32
      %u = math.exp %t : f32
      linalg.yield %u : f32
    } -> tensor<16x16xf32, #s>
    %fz = linalg.fill ins(%zero : f32) outs(%er : tensor<16xf32, #r>) -> tensor<16xf32, #r>
    %z = linalg.reduce { arith.addf } ins(%x : tensor<16x16xf32, #s>) outs(%fz : tensor<16xf32, #r>) dimensions = [1]
    %p = linalg.generic {indexing_maps = [#both, #row, #both], iterator_types = ["parallel", "parallel"]}
        ins(%x, %z : tensor<16x16xf32, #s>, tensor<16xf32, #r>) outs(%es : tensor<16x16xf32, #s>) {
    ^bb0(%l: f32, %r: f32, %o: f32):
      %t = arith.divf %l, %r : f32
      linalg.yield %t : f32
    } -> tensor<16x16xf32, #s>
    %eo = tensor.empty() : tensor<16x8xf32, #q>
    %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<16x8xf32, #q>) -> tensor<16x8xf32, #q>
    %o = linalg.matmul ins(%p, %v : tensor<16x16xf32, #s>, tensor<16x8xf32, #k>) outs(%fo : tensor<16x8xf32, #q>) -> tensor<16x8xf32, #q>
    return %o : tensor<16x8xf32, #q>
  }
}
