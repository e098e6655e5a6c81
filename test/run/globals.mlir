// Global variables of ml_program: a load is what was there before a later store, and a call finds what the call before
// has stored. A global that is no variable is a constant. Variables may be numbers, and have no value before a store.
// RUN: %{lines} form=strided form=physical vectorize=avx2 | while read options; do \
// RUN:   layout-opt %s --layout-to-llvm="$options" \
// RUN:     | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s || exit 1; \
// RUN: done
// RUN: layout-opt %s --layout-to-memref | FileCheck %s --check-prefix=CONSTANT
// CONSTANT-LABEL: func @step
// CONSTANT-NOT: get_global @factor

ml_program.global private mutable @state(dense<[1.0, 2.0, 3.0]> : tensor<3xf32>) : tensor<3xf32>
ml_program.global private mutable @steps(dense<0> : tensor<i64>) : tensor<i64>
ml_program.global private @factor(dense<[2.0, 3.0, 4.0]> : tensor<3xf32>) : tensor<3xf32>

func.func @step() -> (tensor<3xf32>, tensor<3xf32>, tensor<i64>) attributes {no_inline} {
  %old = ml_program.global_load @state : tensor<3xf32>
  %factor = ml_program.global_load_const @factor : tensor<3xf32>
  %new = arith.mulf %old, %factor : tensor<3xf32>
  ml_program.global_store @state = %new : tensor<3xf32>
  %count = ml_program.global_load @steps : tensor<i64>
  %one = arith.constant dense<1> : tensor<i64>
  %next = arith.addi %count, %one : tensor<i64>
  ml_program.global_store @steps = %next : tensor<i64>
  %now = ml_program.global_load @state : tensor<3xf32>
  %both = arith.addf %old, %now : tensor<3xf32>
  return %old, %both, %next : tensor<3xf32>, tensor<3xf32>, tensor<i64>
}

ml_program.global private mutable @number(1.5 : f32) : f32
ml_program.global private mutable @later : tensor<3xf32>
ml_program.global private mutable @last : i32
ml_program.global private @seven(7 : i32) : i32

func.func @numbers(%x: tensor<3xf32>) -> (f32, f32, tensor<3xf32>, i32) attributes {no_inline} {
  %old = ml_program.global_load @number : f32
  %new = arith.addf %old, %old : f32
  ml_program.global_store @number = %new : f32
  ml_program.global_store @later = %x : tensor<3xf32>
  %seven = ml_program.global_load_const @seven : i32
  ml_program.global_store @last = %seven : i32
  %now = ml_program.global_load @number : f32
  %later = ml_program.global_load @later : tensor<3xf32>
  %last = ml_program.global_load @last : i32
  return %old, %now, %later, %last : f32, f32, tensor<3xf32>, i32
}

func.func @print(%x: tensor<3xf32>) {
  %i = arith.constant 0 : index
  %pad = arith.constant 0.0 : f32
  %v = vector.transfer_read %x[%i], %pad : tensor<3xf32>, vector<3xf32>
  vector.print %v : vector<3xf32>
  return
}

func.func @main() {
  // CHECK: ( 1, 2, 3 )
  // CHECK-NEXT: ( 3, 8, 15 )
  // CHECK-NEXT: ( 2, 6, 12 )
  // CHECK-NEXT: ( 6, 24, 60 )
  // CHECK-NEXT: 2
  %0:3 = call @step() : () -> (tensor<3xf32>, tensor<3xf32>, tensor<i64>)
  %1:3 = call @step() : () -> (tensor<3xf32>, tensor<3xf32>, tensor<i64>)
  call @print(%0#0) : (tensor<3xf32>) -> ()
  call @print(%0#1) : (tensor<3xf32>) -> ()
  call @print(%1#0) : (tensor<3xf32>) -> ()
  call @print(%1#1) : (tensor<3xf32>) -> ()
  %steps = tensor.extract %1#2[] : tensor<i64>
  vector.print %steps : i64
  // CHECK-NEXT: 3
  // CHECK-NEXT: 6
  // CHECK-NEXT: ( 3, 8, 15 )
  // CHECK-NEXT: 7
  %2:4 = call @numbers(%0#0) : (tensor<3xf32>) -> (f32, f32, tensor<3xf32>, i32)
  %3:4 = call @numbers(%0#1) : (tensor<3xf32>) -> (f32, f32, tensor<3xf32>, i32)
  vector.print %3#0 : f32
  vector.print %3#1 : f32
  call @print(%3#2) : (tensor<3xf32>) -> ()
  vector.print %3#3 : i32
  return
}
