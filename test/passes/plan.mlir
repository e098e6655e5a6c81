// layout-plan: layouts for all tensors of a module at once.
// RUN: layout-opt %s --mlir-print-local-scope -allow-unregistered-dialect --split-input-file --layout-plan=machine=tpu_v5e | FileCheck %s
// RUN: layout-opt %s -allow-unregistered-dialect --split-input-file --layout-plan="machine=tpu_v5e report" -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REPORT
// RUN: layout-opt %s --mlir-print-local-scope -allow-unregistered-dialect --split-input-file --layout-plan="machine=tpu_v5e" --layout-remove-conversions \
// RUN:   | FileCheck %s --check-prefix=AFTER

// What is between two given layouts that are alike gets that layout.
#T = #layout.tiled<{1,0:T(8,128)}>
// CHECK-LABEL: func.func @between(
// CHECK-NOT: layout.convert
// CHECK: math.exp %{{.*}} : tensor<64x256xf32, #layout.tiled<{1,0:T(8,128)}>>
// CHECK-NOT: layout.convert
// REPORT: remark: the plan costs {{[0-9]+}} cycles and every plan at least {{[0-9]+}}: {{[0-9]+}} arrays, 0 relayouts of 0 bytes
func.func @between(%x: tensor<64x256xf32, #T>) -> tensor<64x256xf32, #T> {
  %a = layout.convert %x : tensor<64x256xf32, #T> to tensor<64x256xf32>
  %b = math.exp %a : tensor<64x256xf32>
  %c = arith.addf %b, %b : tensor<64x256xf32>
  %r = layout.convert %c : tensor<64x256xf32> to tensor<64x256xf32, #T>
  return %r : tensor<64x256xf32, #T>
}

// -----

// Transposes that meet at an addition need no relayout: one of them moves nothing.
#T = #layout.tiled<{1,0:T(8,128)}>
// CHECK-LABEL: func.func @meet(
// CHECK-NOT: layout.convert
// CHECK: linalg.transpose ins(%{{.*}} : tensor<256x1024xf32, #layout.tiled<{1,0:T(8,128)}>>) outs(%{{.*}} : tensor<1024x256xf32, #layout.tiled<{0,1:T(8,128)}>>)
// CHECK: linalg.transpose ins(%{{.*}} : tensor<256x1024xf32, #layout.tiled<{1,0:T(8,128)}>>) outs(%{{.*}} : tensor<1024x256xf32, #layout.tiled<{0,1:T(8,128)}>>)
// CHECK: arith.addf %{{.*}} : tensor<1024x256xf32, #layout.tiled<{0,1:T(8,128)}>>
// CHECK-NOT: layout.convert
func.func @meet(%x: tensor<256x1024xf32, #T>, %y: tensor<256x1024xf32, #T>) -> tensor<256x1024xf32, #T> {
  %e = tensor.empty() : tensor<1024x256xf32>
  %a = linalg.transpose ins(%x : tensor<256x1024xf32, #T>) outs(%e : tensor<1024x256xf32>) permutation = [1, 0]
  %b = linalg.transpose ins(%y : tensor<256x1024xf32, #T>) outs(%e : tensor<1024x256xf32>) permutation = [1, 0]
  %c = arith.addf %a, %b : tensor<1024x256xf32>
  %f = tensor.empty() : tensor<256x1024xf32, #T>
  %r = linalg.transpose ins(%c : tensor<1024x256xf32>) outs(%f : tensor<256x1024xf32, #T>) permutation = [1, 0]
  return %r : tensor<256x1024xf32, #T>
}

// -----

// One of two results must have another layout: one relayout, at that use. The pipelines leave it where it is.
#T = #layout.tiled<{1,0:T(8,128)}>
#C = #layout.tiled<{0,1:T(8,128)}>
// CHECK-LABEL: func.func @one_use(
// CHECK: %[[S:.*]] = arith.addf %{{.*}} : tensor<1024x256xf32, #layout.tiled<{1,0:T(8,128)}>>
// CHECK: %[[C:.*]] = layout.convert %[[S]] {keep, planned} : tensor<1024x256xf32, #layout.tiled<{1,0:T(8,128)}>> to tensor<1024x256xf32, #layout.tiled<{0,1:T(8,128)}>>
// CHECK-NOT: layout.convert
// CHECK: return %[[S]], %[[C]]
// AFTER-LABEL: func.func @one_use(
// AFTER: arith.addf %{{.*}} : tensor<1024x256xf32, #layout.tiled<{1,0:T(8,128)}>>
// AFTER: layout.convert
// REPORT: remark: the plan costs {{.*}}, 1 relayouts of 2097152 bytes
// REPORT: remark: `arith.addf` becomes {0,1:T(8,128)} from {1,0:T(8,128)}: 2097152 bytes, {{[0-9]+}} cycles
func.func @one_use(%x: tensor<1024x256xf32, #T>) -> (tensor<1024x256xf32, #T>, tensor<1024x256xf32, #C>) {
  %a = layout.convert %x : tensor<1024x256xf32, #T> to tensor<1024x256xf32>
  %s = arith.addf %a, %a : tensor<1024x256xf32>
  %t = layout.convert %s : tensor<1024x256xf32> to tensor<1024x256xf32, #T>
  %c = layout.convert %s : tensor<1024x256xf32> to tensor<1024x256xf32, #C>
  return %t, %c : tensor<1024x256xf32, #T>, tensor<1024x256xf32, #C>
}

// -----

// What a loop carries has one layout around, which is brought about before the loop; so has what all calls of a private
// function take.
#C = #layout.tiled<{0,1:T(8,128)}>
// CHECK-LABEL: func.func private @callee(
// CHECK-SAME: %{{.*}}: tensor<1024x256xf32, #layout.tiled<{0,1:T(8,128)}>>) -> tensor<1024x256xf32, #layout.tiled<{0,1:T(8,128)}>>
func.func private @callee(%x: tensor<1024x256xf32>) -> tensor<1024x256xf32> attributes {no_inline} {
  %r = arith.mulf %x, %x : tensor<1024x256xf32>
  return %r : tensor<1024x256xf32>
}
// CHECK-LABEL: func.func @loop(
// CHECK: scf.for {{.*}} -> (tensor<1024x256xf32, #layout.tiled<{0,1:T(8,128)}>>)
// CHECK-NOT: layout.convert
// CHECK: scf.yield %{{.*}} : tensor<1024x256xf32, #layout.tiled<{0,1:T(8,128)}>>
func.func @loop(%x: tensor<1024x256xf32, #C>, %y: tensor<1024x256xf32, #C>, %n: index) -> tensor<1024x256xf32, #C> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %a = layout.convert %x : tensor<1024x256xf32, #C> to tensor<1024x256xf32>
  %b = layout.convert %y : tensor<1024x256xf32, #C> to tensor<1024x256xf32>
  %r = scf.for %i = %zero to %n step %one iter_args(%s = %a) -> (tensor<1024x256xf32>) {
    %t = arith.addf %s, %b : tensor<1024x256xf32>
    %u = func.call @callee(%t) : (tensor<1024x256xf32>) -> tensor<1024x256xf32>
    scf.yield %u : tensor<1024x256xf32>
  }
  %out = layout.convert %r : tensor<1024x256xf32> to tensor<1024x256xf32, #C>
  return %out : tensor<1024x256xf32, #C>
}

// -----

// A loop may pass on what it carries as it is.
// CHECK-LABEL: func.func @passed_on(
// CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}) -> (tensor<8x256xf32
// CHECK-NEXT: scf.yield %[[A]]
func.func @passed_on(%x: tensor<8x256xf32>, %n: index) -> tensor<8x256xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %y = math.exp %x : tensor<8x256xf32>
  %r = scf.for %i = %zero to %n step %one iter_args(%a = %y) -> (tensor<8x256xf32>) {
    scf.yield %a : tensor<8x256xf32>
  }
  %z = math.exp %r : tensor<8x256xf32>
  return %z : tensor<8x256xf32>
}

// -----

// Constants and filled tensors are made in the layout that is wanted, for each use.
#C = #layout.tiled<{0,1:T(8,128)}>
// CHECK-LABEL: func.func @constants(
// CHECK-NOT: layout.convert
// CHECK-DAG: arith.constant dense<2.000000e+00> : tensor<1024x256xf32, #layout.tiled<{0,1:T(8,128)}>>
// CHECK-DAG: linalg.fill ins(%{{.*}}) outs(%{{.*}} : tensor<1024x256xf32, #layout.tiled<{0,1:T(8,128)}>>)
// CHECK-DAG: linalg.fill ins(%{{.*}}) outs(%{{.*}} : tensor<1024x256xf32, #layout.tiled<{1,0:T(8,128)}>>)
// CHECK-NOT: layout.convert
// CHECK: return
func.func @constants(%x: tensor<1024x256xf32, #C>, %y: tensor<1024x256xf32, #layout.tiled<{1,0:T(8,128)}>>)
    -> (tensor<1024x256xf32, #C>, tensor<1024x256xf32, #layout.tiled<{1,0:T(8,128)}>>) {
  %two = arith.constant dense<2.0> : tensor<1024x256xf32>
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<1024x256xf32>
  %ones = linalg.fill ins(%one : f32) outs(%e : tensor<1024x256xf32>) -> tensor<1024x256xf32>
  %a = layout.convert %x : tensor<1024x256xf32, #C> to tensor<1024x256xf32>
  %b = arith.mulf %a, %two : tensor<1024x256xf32>
  %c = arith.addf %b, %ones : tensor<1024x256xf32>
  %d = layout.convert %c : tensor<1024x256xf32> to tensor<1024x256xf32, #C>
  %p = layout.convert %y : tensor<1024x256xf32, #layout.tiled<{1,0:T(8,128)}>> to tensor<1024x256xf32>
  %q = arith.addf %p, %ones : tensor<1024x256xf32>
  %r = layout.convert %q : tensor<1024x256xf32> to tensor<1024x256xf32, #layout.tiled<{1,0:T(8,128)}>>
  return %d, %r : tensor<1024x256xf32, #C>, tensor<1024x256xf32, #layout.tiled<{1,0:T(8,128)}>>
}

// -----

// Sizes known only at run time, TensorLayouts and operations that are not known keep what they have.
#T = #layout.tiled<{1,0:T(8,128)}>
// CHECK-LABEL: func.func @opaque(
// CHECK: "test.unknown"(%{{.*}}) : (tensor<64x256xf32>) -> tensor<64x256xf32>
// CHECK: tensor.cast %{{.*}} : tensor<64x256xf32> to tensor<?x256xf32>
func.func @opaque(%x: tensor<64x256xf32, #T>) -> tensor<?x256xf32> {
  %a = layout.convert %x : tensor<64x256xf32, #T> to tensor<64x256xf32>
  %b = arith.addf %a, %a : tensor<64x256xf32>
  %c = "test.unknown"(%b) : (tensor<64x256xf32>) -> tensor<64x256xf32>
  %d = tensor.cast %c : tensor<64x256xf32> to tensor<?x256xf32>
  return %d : tensor<?x256xf32>
}
