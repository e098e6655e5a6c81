// layout-opt --layout-shard-to-mpi
shard.grid @processes(shape = 4)

func.func @sum(%x: tensor<8xf32>) -> tensor<8xf32> {
  %sum = shard.all_reduce %x on @processes grid_axes = [0] : tensor<8xf32> -> tensor<8xf32>
  return %sum : tensor<8xf32>
}
