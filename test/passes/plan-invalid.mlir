// What layout-plan cannot do is an error, and the module stays as it was.
// RUN: layout-opt %s --split-input-file --layout-plan --verify-diagnostics
// RUN: not layout-opt %s --layout-plan=machine=tpu 2>&1 | FileCheck %s --check-prefix=MACHINE
// RUN: not layout-opt %s --layout-to-memref="machine=cpu" 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: not layout-opt %s --layout-to-memref="plan=maybe" 2>&1 | FileCheck %s --check-prefix=MAYBE

// MACHINE: machine must be one of module, tpu_v5e, cpu, mn_core, mn_core_2, tpu_like, found `tpu`
// ALONE: machine is an option of `plan`, which must be given, too
// MAYBE: plan must be true or false, found `maybe`

// expected-error@+1 {{layout-plan needs a machine: `layout.machine` on the module, or the option machine, one of tpu_v5e, cpu, mn_core, mn_core_2, tpu_like}}
module {
  func.func @f(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %y = arith.addf %x, %x : tensor<8x8xf32>
    return %y : tensor<8x8xf32>
  }
}

// -----

// Of a size that no memory has: padded to tiles, its bytes are no number of 64 bits.
module attributes {layout.machine = #layout.machine<tpu_v5e>} {
  // expected-error@+1 {{no layouts can be planned: the number of elements does not fit in 64 bits}}
  func.func @f(%x: tensor<4611686018427387903x1xi8>) -> tensor<4611686018427387903x1xi8> {
    %y = arith.addi %x, %x : tensor<4611686018427387903x1xi8>
    return %y : tensor<4611686018427387903x1xi8>
  }
}
