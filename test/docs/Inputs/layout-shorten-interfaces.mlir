// layout-opt --layout-shorten-interfaces=words=4
llvm.func @first(%p: !llvm.ptr, %q: !llvm.ptr, %o: i64, %n: i64, %s: i64) -> f32 {
  %0 = llvm.load %q : !llvm.ptr -> f32
  llvm.return %0 : f32
}
llvm.func @_mlir_ciface_first(%x: !llvm.ptr) -> f32 {
  %0 = llvm.load %x : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  %1 = llvm.extractvalue %0[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  %2 = llvm.extractvalue %0[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  %3 = llvm.extractvalue %0[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  %4 = llvm.extractvalue %0[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  %5 = llvm.extractvalue %0[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  %6 = llvm.call @first(%1, %2, %3, %4, %5) : (!llvm.ptr, !llvm.ptr, i64, i64, i64) -> f32
  llvm.return %6 : f32
}
