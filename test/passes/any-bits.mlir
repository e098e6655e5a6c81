// Elements that begin in one byte and end in another, and places that are products of indices and sizes: how parallel
// iterations store them, and what vector code says of them.
// RUN: layout-opt %s --split-input-file --layout-lower-memrefs=vectorize=avx2 --verify-diagnostics | FileCheck %s

#T = #layout.tiled<{1,0:E(3)}>
// CHECK-LABEL: func.func @shared(
// Both bytes are cleared and set.
// CHECK: memref.atomic_rmw andi
// CHECK: memref.atomic_rmw ori
// CHECK: memref.atomic_rmw andi
// CHECK: memref.atomic_rmw ori
// CHECK-NOT: memref.store
func.func @shared(%m: memref<3x5xi3, #T>, %v: i3) {
  scf.forall (%i, %j) in (3, 5) {
    memref.store %v, %m[%i, %j] : memref<3x5xi3, #T>
  }
  return
}

// -----

#T = #layout.tiled<{1,0:E(24)}>
// CHECK-LABEL: func.func @bytes(
// Elements of whole bytes share none.
// CHECK-NOT: atomic_rmw
// CHECK-COUNT-3: memref.store
// CHECK-NOT: memref.store
func.func @bytes(%m: memref<3x5xi20, #T>, %v: i20) {
  scf.forall (%i, %j) in (3, 5) {
    memref.store %v, %m[%i, %j] : memref<3x5xi20, #T>
  }
  return
}

// -----

#T = #layout.tiled<{1,0:T(8,128)E(12)}>
// CHECK-LABEL: func.func @twelve(
// CHECK-NOT: vector
func.func @twelve(%a: memref<16x256xi12, #T>, %r: memref<16x256xi12, #T>) {
  // expected-remark@+1 {{not vectorised: elements of 12 bits begin in one byte and end in another}}
  memref.copy %a, %r : memref<16x256xi12, #T> to memref<16x256xi12, #T>
  return
}

// -----

#T = #layout.tiled<{1,0:T(*,128)}>
// CHECK-LABEL: func.func @merged(
// CHECK-NOT: vector
// CHECK: arith.muli
func.func @merged(%a: memref<5x?xf32, #T>, %r: memref<5x?xf32>) {
  // expected-remark@+1 {{not vectorised: the place of an element is the product of its index and a size known only at run time}}
  linalg.copy ins(%a : memref<5x?xf32, #T>) outs(%r : memref<5x?xf32>)
  return
}

// -----

// A dimension of one place behind the one that is cut into bytes.
#T = #layout.tiled<{0:T(8,2,1)E(100)}>
// CHECK-LABEL: func.func @behind(
// CHECK: memref.alloc() : memref<8x25x1xi8>
func.func @behind() -> memref<1xi100, #T> {
  %m = memref.alloc() : memref<1xi100, #T>
  return %m : memref<1xi100, #T>
}
