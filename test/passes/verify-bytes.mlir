// layout-verify: arenas, whose parts are seen as other elements.
// RUN: layout-opt %s --split-input-file --verify-diagnostics '--layout-verify=passes={layout-plan-memory{buffers=0}}' | FileCheck %s

// %b begins before %a ends, and %c takes the place of %a.
// CHECK-LABEL: func.func @arena(
// CHECK-COUNT-3: memref.view
func.func @arena(%x: memref<8xf32>, %y: memref<8xbf16>) {
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xbf16>
  memref.copy %x, %a : memref<8xf32> to memref<8xf32>
  memref.copy %y, %b : memref<8xbf16> to memref<8xbf16>
  memref.copy %a, %x : memref<8xf32> to memref<8xf32>
  memref.dealloc %a : memref<8xf32>
  %c = memref.alloc() : memref<8xbf16>
  memref.copy %b, %c : memref<8xbf16> to memref<8xbf16>
  memref.copy %c, %y : memref<8xbf16> to memref<8xbf16>
  memref.dealloc %b : memref<8xbf16>
  memref.dealloc %c : memref<8xbf16>
  return
}

// -----

// An element of which a byte was overwritten is none.
// expected-remark @+2 {{@part: not proved: no sizes and numbers that were tried are those of the program}}
module {
  func.func @part(%x: memref<8xf32>) -> f32 {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i8
    %a = memref.alloc() : memref<8xi8>
    %v = memref.view %a[%c0][] : memref<8xi8> to memref<1xi32>
    %w = memref.view %a[%c2][] : memref<8xi8> to memref<1xi8>
    memref.store %one, %v[%c0] : memref<1xi32>
    memref.store %two, %w[%c0] : memref<1xi8>
    %n = memref.load %v[%c0] : memref<1xi32>
    %i = arith.index_cast %n : i32 to index
    %r = memref.load %x[%i] : memref<8xf32>
    memref.dealloc %a : memref<8xi8>
    return %r : f32
  }
}

// -----

func.func @other_part(%x: memref<8xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i8
  %a = memref.alloc() : memref<8xi8>
  %v = memref.view %a[%c0][] : memref<8xi8> to memref<1xi32>
  %w = memref.view %a[%c4][] : memref<8xi8> to memref<1xi8>
  memref.store %one, %v[%c0] : memref<1xi32>
  memref.store %two, %w[%c0] : memref<1xi8>
  %n = memref.load %v[%c0] : memref<1xi32>
  %i = arith.index_cast %n : i32 to index
  %r = memref.load %x[%i] : memref<8xf32>
  memref.dealloc %a : memref<8xi8>
  return %r : f32
}
