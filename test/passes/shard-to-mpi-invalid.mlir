// What cannot be lowered to MPI, and what is said about it.
// RUN: layout-opt %s --layout-shard-to-mpi --split-input-file --verify-diagnostics

shard.grid @g(shape = 2x?)
// expected-error@-1 {{'shard.grid' op cannot be lowered to MPI: expected a size of each axis that is known and at least 1, found `?`}}

// -----

// expected-error@-2 {{the grids of a module have the same number of processes; found 4 and 2}}
shard.grid @g(shape = 2)
shard.grid @h(shape = 4)

// -----

shard.grid @g(shape = 65536x65536)
// expected-error@-1 {{expected at most 2147483647 processes}}

// -----

shard.grid @g(shape = 2)
func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error@+1 {{'shard.all_reduce' op cannot be lowered to MPI: expected tensors of static sizes}}
  %s = shard.all_reduce %x on @g grid_axes = [0] : tensor<?xf32> -> tensor<?xf32>
  return %s : tensor<?xf32>
}

// -----

shard.grid @g(shape = 2)
func.func @memref(%x: memref<4xf32>) -> memref<4xf32> {
  // expected-error@+1 {{expected a tensor, found a memref}}
  %s = shard.all_reduce %x on @g grid_axes = [0] : memref<4xf32> -> memref<4xf32>
  return %s : memref<4xf32>
}

// -----

shard.grid @g(shape = 2)
func.func @reductions(%x: tensor<4xf32>, %y: tensor<4xi64>) {
  // expected-error@+1 {{no reduction `bitwise_and` of f32 is known}}
  %0 = shard.all_reduce %x on @g grid_axes = [0] reduction = bitwise_and : tensor<4xf32> -> tensor<4xf32>
  // expected-error@+1 {{no reduction `generic` of f32 is known}}
  %1 = shard.all_reduce %x on @g grid_axes = [0] reduction = generic : tensor<4xf32> -> tensor<4xf32>
  // expected-error@+1 {{expected a result of f32 or of a type that has all its numbers, found f16}}
  %2 = shard.all_reduce %x on @g grid_axes = [0] : tensor<4xf32> -> tensor<4xf16>
  // expected-error@+1 {{expected a result of f32 or of a type that has all its numbers, found i64}}
  %3 = shard.all_reduce %x on @g grid_axes = [0] : tensor<4xf32> -> tensor<4xi64>
  // expected-error@+1 {{expected elements of i64 in a group of one process, found f64}}
  %4 = shard.all_reduce %y on @g : tensor<4xi64> -> tensor<4xf64>
  return
}

// -----

shard.grid @g(shape = 2x3)
func.func @messages(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected a source with an index for each of the 1 grid axes}}
  %1 = shard.recv %x on @g grid_axes = [1] : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

shard.grid @g(shape = 2x3)
func.func @others(%x: tensor<4xf32>) {
  // expected-error@+1 {{'shard.gather' op cannot be lowered to MPI: `gather` is not supported; supported are all_gather,}}
  %0 = shard.gather %x on @g grid_axes = [0] gather_axis = 0 root = [0] : (tensor<4xf32>) -> tensor<8xf32>
  // expected-error@+1 {{'shard.sharding' op cannot be lowered to MPI: it is for modules that are not yet cut}}
  %1 = shard.sharding @g split_axes = [[0]] : !shard.sharding
  return
}
