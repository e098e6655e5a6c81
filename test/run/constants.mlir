// Constants laid out at compile time: read back by index, splat or not, of small types, merged and reordered.
// RUN: layout-opt %s --layout-to-llvm | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MALLOC_PERTURB_=128 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm=form=physical | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MALLOC_PERTURB_=85 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s

#tile = #layout.tiled<{1,0:T(2,2)L(30)}>
#merged = #layout.tiled<{2,3,0,1:T(*,*,2,3)(4,1)}>
#bits = #layout.tiled<{0,1:T(4,2)}>

func.func private @numbers(%i: index, %j: index) -> i16 {
  %c = arith.constant dense<[[1, 2, 3, 4, 5], [6, 7, 8, 9, 10], [11, 12, 13, 14, 15]]> : tensor<3x5xi16, #tile>
  %x = tensor.extract %c[%i, %j] : tensor<3x5xi16, #tile>
  return %x : i16
}
func.func private @splat(%i: index, %j: index) -> f64 {
  %c = arith.constant dense<2.5> : tensor<3x5xf64, #tile>
  %x = tensor.extract %c[%i, %j] : tensor<3x5xf64, #tile>
  return %x : f64
}
func.func private @bits(%i: index, %j: index) -> i1 {
  %c = arith.constant dense<[[true, false, true], [false, false, true]]> : tensor<2x3xi1, #bits>
  %x = tensor.extract %c[%i, %j] : tensor<2x3xi1, #bits>
  return %x : i1
}
func.func private @yes(%i: index, %j: index) -> i1 {
  %c = arith.constant dense<true> : tensor<2x3xi1, #bits>
  %x = tensor.extract %c[%i, %j] : tensor<2x3xi1, #bits>
  return %x : i1
}
// Element (i, j, k, l) is 1000*i + 100*j + 10*k + l.
func.func private @merged(%i: index, %j: index, %k: index, %l: index) -> i32 {
  %c = arith.constant dense<[
    [[[0, 1], [10, 11], [20, 21]], [[100, 101], [110, 111], [120, 121]]],
    [[[1000, 1001], [1010, 1011], [1020, 1021]], [[1100, 1101], [1110, 1111], [1120, 1121]]]
  ]> : tensor<2x2x3x2xi32, #merged>
  %x = tensor.extract %c[%i, %j, %k, %l] : tensor<2x2x3x2xi32, #merged>
  return %x : i32
}
// An element that is not a constant makes a copy, not the constant itself, change.
func.func private @changed(%i: index, %j: index) -> i16 {
  %c = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi16, #tile>
  %v = arith.constant 7 : i16
  %d = tensor.insert %v into %c[%i, %j] : tensor<2x2xi16, #tile>
  %x = tensor.extract %c[%i, %j] : tensor<2x2xi16, #tile>
  %y = tensor.extract %d[%i, %j] : tensor<2x2xi16, #tile>
  %z = arith.addi %x, %y : i16
  return %z : i16
}
func.func private @elements(%a: i32, %b: i32, %i: index) -> i32 {
  %zero = arith.constant 0 : index
  %c = tensor.from_elements %a, %b, %b, %a, %a, %b : tensor<2x3xi32, #bits>
  %x = tensor.extract %c[%zero, %i] : tensor<2x3xi32, #bits>
  return %x : i32
}
func.func private @same(%a: i32, %i: index) -> i32 {
  %c = tensor.splat %a : tensor<2x3xi32, #bits>
  %d = arith.addi %c, %c : tensor<2x3xi32, #bits>
  %x = tensor.extract %d[%i, %i] : tensor<2x3xi32, #bits>
  return %x : i32
}
func.func private @lists() {
  %one = arith.constant 1 : index
  %a = arith.constant 3 : i32
  %b = arith.constant 4 : i32
  %x = call @elements(%a, %b, %one) : (i32, i32, index) -> i32
  // CHECK: 4
  vector.print %x : i32
  %y = call @same(%b, %one) : (i32, index) -> i32
  // CHECK-NEXT: 8
  vector.print %y : i32
  return
}

func.func @main() {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %five = arith.constant 5 : index
  call @lists() : () -> ()
  scf.for %i = %zero to %three step %one {
    scf.for %j = %zero to %five step %two {
      %x = func.call @numbers(%i, %j) : (index, index) -> i16
      vector.print %x : i16
    }
  }
  // CHECK-NEXT: 1
  // CHECK-NEXT: 3
  // CHECK-NEXT: 5
  // CHECK-NEXT: 6
  // CHECK-NEXT: 8
  // CHECK-NEXT: 10
  // CHECK-NEXT: 11
  // CHECK-NEXT: 13
  // CHECK-NEXT: 15
  %s = call @splat(%two, %three) : (index, index) -> f64
  // CHECK-NEXT: 2.5
  vector.print %s : f64
  scf.for %i = %zero to %two step %one {
    scf.for %j = %zero to %three step %one {
      %x = func.call @bits(%i, %j) : (index, index) -> i1
      vector.print %x : i1
    }
  }
  // CHECK-NEXT: 1
  // CHECK-NEXT: 0
  // CHECK-NEXT: 1
  // CHECK-NEXT: 0
  // CHECK-NEXT: 0
  // CHECK-NEXT: 1
  %y = call @yes(%one, %two) : (index, index) -> i1
  // CHECK-NEXT: 1
  vector.print %y : i1
  %m = call @merged(%one, %zero, %two, %one) : (index, index, index, index) -> i32
  // CHECK-NEXT: 1021
  vector.print %m : i32
  %n = call @merged(%zero, %one, %one, %zero) : (index, index, index, index) -> i32
  // CHECK-NEXT: 110
  vector.print %n : i32
  %c = call @changed(%one, %zero) : (index, index) -> i16
  // CHECK-NEXT: 10
  vector.print %c : i16
  return
}
