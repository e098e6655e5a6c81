// layout-plan-memory: where the memory of a call is from.
// RUN: layout-opt %s --split-input-file --layout-plan-memory=arena=kept | FileCheck %s --check-prefix=KEPT
// RUN: layout-opt %s --split-input-file --layout-plan-memory=arena=argument | FileCheck %s --check-prefix=ARGUMENT
// RUN: layout-opt %s --split-input-file --layout-plan-memory=arena=none | FileCheck %s --check-prefix=NONE

// NONE-NOT: memref.view
// NONE-NOT: xi8>

// KEPT: llvm.func @aligned_alloc(i64, i64) -> !llvm.ptr
// KEPT: llvm.func @free(!llvm.ptr)
// KEPT: func.func private @take_arena(%[[VARIABLE:.*]]: !llvm.ptr, %[[BYTES:.*]]: i64) -> !llvm.ptr
// KEPT: llvm.atomicrmw xchg %[[VARIABLE]], %{{.*}} acq_rel
// KEPT: llvm.call @aligned_alloc(%{{.*}}, %[[BYTES]])
// KEPT: func.func private @keep_arena(%[[VARIABLE:.*]]: !llvm.ptr, %[[GIVEN:.*]]: !llvm.ptr)
// KEPT: %[[OTHER:.*]] = llvm.atomicrmw xchg %[[VARIABLE]], %[[GIVEN]] acq_rel
// KEPT: llvm.call @free(%[[OTHER]])
// KEPT: llvm.mlir.global internal @sum_arena()
// KEPT: llvm.func internal @free_arenas()
// KEPT: llvm.mlir.global_dtors dtors = [@free_arenas]

// KEPT-LABEL: func.func @sum(
// KEPT: %[[AT:.*]] = llvm.mlir.addressof @sum_arena
// KEPT: %[[COUNT:.*]] = llvm.mlir.constant(64 : i64)
// KEPT: %[[TAKEN:.*]] = call @take_arena(%[[AT]], %[[COUNT]])
// KEPT: %[[ARENA:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<64xi8>
// KEPT: memref.view %[[ARENA]]
// KEPT: call @keep_arena(%[[AT]], %[[TAKEN]])
// KEPT-NEXT: return

// ARGUMENT: func.func @sum_arena_bytes() -> i64
// ARGUMENT: arith.constant 64 : i64
// ARGUMENT: func.func @nothing_arena_bytes() -> i64
// ARGUMENT: arith.constant 0 : i64
// ARGUMENT-LABEL: func.func @sum(
// ARGUMENT-SAME: %{{.*}}: f32 {some.attribute}, %{{.*}}: index, %[[ARENA:.*]]: memref<64xi8>)
// ARGUMENT: memref.view %[[ARENA]]
// ARGUMENT-LABEL: func.func @nothing(
// ARGUMENT-SAME: %{{.*}}: memref<0xi8>)
func.func @sum(%x: f32 {some.attribute}, %at: index) {
  %0 = memref.alloc() : memref<8xf32>
  memref.store %x, %0[%at] : memref<8xf32>
  memref.dealloc %0 : memref<8xf32>
  return
}
func.func @nothing() {
  return
}

// -----

// Names that are taken get numbers.
// KEPT: @take_arena_1
// KEPT: llvm.mlir.global internal @"a\22b_arena"()
func.func private @take_arena(%x: f32) -> f32 {
  return %x : f32
}
func.func @"a\"b"() {
  %0 = memref.alloc() : memref<8xf32>
  memref.dealloc %0 : memref<8xf32>
  return
}
