// layout-prepare-bufferization: a block argument that another block writes, and reads after that, is copied where its block
// begins, with a layout or without.
// RUN: layout-opt %s --split-input-file --layout-prepare-bufferization | FileCheck %s
// What was read before the write is read from the copy, or before it.
// RUN: layout-opt %s --split-input-file --layout-to-memref -o /dev/null

#L = #layout.tiled<{0:T(4)}>
// CHECK-LABEL: func.func private @kept(
// CHECK-SAME: %[[A:.*]]: tensor<8xf32
// CHECK: %[[COPY:.*]] = linalg.copy ins(%[[A]]
// CHECK-NOT: %[[A]]
// CHECK: cf.cond_br
// CHECK: cf.br ^{{.*}}(%[[COPY]]
// CHECK: tensor.extract_slice %[[COPY]]
// CHECK: tensor.insert %{{.*}} into %[[COPY]]
func.func private @kept(%a: tensor<8xf32, #L>, %c: i1, %x: f32, %i: index) -> tensor<8xf32, #L> {
  cf.cond_br %c, ^same, ^other
^same:
  cf.br ^end(%a : tensor<8xf32, #L>)
^other:
  %old = tensor.extract_slice %a[%i] [1] [1] : tensor<8xf32, #L> to tensor<1xf32>
  %new = tensor.insert %x into %a[%i] : tensor<8xf32, #L>
  %zero = arith.constant 0 : index
  %both = tensor.insert_slice %old into %new[%zero] [1] [1] : tensor<1xf32> into tensor<8xf32, #L>
  cf.br ^end(%both : tensor<8xf32, #L>)
^end(%r: tensor<8xf32, #L>):
  return %r : tensor<8xf32, #L>
}

// -----

// A write in a block, and a read in one that follows it.
// CHECK-LABEL: func.func private @later(
// CHECK-SAME: %[[A:.*]]: tensor<8xf32>
// CHECK: %[[COPY:.*]] = linalg.copy ins(%[[A]]
// CHECK: tensor.insert %{{.*}} into %[[COPY]]
// CHECK: tensor.extract %[[COPY]]
func.func private @later(%a: tensor<8xf32>, %x: f32, %i: index) -> (tensor<8xf32>, f32) {
  cf.br ^write
^write:
  %new = tensor.insert %x into %a[%i] : tensor<8xf32>
  cf.br ^read
^read:
  %old = tensor.extract %a[%i] : tensor<8xf32>
  return %new, %old : tensor<8xf32>, f32
}

// -----

// Not copied: what is read first, what only one of two branches writes, and what is not writable.
// CHECK-LABEL: func.func private @before(
// CHECK-NOT: linalg.copy
// CHECK-LABEL: func.func private @branches(
// CHECK-NOT: linalg.copy
// CHECK-LABEL: func.func @public(
// CHECK-NOT: linalg.copy
func.func private @before(%a: tensor<8xf32>, %x: f32, %i: index) -> (tensor<8xf32>, f32) {
  cf.br ^next
^next:
  %old = tensor.extract %a[%i] : tensor<8xf32>
  %new = tensor.insert %x into %a[%i] : tensor<8xf32>
  return %new, %old : tensor<8xf32>, f32
}
func.func private @branches(%a: tensor<8xf32>, %c: i1, %x: f32, %i: index) -> tensor<8xf32> {
  cf.cond_br %c, ^same, ^other
^same:
  cf.br ^end(%a : tensor<8xf32>)
^other:
  %new = tensor.insert %x into %a[%i] : tensor<8xf32>
  cf.br ^end(%new : tensor<8xf32>)
^end(%r: tensor<8xf32>):
  return %r : tensor<8xf32>
}
func.func @public(%a: tensor<8xf32>, %x: f32, %i: index) -> (tensor<8xf32>, f32) {
  cf.br ^next
^next:
  %new = tensor.insert %x into %a[%i] : tensor<8xf32>
  %old = tensor.extract %a[%i] : tensor<8xf32>
  return %new, %old : tensor<8xf32>, f32
}
