// --one-shot-bufferize crashes on a `ml_program.global` that is a number, and refuses a variable without a value.
//
// Expected: an error for the number, or a memref without dimensions; an uninitialised memref without a value.
// Found, by MLIR 22.1.8: a crash, as the type of the number is read as one of a tensor; "global op must have a value".
//
// Worked around by passes/bufferize/globals.rs.
// RUN: split-file %s %t
// RUN: not --crash mlir-opt %t/number.mlir --one-shot-bufferize="bufferize-function-boundaries" 2>&1 | FileCheck %s
// RUN: not mlir-opt %t/nothing.mlir --one-shot-bufferize="bufferize-function-boundaries" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NOTHING

// CHECK: PLEASE submit a bug report
// NOTHING: error: global op must have a value

//--- number.mlir
ml_program.global private mutable @number(1.5 : f32) : f32

//--- nothing.mlir
ml_program.global private mutable @nothing : tensor<f32>
