// What cannot be lowered later is refused while the program is still on tensors, and nothing has changed.
// RUN: layout-opt %s --split-input-file --layout-to-memref --verify-diagnostics
// RUN: not layout-opt %s --mlir-print-local-scope --split-input-file --layout-prepare-bufferization --mlir-print-ir-after-failure 2>&1 \
// RUN:   | FileCheck %s

// CHECK: IR Dump After LayoutPrepareBufferization Failed
// CHECK: func.func @rank(%{{.*}}: tensor<3x5xf32, #layout.tiled<{1,0:T(8,128)}>>) -> index
#T = #layout.tiled<{1,0:T(8,128)}>
func.func @rank(%t: tensor<3x5xf32, #T>) -> index {
  // expected-error@+1 {{'tensor.rank' op cannot be lowered: unsupported operation on a tiled tensor}}
  %p = tensor.rank %t : tensor<3x5xf32, #T>
  return %p : index
}

// -----

// expected-error@+1 {{its metadata (M) must be a multiple of 4 bytes}}
func.func @metadata(%a: tensor<16x256xi32, #layout.tiled<{1,0:T(8,128)M(18)}>>) { return }

// -----

// expected-error@+1 {{its elements are split over several memories (SC)}}
func.func private @declared(tensor<6xi32, #layout.tiled<{0:T(128)SC(0:3)}>>)

// -----

#T = #layout.tiled<{1,0:T(2,2)}>
module {
  // expected-error@+1 {{'builtin.module' op cannot be lowered: bufferization does not look into nested modules}}
  module @inner {
    func.func @f(%x: tensor<2x3xf32, #T>) { return }
  }
}

// -----

#T = #layout.tiled<{1,0:T(2,2)}>
func.func @constant() -> tensor<2x3xf32, #T> {
  // expected-error@+1 {{'arith.constant' op cannot be lowered: its value is not a dense constant in the module}}
  %0 = arith.constant sparse<[[0, 0]], [1.0]> : tensor<2x3xf32, #T>
  return %0 : tensor<2x3xf32, #T>
}

// -----

// expected-error@+1 {{cannot lower tuple<tensor<2x3xf32, #layout.tiled<{1,0}>>>: a type nested in it contains a layout}}
func.func private @tuple(tuple<tensor<2x3xf32, #layout.tiled<{1,0}>>>)

// -----

#T = #layout.tiled<{1,0:T(2,2)}>
func.func @indirect(%f: (tensor<2x3xf32, #T>) -> (), %x: tensor<2x3xf32, #T>) {
  // expected-error@+1 {{'func.call_indirect' op cannot be lowered: unsupported operation on a tiled tensor}}
  func.call_indirect %f(%x) : (tensor<2x3xf32, #T>) -> ()
  return
}

// -----

#T = #layout.tiled<{1,0:T(2,2)}>
func.func @unranked(%x: tensor<2x3xf32, #T>) -> tensor<*xf32> {
  // expected-error@+1 {{'tensor.cast' op cannot be lowered: a tensor without a rank has no layout}}
  %0 = tensor.cast %x : tensor<2x3xf32, #T> to tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @run_time_tile(%x: tensor<13x6xf32>, %e: tensor<13x2x?xf32>, %n: index) -> tensor<13x2x?xf32> {
  // expected-error@+1 {{'linalg.pack' op cannot be lowered: the sizes of its inner tiles must be constants, found one that is known only at run time}}
  %0 = linalg.pack %x inner_dims_pos = [1] inner_tiles = [%n] into %e : tensor<13x6xf32> -> tensor<13x2x?xf32>
  return %0 : tensor<13x2x?xf32>
}

// -----

#T = #layout.tiled<{1,0:T(2,2)}>
func.func @two_spaces() -> tensor<2x3xf32, #T> {
  // expected-error@+1 {{'bufferization.alloc_tensor' op cannot be lowered: the memory space of a tensor with a layout must be that of the layout, S(n): leave `memory_space` out}}
  %0 = bufferization.alloc_tensor() {memory_space = 1 : i64} : tensor<2x3xf32, #T>
  return %0 : tensor<2x3xf32, #T>
}

// -----

func.func @sign(%x: tensor<2x3xf32>) -> tensor<2x3xui32> {
  // expected-error@+1 {{'tensor.bitcast' op cannot be lowered: its elements must be floating-point numbers or integers without a sign in their type}}
  %0 = tensor.bitcast %x : tensor<2x3xf32> to tensor<2x3xui32>
  return %0 : tensor<2x3xui32>
}

// -----

func.func @softmax_into_buffer(%x: tensor<2x3xf32>, %y: memref<2x3xf32>) {
  // expected-error@+1 {{'linalg.softmax' op cannot be lowered: its input and its output must be both tensors or both memrefs}}
  linalg.softmax dimension(1) ins(%x : tensor<2x3xf32>) outs(%y : memref<2x3xf32>)
  return
}

// -----

func.func @softmax_of_buffer(%x: memref<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error@+1 {{'linalg.softmax' op cannot be lowered: its input and its output must be both tensors or both memrefs}}
  %r = linalg.softmax dimension(1) ins(%x : memref<2x3xf32>) outs(%y : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}

// -----

// expected-error@+1 {{'ml_program.global' op cannot be lowered: expected a number or a tensor of known sizes, found tensor<?xf32>}}
ml_program.global private mutable @sizes(dense<[1.0, 2.0]> : tensor<2xf32>) : tensor<?xf32>

// -----

// expected-error@+1 {{expected a number or a tensor of known sizes, found complex<f32>}}
ml_program.global private mutable @kind : complex<f32>

// -----

// expected-error@+1 {{expected a value of type tensor<3xf32>, found tensor<2xf32>}}
ml_program.global private mutable @other(dense<[1.0, 2.0]> : tensor<2xf32>) : tensor<3xf32>

// -----

// expected-error@+1 {{expected a value of type f32, found i32}}
ml_program.global private mutable @number(1 : i32) : f32

// -----

// expected-error@+1 {{expected a value of type tensor<4xf32>, found #ml_program.extern}}
ml_program.global public mutable @elsewhere(#ml_program.extern<tensor<4xf32>>) : tensor<4xf32>
