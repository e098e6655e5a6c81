// layout-plan-memory: buffers that live at the same time have places of their own, and others share them.
// RUN: layout-opt %s --layout-plan-memory=buffers=0 | FileCheck %s
// RUN: layout-opt %s --layout-plan-memory=buffers=3 | FileCheck %s --check-prefix=FEW

// FEW-LABEL: func.func @places(
// FEW: memref<192xi8>
// FEW-LABEL: func.func @loop(
// FEW-NOT: xi8

// %a and %b live at once. %c is where %a was, with a part of its gap left for %d; each place is a multiple of 64 bytes.
// CHECK-LABEL: func.func @places(
// CHECK: %[[ALL:.*]] = memref.alloc() {alignment = 64 : i64} : memref<192xi8>
// CHECK: %[[A:.*]] = arith.constant 0 : index
// CHECK: memref.view %[[ALL]][%[[A]]][] : memref<192xi8> to memref<32xf32>
// CHECK: %[[B:.*]] = arith.constant 128 : index
// CHECK: memref.view %[[ALL]][%[[B]]][] : memref<192xi8> to memref<3xi1>
// CHECK: %[[C:.*]] = arith.constant 0 : index
// CHECK: memref.view %[[ALL]][%[[C]]][] : memref<192xi8> to memref<2x8xbf16>
// CHECK: %[[D:.*]] = arith.constant 64 : index
// CHECK: memref.view %[[ALL]][%[[D]]][] : memref<192xi8> to memref<8xindex>
// CHECK: memref.dealloc %[[ALL]]
// CHECK-NOT: memref.dealloc
// CHECK: return
func.func @places() {
  %a = memref.alloc() : memref<32xf32>
  %b = memref.alloc() : memref<3xi1>
  memref.dealloc %a : memref<32xf32>
  %c = memref.alloc() {alignment = 64 : i64} : memref<2x8xbf16>
  %d = memref.alloc() : memref<8xindex>
  memref.dealloc %c : memref<2x8xbf16>
  memref.dealloc %d : memref<8xindex>
  memref.dealloc %b : memref<3xi1>
  return
}

// The body of a loop has no place of what lives around it, and what comes after the loop has.
// CHECK-LABEL: func.func @loop(
// CHECK: memref.alloc() {alignment = 64 : i64} : memref<128xi8>
// CHECK: arith.constant 0 : index
// CHECK: scf.for
// CHECK: %[[INSIDE:.*]] = arith.constant 64 : index
// CHECK: memref.view %{{.*}}[%[[INSIDE]]]
// CHECK: %[[AFTER:.*]] = arith.constant 64 : index
// CHECK: memref.view %{{.*}}[%[[AFTER]]]
func.func @loop(%from: index, %to: index, %step: index) {
  %a = memref.alloc() : memref<4xf32>
  scf.for %i = %from to %to step %step {
    %b = memref.alloc() : memref<4xf32>
    memref.dealloc %b : memref<4xf32>
  }
  %c = memref.alloc() : memref<5xf32>
  memref.dealloc %c : memref<5xf32>
  memref.dealloc %a : memref<4xf32>
  return
}

// What stays: iterations at the same time, dynamic sizes, strides, memory spaces, elements whose bytes are not known here,
// what another block frees or nobody does, more alignment, and too many bytes.
// CHECK-LABEL: func.func @stays(
// CHECK-NOT: memref.view
// CHECK-NOT: xi8>
// CHECK: return
func.func @stays(%n: index, %c: i1) -> memref<4xf32> {
  scf.forall (%i) in (8) {
    %a = memref.alloc() : memref<4xf32>
    memref.dealloc %a : memref<4xf32>
  }
  %b = memref.alloc(%n) : memref<?xf32>
  memref.dealloc %b : memref<?xf32>
  %d = memref.alloc() : memref<4xf32, 1>
  memref.dealloc %d : memref<4xf32, 1>
  %e = memref.alloc() : memref<4xcomplex<f32>>
  memref.dealloc %e : memref<4xcomplex<f32>>
  %f = memref.alloc() : memref<4xf32>
  scf.if %c {
    memref.dealloc %f : memref<4xf32>
  }
  %g = memref.alloc() {alignment = 128 : i64} : memref<4xf32>
  memref.dealloc %g : memref<4xf32>
  %h = memref.alloc() : memref<4611686018427387904xf32>
  memref.dealloc %h : memref<4611686018427387904xf32>
  %r = memref.alloc() : memref<4xf32>
  return %r : memref<4xf32>
}
