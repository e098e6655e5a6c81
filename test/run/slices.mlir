// Slices, padding, reshapes, casts and sizes of tiled tensors, at places that no tile is aligned to.
// RUN: layout-opt %s --layout-to-llvm | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MALLOC_PERTURB_=128 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm=form=physical | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MALLOC_PERTURB_=85 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s

#tile = #layout.tiled<{1,0:T(2,2)}>
#columns = #layout.tiled<{0,1:T(2,4)(2,1)}>
#row = #layout.tiled<{0:T(4)}>
#cube = #layout.tiled<{0,2,1:T(2,2)}>

func.func private @print(%x: tensor<3x5xi32, #tile>) {
  %zero = arith.constant 0 : index
  %p = arith.constant 0 : i32
  %y = layout.convert %x : tensor<3x5xi32, #tile> to tensor<3x5xi32>
  %v = vector.transfer_read %y[%zero, %zero], %p {in_bounds = [true, true]} : tensor<3x5xi32>, vector<3x5xi32>
  vector.print %v : vector<3x5xi32>
  return
}

// A slice goes back one place further, doubled.
func.func private @move(%x: tensor<3x5xi32, #tile>, %i: index, %j: index) -> tensor<3x5xi32, #tile> {
  %one = arith.constant 1 : index
  %s = tensor.extract_slice %x[%i, %j] [2, 3] [1, 1] : tensor<3x5xi32, #tile> to tensor<2x3xi32, #tile>
  %d = arith.addi %s, %s : tensor<2x3xi32, #tile>
  %k = arith.addi %j, %one : index
  %r = tensor.insert_slice %d into %x[%i, %k] [2, 3] [1, 1] : tensor<2x3xi32, #tile> into tensor<3x5xi32, #tile>
  return %r : tensor<3x5xi32, #tile>
}

// Every other element of a row, as a row.
func.func private @every_other(%x: tensor<3x5xi32, #tile>, %i: index) -> tensor<3xi32> {
  %s = tensor.extract_slice %x[%i, 0] [1, 3] [1, 2] : tensor<3x5xi32, #tile> to tensor<3xi32>
  %c = arith.constant dense<0> : tensor<3xi32>
  %r = arith.addi %s, %c : tensor<3xi32>
  return %r : tensor<3xi32>
}

// As many columns as one likes.
func.func private @some(%x: tensor<3x5xi32, #tile>, %n: index) -> i32 {
  %s = tensor.extract_slice %x[1, 0] [1, %n] [1, 1] : tensor<3x5xi32, #tile> to tensor<1x?xi32>
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<i32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<i32>) -> tensor<i32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>],
      iterator_types = ["reduction", "reduction"]} ins(%s : tensor<1x?xi32>) outs(%f : tensor<i32>) {
  ^bb0(%a: i32, %b: i32):
    %t = arith.addi %a, %b : i32
    linalg.yield %t : i32
  } -> tensor<i32>
  %v = tensor.extract %r[] : tensor<i32>
  return %v : i32
}

func.func private @pad(%x: tensor<3x5xi32, #tile>) -> tensor<4x8xi32, #columns> {
  %c = arith.constant -1 : i32
  %r = tensor.pad %x low[1, 0] high[0, 3] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : i32
  } : tensor<3x5xi32, #tile> to tensor<4x8xi32, #columns>
  return %r : tensor<4x8xi32, #columns>
}

// 3x5 is a row of 15; two rows of 8 are 4x2x2.
func.func private @flat(%x: tensor<3x5xi32, #tile>) -> tensor<15xi32, #row> {
  %r = tensor.collapse_shape %x [[0, 1]] : tensor<3x5xi32, #tile> into tensor<15xi32, #row>
  return %r : tensor<15xi32, #row>
}
func.func private @apart(%x: tensor<15xi32, #row>) -> tensor<3x5xi32, #columns> {
  %r = tensor.expand_shape %x [[0, 1]] output_shape [3, 5] : tensor<15xi32, #row> into tensor<3x5xi32, #columns>
  return %r : tensor<3x5xi32, #columns>
}
func.func private @cube(%x: tensor<4x8xi32, #columns>) -> tensor<4x2x4xi32, #cube> {
  %s = tensor.expand_shape %x [[0], [1, 2]] output_shape [4, 2, 4] : tensor<4x8xi32, #columns> into tensor<4x2x4xi32, #cube>
  %r = arith.addi %s, %s : tensor<4x2x4xi32, #cube>
  return %r : tensor<4x2x4xi32, #cube>
}
// To a tensor without a layout, which is read and written to.
func.func private @plain(%x: tensor<3x5xi32, #tile>) -> tensor<15xi32> {
  %s = tensor.collapse_shape %x [[0, 1]] : tensor<3x5xi32, #tile> into tensor<15xi32>
  %r = arith.addi %s, %s : tensor<15xi32>
  return %r : tensor<15xi32>
}

// Sizes known only at run time.
#open = #layout.tiled<{1,0:T(2)}>
func.func private @open(%x: tensor<?x5xi32, #open>) -> index {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %m = tensor.dim %x, %zero : tensor<?x5xi32, #open>
  %n = tensor.dim %x, %one : tensor<?x5xi32, #open>
  %r = arith.muli %m, %n : index
  return %r : index
}

func.func @main() {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %n = arith.constant 0 : i32
  %p = arith.constant dense<[[1, 2, 3, 4, 5], [6, 7, 8, 9, 10], [11, 12, 13, 14, 15]]> : tensor<3x5xi32>
  %x = layout.convert %p : tensor<3x5xi32> to tensor<3x5xi32, #tile>

  %m = call @move(%x, %one, %one) : (tensor<3x5xi32, #tile>, index, index) -> tensor<3x5xi32, #tile>
  // CHECK: ( ( 1, 2, 3, 4, 5 ), ( 6, 7, 14, 16, 18 ), ( 11, 12, 24, 26, 28 ) )
  call @print(%m) : (tensor<3x5xi32, #tile>) -> ()
  // CHECK-NEXT: ( ( 1, 2, 3, 4, 5 ), ( 6, 7, 8, 9, 10 ), ( 11, 12, 13, 14, 15 ) )
  call @print(%x) : (tensor<3x5xi32, #tile>) -> ()

  %o = call @every_other(%x, %two) : (tensor<3x5xi32, #tile>, index) -> tensor<3xi32>
  %ov = vector.transfer_read %o[%zero], %n {in_bounds = [true]} : tensor<3xi32>, vector<3xi32>
  // CHECK-NEXT: ( 11, 13, 15 )
  vector.print %ov : vector<3xi32>
  %s = call @some(%x, %three) : (tensor<3x5xi32, #tile>, index) -> i32
  // CHECK-NEXT: 21
  vector.print %s : i32

  %q = call @pad(%x) : (tensor<3x5xi32, #tile>) -> tensor<4x8xi32, #columns>
  %qp = layout.convert %q : tensor<4x8xi32, #columns> to tensor<4x8xi32>
  %qv = vector.transfer_read %qp[%one, %two], %n {in_bounds = [true, true]} : tensor<4x8xi32>, vector<2x6xi32>
  // CHECK-NEXT: ( ( 3, 4, 5, -1, -1, -1 ), ( 8, 9, 10, -1, -1, -1 ) )
  vector.print %qv : vector<2x6xi32>
  %first = tensor.extract %q[%zero, %one] : tensor<4x8xi32, #columns>
  // CHECK-NEXT: -1
  vector.print %first : i32

  %f = call @flat(%x) : (tensor<3x5xi32, #tile>) -> tensor<15xi32, #row>
  %fp = layout.convert %f : tensor<15xi32, #row> to tensor<15xi32>
  %fv = vector.transfer_read %fp[%zero], %n {in_bounds = [true]} : tensor<15xi32>, vector<15xi32>
  // CHECK-NEXT: ( 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 )
  vector.print %fv : vector<15xi32>
  %a = call @apart(%f) : (tensor<15xi32, #row>) -> tensor<3x5xi32, #columns>
  %b = layout.convert %a : tensor<3x5xi32, #columns> to tensor<3x5xi32, #tile>
  // CHECK-NEXT: ( ( 1, 2, 3, 4, 5 ), ( 6, 7, 8, 9, 10 ), ( 11, 12, 13, 14, 15 ) )
  call @print(%b) : (tensor<3x5xi32, #tile>) -> ()
  %c = call @cube(%q) : (tensor<4x8xi32, #columns>) -> tensor<4x2x4xi32, #cube>
  %cp = layout.convert %c : tensor<4x2x4xi32, #cube> to tensor<4x2x4xi32>
  %cv = vector.transfer_read %cp[%two, %zero, %zero], %n {in_bounds = [true, true]} : tensor<4x2x4xi32>, vector<2x4xi32>
  // CHECK-NEXT: ( ( 12, 14, 16, 18 ), ( 20, -2, -2, -2 ) )
  vector.print %cv : vector<2x4xi32>
  %l = call @plain(%x) : (tensor<3x5xi32, #tile>) -> tensor<15xi32>
  %lv = vector.transfer_read %l[%three], %n {in_bounds = [true]} : tensor<15xi32>, vector<4xi32>
  // CHECK-NEXT: ( 8, 10, 12, 14 )
  vector.print %lv : vector<4xi32>

  %g = layout.convert %p : tensor<3x5xi32> to tensor<3x5xi32, #open>
  %h = tensor.cast %g : tensor<3x5xi32, #open> to tensor<?x5xi32, #open>
  %k = call @open(%h) : (tensor<?x5xi32, #open>) -> index
  // CHECK-NEXT: 15
  vector.print %k : index
  return
}
