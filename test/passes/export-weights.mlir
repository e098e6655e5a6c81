// layout-export-weights: constants of many bytes go to an object file, as LLVM would lay them out; equal ones of one type once.
// The values: test/run/weights.test.
// RUN: layout-opt %s --layout-export-weights="file=%t.o minimum=0" | FileCheck %s
// RUN: llvm-readelf --file-header --sections --symbols --section-groups -W %t.o | FileCheck %s --check-prefix=ELF
// RUN: llvm-objdump -s %t.o | FileCheck %s --check-prefix=BYTES

// Without `minimum`, constants of fewer than 1024 bytes stay.
// RUN: layout-opt %s --layout-export-weights=file=%t.few.o | FileCheck %s --check-prefix=FEW
// RUN: llvm-readelf --symbols %t.few.o | FileCheck %s --check-prefix=NONE
// FEW: llvm.mlir.global private constant @floats(dense
// NONE-NOT: weights

// Another target.
// RUN: sed 's/^module {/module attributes {llvm.target_triple = "aarch64-unknown-linux-gnu"} {/' %s > %t.arm.mlir
// RUN: layout-opt %t.arm.mlir --layout-export-weights="minimum=0 file=%t.arm.o" | FileCheck %s
// RUN: llvm-readelf --file-header %t.arm.o | FileCheck %s --check-prefix=ARM
// ARM: AArch64

// CHECK: llvm.mlir.global external constant @[[FLOATS:__weights_[0-9a-f]+]]() {addr_space = 0 : i32, alignment = 64 : i64} : !llvm.array<2 x f32>
// CHECK-NEXT: llvm.mlir.global external constant @[[BITS:__weights_[0-9a-f]+]]() {{.*}}<4 x i1>
// CHECK-NEXT: llvm.mlir.global external constant @[[NIBBLES:__weights_[0-9a-f]+]]() {{.*}}<3 x i4>
// CHECK-NEXT: llvm.mlir.global external constant @[[COMPLEX:__weights_[0-9a-f]+]]() {{.*}}<2 x struct<(f32, f32)>>
// CHECK-NEXT: llvm.mlir.global external constant @[[WIDE:__weights_[0-9a-f]+]]() {{.*}}<2 x i24>
// CHECK-NEXT: llvm.mlir.global external constant @[[RESOURCE:__weights_[0-9a-f]+]]() {{.*}}<4 x i1>
// CHECK-NEXT: llvm.mlir.global external constant @[[PAGE:__weights_[0-9a-f]+]]() {addr_space = 0 : i32, alignment = 4096 : i64}
// CHECK-NEXT: llvm.mlir.global external constant @shared() {addr_space = 0 : i32}
// CHECK-NEXT: llvm.mlir.global private constant @splat(dense
// CHECK-NEXT: llvm.mlir.global private constant @far(dense
// CHECK-NEXT: llvm.mlir.global private constant @odd(dense
// CHECK-NEXT: llvm.mlir.global private constant @scalar(
// CHECK-NEXT: llvm.mlir.global private thread_local constant @thread(dense
// CHECK-NEXT: llvm.mlir.global private @variable(dense
// CHECK-NEXT: llvm.mlir.global external constant @elsewhere() {addr_space = 0 : i32}
// CHECK: llvm.mlir.addressof @[[FLOATS]]
// CHECK-NEXT: llvm.mlir.addressof @[[FLOATS]]

// ELF: Machine: {{.*}}
// ELF: .rodata.[[FLOATS:__weights_[0-9a-f]+]] PROGBITS {{.*}} 000008 00 AG {{.*}} 64
// ELF: PROGBITS {{.*}} 000010 00 AG {{.*}} 4096
// ELF: .rodata.shared PROGBITS {{.*}} 000008 00 A {{.*}} 64
// ELF: .note.GNU-stack
// ELF: 8 OBJECT WEAK DEFAULT {{.*}} [[FLOATS]]
// ELF: 8 OBJECT GLOBAL DEFAULT {{.*}} shared
// ELF: COMDAT group section {{.*}} [[[FLOATS]]]

// BYTES: 0000 0000803f 00000040
// BYTES: 0000 01000101
// BYTES: 0000 01000f
// BYTES: 0000 0000803f 00000040 00004040 00008040
// BYTES: 0000 01000000 feffff00
// BYTES: 0000 00010100
module {
  llvm.mlir.global private constant @floats(dense<[1.0, 2.0]> : tensor<2xf32>) {addr_space = 0 : i32, alignment = 64 : i64} : !llvm.array<2 x f32>
  llvm.mlir.global internal constant @floats_0(dense<[1.0, 2.0]> : tensor<2xf32>) {addr_space = 0 : i32} : !llvm.array<2 x f32>
  llvm.mlir.global private constant @bits(dense<[1, 0, 1, 1]> : tensor<4xi1>) {addr_space = 0 : i32} : !llvm.array<4 x i1>
  llvm.mlir.global private constant @nibbles(dense<[1, 0, -1]> : tensor<3xi4>) {addr_space = 0 : i32} : !llvm.array<3 x i4>
  llvm.mlir.global private constant @complex(dense<[(1.0, 2.0), (3.0, 4.0)]> : tensor<2xcomplex<f32>>) {addr_space = 0 : i32} : !llvm.array<2 x struct<(f32, f32)>>
  llvm.mlir.global private constant @wide(dense<[1, -2]> : tensor<2xi24>) {addr_space = 0 : i32} : !llvm.array<2 x i24>
  llvm.mlir.global private constant @resource(dense_resource<bits> : tensor<4xi1>) {addr_space = 0 : i32} : !llvm.array<4 x i1>
  llvm.mlir.global private constant @page(dense<[1, 2]> : tensor<2xindex>) {addr_space = 0 : i32, alignment = 4096 : i64} : !llvm.array<2 x i64>
  llvm.mlir.global external constant @shared(dense<[5.0, 2.0]> : tensor<2xf32>) {addr_space = 0 : i32} : !llvm.array<2 x f32>
  llvm.mlir.global private constant @splat(dense<1.0> : tensor<2xf32>) {addr_space = 0 : i32} : !llvm.array<2 x f32>
  llvm.mlir.global private constant @far(dense<[1.0, 2.0]> : tensor<2xf32>) {addr_space = 3 : i32} : !llvm.array<2 x f32>
  llvm.mlir.global private constant @odd(dense<[1, 2]> : tensor<2xi72>) {addr_space = 0 : i32} : !llvm.array<2 x i72>
  llvm.mlir.global private constant @scalar(1.0 : f32) {addr_space = 0 : i32} : f32
  llvm.mlir.global private thread_local constant @thread(dense<[1.0, 2.0]> : tensor<2xf32>) {addr_space = 0 : i32} : !llvm.array<2 x f32>
  llvm.mlir.global private @variable(dense<[1.0, 2.0]> : tensor<2xf32>) {addr_space = 0 : i32} : !llvm.array<2 x f32>
  llvm.mlir.global external constant @elsewhere() {addr_space = 0 : i32} : !llvm.array<2 x f32>
  llvm.func @f() -> !llvm.ptr {
    %0 = llvm.mlir.addressof @floats : !llvm.ptr
    %1 = llvm.mlir.addressof @floats_0 : !llvm.ptr
    llvm.return %1 : !llvm.ptr
  }
}

{-# dialect_resources: { builtin: { bits: "0x0400000000010100" } } #-}
