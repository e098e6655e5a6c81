// Operations of mpi that upstream leaves as calls of Open MPI.
// RUN: layout-opt %s --layout-call-mpi --split-input-file --verify-diagnostics | FileCheck %s

// Bytes are sent, from the offset of the buffer on.
module attributes {dlti.map = #dlti.map<"MPI:Implementation" = "OpenMPI">} {
  // CHECK-DAG: llvm.func @MPI_Isend(!llvm.ptr, i32, !llvm.ptr, i32, i32, !llvm.ptr, !llvm.ptr) -> i32
  // CHECK-DAG: llvm.mlir.global external @ompi_mpi_byte()
  // CHECK-LABEL: func.func @messages(
  // CHECK: %[[OFFSET:.*]] = arith.muli %offset, %{{.*}} : index
  // CHECK: arith.addi
  // CHECK: %[[COUNT:.*]] = llvm.mlir.constant(24 : i32) : i32
  // CHECK: llvm.call @MPI_Isend(%{{.*}}, %[[COUNT]],
  // CHECK: %[[ALL:.*]] = llvm.mlir.constant(48 : i32) : i32
  // CHECK: llvm.call @MPI_Irecv(%{{.*}}, %[[ALL]],
  // CHECK-COUNT-2: llvm.call @MPI_Wait(
  // CHECK: llvm.call @MPI_Comm_size(
  func.func @messages(%x: memref<3xf64, strided<[1], offset: ?>>, %y: memref<2x3xcomplex<f32>>, %rank: i32) -> i32 {
    %world = mpi.comm_world : !mpi.comm
    %0 = mpi.isend(%x, %rank, %rank, %world) : memref<3xf64, strided<[1], offset: ?>>, i32, i32 -> !mpi.request
    %ok, %1 = mpi.irecv(%y, %rank, %rank, %world) : memref<2x3xcomplex<f32>>, i32, i32 -> !mpi.retval, !mpi.request
    mpi.wait(%0) : !mpi.request
    mpi.wait(%1) : !mpi.request
    %size = mpi.comm_size(%world) : i32
    return %size : i32
  }
}

// -----

// More bytes than an int counts are sent eight at a time.
module attributes {dlti.map = #dlti.map<"MPI:Implementation" = "OpenMPI">} {
  // CHECK-LABEL: func.func @long(
  // CHECK: llvm.mlir.constant(1000000000 : i32) : i32
  // CHECK-NEXT: llvm.mlir.addressof @ompi_mpi_long_long_int
  func.func @long(%x: memref<2000000000xf32>, %rank: i32) {
    %world = mpi.comm_world : !mpi.comm
    %0 = mpi.isend(%x, %rank, %rank, %world) : memref<2000000000xf32>, i32, i32 -> !mpi.request
    mpi.wait(%0) : !mpi.request
    return
  }
}

// -----

module attributes {dlti.map = #dlti.map<"MPI:Implementation" = "OpenMPI">} {
  func.func @wrong(%x: memref<4xf64, strided<[2]>>, %y: memref<?xf32>, %z: memref<9000000000xf32>, %rank: i32) {
    %world = mpi.comm_world : !mpi.comm
    // expected-error@+1 {{'mpi.isend' op cannot be converted: expected a contiguous buffer, found memref<4xf64, strided<[2]>>}}
    %0 = mpi.isend(%x, %rank, %rank, %world) : memref<4xf64, strided<[2]>>, i32, i32 -> !mpi.request
    // expected-error@+1 {{'mpi.irecv' op cannot be converted: expected a memref of static sizes}}
    %1 = mpi.irecv(%y, %rank, %rank, %world) : memref<?xf32>, i32, i32 -> !mpi.request
    // expected-error@+1 {{a message has at most 2147483647 parts of at most 8 bytes, found 36000000000 bytes}}
    %2 = mpi.isend(%z, %rank, %rank, %world) : memref<9000000000xf32>, i32, i32 -> !mpi.request
    return
  }
}

// -----

// expected-error@+1 {{expected a module for Open MPI: dlti.map = #dlti.map<"MPI:Implementation" = "OpenMPI">}}
module {
  func.func @another() {
    mpi.init {processes = 2 : i64}
    return
  }
}

// -----

module attributes {dlti.map = #dlti.map<"MPI:Implementation" = "OpenMPI">} {
  // expected-error@+1 {{`MPI_Wait` is that of a library that is called; give this another name}}
  func.func @MPI_Wait(%x: i32) {
    mpi.init {processes = 2 : i64}
    return
  }
}
