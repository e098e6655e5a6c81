// A sum over an axis of the machine: each place adds up its share, and the shares are combined, only where the order of
// additions does not matter: with the option, with the flag of the operation, and for integers.
// RUN: layout-opt %s --layout-lower-memrefs | FileCheck %s --check-prefixes=CHECK,ORDER
// RUN: layout-opt %s --layout-lower-memrefs=reassociate=true | FileCheck %s --check-prefixes=CHECK,SHARES

#columns = #layout.tensor_layout<((3:2), (4_PE, 2:1))>
#copied = #layout.tensor_layout<((3:1))>
#id = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

// CHECK-LABEL: func.func @floats(
// CHECK-SAME: %[[X:.*]]: memref<4x3x2xf32>, %[[Y:.*]]: memref<4x3xf32>)
// Each place gets all columns, and adds them up one by one.
// ORDER: memref.alloc() {alignment = 64 : i64} : memref<4x3x8xf32>
// ORDER: affine.for %{{.*}} = 0 to 3 {
// ORDER: affine.for %{{.*}} = 0 to 8 {
// ORDER: arith.addf
// ORDER-NOT: memref.alloc
// SHARES: memref.alloc() {alignment = 64 : i64} : memref<4x3xf32>
// SHARES: affine.for %{{.*}} = 0 to 3 {
// SHARES: affine.for %{{.*}} = 0 to 2 {
// SHARES: arith.addf
// CHECK-LABEL: func.func @flag(
// CHECK: memref.alloc() {alignment = 64 : i64} : memref<4x3xf32>
// CHECK-LABEL: func.func @integers(
// CHECK: memref.alloc() {alignment = 64 : i64} : memref<4x3xi32>
func.func @floats(%x: memref<3x8xf32, #columns>, %y: memref<3xf32, #copied>) {
  linalg.generic {indexing_maps = [#id, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<3x8xf32, #columns>) outs(%y : memref<3xf32, #copied>) {
  ^bb0(%e: f32, %s: f32):
    %r = arith.addf %s, %e : f32
    linalg.yield %r : f32
  }
  return
}

func.func @flag(%x: memref<3x8xf32, #columns>, %y: memref<3xf32, #copied>) {
  linalg.generic {indexing_maps = [#id, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<3x8xf32, #columns>) outs(%y : memref<3xf32, #copied>) {
  ^bb0(%e: f32, %s: f32):
    %r = arith.addf %s, %e fastmath<reassoc> : f32
    linalg.yield %r : f32
  }
  return
}

func.func @integers(%x: memref<3x8xi32, #columns>, %y: memref<3xi32, #copied>) {
  linalg.generic {indexing_maps = [#id, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<3x8xi32, #columns>) outs(%y : memref<3xi32, #copied>) {
  ^bb0(%e: i32, %s: i32):
    %r = arith.addi %s, %e : i32
    linalg.yield %r : i32
  }
  return
}

// A share may overflow where the whole sum does not, so shares promise nothing.
// CHECK-LABEL: func.func @no_wrap(
// CHECK-NOT: overflow
func.func @no_wrap(%x: memref<3x8xi32, #columns>, %y: memref<3xi32, #copied>) {
  linalg.generic {indexing_maps = [#id, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<3x8xi32, #columns>) outs(%y : memref<3xi32, #copied>) {
  ^bb0(%e: i32, %s: i32):
    %r = arith.addi %s, %e overflow<nsw> : i32
    linalg.yield %r : i32
  }
  return
}
