// layout-export-weights: vectors and aliased constants stay; a declaration of the same bytes is the constant; what is declared
// may be in another shared object.
// RUN: layout-opt %s --layout-export-weights="file=%t.o minimum=1" > %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: mlir-translate --mlir-to-llvmir %t.mlir -o /dev/null
// A second module with a constant of the same bytes beside the declaration of the first.
// RUN: (grep 'global external constant @__weights' %t.mlir; grep 'dso_local} :' %s) > %t.merged.mlir
// RUN: layout-opt %t.merged.mlir --layout-export-weights="file=%t.merged.o minimum=1" | FileCheck %s --check-prefix=MERGED

// CHECK: llvm.mlir.global internal constant @packed(dense
llvm.mlir.global internal constant @packed(dense<[1, 0, 1]> : vector<3xi1>) : vector<3xi1>
// CHECK-NEXT: llvm.mlir.global external constant @origin(dense
llvm.mlir.global external constant @origin(dense<[1, 2, 3, 5]> : tensor<4xi32>) : !llvm.array<4 x i32>
llvm.mlir.alias external @other : !llvm.array<4 x i32> {
  %0 = llvm.mlir.addressof @origin : !llvm.ptr
  llvm.return %0 : !llvm.ptr
}
// CHECK: llvm.mlir.global external constant @__weights_{{[0-9a-f]+}}() {addr_space = 0 : i32} : !llvm.array<4 x i32>
// MERGED: llvm.mlir.global external constant @__weights
// MERGED-NOT: llvm.mlir.global
llvm.mlir.global internal constant @c(dense<[1, 2, 3, 4]> : tensor<4xi32>) {addr_space = 0 : i32, dso_local} : !llvm.array<4 x i32>
// A module inside has symbols of its own.
// CHECK: module @inside
// CHECK-NEXT: llvm.mlir.global private constant @c(dense
// CHECK: llvm.mlir.addressof @c
// MERGED-NOT: @inside
module @inside {
  llvm.mlir.global private constant @c(dense<[9, 2, 3, 4]> : tensor<4xi32>) : !llvm.array<4 x i32>
  llvm.func @f() -> !llvm.ptr {
    %0 = llvm.mlir.addressof @c : !llvm.ptr
    llvm.return %0 : !llvm.ptr
  }
}
