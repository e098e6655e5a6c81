// layout-outline-loops: equal nests are one function, and what a nest takes from outside is passed to it.
// RUN: layout-opt %s --layout-outline-loops=loops=2 --split-input-file | FileCheck %s
// RUN: layout-opt %s --layout-outline-loops=loops=2 --split-input-file --layout-convert-to-llvm | FileCheck %s --check-prefix=LLVM
// RUN: layout-opt %s --layout-outline-loops=loops=1000 --split-input-file > %t && \
// RUN:   layout-opt %s --split-input-file | diff %t -

// LLVM: llvm.func internal @loops_0(
// LLVM-SAME: passthrough = ["noinline"]
// LLVM-NOT: unrealized_conversion_cast

// Both loops are one function, called with the buffers the other way round. The third adds, and is another.
// CHECK: func.func private @loops_0(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr) attributes {llvm.linkage = #llvm.linkage<internal>, passthrough = ["noinline"]}
// CHECK: arith.mulf
// CHECK: func.func private @loops_1(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr)
// CHECK: arith.addf
// CHECK-LABEL: func.func @three(
// CHECK-SAME: %[[X:.*]]: memref<8xf32>, %[[Y:.*]]: memref<8xf32>)
// CHECK: %[[YP:.*]] = llvm.extractvalue
// CHECK: %[[XP:.*]] = llvm.extractvalue
// CHECK: call @loops_0(%[[XP]], %[[YP]])
// CHECK-NEXT: call @loops_0(%[[YP]], %[[XP]])
// CHECK-NEXT: call @loops_1(%[[XP]], %[[YP]])
// CHECK-NOT: affine
func.func @three(%x: memref<8xf32>, %y: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    %0 = affine.load %x[%i] : memref<8xf32>
    %1 = arith.mulf %0, %0 : f32
    affine.store %1, %y[%i] : memref<8xf32>
  }
  affine.for %i = 0 to 8 {
    %0 = affine.load %y[%i] : memref<8xf32>
    %1 = arith.mulf %0, %0 : f32
    affine.store %1, %x[%i] : memref<8xf32>
  }
  affine.for %i = 0 to 8 {
    %0 = affine.load %x[%i] : memref<8xf32>
    %1 = arith.addf %0, %0 : f32
    affine.store %1, %y[%i] : memref<8xf32>
  }
  return
}

// What the code is made for is the same; and what it is made for makes a difference.
// CHECK: func.func private @loops_2(
// CHECK-SAME: passthrough = ["noinline", "cold"], target_cpu = "skylake"
// CHECK-LABEL: func.func @elsewhere(
// CHECK: call @loops_2(
func.func @elsewhere(%x: memref<8xf32>, %y: memref<8xf32>) attributes {passthrough = ["cold"], target_cpu = "skylake"} {
  affine.for %i = 0 to 8 {
    %0 = affine.load %x[%i] : memref<8xf32>
    %1 = arith.mulf %0, %0 : f32
    affine.store %1, %y[%i] : memref<8xf32>
  }
  return
}

// -----

// Constants and globals are the function's own, so that another constant is another function; names that are taken are
// not used; results are returned; a buffer of dynamic size is passed as it is.
// CHECK: func.func private @loops_1(%{{.*}}: f32, %{{.*}}: memref<?xf32>) -> f32
// CHECK: arith.constant 1 : index
// CHECK: memref.get_global @table
// CHECK: return %{{.*}} : f32
// CHECK: func.func private @loops_2(%{{.*}}: f32, %{{.*}}: memref<?xf32>) -> f32
// CHECK: arith.constant 2 : index
// CHECK-LABEL: func.func @sums(
// CHECK: %[[ONE:.*]] = call @loops_1(%{{.*}}, %{{.*}}) : (f32, memref<?xf32>) -> f32
// CHECK: %[[TWO:.*]] = call @loops_2(%[[ONE]], %{{.*}}) : (f32, memref<?xf32>) -> f32
// CHECK: %[[SAME:.*]] = call @loops_1(%[[TWO]], %{{.*}})
// CHECK: return %[[SAME]]
memref.global "private" constant @table : memref<8xf32> = dense<2.0>
func.func private @loops_0()
func.func @sums(%x: memref<?xf32>, %start: f32) -> f32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %eight = arith.constant 8 : index
  %table = memref.get_global @table : memref<8xf32>
  %0 = scf.for %i = %zero to %eight step %one iter_args(%s = %start) -> (f32) {
    %a = memref.load %x[%i] : memref<?xf32>
    %b = memref.load %table[%i] : memref<8xf32>
    %c = arith.mulf %a, %b : f32
    %d = arith.addf %s, %c : f32
    scf.yield %d : f32
  }
  %1 = scf.for %i = %zero to %eight step %two iter_args(%s = %0) -> (f32) {
    %a = memref.load %x[%i] : memref<?xf32>
    %b = memref.load %table[%i] : memref<8xf32>
    %c = arith.mulf %a, %b : f32
    %d = arith.addf %s, %c : f32
    scf.yield %d : f32
  }
  %2 = scf.for %i = %zero to %eight step %one iter_args(%s = %1) -> (f32) {
    %a = memref.load %x[%i] : memref<?xf32>
    %b = memref.load %table[%i] : memref<8xf32>
    %c = arith.mulf %a, %b : f32
    %d = arith.addf %s, %c : f32
    scf.yield %d : f32
  }
  return %2 : f32
}

// -----

// A loop that allocates is none, nor is one with too many loops: those inside are. The pointer to part of an allocation
// is that of the allocation with an offset, and the view goes.
// CHECK: func.func private @loops_0(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr)
// CHECK-LABEL: func.func @inside(
// CHECK: %[[ALL:.*]] = memref.alloc()
// CHECK: %[[P:.*]] = llvm.extractvalue
// CHECK-NOT: memref.view
// CHECK: %[[BYTES:.*]] = llvm.mlir.constant(64 : i64)
// CHECK: %[[PART:.*]] = llvm.getelementptr %[[P]][%[[BYTES]]] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK: scf.for
// CHECK: memref.alloc() : memref<4x8xf32>
// CHECK: call @loops_0(%[[PART]],
// CHECK: memref.dealloc
// CHECK: affine.for
// CHECK-NEXT: call @loops_1(
func.func @inside(%n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %all = memref.alloc() : memref<192xi8>
  %at = arith.constant 64 : index
  %part = memref.view %all[%at][] : memref<192xi8> to memref<8x4xf32>
  %columns = memref.transpose %part (i, j) -> (j, i) : memref<8x4xf32> to memref<4x8xf32, strided<[1, 4]>>
  scf.for %k = %zero to %n step %one {
    %new = memref.alloc() : memref<4x8xf32>
    linalg.copy ins(%columns : memref<4x8xf32, strided<[1, 4]>>) outs(%new : memref<4x8xf32>)
    memref.dealloc %new : memref<4x8xf32>
  }
  affine.for %h = 0 to 2 {
    affine.for %i = 0 to 4 {
      affine.for %j = 0 to 8 {
        %0 = affine.load %columns[%i, %j] : memref<4x8xf32, strided<[1, 4]>>
        %1 = arith.addf %0, %0 : f32
        affine.store %1, %columns[%i, %j] : memref<4x8xf32, strided<[1, 4]>>
      }
    }
  }
  memref.dealloc %all : memref<192xi8>
  return
}
