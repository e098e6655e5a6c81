// layout-plan-memory: buffers that live at the same time have places of their own, and others share them.
// RUN: layout-opt %s --layout-plan-memory=buffers=0 | FileCheck %s
// RUN: layout-opt %s --layout-plan-memory=buffers=100 | FileCheck %s --check-prefix=FEW

// FEW-LABEL: func.func @places(
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

// What each iteration makes for the next one is in the slot of two that the iteration does not read.
// CHECK-LABEL: func.func @carried(
// CHECK: %[[ALL:.*]] = memref.alloc() {alignment = 64 : i64} : memref<128xi8>
// CHECK: %[[A:.*]] = arith.constant 0 : index
// CHECK: %[[X0:.*]] = memref.view %[[ALL]][%[[A]]]
// CHECK: scf.for {{.*}} iter_args(%[[X:.*]] = %[[X0]])
// CHECK: %[[FIRST:.*]] = arith.constant 0 : index
// CHECK: %[[SECOND:.*]] = arith.constant 64 : index
// CHECK: %[[BASE:.*]] = memref.extract_aligned_pointer_as_index %[[ALL]]
// CHECK: %[[START:.*]] = arith.addi %[[BASE]], %[[SECOND]]
// CHECK: %[[AT:.*]] = memref.extract_aligned_pointer_as_index %[[X]]
// CHECK: %[[IS_FIRST:.*]] = arith.cmpi ult, %[[AT]], %[[START]]
// CHECK: %[[OTHER:.*]] = arith.select %[[IS_FIRST]], %[[SECOND]], %[[FIRST]]
// CHECK: %[[NEW:.*]] = memref.view %[[ALL]][%[[OTHER]]]
// CHECK: memref.copy %[[X]], %[[NEW]]
// CHECK-NEXT: scf.yield %[[NEW]]
// CHECK: memref.dealloc %[[ALL]]
// CHECK-NEXT: return
func.func @carried(%from: index, %to: index, %step: index) {
  %x0 = memref.alloc() : memref<4xf32>
  %r = scf.for %i = %from to %to step %step iter_args(%x = %x0) -> (memref<4xf32>) {
    %new = memref.alloc() : memref<4xf32>
    memref.copy %x, %new : memref<4xf32> to memref<4xf32>
    memref.dealloc %x : memref<4xf32>
    scf.yield %new : memref<4xf32>
  }
  memref.dealloc %r : memref<4xf32>
  return
}

// Both branches make it in one place.
// CHECK-LABEL: func.func @branches(
// CHECK: memref.alloc() {alignment = 64 : i64} : memref<64xi8>
// CHECK: scf.if
// CHECK: arith.constant 0 : index
// CHECK: else
// CHECK: arith.constant 0 : index
func.func @branches(%c: i1) {
  %r = scf.if %c -> (memref<4xf32>) {
    %a = memref.alloc() : memref<4xf32>
    scf.yield %a : memref<4xf32>
  } else {
    %b = memref.alloc() : memref<4xf32>
    scf.yield %b : memref<4xf32>
  }
  memref.dealloc %r : memref<4xf32>
  return
}

// A private function gets memory for what it returns, and for all else.
// CHECK-LABEL: func.func private @twice(
// CHECK-SAME: %[[X:.*]]: memref<4xf32>, %[[RESULT:.*]]: memref<64xi8>, %[[SCRATCH:.*]]: memref<64xi8>) -> memref<4xf32>
// CHECK: memref.view %[[RESULT]]
// CHECK: memref.view %[[SCRATCH]]
// CHECK-NOT: dealloc
// CHECK: return
func.func private @twice(%x: memref<4xf32>) -> memref<4xf32> {
  %r = memref.alloc() : memref<4xf32>
  %s = memref.alloc() : memref<8xf32>
  memref.dealloc %s : memref<8xf32>
  return %r : memref<4xf32>
}

// %y is live in the call that makes %z, which is so long after the second call's scratch is not.
// CHECK-LABEL: func.func @calls(
// CHECK: %[[ALL:.*]] = memref.alloc() {alignment = 64 : i64} : memref<192xi8>
// CHECK: call @twice(%{{.*}}, %{{.*}}, %{{.*}})
// CHECK: call @twice(%{{.*}}, %{{.*}}, %{{.*}})
// CHECK: scf.forall
// CHECK: %[[OWN:.*]] = memref.alloc() {alignment = 64 : i64} : memref<64xi8>
// CHECK: %[[SCRATCH:.*]] = memref.alloc() {alignment = 64 : i64} : memref<64xi8>
// CHECK: %[[W:.*]] = func.call @twice(%{{.*}}, %[[OWN]], %[[SCRATCH]])
// CHECK-NEXT: memref.dealloc %[[SCRATCH]]
// CHECK-NEXT: memref.dealloc %[[W]]
// CHECK: memref.dealloc %[[ALL]]
// CHECK-NEXT: return
func.func @calls(%x: memref<4xf32>) {
  %y = call @twice(%x) : (memref<4xf32>) -> memref<4xf32>
  %z = call @twice(%y) : (memref<4xf32>) -> memref<4xf32>
  memref.dealloc %y : memref<4xf32>
  memref.dealloc %z : memref<4xf32>
  scf.forall (%i) in (8) {
    %w = func.call @twice(%x) : (memref<4xf32>) -> memref<4xf32>
    memref.dealloc %w : memref<4xf32>
  }
  return
}

// What is returned of a public function is its caller's to free: here it is the memory that the callee was given.
// CHECK-LABEL: func.func @returned(
// CHECK: memref.alloc()
// CHECK: %[[RESULT:.*]] = memref.alloc() {alignment = 64 : i64} : memref<64xi8>
// CHECK: %[[R:.*]] = call @twice(%{{.*}}, %[[RESULT]], %{{.*}})
// CHECK: return %[[R]]
func.func @returned(%x: memref<4xf32>) -> memref<4xf32> {
  %y = call @twice(%x) : (memref<4xf32>) -> memref<4xf32>
  return %y : memref<4xf32>
}

// A function that may call itself has its own arena.
// CHECK-LABEL: func.func private @again(
// CHECK-SAME: %{{.*}}: i1) {
// CHECK: memref.alloc() {alignment = 64 : i64} : memref<64xi8>
// CHECK: call @again(%{{.*}}) : (i1) -> ()
func.func private @again(%c: i1) {
  %x = memref.alloc() : memref<4xf32>
  scf.if %c {
    func.call @again(%c) : (i1) -> ()
  }
  memref.dealloc %x : memref<4xf32>
  return
}

// What stays: iterations at the same time, dynamic sizes, strides, memory spaces, elements whose bytes are not known here,
// what another block frees or nobody does, more alignment, three of a loop at once, and too many bytes.
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
  %x0 = memref.alloc() : memref<4xf32>
  %y0 = memref.alloc() : memref<4xf32>
  %xy:2 = scf.for %i = %n to %n step %n iter_args(%x = %x0, %y = %y0) -> (memref<4xf32>, memref<4xf32>) {
    %z = memref.alloc() : memref<4xf32>
    memref.copy %x, %z : memref<4xf32> to memref<4xf32>
    memref.dealloc %x : memref<4xf32>
    scf.yield %y, %z : memref<4xf32>, memref<4xf32>
  }
  memref.dealloc %xy#0 : memref<4xf32>
  memref.dealloc %xy#1 : memref<4xf32>
  %r = memref.alloc() : memref<4xf32>
  return %r : memref<4xf32>
}

// The first inner loop reads %m or %q, so it is not known what becomes of what the second one begins with and gives, nor of
// what the loop around gets from it: all of these are allocated, and freed, as before.
// CHECK-LABEL: func.func @unknown(
// CHECK-NOT: memref.view
// CHECK: scf.for %{{.*}} iter_args(%[[X:.*]] = %{{.*}}) -> (memref<4xf32>)
// CHECK-NOT: memref.view
// CHECK: memref.dealloc %[[X]]
// CHECK-NOT: memref.view
// CHECK: scf.yield %{{.*}} : memref<4xf32>
// CHECK-NOT: memref.view
// CHECK: return
func.func @unknown(%n: index, %go: i1) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %a = memref.alloc() : memref<4xf32>
  %r = scf.for %i = %zero to %n step %one iter_args(%x = %a) -> (memref<4xf32>) {
    memref.dealloc %x : memref<4xf32>
    %m = memref.alloc() : memref<4xf32>
    %q = memref.alloc() : memref<4xf32>
    scf.while (%w = %m) : (memref<4xf32>) -> () {
      memref.copy %w, %w : memref<4xf32> to memref<4xf32>
      scf.condition(%go)
    } do {
      scf.yield %q : memref<4xf32>
    }
    memref.dealloc %m : memref<4xf32>
    %s = scf.for %j = %zero to %n step %one iter_args(%v = %q) -> (memref<4xf32>) {
      memref.dealloc %v : memref<4xf32>
      %t = memref.alloc() : memref<4xf32>
      scf.yield %t : memref<4xf32>
    }
    scf.yield %s : memref<4xf32>
  }
  memref.dealloc %r : memref<4xf32>
  return
}
