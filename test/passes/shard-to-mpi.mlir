// Collectives as messages: what begins where, what is waited for where, and who frees what.
// RUN: layout-opt %s --mlir-print-local-scope --layout-shard-to-mpi --split-input-file | FileCheck %s
// RUN: layout-opt %s --layout-to-memref --split-input-file | FileCheck %s --check-prefix=MEMREF
// RUN: layout-opt %s --layout-to-llvm --split-input-file | FileCheck %s --check-prefix=LLVM

// A module without a grid stays.
// CHECK-LABEL: func.func @plain(
// CHECK-NEXT: return
// LLVM-LABEL: llvm.func @plain(
// LLVM-NOT: MPI
// LLVM: llvm.return
func.func @plain() {
  return
}

// -----

// Messages begin as soon as there is what they send, in the order of the program, and are waited for before the first use:
// both products are between. The own piece is read after that.
// CHECK: module attributes {dlti.map = #dlti.map<"MPI:Implementation" = "OpenMPI">}
// CHECK-LABEL: func.func @overlap(
// CHECK: mpi.comm_rank(%{{.*}}) {processes = 2 : i64} : i32
// CHECK: %[[A:.*]] = linalg.matmul
// CHECK: %[[PIECES:.*]] = memref.alloc() {{.*}} : memref<2x4x4xf32>
// CHECK: %[[SENT:.*]] = bufferization.to_buffer %[[A]] read_only
// CHECK: scf.for
// CHECK: %[[PART:.*]] = memref.subview %[[PIECES]]
// CHECK: %[[REQUEST:.*]] = mpi.irecv(%[[PART]], %[[TAG:.*]], %{{.*}}, %{{.*}})
// CHECK: builtin.unrealized_conversion_cast %[[REQUEST]] : !mpi.request to i64
// CHECK: memref.store
// CHECK: scf.for
// CHECK: mpi.isend(%[[SENT]]
// CHECK: linalg.matmul
// CHECK: linalg.exp
// CHECK: mpi.wait
// CHECK: %[[ALL:.*]] = bufferization.to_tensor %[[PIECES]] restrict writable
// CHECK: tensor.insert_slice %[[A]] into %[[ALL]]
// CHECK: tensor.collapse_shape
// CHECK: linalg.negf
// What is sent is written over later: it is copied, and freed after the wait.
// MEMREF-LABEL: func.func @overlap(
// MEMREF: mpi.irecv(%{{[a-z0-9_]*}},
// MEMREF: mpi.isend(%[[SENT:[a-z0-9_]*]],
// MEMREF-NOT: dealloc %[[SENT]] :
// MEMREF: mpi.wait
// MEMREF: return
// LLVM-LABEL: llvm.func @overlap(
// LLVM: llvm.call @layout_check_processes(%{{.*}}) : (i32) -> ()
// LLVM: llvm.call @MPI_Irecv(
// LLVM: llvm.call @MPI_Isend(
// LLVM: llvm.call @MPI_Wait(
shard.grid @g(shape = 2)
func.func @overlap(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> (tensor<8x4xf32>, tensor<4x4xf32>) {
  %e = tensor.empty() : tensor<4x4xf32>
  %z = arith.constant 0.0 : f32
  %0 = linalg.fill ins(%z : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %a = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%0 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = linalg.matmul ins(%w, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = linalg.exp ins(%b : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %all = shard.all_gather %a on @g grid_axes = [0] gather_axis = 0 : tensor<4x4xf32> -> tensor<8x4xf32>
  %f = tensor.empty() : tensor<8x4xf32>
  %n = linalg.negf ins(%all : tensor<8x4xf32>) outs(%f : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %n, %c : tensor<8x4xf32>, tensor<4x4xf32>
}

// -----

// `main` starts MPI and ends it, after what is sent in it has been received.
// CHECK-LABEL: func.func @main(
// CHECK: mpi.init {processes = 6 : i64}
// CHECK-NEXT: mpi.comm_world
// CHECK: mpi.isend
// CHECK: mpi.irecv
// CHECK: mpi.wait
// CHECK: call @print
// CHECK: mpi.wait
// CHECK: mpi.finalize
// CHECK-NEXT: return
// LLVM: llvm.call @MPI_Init
// LLVM: llvm.call @layout_check_processes
// LLVM: llvm.call @MPI_Finalize
shard.grid @g(shape = 3x2)
func.func private @print(tensor<4xf32>)
func.func @main(%x: tensor<4xf32>) {
  %s = shard.send %x on @g grid_axes = [1] destination = [1] : (tensor<4xf32>) -> tensor<4xf32>
  %r = shard.recv %s on @g grid_axes = [1] source = [0] : (tensor<4xf32>) -> tensor<4xf32>
  func.call @print(%r) : (tensor<4xf32>) -> ()
  return
}

// -----

// Few elements go to all at once, many in two exchanges: to those that add them up, and from these to all. Layouts inside
// of a process are left for what is sent.
// CHECK-LABEL: func.func @sums(
// CHECK-COUNT-1: mpi.isend
// CHECK-NOT: mpi.isend
// CHECK: linalg.generic {{.*}}["reduction", "parallel"]
// CHECK-LABEL: func.func @large(
// CHECK: layout.convert %{{.*}} : tensor<64x34xbf16, #layout.tiled<{1,0:T(8,16)}>> to tensor<64x34xbf16>
// CHECK: tensor.empty() : tensor<2178xbf16>
// CHECK: memref.alloc() {{.*}} : memref<3x726xbf16>
// CHECK-COUNT-2: mpi.isend
// CHECK-NOT: mpi.isend
// CHECK: layout.convert %{{.*}} : tensor<64x34xbf16> to tensor<64x34xbf16, #layout.tiled<{1,0:T(8,16)}>>
shard.grid @g(shape = 3)
func.func @sums(%x: tensor<8xf32>) -> tensor<8xf32> {
  %s = shard.all_reduce %x on @g grid_axes = [0] : tensor<8xf32> -> tensor<8xf32>
  return %s : tensor<8xf32>
}
func.func @large(%x: tensor<64x34xbf16, #layout.tiled<{1,0:T(8,16)}>>) -> tensor<64x34xbf16, #layout.tiled<{1,0:T(8,16)}>> {
  %s = shard.all_reduce %x on @g grid_axes = [0] reduction = max : tensor<64x34xbf16, #layout.tiled<{1,0:T(8,16)}>> -> tensor<64x34xbf16, #layout.tiled<{1,0:T(8,16)}>>
  return %s : tensor<64x34xbf16, #layout.tiled<{1,0:T(8,16)}>>
}

// -----

// What nothing uses is not sent, and a group of one process sends nothing.
// CHECK-LABEL: func.func @nothing(
// CHECK-NOT: mpi.isend
// CHECK: return
shard.grid @g(shape = 4x1)
func.func @nothing(%x: tensor<4xf32>) -> tensor<4xf32> {
  %u = shard.all_gather %x on @g grid_axes = [0] gather_axis = 0 : tensor<4xf32> -> tensor<16xf32>
  %s = shard.all_reduce %x on @g grid_axes = [1] : tensor<4xf32> -> tensor<4xf32>
  %t = shard.all_gather %s on @g gather_axis = 0 : tensor<4xf32> -> tensor<4xf32>
  return %t : tensor<4xf32>
}

// -----

// What is used in other blocks alone has come at the end of its own; nothing is sent of no elements.
// CHECK-LABEL: func.func @in_another_block(
// CHECK: mpi.isend
// CHECK: mpi.wait
// CHECK: cf.br
// CHECK-LABEL: func.func @no_elements(
// CHECK-NOT: mpi.isend
// CHECK: return
shard.grid @g(shape = 2)
func.func @in_another_block(%x: tensor<4xf32>) -> tensor<8xf32> {
  %y = shard.all_gather %x on @g grid_axes = [0] gather_axis = 0 : tensor<4xf32> -> tensor<8xf32>
  cf.br ^next
^next:
  return %y : tensor<8xf32>
}
func.func @no_elements(%x: tensor<0x4xf32>) -> tensor<0x4xf32> {
  %0 = shard.all_gather %x on @g grid_axes = [0] gather_axis = 1 : tensor<0x4xf32> -> tensor<0x8xf32>
  %1 = shard.all_reduce %0 on @g grid_axes = [0] : tensor<0x8xf32> -> tensor<0x8xf32>
  %2 = shard.all_to_all %1 on @g grid_axes = [0] split_axis = 1 concat_axis = 1 : tensor<0x8xf32> -> tensor<0x8xf32>
  %3 = shard.reduce_scatter %2 on @g grid_axes = [0] scatter_axis = 1 : tensor<0x8xf32> -> tensor<0x4xf32>
  return %3 : tensor<0x4xf32>
}
