// RUN: layout-opt %s --mlir-print-local-scope --split-input-file --verify-diagnostics --allow-unregistered-dialect --canonicalize | FileCheck %s
// RUN: not layout-opt %s --split-input-file --allow-unregistered-dialect 2>&1 | FileCheck %s --check-prefix=COLUMN

// A conversion to the same type is its operand.
// CHECK-LABEL: func.func @same
// CHECK-SAME: (%[[T:.*]]: tensor<{{.*}}>, %[[M:.*]]: memref<{{.*}}>)
// CHECK-NEXT: return %[[T]], %[[M]]
#tiled = #layout.tiled<{1,0:T(2,2)}>
func.func @same(%t: tensor<3x5xf32, #tiled>, %m: memref<3x5xf32, #tiled>)
    -> (tensor<3x5xf32, #tiled>, memref<3x5xf32, #tiled>) {
  %0 = layout.convert %t : tensor<3x5xf32, #tiled> to tensor<3x5xf32, #tiled>
  %1 = layout.convert %m : memref<3x5xf32, #tiled> to memref<3x5xf32, #tiled>
  return %0, %1 : tensor<3x5xf32, #tiled>, memref<3x5xf32, #tiled>
}

// There and back is nothing.
// CHECK-LABEL: func.func @back
// CHECK-SAME: (%[[T:.*]]: tensor<3x5xf32>)
// CHECK-NEXT: return %[[T]]
func.func @back(%t: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = layout.convert %t : tensor<3x5xf32> to tensor<3x5xf32, #tiled>
  %1 = layout.convert %0 : tensor<3x5xf32, #tiled> to tensor<3x5xf32, #layout.tiled<{0,1}>>
  %2 = layout.convert %1 : tensor<3x5xf32, #layout.tiled<{0,1}>> to tensor<3x5xf32>
  return %2 : tensor<3x5xf32>
}

// By way of another layout is straight there.
// CHECK-LABEL: func.func @detour
// CHECK-SAME: (%[[M:.*]]: memref<?x5xf32>)
// CHECK-NEXT: %[[C:.*]] = layout.convert %[[M]] : memref<?x5xf32> to memref<?x5xf32, #layout.tiled<{0,1}>>
// CHECK-NEXT: return %[[C]]
func.func @detour(%m: memref<?x5xf32>) -> memref<?x5xf32, #layout.tiled<{0,1}>> {
  %0 = layout.convert %m : memref<?x5xf32> to memref<?x5xf32, #tiled, #layout.memory_space<vmem>>
  %1 = layout.convert %0 : memref<?x5xf32, #tiled, #layout.memory_space<vmem>> to memref<?x5xf32, #layout.tiled<{0,1}>>
  return %1 : memref<?x5xf32, #layout.tiled<{0,1}>>
}

// A copy that was planned stays, there and back.
// CHECK-LABEL: func.func @planned
// CHECK: %[[OUT:.*]] = layout.convert %{{.*}} {async}
// CHECK: %[[BACK:.*]] = layout.convert %[[OUT]] :
// CHECK: return %[[BACK]]
func.func @planned(%t: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = layout.convert %t {async} : tensor<3x5xf32> to tensor<3x5xf32, #layout.tiled<{1,0:S(1)}>>
  %1 = layout.convert %0 : tensor<3x5xf32, #layout.tiled<{1,0:S(1)}>> to tensor<3x5xf32>
  return %1 : tensor<3x5xf32>
}

// One that is needed as well stays.
// CHECK-LABEL: func.func @both
// CHECK-SAME: (%[[T:.*]]: tensor<3x5xf32>)
// CHECK-NEXT: %[[A:.*]] = layout.convert %[[T]] : tensor<3x5xf32> to tensor<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>
// CHECK-NEXT: %[[B:.*]] = layout.convert %[[T]] : tensor<3x5xf32> to tensor<3x5xf32, #layout.tiled<{0,1}>>
// CHECK-NEXT: return %[[A]], %[[B]]
func.func @both(%t: tensor<3x5xf32>) -> (tensor<3x5xf32, #tiled>, tensor<3x5xf32, #layout.tiled<{0,1}>>) {
  %0 = layout.convert %t : tensor<3x5xf32> to tensor<3x5xf32, #tiled>
  %1 = layout.convert %0 : tensor<3x5xf32, #tiled> to tensor<3x5xf32, #layout.tiled<{0,1}>>
  return %0, %1 : tensor<3x5xf32, #tiled>, tensor<3x5xf32, #layout.tiled<{0,1}>>
}

// Without a use it goes, on memrefs too: it writes nothing.
// CHECK-LABEL: func.func @unused
// CHECK-NEXT: return
func.func @unused(%t: tensor<3x5xf32>, %m: memref<3x5xf32>) {
  %0 = layout.convert %t : tensor<3x5xf32> to tensor<3x5xf32, #tiled>
  %1 = layout.convert %m : memref<3x5xf32> to memref<3x5xf32, #tiled>
  return
}

// Conversions in a cycle, which nothing ever executes, come to an end.
// CHECK-LABEL: func.func @cycle
// CHECK: "test.use"
func.func @cycle() {
  "test.graph"() ({
    %0 = layout.convert %2 : tensor<3x5xf32, #layout.tiled<{0,1}>> to tensor<3x5xf32>
    %1 = layout.convert %0 : tensor<3x5xf32> to tensor<3x5xf32, #tiled>
    %2 = layout.convert %1 : tensor<3x5xf32, #tiled> to tensor<3x5xf32, #layout.tiled<{0,1}>>
    "test.use"(%0) : (tensor<3x5xf32>) -> ()
  }) : () -> ()
  return
}

// -----

// (convert_c1) Both types are ranked tensors or both are memrefs.
func.func @kind(%t: tensor<3x5xf32>) {
  // COLUMN: :[[#@LINE+2]]:8: error:
  // expected-error@+1 {{expected two tensors or two memrefs, found 'tensor<3x5xf32>' and 'memref<3x5xf32>'}}
  %0 = layout.convert %t : tensor<3x5xf32> to memref<3x5xf32>
  return
}

// -----

func.func @kind(%t: tensor<*xf32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of any type values or memref of any type values}}
  %0 = layout.convert %t : tensor<*xf32> to tensor<3x5xf32>
  return
}

// -----

// (convert_c2) Both have the same shape.
func.func @shape(%t: tensor<3x5xf32>) {
  // expected-error@+1 {{expected the same shape, found [3, 5] and [5, 3]}}
  %0 = layout.convert %t : tensor<3x5xf32> to tensor<5x3xf32>
  return
}

// -----

func.func @shape(%m: memref<?x5xf32>) {
  // expected-error@+1 {{expected the same shape, found [?, 5] and [3, 5]}}
  %0 = layout.convert %m : memref<?x5xf32> to memref<3x5xf32, #layout.tiled<{0,1}>>
  return
}

// -----

// (convert_c3) Both have the same element type.
func.func @element(%t: tensor<3x5xf32>) {
  // expected-error@+1 {{expected the same element type, found 'f32' and 'bf16'}}
  %0 = layout.convert %t : tensor<3x5xf32> to tensor<3x5xbf16>
  return
}
