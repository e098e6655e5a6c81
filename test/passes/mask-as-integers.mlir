// layout-mask-as-integers: masked loads and stores of floats of 16 bits are such of integers; others stay.
// RUN: layout-opt %s --layout-mask-as-integers | FileCheck %s
// Bits and lanes stay where they are: LLVM makes one load and one store of it.
// RUN: layout-opt %s --layout-mask-as-integers | mlir-translate --mlir-to-llvmir | FileCheck %s --check-prefix=IR

// CHECK-LABEL: llvm.func @move(
// CHECK-SAME: %[[FROM:[^:]*]]: !llvm.ptr, %[[TO:[^:]*]]: !llvm.ptr, %[[MASK:[^:]*]]: vector<16xi1>, %[[ELSE:[^:]*]]: vector<16xbf16>
// CHECK: %[[E:.*]] = llvm.bitcast %[[ELSE]] : vector<16xbf16> to vector<16xi16>
// CHECK: %[[I:.*]] = llvm.intr.masked.load %[[FROM]], %[[MASK]], %[[E]] {alignment = 2 : i32} {{.*}} -> vector<16xi16>
// CHECK: %[[X:.*]] = llvm.bitcast %[[I]] : vector<16xi16> to vector<16xbf16>
// CHECK: %[[J:.*]] = llvm.bitcast %[[X]] : vector<16xbf16> to vector<16xi16>
// CHECK: llvm.intr.masked.store %[[J]], %[[TO]], %[[MASK]] {alignment = 2 : i32} : vector<16xi16>
// IR: call <16 x i16> @llvm.masked.load.v16i16.p0(ptr
// IR: call void @llvm.masked.store.v16i16.p0(<16 x i16>
llvm.func @move(%from: !llvm.ptr, %to: !llvm.ptr, %mask: vector<16xi1>, %else: vector<16xbf16>) {
  %x = llvm.intr.masked.load %from, %mask, %else {alignment = 2 : i32} : (!llvm.ptr, vector<16xi1>, vector<16xbf16>) -> vector<16xbf16>
  llvm.intr.masked.store %x, %to, %mask {alignment = 2 : i32} : vector<16xbf16>, vector<16xi1> into !llvm.ptr
  llvm.return
}

// Vectors of scalable length stay.
// CHECK-LABEL: llvm.func @scalable(
// CHECK-NOT: bitcast
// CHECK: llvm.return
llvm.func @scalable(%from: !llvm.ptr, %to: !llvm.ptr, %mask: vector<[8]xi1>, %else: vector<[8]xbf16>) {
  %x = llvm.intr.masked.load %from, %mask, %else {alignment = 2 : i32} : (!llvm.ptr, vector<[8]xi1>, vector<[8]xbf16>) -> vector<[8]xbf16>
  llvm.intr.masked.store %x, %to, %mask {alignment = 2 : i32} : vector<[8]xbf16>, vector<[8]xi1> into !llvm.ptr
  llvm.return
}

// CHECK-LABEL: llvm.func @wide(
// CHECK-NOT: bitcast
// CHECK: llvm.return
llvm.func @wide(%from: !llvm.ptr, %to: !llvm.ptr, %mask: vector<8xi1>, %else: vector<8xf32>, %numbers: vector<8xi16>) {
  %x = llvm.intr.masked.load %from, %mask, %else {alignment = 4 : i32} : (!llvm.ptr, vector<8xi1>, vector<8xf32>) -> vector<8xf32>
  llvm.intr.masked.store %x, %to, %mask {alignment = 4 : i32} : vector<8xf32>, vector<8xi1> into !llvm.ptr
  llvm.intr.masked.store %numbers, %to, %mask {alignment = 2 : i32} : vector<8xi16>, vector<8xi1> into !llvm.ptr
  llvm.return
}
