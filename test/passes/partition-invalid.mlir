// What layout-partition cannot do is an error, and the module stays as it was.
// RUN: layout-opt %s --split-input-file --layout-partition --verify-diagnostics

module attributes {layout.machine = #layout.machine<axes: (4_Process), memories: (), word: 64>} {
  // expected-error@+1 {{4 processes cannot have equal parts of dimension 0: its size must be a multiple of 12, found 10}}
  func.func private @uneven(tensor<10x8xf32, #layout.tensor_layout<(10,8)/((4_Process, 3:8), (8:1))>>)
}

// -----

module attributes {layout.machine = #layout.machine<axes: (4_Process), memories: (), word: 64>} {
  // expected-error@+1 {{((2_Process, 4:1)) is at 2 of 4 processes: each must have a part of it, or a copy, as with `B@[2_Process:..]`}}
  func.func private @at_some(tensor<8xf32, #layout.tensor_layout<((2_Process, 4:1))>>)
}

// -----

// expected-error@+1 {{a layout along Process needs a machine: `layout.machine` on the module with the axis Process}}
func.func private @no_machine(tensor<8xf32, #layout.tensor_layout<((2_Process, 4:1))>>)

// -----

// expected-error@+1 {{the axis Process must be the outermost one of the machine, found it inside of PE}}
module attributes {layout.machine = #layout.machine<axes: (2_PE, 4_Process), memories: (), word: 64>} {
  func.func private @inside(tensor<8xf32, #layout.tensor_layout<((4_Process, 2:1))>>)
}

// -----

module attributes {layout.machine = #layout.machine<axes: (4_Process), memories: (), word: 64>} {
  // expected-error@+1 {{a tensor that is spread over processes must have static sizes}}
  func.func private @dynamic(tensor<?xf32, #layout.tensor_layout<((4_Process, 2:1))>>)
}

// -----

module attributes {layout.machine = #layout.machine<axes: (4_Process), memories: (), word: 64>} {
  // expected-error@+1 {{only tensors are spread over processes, found a memref}}
  func.func private @memory(memref<8xf32, #layout.tensor_layout<((4_Process, 2:1))>>)
}

// -----

// expected-error@+1 {{the layouts cut the 12 processes into groups of 2 and of 3: one of the two must divide the other}}
module attributes {layout.machine = #layout.machine<axes: (12_Process), memories: (), word: 64>} {
  func.func private @cuts(
    tensor<12xf32, #layout.tensor_layout<((6_Process:2, 2_Process:1))>>,
    tensor<12xf32, #layout.tensor_layout<((4_Process:3, 3_Process:1))>>)
}

// -----

#v = #layout.tensor_layout<((4_Process, 2:1))>
module attributes {layout.machine = #layout.machine<axes: (4_Process), memories: (), word: 64>} {
  func.func @loop(%a: tensor<8xf32, #v>) -> tensor<8xf32, #v> {
    // expected-error@+1 {{`scf.forall` cannot be partitioned: its tensors must not be spread over processes; layout.convert to a type without Process gives each process a copy}}
    %0 = scf.forall (%i) in (8) shared_outs(%o = %a) -> tensor<8xf32, #v> {
      scf.forall.in_parallel {}
    }
    return %0 : tensor<8xf32, #v>
  }
}

// -----

#v = #layout.tensor_layout<((4_Process, 2:1))>
module attributes {layout.machine = #layout.machine<axes: (4_Process), memories: (), word: 64>} {
  func.func @buffer(%a: tensor<8xf32, #v>) -> memref<8xf32> {
    // expected-error@+1 {{`bufferization.to_buffer` cannot be partitioned}}
    %0 = bufferization.to_buffer %a : tensor<8xf32, #v> to memref<8xf32>
    return %0 : memref<8xf32>
  }
}

// -----

#v = #layout.tensor_layout<((4_Process, 2:1))>
module attributes {layout.machine = #layout.machine<axes: (4_Process), memories: (), word: 64>} {
  func.func @read(%a: tensor<8xf32, #v>) -> vector<4xf32> {
    %c0 = arith.constant 0 : index
    %z = arith.constant 0.0 : f32
    // expected-error@+1 {{`vector.transfer_read` cannot be partitioned}}
    %r = vector.transfer_read %a[%c0], %z : tensor<8xf32, #v>, vector<4xf32>
    return %r : vector<4xf32>
  }
}

// -----

#v = #layout.tensor_layout<((4_Process, 2:1))>
module attributes {layout.machine = #layout.machine<axes: (4_Process), memories: (), word: 64>} {
  func.func @size(%a: tensor<8xf32, #v>, %i: index) -> index {
    // expected-error@+1 {{of a tensor that is spread over processes, the dimension must be a constant}}
    %0 = tensor.dim %a, %i : tensor<8xf32, #v>
    return %0 : index
  }
}

// -----

#v = #layout.tensor_layout<((4_Process, 2:1))>
module attributes {layout.machine = #layout.machine<axes: (4_Process), memories: (), word: 64>} {
  func.func @elsewhere() -> tensor<8xf32, #v> {
    // expected-error@+1 {{the elements of a constant that is spread over processes must be in the module}}
    %c = arith.constant dense_resource<big> : tensor<8xf32, #v>
    return %c : tensor<8xf32, #v>
  }
}

// -----

module attributes {layout.machine = #layout.machine<axes: (4_Process), memories: (), word: 64>} {
  module @inner {
    // expected-error@+1 {{only what the outermost module has is spread over processes, found it in an inner one}}
    func.func private @spread(tensor<8xf32, #layout.tensor_layout<((4_Process, 2:1))>>)
  }
}
