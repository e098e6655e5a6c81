// Slices and reshapes that are read after their tensor was written, and padding that joins other values.
// RUN: layout-opt %s --layout-to-llvm | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm=form=physical | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s

#T = #layout.tiled<{1,0:T(2,2)}>
#ij = affine_map<(i, j) -> (i, j)>

// Element (i, j) is 10 * i + j.
func.func private @numbers() -> tensor<4x6xi32, #T> {
  %e = tensor.empty() : tensor<4x6xi32, #T>
  %r = linalg.generic {indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x6xi32, #T>) {
  ^bb0(%x: i32):
    %ten = arith.constant 10 : index
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %m = arith.muli %i, %ten : index
    %s = arith.addi %m, %j : index
    %n = arith.index_cast %s : index to i32
    linalg.yield %n : i32
  } -> tensor<4x6xi32, #T>
  return %r : tensor<4x6xi32, #T>
}

// The rank of the slice is lower than the layout's, that of the reshape higher.
func.func private @kept() -> (i32, i32, i32) {
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %new = arith.constant 99 : i32
  %a = func.call @numbers() : () -> tensor<4x6xi32, #T>
  %row = tensor.extract_slice %a[1, 0] [1, 6] [1, 1] : tensor<4x6xi32, #T> to tensor<6xi32>
  %split = tensor.expand_shape %a [[0], [1, 2]] output_shape [4, 2, 3] : tensor<4x6xi32, #T> into tensor<4x2x3xi32>
  %b = tensor.insert %new into %a[%one, %two] : tensor<4x6xi32, #T>
  %x = tensor.extract %row[%two] : tensor<6xi32>
  %zero = arith.constant 0 : index
  %y = tensor.extract %split[%one, %zero, %two] : tensor<4x2x3xi32>
  %z = tensor.extract %b[%one, %two] : tensor<4x6xi32, #T>
  return %x, %y, %z : i32, i32, i32
}

// The padded tensor has no layout of its own, and either comes out of the branch.
func.func private @joined(%c: i1) -> i32 {
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %seven = arith.constant 7 : i32
  %a = func.call @numbers() : () -> tensor<4x6xi32, #T>
  %other = arith.constant dense<5> : tensor<5x8xi32>
  %r = scf.if %c -> tensor<5x8xi32> {
    %p = tensor.pad %a low[1, 0] high[0, 2] {
    ^bb0(%i: index, %j: index):
      tensor.yield %seven : i32
    } : tensor<4x6xi32, #T> to tensor<5x8xi32>
    scf.yield %p : tensor<5x8xi32>
  } else {
    scf.yield %other : tensor<5x8xi32>
  }
  %x = tensor.extract %r[%two, %one] : tensor<5x8xi32>
  return %x : i32
}

// What is computed from the result of a switch does not go into the argument that a case yields.
func.func private @switched(%a: tensor<4xi32> {bufferization.writable = false}, %k: index) -> (i32, i32) {
  %one = arith.constant 1 : index
  %b = arith.constant dense<3> : tensor<4xi32>
  %s = scf.index_switch %k -> tensor<4xi32>
  case 0 {
    scf.yield %a : tensor<4xi32>
  }
  default {
    scf.yield %b : tensor<4xi32>
  }
  %t = arith.addi %s, %s : tensor<4xi32>
  %x = tensor.extract %t[%one] : tensor<4xi32>
  %y = tensor.extract %a[%one] : tensor<4xi32>
  return %x, %y : i32, i32
}

func.func @main() {
  %true = arith.constant true
  %false = arith.constant false
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %a = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %0:3 = func.call @kept() : () -> (i32, i32, i32)
  // CHECK: 12
  vector.print %0#0 : i32
  // CHECK-NEXT: 12
  vector.print %0#1 : i32
  // CHECK-NEXT: 99
  vector.print %0#2 : i32
  %1 = func.call @joined(%true) : (i1) -> i32
  // CHECK-NEXT: 11
  vector.print %1 : i32
  %2 = func.call @joined(%false) : (i1) -> i32
  // CHECK-NEXT: 5
  vector.print %2 : i32
  %3:2 = func.call @switched(%a, %zero) : (tensor<4xi32>, index) -> (i32, i32)
  // CHECK-NEXT: 4
  vector.print %3#0 : i32
  // CHECK-NEXT: 2
  vector.print %3#1 : i32
  %4:2 = func.call @switched(%a, %one) : (tensor<4xi32>, index) -> (i32, i32)
  // CHECK-NEXT: 6
  vector.print %4#0 : i32
  // CHECK-NEXT: 2
  vector.print %4#1 : i32
  return
}
