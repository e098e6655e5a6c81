// layout-partition: the program of one process, on parts of tensors.
// RUN: layout-opt %s --mlir-print-local-scope --split-input-file --layout-partition | FileCheck %s
// A second time there is nothing to do.
// RUN: layout-opt %s --split-input-file --layout-partition -o %t.once && layout-opt %t.once --split-input-file --layout-partition -o %t.twice && diff %t.once %t.twice

#rows = #layout.tensor_layout<((4_Process, 4:8), (8:1))>
#crows = #layout.tensor_layout<((4_Process, 4:16), (16:1))>
#wrows = #layout.tensor_layout<((4_Process, 2:16), (16:1))>
#cols = #layout.tensor_layout<((16:16), (4_Process, 16:1))>
#krows = #layout.tensor_layout<((4_Process, 16:16), (16:1))>
#half = #layout.tensor_layout<((4_Process, 4:16), (16:1))>
// CHECK: module {
// CHECK-NEXT: shard.grid @processes(shape = 4)
module attributes {layout.machine = #layout.machine<axes: (4_Process), memories: (), word: 64>} {
  // Rows of the first operand: nothing is sent.
  // CHECK-LABEL: func.func @rows(%arg0: tensor<4x8xf32>, %arg1: tensor<8x16xf32>) -> tensor<4x16xf32>
  // CHECK-NOT: shard
  // CHECK: linalg.matmul ins(%arg0, %arg1 : tensor<4x8xf32>, tensor<8x16xf32>) outs(%{{.*}} : tensor<4x16xf32>) -> tensor<4x16xf32>
  // CHECK-NOT: shard
  func.func @rows(%a: tensor<16x8xf32, #rows>, %b: tensor<8x16xf32>) -> tensor<16x16xf32, #crows> {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<16x16xf32, #crows>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<16x16xf32, #crows>) -> tensor<16x16xf32, #crows>
    %r = linalg.matmul ins(%a, %b : tensor<16x8xf32, #rows>, tensor<8x16xf32>) outs(%f : tensor<16x16xf32, #crows>) -> tensor<16x16xf32, #crows>
    return %r : tensor<16x16xf32, #crows>
  }

  // The loop of the sum: each process has a part of every sum. What it is added to comes once, last.
  // CHECK-LABEL: func.func @sums(
  // CHECK-SAME: %arg0: tensor<16x16xf32>, %arg1: tensor<16x16xf32>, %arg2: tensor<16x16xf32>)
  // CHECK: %[[ZERO:.*]] = linalg.fill
  // CHECK: %[[PART:.*]] = linalg.matmul ins(%arg0, %arg1 : {{.*}}) outs(%[[ZERO]] :
  // CHECK: %[[ALL:.*]] = shard.all_reduce %[[PART]] on @processes grid_axes = [0] : tensor<16x16xf32> -> tensor<16x16xf32>
  // CHECK: arith.addf %arg2, %[[ALL]]
  func.func @sums(%a: tensor<16x64xf32, #cols>, %b: tensor<64x16xf32, #krows>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
    %r = linalg.matmul ins(%a, %b : tensor<16x64xf32, #cols>, tensor<64x16xf32, #krows>) outs(%c : tensor<16x16xf32>) -> tensor<16x16xf32>
    return %r : tensor<16x16xf32>
  }

  // Each process keeps its part of the sum.
  // CHECK-LABEL: func.func @scattered(
  // CHECK: %[[PART:.*]] = linalg.matmul
  // CHECK: %[[OWN:.*]] = shard.reduce_scatter %[[PART]] on @processes grid_axes = [0] scatter_axis = 0 : tensor<16x16xf32> -> tensor<4x16xf32>
  // CHECK: arith.addf %arg2, %[[OWN]] : tensor<4x16xf32>
  func.func @scattered(%a: tensor<16x64xf32, #cols>, %b: tensor<64x16xf32, #krows>, %c: tensor<16x16xf32, #half>) -> tensor<16x16xf32, #half> {
    %r = linalg.matmul ins(%a, %b : tensor<16x64xf32, #cols>, tensor<64x16xf32, #krows>) outs(%c : tensor<16x16xf32, #half>) -> tensor<16x16xf32, #half>
    return %r : tensor<16x16xf32, #half>
  }

  // A sum that is only wanted in parts is never at all processes.
  // CHECK-LABEL: func.func @converted(
  // CHECK: shard.reduce_scatter
  // CHECK-NOT: shard
  func.func @converted(%a: tensor<16x64xf32, #cols>, %b: tensor<64x16xf32, #krows>) -> tensor<16x16xf32, #half> {
    %z = arith.constant dense<0.0> : tensor<16x16xf32>
    %r = linalg.matmul ins(%a, %b : tensor<16x64xf32, #cols>, tensor<64x16xf32, #krows>) outs(%z : tensor<16x16xf32>) -> tensor<16x16xf32>
    %s = layout.convert %r : tensor<16x16xf32> to tensor<16x16xf32, #half>
    return %s : tensor<16x16xf32, #half>
  }

  // The second operand is wanted whole, and the product is filled with zeros in parts.
  // CHECK-LABEL: func.func @whole(
  // CHECK-SAME: %arg0: tensor<4x8xf32>, %arg1: tensor<2x16xf32>)
  // CHECK: linalg.fill {{.*}} -> tensor<4x16xf32>
  // CHECK: %[[B:.*]] = shard.all_gather %arg1 on @processes grid_axes = [0] gather_axis = 0 : tensor<2x16xf32> -> tensor<8x16xf32>
  // CHECK: linalg.matmul ins(%arg0, %[[B]] : tensor<4x8xf32>, tensor<8x16xf32>)
  // CHECK-NOT: shard
  func.func @whole(%a: tensor<16x8xf32, #rows>, %b: tensor<8x16xf32, #wrows>) -> tensor<16x16xf32, #crows> {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<16x16xf32, #crows>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<16x16xf32, #crows>) -> tensor<16x16xf32, #crows>
    %r = linalg.matmul ins(%a, %b : tensor<16x8xf32, #rows>, tensor<8x16xf32, #wrows>) outs(%f : tensor<16x16xf32, #crows>) -> tensor<16x16xf32, #crows>
    return %r : tensor<16x16xf32, #crows>
  }

  // The largest of numbers, of which one may be NaN, is none that shard has: parts are gathered. Without NaN it is.
  // CHECK-LABEL: func.func @largest(
  // CHECK: %[[PART:.*]] = linalg.reduce { arith.maximumf } ins(%arg0 : tensor<4x8xf32>)
  // CHECK: %[[ONE:.*]] = tensor.expand_shape %[[PART]] {{\[}}[0, 1]] output_shape [1, 8]
  // CHECK: %[[ALL:.*]] = shard.all_gather %[[ONE]] {{.*}} : tensor<1x8xf32> -> tensor<4x8xf32>
  // CHECK: linalg.reduce { arith.maximumf } ins(%[[ALL]] : tensor<4x8xf32>) {{.*}} dimensions = [0]
  // CHECK: shard.all_reduce %{{.*}} on @processes grid_axes = [0] reduction = max : tensor<8xf32> -> tensor<8xf32>
  // CHECK: arith.maximumf
  func.func @largest(%a: tensor<16x8xf32, #rows>, %m: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
    %0 = linalg.reduce { arith.maximumf } ins(%a : tensor<16x8xf32, #rows>) outs(%m : tensor<8xf32>) dimensions = [0]
    %1 = linalg.reduce ins(%a : tensor<16x8xf32, #rows>) outs(%m : tensor<8xf32>) dimensions = [0] (%x: f32, %y: f32) {
      %s = arith.maximumf %x, %y fastmath<nnan,nsz> : f32
      linalg.yield %s : f32
    }
    return %0, %1 : tensor<8xf32>, tensor<8xf32>
  }

  // A product in a loop: the weights are gathered once, before it.
  // CHECK-LABEL: func.func @loop(
  // CHECK: %[[W:.*]] = shard.all_gather %arg1
  // CHECK: scf.for {{.*}} -> (tensor<4x8xf32>) {
  // CHECK-NOT: shard
  // CHECK: linalg.matmul ins(%{{.*}}, %[[W]] :
  func.func @loop(%a: tensor<16x8xf32, #rows>, %w: tensor<8x8xf32, #layout.tensor_layout<((4_Process, 2:8), (8:1))>>) -> tensor<16x8xf32, #rows> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%x = %a) -> tensor<16x8xf32, #rows> {
      %y = linalg.matmul ins(%x, %w : tensor<16x8xf32, #rows>, tensor<8x8xf32, #layout.tensor_layout<((4_Process, 2:8), (8:1))>>) outs(%a : tensor<16x8xf32, #rows>) -> tensor<16x8xf32, #rows>
      scf.yield %y : tensor<16x8xf32, #rows>
    }
    return %r : tensor<16x8xf32, #rows>
  }

  // Functions and other control flow carry parts.
  // CHECK-LABEL: func.func private @double(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32>
  func.func private @double(%a: tensor<16x8xf32, #rows>) -> tensor<16x8xf32, #rows> {
    %0 = arith.addf %a, %a : tensor<16x8xf32, #rows>
    return %0 : tensor<16x8xf32, #rows>
  }
  // CHECK-LABEL: func.func @control(
  // CHECK: scf.while {{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // The condition is of all of the tensor, so all processes go the same way.
  // CHECK: %[[ALL:.*]] = shard.all_gather
  // CHECK: tensor.extract %[[ALL]]
  // CHECK: func.call @double(%{{.*}}) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: cf.br ^bb1(%{{.*}} : tensor<4x8xf32>)
  func.func @control(%a: tensor<16x8xf32, #rows>) -> (tensor<16x8xf32, #rows>, index) {
    %c0 = arith.constant 0 : index
    %most = arith.constant 100.0 : f32
    %r = scf.while (%x = %a) : (tensor<16x8xf32, #rows>) -> tensor<16x8xf32, #rows> {
      %e = tensor.extract %x[%c0, %c0] : tensor<16x8xf32, #rows>
      %go = arith.cmpf olt, %e, %most : f32
      scf.condition(%go) %x : tensor<16x8xf32, #rows>
    } do {
    ^bb0(%x: tensor<16x8xf32, #rows>):
      %y = func.call @double(%x) : (tensor<16x8xf32, #rows>) -> tensor<16x8xf32, #rows>
      scf.yield %y : tensor<16x8xf32, #rows>
    }
    cf.br ^end(%r : tensor<16x8xf32, #rows>)
  ^end(%last: tensor<16x8xf32, #rows>):
    // The size is that of all of it.
    // CHECK: %[[SIZE:.*]] = arith.constant 16 : index
    // CHECK: return %{{.*}}, %[[SIZE]]
    %size = tensor.dim %last, %c0 : tensor<16x8xf32, #rows>
    return %last, %size : tensor<16x8xf32, #rows>, index
  }

  // Process 0 prints, for all.
  // CHECK-LABEL: func.func @prints(
  // CHECK: %[[ALL:.*]] = shard.all_gather
  // CHECK: %[[RANK:.*]] = shard.process_linear_index on @processes
  // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[RANK]], %{{.*}} : index
  // CHECK: scf.if %[[FIRST]] {
  // CHECK-NEXT: func.call @print(%[[ALL]]) : (tensor<16x8xf32>) -> ()
  // CHECK-NEXT: }
  // A function with a result is called by each, and so is one that takes parts.
  // CHECK-NOT: scf.if
  // CHECK: call @time()
  // CHECK: call @store(%arg0) : (tensor<4x8xf32>) -> ()
  // CHECK: scf.if
  // CHECK-NEXT: vector.print
  func.func private @print(tensor<16x8xf32>)
  func.func private @time() -> f32
  func.func private @store(tensor<16x8xf32, #rows>)
  func.func @prints(%a: tensor<16x8xf32, #rows>) {
    %0 = layout.convert %a : tensor<16x8xf32, #rows> to tensor<16x8xf32>
    func.call @print(%0) : (tensor<16x8xf32>) -> ()
    %t = func.call @time() : () -> f32
    func.call @store(%a) : (tensor<16x8xf32, #rows>) -> ()
    vector.print %t : f32
    return
  }
}

// -----

// A mesh of 2 x 2, and layouts that deal out elements in other orders. Another symbol has the name of the grid.
#rows = #layout.tensor_layout<((4_Process, 4:8), (8:1))>
#dealt = #layout.tensor_layout<((4:8, 4_Process), (8:1))>
#cols = #layout.tensor_layout<((16:2), (4_Process, 2:1))>
#mesh = #layout.tensor_layout<((2_Process:2, 8:4), (2_Process:1, 4:1))>
#turned = #layout.tensor_layout<((2_Process:1, 8:4), (2_Process:2, 4:1))>
#own = #layout.tensor_layout<((4_Process), (2:1))>
#upper = #layout.tensor_layout<((2_Process:2, 8:8), (8:1); B@[2_Process:1])>
// CHECK: shard.grid @processes_0(shape = 2x2)
module attributes {layout.machine = #layout.machine<axes: (4_Process), memories: (), word: 64>} {
  func.func private @processes()
  // CHECK-LABEL: func.func @converts(
  func.func @converts(%a: tensor<16x8xf32, #rows>) -> (tensor<16x8xf32, #dealt>, tensor<16x8xf32, #cols>, tensor<16x8xf32, #mesh>, tensor<16x8xf32, #upper>, tensor<16x8xf32>) {
    // CHECK: %[[DEALT:.*]] = shard.all_to_all %arg0 on @processes_0 grid_axes = [0, 1] split_axis = 0 concat_axis = 0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %0 = layout.convert %a : tensor<16x8xf32, #rows> to tensor<16x8xf32, #dealt>
    // CHECK: shard.all_to_all %arg0 on @processes_0 grid_axes = [0, 1] split_axis = 1 concat_axis = 0 : tensor<4x8xf32> -> tensor<16x2xf32>
    %1 = layout.convert %a : tensor<16x8xf32, #rows> to tensor<16x8xf32, #cols>
    // CHECK: shard.all_to_all %arg0 on @processes_0 grid_axes = [1] split_axis = 1 concat_axis = 0 : tensor<4x8xf32> -> tensor<8x4xf32>
    %2 = layout.convert %a : tensor<16x8xf32, #rows> to tensor<16x8xf32, #mesh>
    // CHECK: shard.all_gather %arg0 on @processes_0 grid_axes = [1] gather_axis = 0 : tensor<4x8xf32> -> tensor<8x8xf32>
    %3 = layout.convert %a : tensor<16x8xf32, #rows> to tensor<16x8xf32, #upper>
    // Every fourth row is at a process: they are put between those of others.
    // CHECK: %[[SEEN:.*]] = tensor.expand_shape %[[DEALT]] {{\[}}[0, 1], [2]] output_shape [4, 1, 8]
    // CHECK: %[[ALL:.*]] = shard.all_gather %[[SEEN]] on @processes_0 grid_axes = [0, 1] gather_axis = 1 : tensor<4x1x8xf32> -> tensor<4x4x8xf32>
    // CHECK: tensor.collapse_shape %[[ALL]] {{\[}}[0, 1], [2]] : tensor<4x4x8xf32> into tensor<16x8xf32>
    %4 = layout.convert %0 : tensor<16x8xf32, #dealt> to tensor<16x8xf32>
    return %0, %1, %2, %3, %4 : tensor<16x8xf32, #dealt>, tensor<16x8xf32, #cols>, tensor<16x8xf32, #mesh>, tensor<16x8xf32, #upper>, tensor<16x8xf32>
  }

  // Each process has what one other had: what is received comes of the operation that sends, so both can be one.
  // CHECK-LABEL: func.func @turn(
  // CHECK: %[[AT:.*]]:2 = shard.process_multi_index on @processes_0 axes = [0, 1] : index, index
  // CHECK: %[[SENT:.*]] = shard.send %arg0 on @processes_0 grid_axes = [0, 1] destination = [%[[AT]]#1, %[[AT]]#0]
  // CHECK: shard.recv %[[SENT]] on @processes_0 grid_axes = [0, 1] source = [%[[AT]]#1, %[[AT]]#0]
  func.func @turn(%a: tensor<16x8xf32, #mesh>) -> tensor<16x8xf32, #turned> {
    %0 = layout.convert %a : tensor<16x8xf32, #mesh> to tensor<16x8xf32, #turned>
    return %0 : tensor<16x8xf32, #turned>
  }

  // Constants, and indices of all elements in a body.
  // CHECK-LABEL: func.func @indices(
  // CHECK: %[[ALL:.*]] = arith.constant dense<{{\[}}[0.0{{.*}}> : tensor<4x2xf32>
  // CHECK: shard.all_slice %[[ALL]] on @processes_0 grid_axes = [0, 1] slice_axis = 0 : tensor<4x2xf32> -> tensor<1x2xf32>
  // CHECK: arith.constant dense<2.0{{.*}}> : tensor<1x2xf32>
  // CHECK: %[[AT:.*]]:2 = shard.process_multi_index on @processes_0 axes = [0, 1]
  // CHECK: %[[I:.*]] = linalg.index 0 : index
  // CHECK-NEXT: affine.apply {{.*}}(%[[I]], %[[AT]]#0, %[[AT]]#1)
  // CHECK-NEXT: %[[J:.*]] = linalg.index 1 : index
  // CHECK-NEXT: arith.addi %{{.*}}, %[[J]]

  func.func @indices(%e: tensor<16x8xindex, #dealt>) -> (tensor<16x8xindex, #dealt>, tensor<4x2xf32, #own>) {
    %k = arith.constant dense<[[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]]> : tensor<4x2xf32, #own>
    %two = arith.constant dense<2.0> : tensor<4x2xf32, #own>
    %sum = arith.addf %k, %two : tensor<4x2xf32, #own>
    %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<16x8xindex, #dealt>) {
    ^bb0(%x: index):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %s = arith.addi %i, %j : index
      linalg.yield %s : index
    } -> tensor<16x8xindex, #dealt>
    return %0, %sum : tensor<16x8xindex, #dealt>, tensor<4x2xf32, #own>
  }
}

// -----

// Shapes change where whole dimensions are spread; else what is spread is converted.
#rows = #layout.tensor_layout<((4_Process, 4:8), (8:1))>
#flat = #layout.tensor_layout<((4_Process, 32:1))>
#three = #layout.tensor_layout<((4_Process, 4:3), (3:1))>
#padded = #layout.tensor_layout<((4_Process, 4:10), (10:1))>
module attributes {layout.machine = #layout.machine<axes: (4_Process), memories: (), word: 64>} {
  // CHECK-LABEL: func.func @shapes(
  // CHECK-NOT: shard
  // CHECK: tensor.collapse_shape %arg0 {{.*}} : tensor<4x8xf32> into tensor<32xf32>
  // CHECK: tensor.expand_shape {{.*}} output_shape [4, 8] : tensor<32xf32> into tensor<4x8xf32>
  // CHECK: tensor.extract_slice {{.*}}[0, 2] [4, 3] [1, 1] : tensor<4x8xf32> to tensor<4x3xf32>
  // CHECK: tensor.insert_slice {{.*}}[0, 1] [4, 3] [1, 1] : tensor<4x3xf32> into tensor<4x8xf32>
  // CHECK: tensor.pad {{.*}} low[0, 2] high[0, 0]
  // CHECK: : tensor<4x8xf32> to tensor<4x10xf32>
  // A row is at one process.
  // CHECK: %[[ALL:.*]] = shard.all_gather
  // CHECK: tensor.extract_slice %[[ALL]][3, 0] [1, 8] [1, 1] : tensor<16x8xf32> to tensor<8xf32>
  func.func @shapes(%a: tensor<16x8xf32, #rows>) -> (tensor<16x10xf32, #padded>, tensor<8xf32>) {
    %zero = arith.constant 0.0 : f32
    %0 = tensor.collapse_shape %a [[0, 1]] : tensor<16x8xf32, #rows> into tensor<128xf32, #flat>
    %1 = tensor.expand_shape %0 [[0, 1]] output_shape [16, 8] : tensor<128xf32, #flat> into tensor<16x8xf32, #rows>
    %2 = tensor.extract_slice %1[0, 2] [16, 3] [1, 1] : tensor<16x8xf32, #rows> to tensor<16x3xf32, #three>
    %3 = tensor.insert_slice %2 into %1[0, 1] [16, 3] [1, 1] : tensor<16x3xf32, #three> into tensor<16x8xf32, #rows>
    %4 = tensor.pad %3 low[0, 2] high[0, 0] {
    ^bb0(%i: index, %j: index):
      tensor.yield %zero : f32
    } : tensor<16x8xf32, #rows> to tensor<16x10xf32, #padded>
    %5 = tensor.extract_slice %3[3, 0] [1, 8] [1, 1] : tensor<16x8xf32, #rows> to tensor<8xf32>
    return %4, %5 : tensor<16x10xf32, #padded>, tensor<8xf32>
  }
}

// -----

// Places inside of a process stay, with their machine; what is sent is row-major.
#inner = #layout.tensor_layout<((4_Process, 2_PE, 2:8), (8:1))>
#cols = #layout.tensor_layout<((16:1), (4_Process, 2:16))>
// CHECK: module attributes {layout.machine = #layout.machine<axes: (2_PE), memories: (LM: 1 with 4096 bytes), word: 64, unit: cycle, links: (PE: 8)>}
// CHECK-LABEL: func.func @inner(
// CHECK-SAME: %arg0: tensor<4x8xf32, #layout.tensor_layout<((2_PE, 2:8), (8:1))>>) -> tensor<16x2xf32, #layout.tensor_layout<((16:1), (2:16))>>
// CHECK: %[[NEG:.*]] = arith.negf %arg0 : tensor<4x8xf32, #layout.tensor_layout<((2_PE, 2:8), (8:1))>>
// CHECK: %[[PLAIN:.*]] = layout.convert %[[NEG]] : {{.*}} to tensor<4x8xf32>
// CHECK: %[[SENT:.*]] = shard.all_to_all %[[PLAIN]] {{.*}} : tensor<4x8xf32> -> tensor<16x2xf32>
// CHECK: layout.convert %[[SENT]] : tensor<16x2xf32> to tensor<16x2xf32, #layout.tensor_layout<((16:1), (2:16))>>
module attributes {layout.machine = #layout.machine<axes: (4_Process, 2_PE), memories: (LM: 1 at Process with 4096 bytes), word: 64, unit: cycle, links: (Process: 1 torus, PE: 8), work: (Process: 2)>} {
  func.func @inner(%a: tensor<16x8xf32, #inner>) -> tensor<16x8xf32, #cols> {
    %0 = arith.negf %a : tensor<16x8xf32, #inner>
    %1 = layout.convert %0 : tensor<16x8xf32, #inner> to tensor<16x8xf32, #cols>
    return %1 : tensor<16x8xf32, #cols>
  }
}

// -----

// A machine without processes.
// CHECK: module attributes {layout.machine = #layout.machine<axes: (2_PE)
// CHECK-NOT: shard.grid
// CHECK: func.func @unspread(%arg0: tensor<4xf32, #layout.tensor_layout<((2_PE, 2:1))>>)
module attributes {layout.machine = #layout.machine<axes: (2_PE), memories: (), word: 64>} {
  func.func @unspread(%a: tensor<4xf32, #layout.tensor_layout<((2_PE, 2:1))>>) {
    return
  }
}

// -----

// Of no elements there are parts, too. What may write to a memref is called by each process, what reads alone by the first.
// CHECK-LABEL: func.func @nothing(
// CHECK-SAME: %arg0: tensor<0x2xf32, {{.*}}>) -> tensor<0x4xf32>
// CHECK: shard.all_gather %{{.*}} : tensor<0x2xf32> -> tensor<0x4xf32>
// CHECK-LABEL: func.func @memory(
// CHECK-NEXT: call @fill(
// CHECK: scf.if
// CHECK-NEXT: func.call @show(
#none = #layout.tensor_layout<(0,4)/((1:4), (2_Process, 2:1))>
module attributes {layout.machine = #layout.machine<axes: (2_Process), memories: (), word: 32>} {
  func.func private @fill(memref<4xf32>)
  func.func private @show(memref<4xf32> {bufferization.access = "read"})
  func.func @nothing(%x: tensor<0x4xf32, #none>) -> tensor<0x4xf32> {
    %0 = layout.convert %x : tensor<0x4xf32, #none> to tensor<0x4xf32>
    return %0 : tensor<0x4xf32>
  }
  func.func @memory(%m: memref<4xf32>) {
    call @fill(%m) : (memref<4xf32>) -> ()
    call @show(%m) : (memref<4xf32>) -> ()
    return
  }
}
