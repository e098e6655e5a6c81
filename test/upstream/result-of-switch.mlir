// --one-shot-bufferize writes into an argument that must not be written, through the result of scf.index_switch.
//
// Expected: a copy before the element is stored, as for scf.if: the argument is `bufferization.writable = false`.
// Found, by MLIR 22.1.8: the element is stored into the result of the switch, which is the argument itself. The analysis
// does not see that the result of a switch may be in the buffer of what a case yields.
//
// Worked around by passes/bufferize/switches.rs, which makes a chain of scf.if of a switch.
// RUN: mlir-opt %s --one-shot-bufferize=bufferize-function-boundaries | FileCheck %s

// CHECK-LABEL: func.func @if(
// CHECK: %[[RESULT:.*]] = scf.if
// CHECK: memref.copy %[[RESULT]], %[[COPY:.*]] :
// CHECK: memref.store %{{.*}}, %[[COPY]]
func.func @if(%a: tensor<4xf32> {bufferization.writable = false}, %if: i1, %x: f32) -> tensor<4xf32> {
  %c1 = arith.constant 1 : index
  %same = scf.if %if -> tensor<4xf32> {
    scf.yield %a : tensor<4xf32>
  } else {
    scf.yield %a : tensor<4xf32>
  }
  %new = tensor.insert %x into %same[%c1] : tensor<4xf32>
  return %new : tensor<4xf32>
}

// CHECK-LABEL: func.func @switch(
// CHECK: %[[RESULT:.*]] = scf.index_switch
// CHECK-NOT: memref.copy
// CHECK: memref.store %{{.*}}, %[[RESULT]]
func.func @switch(%a: tensor<4xf32> {bufferization.writable = false}, %case: index, %x: f32) -> tensor<4xf32> {
  %c1 = arith.constant 1 : index
  %same = scf.index_switch %case -> tensor<4xf32>
  case 0 {
    scf.yield %a : tensor<4xf32>
  }
  default {
    scf.yield %a : tensor<4xf32>
  }
  %new = tensor.insert %x into %same[%c1] : tensor<4xf32>
  return %new : tensor<4xf32>
}
