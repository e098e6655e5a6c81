// layout-opt --layout-call-mpi
module attributes {dlti.map = #dlti.map<"MPI:Implementation" = "OpenMPI">} {
  func.func @send(%x: memref<4xf32>, %tag: i32, %rank: i32) {
    %world = mpi.comm_world : !mpi.comm
    %request = mpi.isend(%x, %tag, %rank, %world) : memref<4xf32>, i32, i32 -> !mpi.request
    mpi.wait(%request) : !mpi.request
    return
  }
}
