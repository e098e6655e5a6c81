// Three steps of training a network of two layers, 16 columns to 64 to 8, on 32 rows: forward, gradients of the squared error,
// and the weights less a part of them. Rows are spread; each gradient is added up over the processes.
#i = affine_map<(i, j) -> (i, j)>
#ta = affine_map<(i, j, b) -> (b, i)>
#tb = affine_map<(i, j, b) -> (b, j)>
#tc = affine_map<(i, j, b) -> (i, j)>
#ha = affine_map<(b, i, j) -> (b, j)>
#hb = affine_map<(b, i, j) -> (i, j)>
#hc = affine_map<(b, i, j) -> (b, i)>
#x = #layout.tensor_layout<((N_Process, {32/N}:16), (16:1))>
#h = #layout.tensor_layout<((N_Process, {32/N}:64), (64:1))>
#y = #layout.tensor_layout<((N_Process, {32/N}:8), (8:1))>

module attributes {layout.machine = #layout.machine<axes: (N_Process), memories: (), word: 32>} {
func.func private @printMemrefF32(tensor<*xf32>)

func.func private @rows(%seed: index) -> tensor<32x16xf32> {
  %e = tensor.empty() : tensor<32x16xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<32x16xf32>) {
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
  } -> tensor<32x16xf32>
  return %x : tensor<32x16xf32>
}

func.func private @targets(%seed: index) -> tensor<32x8xf32> {
  %e = tensor.empty() : tensor<32x8xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<32x8xf32>) {
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
  } -> tensor<32x8xf32>
  return %x : tensor<32x8xf32>
}

func.func private @first(%seed: index) -> tensor<16x64xf32> {
  %e = tensor.empty() : tensor<16x64xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<16x64xf32>) {
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
  } -> tensor<16x64xf32>
  return %x : tensor<16x64xf32>
}

func.func private @second(%seed: index) -> tensor<64x8xf32> {
  %e = tensor.empty() : tensor<64x8xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<64x8xf32>) {
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
  } -> tensor<64x8xf32>
  return %x : tensor<64x8xf32>
}

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %z = arith.constant 0.0 : f32
  %x0 = func.call @rows(%c1) : (index) -> tensor<32x16xf32>
  %t0 = func.call @targets(%c2) : (index) -> tensor<32x8xf32>
  %x = layout.convert %x0 : tensor<32x16xf32> to tensor<32x16xf32, #x>
  %t = layout.convert %t0 : tensor<32x8xf32> to tensor<32x8xf32, #y>
  %w1 = func.call @first(%c3) : (index) -> tensor<16x64xf32>
  %w2 = func.call @second(%c4) : (index) -> tensor<64x8xf32>
  %trained:2 = scf.for %step = %c0 to %c3 step %c1 iter_args(%u = %w1, %v = %w2) -> (tensor<16x64xf32>, tensor<64x8xf32>) {
    %eh = tensor.empty() : tensor<32x64xf32, #h>
    %zh = linalg.fill ins(%z : f32) outs(%eh : tensor<32x64xf32, #h>) -> tensor<32x64xf32, #h>
    %a = linalg.matmul ins(%x, %u : tensor<32x16xf32, #x>, tensor<16x64xf32>) outs(%zh : tensor<32x64xf32, #h>) -> tensor<32x64xf32, #h>
    %h = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<32x64xf32, #h>) outs(%eh : tensor<32x64xf32, #h>) {
    ^bb0(%i: f32, %o: f32):
      %m = arith.maximumf %i, %z : f32
      linalg.yield %m : f32
    } -> tensor<32x64xf32, #h>
    %ey = tensor.empty() : tensor<32x8xf32, #y>
    %zy = linalg.fill ins(%z : f32) outs(%ey : tensor<32x8xf32, #y>) -> tensor<32x8xf32, #y>
    %y = linalg.matmul ins(%h, %v : tensor<32x64xf32, #h>, tensor<64x8xf32>) outs(%zy : tensor<32x8xf32, #y>) -> tensor<32x8xf32, #y>
    %d = arith.subf %y, %t : tensor<32x8xf32, #y>
    %e2 = tensor.empty() : tensor<64x8xf32>
    %z2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<64x8xf32>) -> tensor<64x8xf32>
    %g2 = linalg.generic {indexing_maps = [#ta, #tb, #tc], iterator_types = ["parallel", "parallel", "reduction"]} ins(%h, %d : tensor<32x64xf32, #h>, tensor<32x8xf32, #y>) outs(%z2 : tensor<64x8xf32>) {
    ^bb0(%a0: f32, %b0: f32, %o: f32):
      %p = arith.mulf %a0, %b0 : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
    } -> tensor<64x8xf32>
    %dh = linalg.generic {indexing_maps = [#ha, #hb, #hc], iterator_types = ["parallel", "parallel", "reduction"]} ins(%d, %v : tensor<32x8xf32, #y>, tensor<64x8xf32>) outs(%zh : tensor<32x64xf32, #h>) {
    ^bb0(%a0: f32, %b0: f32, %o: f32):
      %p = arith.mulf %a0, %b0 : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
    } -> tensor<32x64xf32, #h>
    %da = linalg.generic {indexing_maps = [#i, #i, #i], iterator_types = ["parallel", "parallel"]} ins(%dh, %a : tensor<32x64xf32, #h>, tensor<32x64xf32, #h>) outs(%eh : tensor<32x64xf32, #h>) {
    ^bb0(%g: f32, %i: f32, %o: f32):
      %p = arith.cmpf ogt, %i, %z : f32
      %s = arith.select %p, %g, %z : f32
      linalg.yield %s : f32
    } -> tensor<32x64xf32, #h>
    %e1 = tensor.empty() : tensor<16x64xf32>
    %z1 = linalg.fill ins(%z : f32) outs(%e1 : tensor<16x64xf32>) -> tensor<16x64xf32>
    %g1 = linalg.generic {indexing_maps = [#ta, #tb, #tc], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %da : tensor<32x16xf32, #x>, tensor<32x64xf32, #h>) outs(%z1 : tensor<16x64xf32>) {
    ^bb0(%a0: f32, %b0: f32, %o: f32):
      %p = arith.mulf %a0, %b0 : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
    } -> tensor<16x64xf32>
    %e_u2 = tensor.empty() : tensor<16x64xf32>
    %e_v2 = tensor.empty() : tensor<64x8xf32>
    %u2 = linalg.generic {indexing_maps = [#i, #i, #i], iterator_types = ["parallel", "parallel"]} ins(%u, %g1 : tensor<16x64xf32>, tensor<16x64xf32>) outs(%e_u2 : tensor<16x64xf32>) {
    ^bb0(%a0: f32, %b0: f32, %o: f32):
      %rate = arith.constant 0.01 : f32
      %p = arith.mulf %b0, %rate : f32
      %s = arith.subf %a0, %p : f32
      linalg.yield %s : f32
    } -> tensor<16x64xf32>
    %v2 = linalg.generic {indexing_maps = [#i, #i, #i], iterator_types = ["parallel", "parallel"]} ins(%v, %g2 : tensor<64x8xf32>, tensor<64x8xf32>) outs(%e_v2 : tensor<64x8xf32>) {
    ^bb0(%a0: f32, %b0: f32, %o: f32):
      %rate = arith.constant 0.01 : f32
      %p = arith.mulf %b0, %rate : f32
      %s = arith.subf %a0, %p : f32
      linalg.yield %s : f32
    } -> tensor<64x8xf32>
    scf.yield %u2, %v2 : tensor<16x64xf32>, tensor<64x8xf32>
  }
  %p1 = tensor.cast %trained#0 : tensor<16x64xf32> to tensor<*xf32>
  func.call @printMemrefF32(%p1) : (tensor<*xf32>) -> ()
  %p2 = tensor.cast %trained#1 : tensor<64x8xf32> to tensor<*xf32>
  func.call @printMemrefF32(%p2) : (tensor<*xf32>) -> ()
  return
}
}
