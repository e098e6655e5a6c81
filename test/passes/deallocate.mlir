// layout-deallocate: functions that came with tensors are freed for, others free for themselves.
// RUN: layout-opt %s --layout-to-memref | FileCheck %s
// RUN: layout-opt %s --layout-to-memref='vectorize=avx2 cache-bytes=1000' | FileCheck %s --check-prefix=ALIGNED

#T = #layout.tiled<{1,0:T(2,2)}>

// CHECK-LABEL: func.func @automatic(
// CHECK: memref.alloc()
// CHECK: memref.dealloc
// CHECK: return
func.func @automatic(%a: tensor<3x5xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %f = arith.constant 1.0 : f32
  %0 = tensor.insert %f into %a[%c0, %c0] : tensor<3x5xf32>
  %1 = tensor.extract %0[%c0, %c0] : tensor<3x5xf32>
  return %1 : f32
}

// A loop by branches, which upstream's deallocation does not take; what is not freed here is not freed.
// CHECK-LABEL: func.func @by_hand(
// CHECK-NOT: manual_deallocation
// CHECK: memref.alloc() : memref<2x3x2x2xf32>
// CHECK: memref.alloc() : memref<2x3x2x2xf32>
// CHECK-COUNT-1: memref.dealloc
// CHECK: return
func.func @by_hand(%c: i1) {
  %0 = memref.alloc() : memref<3x5xf32, #T>
  %1 = memref.alloc() : memref<3x5xf32, #T>
  cf.br ^bb1
^bb1:
  memref.copy %0, %1 : memref<3x5xf32, #T> to memref<3x5xf32, #T>
  cf.cond_br %c, ^bb1, ^bb2
^bb2:
  memref.dealloc %1 : memref<3x5xf32, #T>
  return
}

// What lowering allocates for a conversion of buffers is freed.
// CHECK-LABEL: func.func @convert(
// CHECK: memref.alloc()
// CHECK: memref.dealloc
// CHECK: return
func.func @convert(%a: memref<3x5xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %0 = layout.convert %a : memref<3x5xf32> to memref<3x5xf32, #T>
  %1 = memref.load %0[%c0, %c0] : memref<3x5xf32, #T>
  return %1 : f32
}

// An address that is used for its alignment alone is no reason to copy the buffer: stores that bypass the cache ask for it.
// ALIGNED-LABEL: func.func @aligned(
// ALIGNED: %[[ROW:.*]] = memref.alloc() {{.*}}: memref<481xi64>
// ALIGNED: %[[RESULT:.*]] = memref.reinterpret_cast %[[ROW]]
// ALIGNED: memref.extract_aligned_pointer_as_index
// ALIGNED-NOT: memref.alloc
// ALIGNED: return %[[RESULT]] :
func.func @aligned(%x: tensor<39x4x3xi64, #layout.tiled<{0,1,2:T(8,8)}>>)
    -> tensor<39x4x3xi64, #layout.tiled<{1,2,0:T(*,4)L(37)}>> {
  %0 = layout.convert %x : tensor<39x4x3xi64, #layout.tiled<{0,1,2:T(8,8)}>>
      to tensor<39x4x3xi64, #layout.tiled<{1,2,0:T(*,4)L(37)}>>
  return %0 : tensor<39x4x3xi64, #layout.tiled<{1,2,0:T(*,4)L(37)}>>
}

// An address that is used for anything else is.
// ALIGNED-LABEL: func.func @shown(
// ALIGNED: memref.alloc()
// ALIGNED: memref.extract_aligned_pointer_as_index
// ALIGNED: memref.alloc()
// ALIGNED: memref.copy
func.func @shown(%f: f32) -> (tensor<3x5xf32>, index) {
  %e = tensor.empty() : tensor<3x5xf32>
  %0 = linalg.fill ins(%f : f32) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %m = bufferization.to_buffer %0 read_only : tensor<3x5xf32> to memref<3x5xf32>
  %p = memref.extract_aligned_pointer_as_index %m : memref<3x5xf32> -> index
  %c8191 = arith.constant 8191 : index
  %low = arith.andi %p, %c8191 : index
  return %0, %low : tensor<3x5xf32>, index
}

// What is returned is as long as its layout, an argument as well.
// CHECK-LABEL: func.func @tail(
// CHECK: memref.alloc() {alignment = 64 : i64} : memref<32xf32>
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @tail(%x: tensor<3x5xf32, #layout.tiled<{1,0:T(2,2)L(32)}>>) -> tensor<3x5xf32, #layout.tiled<{1,0:T(2,2)L(32)}>> {
  return %x : tensor<3x5xf32, #layout.tiled<{1,0:T(2,2)L(32)}>>
}

// A function of memrefs alone owns what it says: what it returns is not copied, with a tail or without.
// CHECK-LABEL: func.func private @given(
// CHECK-NOT: memref.alloc
// CHECK: return
func.func private @given(%a: memref<3x5xf32, #layout.tiled<{1,0:T(2,2)L(32)}>>) -> memref<3x5xf32, #layout.tiled<{1,0:T(2,2)L(32)}>> {
  return %a : memref<3x5xf32, #layout.tiled<{1,0:T(2,2)L(32)}>>
}
// CHECK-LABEL: func.func @made(
// CHECK: memref.alloc() : memref<32xf32>
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @made() -> memref<3x5xf32, #layout.tiled<{1,0:T(2,2)L(32)}>> {
  %a = memref.alloc() : memref<3x5xf32, #layout.tiled<{1,0:T(2,2)L(32)}>>
  return %a : memref<3x5xf32, #layout.tiled<{1,0:T(2,2)L(32)}>>
}

// Branches, and one buffer returned twice: the second time as a copy, since the caller frees both.
// CHECK-LABEL: func.func @branches(
// CHECK-COUNT-3: memref.alloc
// CHECK: memref.copy
// CHECK: return
func.func @branches(%c: i1, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y = arith.addf %x, %x : tensor<4xf32>
  %z = arith.mulf %x, %x : tensor<4xf32>
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  return %y, %y : tensor<4xf32>, tensor<4xf32>
^bb2:
  return %y, %z : tensor<4xf32>, tensor<4xf32>
}

// A function of memrefs alone that returns what it allocates may be called, as before; and one that returns its argument,
// where the program frees it.
// CHECK-LABEL: func.func @calls(
func.func private @same(%m: memref<4xf32>) -> memref<4xf32> attributes {no_inline} {
  return %m : memref<4xf32>
}
func.func private @new() -> (memref<4xf32>, memref<4xf32>) attributes {no_inline} {
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  return %a, %b : memref<4xf32>, memref<4xf32>
}
func.func @calls(%x: tensor<4xf32>) -> tensor<4xf32> {
  %m = memref.alloc() : memref<4xf32>
  %s = call @same(%m) : (memref<4xf32>) -> memref<4xf32>
  %n:2 = call @new() : () -> (memref<4xf32>, memref<4xf32>)
  %t = bufferization.to_tensor %n#0 restrict : memref<4xf32> to tensor<4xf32>
  %y = arith.addf %x, %t : tensor<4xf32>
  memref.dealloc %s : memref<4xf32>
  return %y : tensor<4xf32>
}

// A branch of a conditional in a branch hands a buffer on, and all other branches free it; what uses it after the inner
// conditional has it copied.
// CHECK-LABEL: func.func @nested(
// CHECK: %[[MADE:.*]] = memref.alloc()
// CHECK: scf.if
// CHECK: scf.if
// CHECK-NEXT: scf.yield %[[MADE]]
// CHECK: else
// CHECK-NEXT: memref.dealloc %[[MADE]]
// CHECK: scf.yield
// CHECK: scf.yield
// CHECK: else
// CHECK: memref.dealloc %[[MADE]]
// CHECK-NOT: memref.copy
// CHECK-LABEL: func.func @nested_and_used(
// CHECK: %[[MADE:.*]] = memref.alloc()
// CHECK: scf.if
// CHECK: scf.if
// CHECK: memref.copy %[[MADE]]
// CHECK: memref.load %[[MADE]]
// CHECK: memref.dealloc %[[MADE]]
// CHECK-NEXT: return
func.func @nested(%c: i1, %d: i1, %a: tensor<3x5xi32>) -> tensor<3x5xi32> {
  %made = arith.muli %a, %a : tensor<3x5xi32>
  %r = scf.if %c -> tensor<3x5xi32> {
    %q = scf.if %d -> tensor<3x5xi32> {
      scf.yield %made : tensor<3x5xi32>
    } else {
      %x = arith.addi %a, %a : tensor<3x5xi32>
      scf.yield %x : tensor<3x5xi32>
    }
    scf.yield %q : tensor<3x5xi32>
  } else {
    %x = arith.subi %a, %a : tensor<3x5xi32>
    scf.yield %x : tensor<3x5xi32>
  }
  return %r : tensor<3x5xi32>
}
func.func @nested_and_used(%c: i1, %d: i1, %a: tensor<3x5xi32>, %i: index) -> (tensor<3x5xi32>, i32) {
  %zero = arith.constant 0 : i32
  %made = arith.muli %a, %a : tensor<3x5xi32>
  %r:2 = scf.if %c -> (tensor<3x5xi32>, i32) {
    %q = scf.if %d -> tensor<3x5xi32> {
      scf.yield %made : tensor<3x5xi32>
    } else {
      %x = arith.addi %a, %a : tensor<3x5xi32>
      scf.yield %x : tensor<3x5xi32>
    }
    %n = tensor.extract %made[%i, %i] : tensor<3x5xi32>
    scf.yield %q, %n : tensor<3x5xi32>, i32
  } else {
    %x = arith.subi %a, %a : tensor<3x5xi32>
    scf.yield %x, %zero : tensor<3x5xi32>, i32
  }
  return %r#0, %r#1 : tensor<3x5xi32>, i32
}

// A function of memrefs returns its own buffers as they are, whatever lowering allocates beside them.
// CHECK-LABEL: func.func @returned(
// CHECK: %[[OWN:.*]] = memref.alloc() : memref<3x5xf32>
// CHECK-COUNT-3: memref.dealloc
// CHECK: return %[[OWN]]
// CHECK-LABEL: func.func @argument(
// CHECK-SAME: %[[OWN:.*]]: memref<3x5xf32>)
// CHECK-COUNT-3: memref.dealloc
// CHECK-NEXT: return %[[OWN]]
// CHECK-LABEL: func.func @called(
// CHECK: %[[OWN:.*]] = call @same
// CHECK-COUNT-3: memref.dealloc
// CHECK-NEXT: return
func.func @returned(%a: memref<3x5xf32>) -> memref<3x5xf32> {
  %own = memref.alloc() : memref<3x5xf32>
  linalg.softmax dimension(1) ins(%a : memref<3x5xf32>) outs(%own : memref<3x5xf32>)
  return %own : memref<3x5xf32>
}
func.func @argument(%a: memref<3x5xf32>) -> memref<3x5xf32> {
  linalg.softmax dimension(1) ins(%a : memref<3x5xf32>) outs(%a : memref<3x5xf32>)
  return %a : memref<3x5xf32>
}
func.func @called(%m: memref<4xf32>, %a: memref<3x5xf32>) {
  %s = call @same(%m) : (memref<4xf32>) -> memref<4xf32>
  linalg.softmax dimension(1) ins(%a : memref<3x5xf32>) outs(%a : memref<3x5xf32>)
  return
}

// With tensors, an allocation of the program that it returns and does not free is the caller's.
// CHECK-LABEL: func.func @beside_tensors(
// CHECK: %[[OWN:.*]] = memref.alloc() : memref<3x5xf32>
// CHECK-NOT: memref.copy
// CHECK: return %[[OWN]], %
func.func @beside_tensors(%a: tensor<3x5xf32>) -> (memref<3x5xf32>, tensor<3x5xf32>) {
  %own = memref.alloc() : memref<3x5xf32>
  %f = arith.constant 1.0 : f32
  linalg.fill ins(%f : f32) outs(%own : memref<3x5xf32>)
  %b = arith.addf %a, %a : tensor<3x5xf32>
  return %own, %b : memref<3x5xf32>, tensor<3x5xf32>
}
