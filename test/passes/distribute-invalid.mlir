// TensorLayouts that cannot be lowered are errors, with the reason, and the module stays as it was.
// RUN: layout-opt %s --split-input-file --layout-lower-memrefs --verify-diagnostics
// RUN: not layout-opt %s --mlir-print-local-scope --split-input-file --layout-lower-memrefs --mlir-print-ir-after-failure 2>&1 | FileCheck %s

// CHECK: IR Dump After LayoutLowerMemrefs Failed
// CHECK: func.func @vector(%{{.*}}: memref<8x8xf32, #layout.tensor_layout<((4_PE, 2:8), (8:1))>>
// CHECK: linalg.fill
#rows = #layout.tensor_layout<((4_PE, 2:8), (8:1))>
func.func @vector(%a: memref<8x8xf32, #rows>, %i: index, %x: f32) -> vector<4xf32> {
  linalg.fill ins(%x : f32) outs(%a : memref<8x8xf32, #rows>)
  // expected-error@+1 {{'vector.transfer_read' op cannot be lowered: a vector cannot cross the places of a TensorLayout}}
  %0 = vector.transfer_read %a[%i, %i], %x : memref<8x8xf32, #rows>, vector<4xf32>
  // expected-error@+1 {{'vector.transfer_write' op cannot be lowered: a vector cannot cross the places of a TensorLayout}}
  vector.transfer_write %0, %a[%i, %i] : vector<4xf32>, memref<8x8xf32, #rows>
  return %0 : vector<4xf32>
}

// -----

// expected-error@+1 {{cannot lower memref<?x8xf32, #layout.tensor_layout<((4_PE, 2:8), (8:1))>>: a TensorLayout must have static sizes}}
func.func private @sizes(memref<?x8xf32, #layout.tensor_layout<((4_PE, 2:8), (8:1))>>)

// -----

// expected-error@+1 {{the number of its bytes, all places together, overflows 64 bits}}
func.func private @bytes(memref<4xf32, #layout.tensor_layout<((4:2305843009213693952))>>)

// -----

// expected-error@+1 {{the number of its elements, all places together, overflows 64 bits}}
func.func private @large(memref<4xf32, #layout.tensor_layout<((2_A:4611686018427387904, 2_C:4611686018427387904))>>)

// -----

#rows = #layout.tensor_layout<((4_PE, 2:8), (8:1))>
func.func @pointer(%a: memref<8x8xf32, #rows>, %i: index, %x: f32) -> index {
  // expected-error@+1 {{expected a buffer with strides, found layout ((4_PE, 2:8), (8:1))}}
  %p = memref.extract_aligned_pointer_as_index %a : memref<8x8xf32, #rows> -> index
  // expected-error@+1 {{an element of a TensorLayout may be at several places, which cannot be updated at once}}
  %0 = memref.atomic_rmw addf %x, %a[%i, %i] : (f32, memref<8x8xf32, #rows>) -> f32
  return %p : index
}

// -----

// expected-error@+1 {{cannot lower memref<2xmemref<4xf32, #layout.tensor_layout<((4_PE))>>>: a type nested in it contains a layout}}
func.func @buffers(%m: memref<2xmemref<4xf32, #layout.tensor_layout<((4_PE))>>>) { return }

// -----

// On a machine, layouts that do not fit are refused before any pass, with what would.
module attributes {layout.machine = #layout.machine<mn_core>} {
  // expected-error@+1 {{tensor<8xf32, #layout.tensor_layout<((8_Pe))>> does not fit the machine: unknown axis `Pe`; did you mean `PE`?}}
  func.func private @axis(tensor<8xf32, #layout.tensor_layout<((8_Pe))>>)
}

// -----

module attributes {layout.machine = #layout.machine<mn_core>} {
  // expected-error@+1 {{the extent along PE must be at most the machine's 4, found 8}}
  func.func private @extent(tensor<8xf32, #layout.tensor_layout<((8_PE))>>)
}

// -----

module attributes {layout.machine = #layout.machine<mn_core>} {
  // expected-error@+1 {{the extent along PE must be at most the machine's 4, found 5}}
  func.func private @stride(memref<2xf32, #layout.tensor_layout<((2_PE:4))>>)
}

// -----

module attributes {layout.machine = #layout.machine<mn_core>} {
  // expected-error@+1 {{the layout reaches 4 along W, a word of 64 bits holds 2 elements of 32 bits}}
  func.func private @word(tensor<8xf32, #layout.tensor_layout<((2:1, 4_W))>>)
}

// -----

module attributes {layout.machine = #layout.machine<mn_core>} {
  func.func @capacity(%a: tensor<4x4097xf32>) {
    // expected-error@+1 {{capacity exceeded: the layout needs 16388 bytes in each LM, which has 16384}}
    %0 = layout.convert %a : tensor<4x4097xf32> to tensor<4x4097xf32, #layout.tensor_layout<((4_PE), (4097:1))>>
    return
  }
}
