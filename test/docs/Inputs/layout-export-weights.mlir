// layout-opt --layout-export-weights="file=weights.o minimum=16"
module {
  llvm.mlir.global private constant @__constant_4xf32(dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>) {addr_space = 0 : i32, alignment = 64 : i64} : !llvm.array<4 x f32>
  llvm.func @weights() -> !llvm.ptr {
    %0 = llvm.mlir.addressof @__constant_4xf32 : !llvm.ptr
    llvm.return %0 : !llvm.ptr
  }
}
