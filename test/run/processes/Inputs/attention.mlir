// A layer of attention with a residual: 24 positions of 64 columns, 8 heads of 16 columns. Heads are spread; what they give
// is added up over the processes.
#xi = affine_map<(h, i, d, j) -> (i, j)>
#wi = affine_map<(h, i, d, j) -> (h, j, d)>
#qi = affine_map<(h, i, d, j) -> (h, i, d)>
#qs = affine_map<(h, i, j, d) -> (h, i, d)>
#ks = affine_map<(h, i, j, d) -> (h, j, d)>
#ss = affine_map<(h, i, j, d) -> (h, i, j)>
#s = affine_map<(h, i, j) -> (h, i, j)>
#r = affine_map<(h, i, j) -> (h, i)>
#oh = affine_map<(i, j, h, d) -> (h, i, d)>
#wh = affine_map<(i, j, h, d) -> (h, d, j)>
#yh = affine_map<(i, j, h, d) -> (i, j)>
#weights = #layout.tensor_layout<((N_Process, {8/N}:1024), (64:16), (16:1))>
#heads = #layout.tensor_layout<((N_Process, {8/N}:384), (24:16), (16:1))>
#scores = #layout.tensor_layout<((N_Process, {8/N}:576), (24:24), (24:1))>
#rows = #layout.tensor_layout<((N_Process, {8/N}:24), (24:1))>
#out = #layout.tensor_layout<((N_Process, {8/N}:1024), (16:64), (64:1))>

module attributes {layout.machine = #layout.machine<axes: (N_Process), memories: (), word: 32>} {
func.func private @printMemrefF32(tensor<*xf32>)

func.func private @input(%seed: index) -> tensor<24x64xf32> {
  %e = tensor.empty() : tensor<24x64xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<24x64xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %c0 = arith.constant 31 : index
    %p0 = arith.muli %i, %c0 : index
    %s0 = arith.addi %seed, %p0 : index
    %j = linalg.index 1 : index
    %c1 = arith.constant 17 : index
    %p1 = arith.muli %j, %c1 : index
    %s1 = arith.addi %s0, %p1 : index
    %c29 = arith.constant 29 : index
    %m = arith.remui %s1, %c29 : index
    %w = arith.index_cast %m : index to i32
    %c14 = arith.constant 14 : i32
    %h = arith.subi %w, %c14 : i32
    %f = arith.sitofp %h : i32 to f32
    %scale = arith.constant 0.02 : f32
    %v = arith.mulf %f, %scale : f32
    linalg.yield %v : f32
  } -> tensor<24x64xf32>
  return %x : tensor<24x64xf32>
}

func.func private @weights(%seed: index) -> tensor<8x64x16xf32> {
  %e = tensor.empty() : tensor<8x64x16xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]} outs(%e : tensor<8x64x16xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %c0 = arith.constant 31 : index
    %p0 = arith.muli %i, %c0 : index
    %s0 = arith.addi %seed, %p0 : index
    %j = linalg.index 1 : index
    %c1 = arith.constant 17 : index
    %p1 = arith.muli %j, %c1 : index
    %s1 = arith.addi %s0, %p1 : index
    %k = linalg.index 2 : index
    %c2 = arith.constant 7 : index
    %p2 = arith.muli %k, %c2 : index
    %s2 = arith.addi %s1, %p2 : index
    %c29 = arith.constant 29 : index
    %m = arith.remui %s2, %c29 : index
    %w = arith.index_cast %m : index to i32
    %c14 = arith.constant 14 : i32
    %h = arith.subi %w, %c14 : i32
    %f = arith.sitofp %h : i32 to f32
    %scale = arith.constant 0.02 : f32
    %v = arith.mulf %f, %scale : f32
    linalg.yield %v : f32
  } -> tensor<8x64x16xf32>
  return %x : tensor<8x64x16xf32>
}

func.func private @output(%seed: index) -> tensor<8x16x64xf32> {
  %e = tensor.empty() : tensor<8x16x64xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]} outs(%e : tensor<8x16x64xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %c0 = arith.constant 31 : index
    %p0 = arith.muli %i, %c0 : index
    %s0 = arith.addi %seed, %p0 : index
    %j = linalg.index 1 : index
    %c1 = arith.constant 17 : index
    %p1 = arith.muli %j, %c1 : index
    %s1 = arith.addi %s0, %p1 : index
    %k = linalg.index 2 : index
    %c2 = arith.constant 7 : index
    %p2 = arith.muli %k, %c2 : index
    %s2 = arith.addi %s1, %p2 : index
    %c29 = arith.constant 29 : index
    %m = arith.remui %s2, %c29 : index
    %w = arith.index_cast %m : index to i32
    %c14 = arith.constant 14 : i32
    %h = arith.subi %w, %c14 : i32
    %f = arith.sitofp %h : i32 to f32
    %scale = arith.constant 0.02 : f32
    %v = arith.mulf %f, %scale : f32
    linalg.yield %v : f32
  } -> tensor<8x16x64xf32>
  return %x : tensor<8x16x64xf32>
}

func.func @main() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %z = arith.constant 0.0 : f32
  %least = arith.constant -1.0e30 : f32
  %x = func.call @input(%c1) : (index) -> tensor<24x64xf32>
  %wq0 = func.call @weights(%c2) : (index) -> tensor<8x64x16xf32>
  %wq = layout.convert %wq0 : tensor<8x64x16xf32> to tensor<8x64x16xf32, #weights>
  %eq = tensor.empty() : tensor<8x24x16xf32, #heads>
  %zq = linalg.fill ins(%z : f32) outs(%eq : tensor<8x24x16xf32, #heads>) -> tensor<8x24x16xf32, #heads>
  %q = linalg.generic {indexing_maps = [#xi, #wi, #qi], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %wq : tensor<24x64xf32>, tensor<8x64x16xf32, #weights>) outs(%zq : tensor<8x24x16xf32, #heads>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x24x16xf32, #heads>
  %wk0 = func.call @weights(%c3) : (index) -> tensor<8x64x16xf32>
  %wk = layout.convert %wk0 : tensor<8x64x16xf32> to tensor<8x64x16xf32, #weights>
  %ek = tensor.empty() : tensor<8x24x16xf32, #heads>
  %zk = linalg.fill ins(%z : f32) outs(%ek : tensor<8x24x16xf32, #heads>) -> tensor<8x24x16xf32, #heads>
  %k = linalg.generic {indexing_maps = [#xi, #wi, #qi], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %wk : tensor<24x64xf32>, tensor<8x64x16xf32, #weights>) outs(%zk : tensor<8x24x16xf32, #heads>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x24x16xf32, #heads>
  %wv0 = func.call @weights(%c4) : (index) -> tensor<8x64x16xf32>
  %wv = layout.convert %wv0 : tensor<8x64x16xf32> to tensor<8x64x16xf32, #weights>
  %ev = tensor.empty() : tensor<8x24x16xf32, #heads>
  %zv = linalg.fill ins(%z : f32) outs(%ev : tensor<8x24x16xf32, #heads>) -> tensor<8x24x16xf32, #heads>
  %v = linalg.generic {indexing_maps = [#xi, #wi, #qi], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %wv : tensor<24x64xf32>, tensor<8x64x16xf32, #weights>) outs(%zv : tensor<8x24x16xf32, #heads>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x24x16xf32, #heads>
  %es = tensor.empty() : tensor<8x24x24xf32, #scores>
  %zs = linalg.fill ins(%z : f32) outs(%es : tensor<8x24x24xf32, #scores>) -> tensor<8x24x24xf32, #scores>
  %scores = linalg.generic {indexing_maps = [#qs, #ks, #ss], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<8x24x16xf32, #heads>, tensor<8x24x16xf32, #heads>) outs(%zs : tensor<8x24x24xf32, #scores>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x24x24xf32, #scores>
  %er = tensor.empty() : tensor<8x24xf32, #rows>
  %zr = linalg.fill ins(%least : f32) outs(%er : tensor<8x24xf32, #rows>) -> tensor<8x24xf32, #rows>
  %max = linalg.generic {indexing_maps = [#s, #r], iterator_types = ["parallel", "parallel", "reduction"]} ins(%scores : tensor<8x24x24xf32, #scores>) outs(%zr : tensor<8x24xf32, #rows>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.maximumf %a, %o : f32
    linalg.yield %p : f32
  } -> tensor<8x24xf32, #rows>
  %exp = linalg.generic {indexing_maps = [#s, #r, #s], iterator_types = ["parallel", "parallel", "parallel"]} ins(%scores, %max : tensor<8x24x24xf32, #scores>, tensor<8x24xf32, #rows>) outs(%es : tensor<8x24x24xf32, #scores>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.subf %a, %b : f32
    %power = math.exp %p : f32
    linalg.yield %power : f32
  } -> tensor<8x24x24xf32, #scores>
  %z0 = linalg.fill ins(%z : f32) outs(%er : tensor<8x24xf32, #rows>) -> tensor<8x24xf32, #rows>
  %sum = linalg.generic {indexing_maps = [#s, #r], iterator_types = ["parallel", "parallel", "reduction"]} ins(%exp : tensor<8x24x24xf32, #scores>) outs(%z0 : tensor<8x24xf32, #rows>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.addf %a, %o : f32
    linalg.yield %p : f32
  } -> tensor<8x24xf32, #rows>
  %soft = linalg.generic {indexing_maps = [#s, #r, #s], iterator_types = ["parallel", "parallel", "parallel"]} ins(%exp, %sum : tensor<8x24x24xf32, #scores>, tensor<8x24xf32, #rows>) outs(%es : tensor<8x24x24xf32, #scores>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.divf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<8x24x24xf32, #scores>
  %eh = tensor.empty() : tensor<8x24x16xf32, #heads>
  %zh = linalg.fill ins(%z : f32) outs(%eh : tensor<8x24x16xf32, #heads>) -> tensor<8x24x16xf32, #heads>
  %heads = linalg.batch_matmul ins(%soft, %v : tensor<8x24x24xf32, #scores>, tensor<8x24x16xf32, #heads>) outs(%zh : tensor<8x24x16xf32, #heads>) -> tensor<8x24x16xf32, #heads>
  %wo0 = func.call @output(%c5) : (index) -> tensor<8x16x64xf32>
  %wo = layout.convert %wo0 : tensor<8x16x64xf32> to tensor<8x16x64xf32, #out>
  %ey = tensor.empty() : tensor<24x64xf32>
  %zy = linalg.fill ins(%z : f32) outs(%ey : tensor<24x64xf32>) -> tensor<24x64xf32>
  %y = linalg.generic {indexing_maps = [#oh, #wh, #yh], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%heads, %wo : tensor<8x24x16xf32, #heads>, tensor<8x16x64xf32, #out>) outs(%zy : tensor<24x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<24x64xf32>
  %sums = arith.addf %x, %y : tensor<24x64xf32>
  %u = tensor.cast %sums : tensor<24x64xf32> to tensor<*xf32>
  func.call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
  return
}
}
