// linalg.pack and linalg.unpack: with padding, permuted outer dimensions, of tensors with layouts and without, of sizes known
// only at run time. What is unpacked again is what was packed.
// RUN: layout-opt %s --layout-to-llvm \
// RUN:   | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm=form=physical \
// RUN:   | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm=vectorize=avx2 2> %t.remarks \
// RUN:   | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
#T = #layout.tiled<{1,0:T(8,128)}>
#C = #layout.tiled<{0,1:T(4,8)}>
#S = #layout.tiled<{1,0:T(2,2)}>
#P = #layout.tiled<{3,2,1,0:T(2,2)}>
func.func private @printMemrefF32(tensor<*xf32>)

func.func private @print(%x: tensor<?x?x?x?xf32>) {
  %u = tensor.cast %x : tensor<?x?x?x?xf32> to tensor<*xf32>
  call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
  return
}

// Without layouts: tiles of 2x2 of 5x3 elements, padded with 9.
func.func private @plain(%x: tensor<5x3xf32>, %nine: f32) -> tensor<3x2x2x2xf32> {
  %e = tensor.empty() : tensor<3x2x2x2xf32>
  %p = linalg.pack %x padding_value(%nine : f32) inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %e
    : tensor<5x3xf32> -> tensor<3x2x2x2xf32>
  return %p : tensor<3x2x2x2xf32>
}

// Between layouts, the tiles turned and their rows first.
func.func private @turned(%x: tensor<5x3xf32, #T>, %nine: f32) -> tensor<2x3x2x2xf32, #P> {
  %e = tensor.empty() : tensor<2x3x2x2xf32, #P>
  %p = linalg.pack %x padding_value(%nine : f32) outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [2, 2] into %e
    : tensor<5x3xf32, #T> -> tensor<2x3x2x2xf32, #P>
  return %p : tensor<2x3x2x2xf32, #P>
}
func.func private @back(%p: tensor<2x3x2x2xf32, #P>) -> tensor<5x3xf32, #C> {
  %e = tensor.empty() : tensor<5x3xf32, #C>
  %x = linalg.unpack %p outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [2, 2] into %e
    : tensor<2x3x2x2xf32, #P> -> tensor<5x3xf32, #C>
  return %x : tensor<5x3xf32, #C>
}

// Nothing to pad: a tensor of whole tiles, read where it is.
func.func private @whole(%x: tensor<4x6xf32, #T>) -> tensor<2x3x2x2xf32> {
  %e = tensor.empty() : tensor<2x3x2x2xf32>
  %p = linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %e : tensor<4x6xf32, #T> -> tensor<2x3x2x2xf32>
  return %p : tensor<2x3x2x2xf32>
}

// The tiles of the layout, in the same memory, unless the source is in use: one element is written, and all are unpacked.
func.func private @kept(%x: tensor<?x6xf32, #T>, %v: f32, %n: index, %m: index) -> (tensor<?x6xf32, #S>, tensor<?x6xf32, #S>) {
  %c0 = arith.constant 0 : index
  %s = layout.convert %x : tensor<?x6xf32, #T> to tensor<?x6xf32, #S>
  %e = tensor.empty(%n) : tensor<?x3x2x2xf32>
  %p = linalg.pack %s inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %e : tensor<?x6xf32, #S> -> tensor<?x3x2x2xf32>
  %w = tensor.insert %v into %p[%c0, %c0, %c0, %c0] : tensor<?x3x2x2xf32>
  %f = tensor.empty(%m) : tensor<?x6xf32, #S>
  %u = linalg.unpack %w inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %f : tensor<?x3x2x2xf32> -> tensor<?x6xf32, #S>
  return %u, %s : tensor<?x6xf32, #S>, tensor<?x6xf32, #S>
}

// One dimension in tiles, of sizes known only at run time.
func.func private @open(%x: tensor<?x?xf32, #T>, %nine: f32, %m: index, %n: index) -> tensor<?x?x4xf32> {
  %e = tensor.empty(%m, %n) : tensor<?x?x4xf32>
  %p = linalg.pack %x padding_value(%nine : f32) inner_dims_pos = [1] inner_tiles = [4] into %e
    : tensor<?x?xf32, #T> -> tensor<?x?x4xf32>
  return %p : tensor<?x?x4xf32>
}
func.func private @open_back(%p: tensor<?x?x4xf32>, %m: index, %n: index) -> tensor<?x?xf32, #T> {
  %e = tensor.empty(%m, %n) : tensor<?x?xf32, #T>
  %x = linalg.unpack %p inner_dims_pos = [1] inner_tiles = [4] into %e : tensor<?x?x4xf32> -> tensor<?x?xf32, #T>
  return %x : tensor<?x?xf32, #T>
}

// Elements of one bit, in tiles as wide as vectors, padded with ones.
func.func private @ones(%x: tensor<5x40xi1>, %one: i1) -> tensor<6x2x32xi1> {
  %e = tensor.empty() : tensor<6x2x32xi1>
  %p = tensor.pad %x low[1, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %one : i1
  } : tensor<5x40xi1> to tensor<6x40xi1>
  %r = linalg.pack %p padding_value(%one : i1) inner_dims_pos = [1] inner_tiles = [32] into %e : tensor<6x40xi1> -> tensor<6x2x32xi1>
  return %r : tensor<6x2x32xi1>
}

func.func private @print2_f32(%x: tensor<?x?xf32>) {
  %u = tensor.cast %x : tensor<?x?xf32> to tensor<*xf32>
  call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
  return
}
func.func private @print3_f32(%x: tensor<?x?x?xf32>) {
  %u = tensor.cast %x : tensor<?x?x?xf32> to tensor<*xf32>
  call @printMemrefF32(%u) : (tensor<*xf32>) -> ()
  return
}

func.func @main() {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %five = arith.constant 5 : index
  %six = arith.constant 6 : index
  %nine = arith.constant 9.0 : f32
  %x = tensor.generate {
  ^bb0(%i: index, %j: index):
    %ten = arith.constant 10 : index
    %row = arith.muli %i, %ten : index
    %n = arith.addi %row, %j : index
    %k = arith.index_cast %n : index to i32
    %f = arith.sitofp %k : i32 to f32
    tensor.yield %f : f32
  } : tensor<5x3xf32>

  %plain = call @plain(%x, %nine) : (tensor<5x3xf32>, f32) -> tensor<3x2x2x2xf32>
  %plain_d = tensor.cast %plain : tensor<3x2x2x2xf32> to tensor<?x?x?x?xf32>
  // CHECK: sizes = [3, 2, 2, 2]
  // CHECK: {{\[\[\[\[}}0, {{ *}}1],
  // CHECK-NEXT: [10, {{ *}}11]],
  // CHECK-NEXT: {{\[\[}}2, {{ *}}9],
  // CHECK-NEXT: [12, {{ *}}9]]],
  // CHECK-NEXT: {{\[\[\[}}20, {{ *}}21],
  // CHECK-NEXT: [30, {{ *}}31]],
  // CHECK-NEXT: {{\[\[}}22, {{ *}}9],
  // CHECK-NEXT: [32, {{ *}}9]]],
  // CHECK-NEXT: {{\[\[\[}}40, {{ *}}41],
  // CHECK-NEXT: [9, {{ *}}9]],
  // CHECK-NEXT: {{\[\[}}42, {{ *}}9],
  // CHECK-NEXT: [9, {{ *}}9]]]]
  call @print(%plain_d) : (tensor<?x?x?x?xf32>) -> ()

  %t = layout.convert %x : tensor<5x3xf32> to tensor<5x3xf32, #T>
  %turned = call @turned(%t, %nine) : (tensor<5x3xf32, #T>, f32) -> tensor<2x3x2x2xf32, #P>
  %turned_p = layout.convert %turned : tensor<2x3x2x2xf32, #P> to tensor<2x3x2x2xf32>
  %turned_d = tensor.cast %turned_p : tensor<2x3x2x2xf32> to tensor<?x?x?x?xf32>
  // CHECK: sizes = [2, 3, 2, 2]
  // CHECK: {{\[\[\[\[}}0, {{ *}}10],
  // CHECK-NEXT: [1, {{ *}}11]],
  // CHECK-NEXT: {{\[\[}}20, {{ *}}30],
  // CHECK-NEXT: [21, {{ *}}31]],
  // CHECK-NEXT: {{\[\[}}40, {{ *}}9],
  // CHECK-NEXT: [41, {{ *}}9]]],
  // CHECK-NEXT: {{\[\[\[}}2, {{ *}}12],
  // CHECK-NEXT: [9, {{ *}}9]],
  // CHECK-NEXT: {{\[\[}}22, {{ *}}32],
  // CHECK-NEXT: [9, {{ *}}9]],
  // CHECK-NEXT: {{\[\[}}42, {{ *}}9],
  // CHECK-NEXT: [9, {{ *}}9]]]]
  call @print(%turned_d) : (tensor<?x?x?x?xf32>) -> ()

  %back = call @back(%turned) : (tensor<2x3x2x2xf32, #P>) -> tensor<5x3xf32, #C>
  %back_p = layout.convert %back : tensor<5x3xf32, #C> to tensor<5x3xf32>
  %back_u = tensor.cast %back_p : tensor<5x3xf32> to tensor<?x?xf32>
  // CHECK: sizes = [5, 3]
  // CHECK: {{\[\[}}0, {{ *}}1, {{ *}}2],
  // CHECK-NEXT: [10, {{ *}}11, {{ *}}12],
  // CHECK-NEXT: [20, {{ *}}21, {{ *}}22],
  // CHECK-NEXT: [30, {{ *}}31, {{ *}}32],
  // CHECK-NEXT: [40, {{ *}}41, {{ *}}42]]
  call @print2_f32(%back_u) : (tensor<?x?xf32>) -> ()

  %wide = tensor.generate {
  ^bb0(%i: index, %j: index):
    %ten = arith.constant 10 : index
    %row = arith.muli %i, %ten : index
    %n = arith.addi %row, %j : index
    %k = arith.index_cast %n : index to i32
    %f = arith.sitofp %k : i32 to f32
    tensor.yield %f : f32
  } : tensor<4x6xf32, #T>
  %whole = call @whole(%wide) : (tensor<4x6xf32, #T>) -> tensor<2x3x2x2xf32>
  %whole_d = tensor.cast %whole : tensor<2x3x2x2xf32> to tensor<?x?x?x?xf32>
  // CHECK: sizes = [2, 3, 2, 2]
  // CHECK: {{\[\[\[\[}}0, {{ *}}1],
  // CHECK-NEXT: [10, {{ *}}11]],
  // CHECK-NEXT: {{\[\[}}2, {{ *}}3],
  // CHECK-NEXT: [12, {{ *}}13]],
  // CHECK-NEXT: {{\[\[}}4, {{ *}}5],
  // CHECK-NEXT: [14, {{ *}}15]]],
  // CHECK-NEXT: {{\[\[\[}}20, {{ *}}21],
  // CHECK-NEXT: [30, {{ *}}31]],
  call @print(%whole_d) : (tensor<?x?x?x?xf32>) -> ()

  %four = arith.constant 4 : index
  %wide_d = tensor.cast %wide : tensor<4x6xf32, #T> to tensor<?x6xf32, #T>
  %kept:2 = call @kept(%wide_d, %nine, %two, %four) : (tensor<?x6xf32, #T>, f32, index, index) -> (tensor<?x6xf32, #S>, tensor<?x6xf32, #S>)
  %kept_p = layout.convert %kept#0 : tensor<?x6xf32, #S> to tensor<?x6xf32>
  %kept_d = tensor.cast %kept_p : tensor<?x6xf32> to tensor<?x?xf32>
  // CHECK: sizes = [4, 6]
  // CHECK: {{\[\[}}9, {{ *}}1, {{ *}}2, {{ *}}3, {{ *}}4, {{ *}}5],
  // CHECK-NEXT: [10, {{ *}}11, {{ *}}12, {{ *}}13, {{ *}}14, {{ *}}15],
  call @print2_f32(%kept_d) : (tensor<?x?xf32>) -> ()
  %source_p = layout.convert %kept#1 : tensor<?x6xf32, #S> to tensor<?x6xf32>
  %source_d = tensor.cast %source_p : tensor<?x6xf32> to tensor<?x?xf32>
  // CHECK: {{\[\[}}0, {{ *}}1, {{ *}}2, {{ *}}3, {{ *}}4, {{ *}}5],
  call @print2_f32(%source_d) : (tensor<?x?xf32>) -> ()

  %open = tensor.cast %t : tensor<5x3xf32, #T> to tensor<?x?xf32, #T>
  %packed = call @open(%open, %nine, %five, %one) : (tensor<?x?xf32, #T>, f32, index, index) -> tensor<?x?x4xf32>
  %packed_u = tensor.cast %packed : tensor<?x?x4xf32> to tensor<?x?x?xf32>
  // CHECK: sizes = [5, 1, 4]
  // CHECK: {{\[\[\[}}0, {{ *}}1, {{ *}}2, {{ *}}9]],
  // CHECK-NEXT: {{\[\[}}10, {{ *}}11, {{ *}}12, {{ *}}9]],
  // CHECK-NEXT: {{\[\[}}20, {{ *}}21, {{ *}}22, {{ *}}9]],
  call @print3_f32(%packed_u) : (tensor<?x?x?xf32>) -> ()
  %open_back = call @open_back(%packed, %five, %three) : (tensor<?x?x4xf32>, index, index) -> tensor<?x?xf32, #T>
  %open_p = layout.convert %open_back : tensor<?x?xf32, #T> to tensor<?x?xf32>
  // CHECK: sizes = [5, 3]
  // CHECK: {{\[\[}}0, {{ *}}1, {{ *}}2],
  // CHECK-NEXT: [10, {{ *}}11, {{ *}}12],
  // CHECK-NEXT: [20, {{ *}}21, {{ *}}22],
  // CHECK-NEXT: [30, {{ *}}31, {{ *}}32],
  // CHECK-NEXT: [40, {{ *}}41, {{ *}}42]]
  call @print2_f32(%open_p) : (tensor<?x?xf32>) -> ()

  // Rows of the source have a one at each second place; the row before them has 40, and each row has 24 after them.
  %bits = tensor.generate {
  ^bb0(%i: index, %j: index):
    %sum = arith.addi %i, %j : index
    %rest = arith.remui %sum, %two : index
    %is = arith.cmpi eq, %rest, %zero : index
    tensor.yield %is : i1
  } : tensor<5x40xi1>
  %true = arith.constant true
  %ones = call @ones(%bits, %true) : (tensor<5x40xi1>, i1) -> tensor<6x2x32xi1>
  %ones_f = arith.uitofp %ones : tensor<6x2x32xi1> to tensor<6x2x32xf32>
  %none = arith.constant dense<0.0> : tensor<6x1xf32>
  %counted = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, 0)>],
      iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%ones_f : tensor<6x2x32xf32>) outs(%none : tensor<6x1xf32>) {
  ^bb0(%b: f32, %o: f32):
    %sum = arith.addf %b, %o : f32
    linalg.yield %sum : f32
  } -> tensor<6x1xf32>
  %counted_u = tensor.cast %counted : tensor<6x1xf32> to tensor<?x?xf32>
  // CHECK: sizes = [6, 1]
  // CHECK: [64],
  // CHECK-NEXT: [44],
  // CHECK-NEXT: [44],
  // CHECK-NEXT: [44],
  // CHECK-NEXT: [44],
  // CHECK-NEXT: [44]
  call @print2_f32(%counted_u) : (tensor<?x?xf32>) -> ()
  return
}
