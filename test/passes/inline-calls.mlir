// layout-inline-calls: functions that one call calls, and small ones, are put in place of their calls.
// RUN: layout-opt %s --split-input-file --layout-inline-calls | FileCheck %s
// What is written in place is not copied: the loop that is left has no copy.
// RUN: layout-opt %s --split-input-file --layout-to-memref | FileCheck %s --check-prefix=LOOP

#T = #layout.tiled<{0:T(4)}>
// CHECK-LABEL: func.func @main(
// CHECK: scf.while
// CHECK-NEXT: %[[MORE:.*]] = arith.cmpi slt
// CHECK: scf.condition(%[[MORE]])
// CHECK: ^bb0(%[[I:.*]]: index, %[[ALL:.*]]: tensor<64xf32
// CHECK: %[[NEXT:.*]] = arith.addi %[[I]]
// CHECK: %[[WRITTEN:.*]] = tensor.insert %{{.*}} into %[[ALL]][%[[I]]]
// CHECK: scf.yield %[[NEXT]], %[[WRITTEN]]
// CHECK-NOT: func.func private
// LOOP-LABEL: func.func @main(
// LOOP: memref.alloc()
// LOOP: scf.while
// LOOP-NOT: call @
// LOOP-NOT: memref.alloc()
// LOOP-NOT: memref.copy
// LOOP: scf.yield
func.func @main(%n: index) -> tensor<64xf32, #T> {
  %zero = arith.constant 0 : index
  %begin = tensor.empty() : tensor<64xf32, #T>
  %r:2 = scf.while (%i = %zero, %all = %begin) : (index, tensor<64xf32, #T>) -> (index, tensor<64xf32, #T>) {
    %more = func.call @condition(%i, %n) : (index, index) -> i1
    scf.condition(%more) %i, %all : index, tensor<64xf32, #T>
  } do {
  ^bb0(%i: index, %all: tensor<64xf32, #T>):
    %next:2 = func.call @body(%i, %all) : (index, tensor<64xf32, #T>) -> (index, tensor<64xf32, #T>)
    scf.yield %next#0, %next#1 : index, tensor<64xf32, #T>
  }
  return %r#1 : tensor<64xf32, #T>
}
func.func private @condition(%i: index, %n: index) -> i1 {
  %more = arith.cmpi slt, %i, %n : index
  return %more : i1
}
func.func private @body(%i: index, %all: tensor<64xf32, #T>) -> (index, tensor<64xf32, #T>) {
  %one = arith.constant 1 : index
  %next = arith.addi %i, %one : index
  %written = func.call @written(%i, %all) : (index, tensor<64xf32, #T>) -> tensor<64xf32, #T>
  return %next, %written : index, tensor<64xf32, #T>
}
// What the function in place calls is in the loop, too.
func.func private @written(%i: index, %all: tensor<64xf32, #T>) -> tensor<64xf32, #T> {
  %one = arith.constant 1.0 : f32
  %written = tensor.insert %one into %all[%i] : tensor<64xf32, #T>
  return %written : tensor<64xf32, #T>
}

// -----

// An argument that is returned, in another order, and a result that is not used.
// CHECK-LABEL: func.func @branch(
// CHECK-SAME: %[[C:.*]]: i1, %[[A:.*]]: f32, %[[B:.*]]: f32)
// CHECK: scf.if %[[C]]
// CHECK-NEXT: scf.yield %[[B]] : f32
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %[[A]] : f32
func.func @branch(%c: i1, %a: f32, %b: f32) -> f32 {
  %r = scf.if %c -> f32 {
    %s:2 = func.call @swapped(%a, %b) : (f32, f32) -> (f32, f32)
    scf.yield %s#0 : f32
  } else {
    scf.yield %a : f32
  }
  return %r : f32
}
func.func private @swapped(%a: f32, %b: f32) -> (f32, f32) {
  return %b, %a : f32, f32
}

// -----

// In place of two calls, in a loop or not, and of those of what is itself put in place.
// CHECK-LABEL: func.func @copied(
// CHECK-COUNT-3: arith.negf
// CHECK-NOT: call
// CHECK-NOT: func.func private
func.func @copied(%c: i1, %x: f32) -> (f32, f32) {
  %0 = func.call @negated(%x) : (f32) -> f32
  %1 = scf.if %c -> f32 {
    %y = func.call @outer(%0) : (f32) -> f32
    scf.yield %y : f32
  } else {
    scf.yield %x : f32
  }
  return %0, %1 : f32, f32
}
func.func private @outer(%x: f32) -> f32 {
  %0 = func.call @negated(%x) : (f32) -> f32
  %1 = func.call @negated(%0) : (f32) -> f32
  return %1 : f32
}
func.func private @negated(%x: f32) -> f32 {
  %0 = arith.negf %x : f32
  return %0 : f32
}

// -----

// What functions have in common is computed once.
// CHECK-LABEL: func.func @common(
// CHECK: arith.mulf
// CHECK-NOT: arith.mulf
// CHECK: return
func.func @common(%x: f32, %y: f32) -> (f32, f32) {
  %0 = func.call @one(%x, %y) : (f32, f32) -> f32
  %1 = func.call @other(%x, %y) : (f32, f32) -> f32
  return %0, %1 : f32, f32
}
func.func private @one(%x: f32, %y: f32) -> f32 {
  %0 = arith.mulf %x, %y : f32
  %1 = arith.negf %0 : f32
  return %1 : f32
}
func.func private @other(%x: f32, %y: f32) -> f32 {
  %0 = arith.mulf %x, %y : f32
  %1 = arith.addf %0, %x : f32
  return %1 : f32
}

// -----

// These stay: called twice and large, of more than one block, with memory on the stack, with affine operations on what
// a function makes dimensions and symbols, with buffers, asked to stay, public, known by name elsewhere, and two that call
// each other.
// CHECK-LABEL: func.func @stay(
// CHECK: scf.if
// CHECK: call @large
// CHECK: call @large
// CHECK: call @blocks
// CHECK: call @stack
// CHECK: call @affine
// CHECK: call @buffer
// CHECK: call @asked
// CHECK: call @public
// CHECK: call @named
// CHECK: func.func private @large
// CHECK: func.func private @this
// CHECK: call @that
// CHECK: func.func private @that
// CHECK: call @this
func.func @stay(%c: i1, %n: index) -> (() -> ()) {
  scf.if %c {
    func.call @large() : () -> ()
    func.call @large() : () -> ()
    func.call @blocks() : () -> ()
    func.call @stack() : () -> ()
    func.call @affine(%n) : (index) -> index
    func.call @buffer() : () -> memref<4xf32>
    func.call @asked() : () -> ()
    func.call @public() : () -> ()
    func.call @named() : () -> ()
  }
  %named = func.constant @named : () -> ()
  return %named : () -> ()
}
func.func private @used_by_large()
func.func private @large() {
  func.call @used_by_large() : () -> () func.call @used_by_large() : () -> () func.call @used_by_large() : () -> ()
  func.call @used_by_large() : () -> () func.call @used_by_large() : () -> () func.call @used_by_large() : () -> ()
  func.call @used_by_large() : () -> () func.call @used_by_large() : () -> () func.call @used_by_large() : () -> ()
  func.call @used_by_large() : () -> () func.call @used_by_large() : () -> () func.call @used_by_large() : () -> ()
  func.call @used_by_large() : () -> () func.call @used_by_large() : () -> () func.call @used_by_large() : () -> ()
  func.call @used_by_large() : () -> () func.call @used_by_large() : () -> () func.call @used_by_large() : () -> ()
  func.call @used_by_large() : () -> () func.call @used_by_large() : () -> () func.call @used_by_large() : () -> ()
  func.call @used_by_large() : () -> () func.call @used_by_large() : () -> () func.call @used_by_large() : () -> ()
  func.call @used_by_large() : () -> () func.call @used_by_large() : () -> () func.call @used_by_large() : () -> ()
  func.call @used_by_large() : () -> () func.call @used_by_large() : () -> () func.call @used_by_large() : () -> ()
  func.call @used_by_large() : () -> () func.call @used_by_large() : () -> () func.call @used_by_large() : () -> ()
  func.call @used_by_large() : () -> () func.call @used_by_large() : () -> () func.call @used_by_large() : () -> ()
  func.call @used_by_large() : () -> () func.call @used_by_large() : () -> () func.call @used_by_large() : () -> ()
  func.call @used_by_large() : () -> () func.call @used_by_large() : () -> () func.call @used_by_large() : () -> ()
  func.call @used_by_large() : () -> () func.call @used_by_large() : () -> () func.call @used_by_large() : () -> ()
  func.call @used_by_large() : () -> () func.call @used_by_large() : () -> () func.call @used_by_large() : () -> ()
  func.call @used_by_large() : () -> () func.call @used_by_large() : () -> () func.call @used_by_large() : () -> ()
  func.call @used_by_large() : () -> () func.call @used_by_large() : () -> () func.call @used_by_large() : () -> ()
  func.call @used_by_large() : () -> () func.call @used_by_large() : () -> () func.call @used_by_large() : () -> ()
  func.call @used_by_large() : () -> () func.call @used_by_large() : () -> () func.call @used_by_large() : () -> ()
  func.call @used_by_large() : () -> () func.call @used_by_large() : () -> () func.call @used_by_large() : () -> ()
  return
}
func.func private @blocks() {
  cf.br ^end
^end:
  return
}
func.func private @used(memref<4xf32>)
func.func private @stack() {
  %0 = memref.alloca() : memref<4xf32>
  func.call @used(%0) : (memref<4xf32>) -> ()
  return
}
func.func private @affine(%i: index) -> index {
  %next = arith.addi %i, %i : index
  %half = affine.apply affine_map<(d0)[s0] -> (d0 floordiv 2 + s0)>(%next)[%i]
  return %half : index
}
func.func private @buffer() -> memref<4xf32> {
  %0 = memref.alloc() : memref<4xf32>
  return %0 : memref<4xf32>
}
func.func private @asked() attributes {no_inline} { return }
func.func @public() { return }
func.func private @named() { return }
func.func private @this(%c: i1) {
  scf.if %c {
    func.call @that(%c) : (i1) -> ()
  }
  return
}
func.func private @that(%c: i1) {
  scf.if %c {
    func.call @this(%c) : (i1) -> ()
  }
  return
}
