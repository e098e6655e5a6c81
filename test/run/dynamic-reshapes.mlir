// Reshapes of tensors with layouts whose sizes are known only at run time, tensor.reshape and tensor.bitcast.
// RUN: layout-opt %s --layout-to-llvm \
// RUN:   | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm=form=physical \
// RUN:   | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm=vectorize=avx2 2> %t.remarks \
// RUN:   | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
#T = #layout.tiled<{1,0:T(8,128)}>
#C = #layout.tiled<{2,1,0:T(2,2)}>
#L = #layout.tiled<{0:T(4)}>
func.func private @printMemrefF32(tensor<*xf32>)
func.func private @printMemrefI32(tensor<*xi32>)

// The outermost size of a group is open: read where it is.
func.func private @outer(%x: tensor<?x3xf32, #T>, %p: index) -> tensor<?x2x3xf32, #C> {
  %0 = tensor.expand_shape %x [[0, 1], [2]] output_shape [%p, 2, 3] : tensor<?x3xf32, #T> into tensor<?x2x3xf32, #C>
  return %0 : tensor<?x2x3xf32, #C>
}
func.func private @outer_back(%x: tensor<?x2x3xf32, #C>) -> tensor<?x3xf32, #T> {
  %0 = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x2x3xf32, #C> into tensor<?x3xf32, #T>
  return %0 : tensor<?x3xf32, #T>
}
// An inner size is open: by way of a row-major copy.
func.func private @inner(%x: tensor<?x3xf32, #T>, %p: index) -> tensor<2x?x3xf32, #C> {
  %0 = tensor.expand_shape %x [[0, 1], [2]] output_shape [2, %p, 3] : tensor<?x3xf32, #T> into tensor<2x?x3xf32, #C>
  return %0 : tensor<2x?x3xf32, #C>
}
func.func private @inner_back(%x: tensor<2x?x3xf32, #C>) -> tensor<?x3xf32, #T> {
  %0 = tensor.collapse_shape %x [[0, 1], [2]] : tensor<2x?x3xf32, #C> into tensor<?x3xf32, #T>
  return %0 : tensor<?x3xf32, #T>
}
// Part of a tensor.
func.func private @part(%x: tensor<?x3xf32, #T>, %at: index) -> tensor<6xf32> {
  %s = tensor.extract_slice %x[%at, 0] [2, 3] [1, 1] : tensor<?x3xf32, #T> to tensor<2x3xf32, #T>
  %0 = tensor.collapse_shape %s [[0, 1]] : tensor<2x3xf32, #T> into tensor<6xf32>
  return %0 : tensor<6xf32>
}
func.func private @reshape(%x: tensor<4x3xf32, #T>, %s: tensor<1xindex>) -> tensor<12xf32, #L> {
  %0 = tensor.reshape %x(%s) : (tensor<4x3xf32, #T>, tensor<1xindex>) -> tensor<12xf32, #L>
  return %0 : tensor<12xf32, #L>
}
func.func private @reshape_open(%x: tensor<12xf32, #L>, %s: tensor<2xindex>) -> tensor<?x?xf32, #T> {
  %0 = tensor.reshape %x(%s) : (tensor<12xf32, #L>, tensor<2xindex>) -> tensor<?x?xf32, #T>
  return %0 : tensor<?x?xf32, #T>
}
func.func private @bits(%x: tensor<4x3xf32, #T>) -> tensor<4x3xi32, #T> {
  %0 = tensor.bitcast %x : tensor<4x3xf32, #T> to tensor<4x3xi32, #T>
  return %0 : tensor<4x3xi32, #T>
}
func.func private @plain_bits(%x: tensor<2xf32>) -> tensor<2xi32> {
  %0 = tensor.bitcast %x : tensor<2xf32> to tensor<2xi32>
  return %0 : tensor<2xi32>
}

func.func private @print(%x: tensor<?x3xf32, #T>) {
  %p = layout.convert %x : tensor<?x3xf32, #T> to tensor<?x3xf32>
  %u = tensor.cast %p : tensor<?x3xf32> to tensor<*xf32>
  call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
  return
}

func.func private @print1_f32(%x: tensor<?xf32>) {
  %u = tensor.cast %x : tensor<?xf32> to tensor<*xf32>
  call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
  return
}
func.func private @print1_i32(%x: tensor<?xi32>) {
  %u = tensor.cast %x : tensor<?xi32> to tensor<*xi32>
  call @printMemrefI32(%u) : (tensor<*xi32>) -> ()
  return
}
func.func private @print2_f32(%x: tensor<?x?xf32>) {
  %u = tensor.cast %x : tensor<?x?xf32> to tensor<*xf32>
  call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
  return
}
func.func private @print2_i32(%x: tensor<?x?xi32>) {
  %u = tensor.cast %x : tensor<?x?xi32> to tensor<*xi32>
  call @printMemrefI32(%u) : (tensor<*xi32>) -> ()
  return
}
func.func private @print3_f32(%x: tensor<?x?x?xf32>) {
  %u = tensor.cast %x : tensor<?x?x?xf32> to tensor<*xf32>
  call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
  return
}

func.func @main() {
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %six = arith.constant 6 : index
  %x = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0], [10.0, 11.0, 12.0]]> : tensor<4x3xf32, #T>
  %open = tensor.cast %x : tensor<4x3xf32, #T> to tensor<?x3xf32, #T>

  %a = call @outer(%open, %two) : (tensor<?x3xf32, #T>, index) -> tensor<?x2x3xf32, #C>
  %a_plain = layout.convert %a : tensor<?x2x3xf32, #C> to tensor<?x2x3xf32>
  %a_u = tensor.cast %a_plain : tensor<?x2x3xf32> to tensor<?x?x?xf32>
  // CHECK: sizes = [2, 2, 3]
  // CHECK: 1, {{ *}}2, {{ *}}3],
  // CHECK-NEXT: 4, {{ *}}5, {{ *}}6]],
  // CHECK-NEXT: 7, {{ *}}8, {{ *}}9],
  // CHECK-NEXT: 10, {{ *}}11, {{ *}}12]]]
  call @print3_f32(%a_u) : (tensor<?x?x?xf32>) -> ()
  %b = call @outer_back(%a) : (tensor<?x2x3xf32, #C>) -> tensor<?x3xf32, #T>
  // CHECK: sizes = [4, 3]
  // CHECK: 1, {{ *}}2, {{ *}}3],
  // CHECK-NEXT: 4, {{ *}}5, {{ *}}6],
  // CHECK-NEXT: 7, {{ *}}8, {{ *}}9],
  // CHECK-NEXT: 10, {{ *}}11, {{ *}}12]]
  call @print(%b) : (tensor<?x3xf32, #T>) -> ()

  %c = call @inner(%open, %two) : (tensor<?x3xf32, #T>, index) -> tensor<2x?x3xf32, #C>
  %d = call @inner_back(%c) : (tensor<2x?x3xf32, #C>) -> tensor<?x3xf32, #T>
  // CHECK: sizes = [4, 3]
  // CHECK: 1, {{ *}}2, {{ *}}3],
  // CHECK-NEXT: 4, {{ *}}5, {{ *}}6],
  // CHECK-NEXT: 7, {{ *}}8, {{ *}}9],
  // CHECK-NEXT: 10, {{ *}}11, {{ *}}12]]
  call @print(%d) : (tensor<?x3xf32, #T>) -> ()

  %part = call @part(%open, %one) : (tensor<?x3xf32, #T>, index) -> tensor<6xf32>
  %part_u = tensor.cast %part : tensor<6xf32> to tensor<?xf32>
  // CHECK: [4, {{ *}}5, {{ *}}6, {{ *}}7, {{ *}}8, {{ *}}9]
  call @print1_f32(%part_u) : (tensor<?xf32>) -> ()

  %twelve = arith.constant dense<12> : tensor<1xindex>
  %flat = call @reshape(%x, %twelve) : (tensor<4x3xf32, #T>, tensor<1xindex>) -> tensor<12xf32, #L>
  %flat_p = layout.convert %flat : tensor<12xf32, #L> to tensor<12xf32>
  %flat_u = tensor.cast %flat_p : tensor<12xf32> to tensor<?xf32>
  // CHECK: [1, {{ *}}2, {{ *}}3, {{ *}}4, {{ *}}5, {{ *}}6, {{ *}}7, {{ *}}8, {{ *}}9, {{ *}}10, {{ *}}11, {{ *}}12]
  call @print1_f32(%flat_u) : (tensor<?xf32>) -> ()
  %shape = tensor.from_elements %two, %six : tensor<2xindex>
  %rows = call @reshape_open(%flat, %shape) : (tensor<12xf32, #L>, tensor<2xindex>) -> tensor<?x?xf32, #T>
  %rows_p = layout.convert %rows : tensor<?x?xf32, #T> to tensor<?x?xf32>
  // CHECK: sizes = [2, 6]
  // CHECK: 1, {{ *}}2, {{ *}}3, {{ *}}4, {{ *}}5, {{ *}}6],
  // CHECK-NEXT: [7, {{ *}}8, {{ *}}9, {{ *}}10, {{ *}}11, {{ *}}12]]
  call @print2_f32(%rows_p) : (tensor<?x?xf32>) -> ()

  %bits = call @bits(%x) : (tensor<4x3xf32, #T>) -> tensor<4x3xi32, #T>
  %bits_p = layout.convert %bits : tensor<4x3xi32, #T> to tensor<4x3xi32>
  %bits_u = tensor.cast %bits_p : tensor<4x3xi32> to tensor<?x?xi32>
  // CHECK: [1065353216, {{ *}}1073741824, {{ *}}1077936128],
  call @print2_i32(%bits_u) : (tensor<?x?xi32>) -> ()
  %pair = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %pair_bits = call @plain_bits(%pair) : (tensor<2xf32>) -> tensor<2xi32>
  %pair_u = tensor.cast %pair_bits : tensor<2xi32> to tensor<?xi32>
  // CHECK: [1065353216, {{ *}}1073741824]
  call @print1_i32(%pair_u) : (tensor<?xi32>) -> ()
  return
}
