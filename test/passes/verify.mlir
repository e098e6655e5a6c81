// layout-verify: passes that keep what functions compute, and what is said of others.
// RUN: layout-opt %s --split-input-file --verify-diagnostics '--layout-verify=passes={layout-lower-memrefs,canonicalize,cse}' | FileCheck %s

// A pass that does nothing wrong.
// CHECK-LABEL: func.func @copied(
func.func @copied(%a: memref<3x5xf32>, %b: memref<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>) {
  memref.copy %a, %b : memref<3x5xf32> to memref<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>
  return
}

// -----

// A program that has no meaning is not compared.
// expected-remark @+2 {{@outside: not proved: no sizes and numbers that were tried are those of the program; for all data: an access outside of its buffer}}
module {
  func.func @outside(%a: memref<4xf32>) -> f32 {
    %c = arith.constant 3 : index
    %d = arith.addi %c, %c : index
    %x = memref.load %a[%d] : memref<4xf32>
    return %x : f32
  }
}

// -----

// Iterations that may run at the same time and write to one place.
// expected-remark @+2 {{@race: not proved: no sizes and numbers that were tried are those of the program; for all data: result 0: an element that several iterations write, in no order}}
module {
  func.func @race(%a: memref<4xf32>, %x: f32) {
    scf.forall (%i) in (4) {
      %c = arith.constant 1 : index
      memref.store %x, %a[%c] : memref<4xf32>
    }
    return
  }
}

// -----

func.func @unknown(%a: memref<4xi8>, %i: index) -> i8 {
  %zero = arith.constant 0 : index
  %j = arith.addi %i, %zero : index
  // expected-remark @below {{@unknown: not proved: 'memref.realloc' is not modelled; for all data: memref.realloc: not modelled}}
  %b = memref.realloc %a : memref<4xi8> to memref<8xi8>
  %x = memref.load %b[%j] : memref<8xi8>
  return %x : i8
}
