// layout-scf-to-cf: every loop and condition becomes branches, in one order of blocks, as upstream's pass has it.
// RUN: layout-opt %s --layout-scf-to-cf | FileCheck %s
// RUN: layout-opt %s --layout-scf-to-cf > %t.ours && layout-opt %s --convert-scf-to-cf | diff %t.ours -

// CHECK-NOT: scf.
// CHECK-LABEL: func.func @nested(
// CHECK-COUNT-8: cf.
func.func @nested(%m: memref<8xi32>, %n: index, %c: i1) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (i32) {
    %x = memref.load %m[%i] : memref<8xi32>
    %y = scf.if %c -> (i32) {
      %z = arith.addi %x, %s : i32
      scf.yield %z : i32
    } else {
      %z = scf.for %j = %c0 to %i step %c1 iter_args(%t = %s) -> (i32) {
        %u = arith.addi %t, %x : i32
        scf.yield %u : i32
      }
      scf.yield %z : i32
    }
    scf.yield %y : i32
  }
  %r = scf.while (%a = %sum) : (i32) -> i32 {
    %k = arith.cmpi slt, %a, %sum : i32
    scf.condition(%k) %a : i32
  } do {
  ^bb0(%a: i32):
    scf.if %c {
      memref.store %a, %m[%c0] : memref<8xi32>
    }
    scf.yield %a : i32
  }
  return %r : i32
}

// What becomes another operation of scf first.
// CHECK-LABEL: func.func @parallel(
// CHECK-COUNT-4: cf.
// CHECK: return
func.func @parallel(%m: memref<8xi32>, %x: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    memref.store %x, %m[%i] : memref<8xi32>
    scf.reduce
  }
  scf.forall (%i) in (8) {
    memref.store %x, %m[%i] : memref<8xi32>
  }
  return
}

// CHECK-LABEL: func.func @switch(
// CHECK: cf.switch
// CHECK: return
func.func @switch(%i: index) -> i32 {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %r = scf.index_switch %i -> i32
  case 0 {
    scf.yield %one : i32
  }
  default {
    %x = scf.execute_region -> i32 {
      scf.yield %two : i32
    }
    scf.yield %x : i32
  }
  return %r : i32
}
