// An arena for each memory, also of what calls need and return.
// RUN: layout-opt %s --layout-plan-memory=report 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REPORT < %t
// RUN: layout-opt %s --layout-plan-memory="arena=argument buffers=0" | FileCheck %s --check-prefix=ARGUMENT
// RUN: layout-opt %s --layout-plan-memory=arena=kept | FileCheck %s --check-prefix=KEPT
// RUN: layout-opt %s --layout-convert-to-llvm=arena=kept | FileCheck %s --check-prefix=LLVM

// Two buffers of 64 bytes are live at once in the one, one after another two of 128 in the other.
// REPORT: remark: the arena in memory space 0 has 128 bytes for 2 buffers, of which at most 128 are live at once
// REPORT: remark: the arena in memory space 1 has 320 bytes for 4 buffers, of which at most 320 are live at once
// CHECK-LABEL: func.func @main(
// CHECK-DAG: memref.alloc() {alignment = 64 : i64} : memref<128xi8>
// CHECK-DAG: %[[NEAR:.*]] = memref.alloc() {alignment = 64 : i64} : memref<320xi8, #layout.memory_space<vmem>>
// CHECK-NOT: memref.alloc
// CHECK: memref.view %[[NEAR]][%{{.*}}][] : memref<320xi8, #layout.memory_space<vmem>> to memref<4x8xf32, #layout.memory_space<vmem>>
// CHECK: call @inner(%{{.*}}) : (memref<16xf32>, memref<64xi8, #layout.memory_space<vmem>>, memref<64xi8, #layout.memory_space<vmem>>) -> memref<16xf32, #layout.memory_space<vmem>>
// CHECK-DAG: memref.dealloc %{{.*}} : memref<128xi8>
// CHECK-DAG: memref.dealloc %[[NEAR]] : memref<320xi8, #layout.memory_space<vmem>>
// ARGUMENT-DAG: func.func @main_arena_bytes() -> i64
// ARGUMENT-DAG: func.func @main_arena_bytes_1() -> i64
// ARGUMENT: func.func @main(%{{.*}}: f32, %{{.*}}: index, %{{.*}}: memref<128xi8>, %{{.*}}: memref<320xi8, #layout.memory_space<vmem>>)
// KEPT-DAG: llvm.mlir.global internal @main_arena()
// KEPT-DAG: llvm.mlir.global internal @main_arena_1()
// LLVM: llvm.func @main(
func.func @main(%x: f32, %at: index) {
  %far = memref.alloc() : memref<16xf32>
  %other = memref.alloc() : memref<16xf32>
  memref.store %x, %far[%at] : memref<16xf32>
  memref.copy %far, %other : memref<16xf32> to memref<16xf32>
  memref.dealloc %other : memref<16xf32>
  %a = memref.alloc() : memref<4x8xf32, #layout.memory_space<vmem>>
  memref.store %x, %a[%at, %at] : memref<4x8xf32, #layout.memory_space<vmem>>
  %r = func.call @inner(%far) : (memref<16xf32>) -> memref<16xf32, #layout.memory_space<vmem>>
  %b = memref.alloc() : memref<4x8xf32, #layout.memory_space<vmem>>
  memref.copy %a, %b : memref<4x8xf32, #layout.memory_space<vmem>> to memref<4x8xf32, #layout.memory_space<vmem>>
  memref.dealloc %a : memref<4x8xf32, #layout.memory_space<vmem>>
  memref.store %x, %r[%at] : memref<16xf32, #layout.memory_space<vmem>>
  memref.dealloc %r : memref<16xf32, #layout.memory_space<vmem>>
  memref.dealloc %b : memref<4x8xf32, #layout.memory_space<vmem>>
  memref.dealloc %far : memref<16xf32>
  return
}

func.func private @inner(%x: memref<16xf32>) -> memref<16xf32, #layout.memory_space<vmem>> {
  %a = memref.alloc() : memref<16xf32, #layout.memory_space<vmem>>
  memref.copy %x, %a : memref<16xf32> to memref<16xf32, #layout.memory_space<vmem>>
  %r = memref.alloc() : memref<16xf32, #layout.memory_space<vmem>>
  memref.copy %a, %r : memref<16xf32, #layout.memory_space<vmem>> to memref<16xf32, #layout.memory_space<vmem>>
  memref.dealloc %a : memref<16xf32, #layout.memory_space<vmem>>
  return %r : memref<16xf32, #layout.memory_space<vmem>>
}
