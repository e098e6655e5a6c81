// Tiled tensors that loops and branches carry: scf.for, scf.if, scf.while, nested, swapped, zero times, and cf.
// RUN: layout-opt %s --layout-to-llvm | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MALLOC_PERTURB_=128 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm=form=physical | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MALLOC_PERTURB_=85 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s

#tile = #layout.tiled<{1,0:T(2,2)}>
#columns = #layout.tiled<{0,1:T(4)}>
#ij = affine_map<(i, j) -> (i, j)>

func.func private @print(%x: tensor<3x5xi32, #tile>) {
  %zero = arith.constant 0 : index
  %p = arith.constant 0 : i32
  %y = layout.convert %x : tensor<3x5xi32, #tile> to tensor<3x5xi32>
  %v = vector.transfer_read %y[%zero, %zero], %p {in_bounds = [true, true]} : tensor<3x5xi32>, vector<3x5xi32>
  vector.print %v : vector<3x5xi32>
  return
}

// Adds what is in another layout, n times.
func.func private @times(%x: tensor<3x5xi32, #tile>, %y: tensor<3x5xi32, #columns>, %n: index) -> tensor<3x5xi32, #tile> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %k = %zero to %n step %one iter_args(%a = %x) -> (tensor<3x5xi32, #tile>) {
    %b = linalg.add ins(%a, %y : tensor<3x5xi32, #tile>, tensor<3x5xi32, #columns>)
        outs(%a : tensor<3x5xi32, #tile>) -> tensor<3x5xi32, #tile>
    scf.yield %b : tensor<3x5xi32, #tile>
  }
  return %r : tensor<3x5xi32, #tile>
}

// One of two, depending on a number; one is the argument, the other is new.
func.func private @positive(%x: tensor<3x5xi32, #tile>, %n: i32) -> tensor<3x5xi32, #tile> {
  %zero = arith.constant 0 : i32
  %k = arith.cmpi sge, %n, %zero : i32
  %r = scf.if %k -> (tensor<3x5xi32, #tile>) {
    scf.yield %x : tensor<3x5xi32, #tile>
  } else {
    %c = arith.constant dense<0> : tensor<3x5xi32, #tile>
    %y = arith.subi %c, %x : tensor<3x5xi32, #tile>
    scf.yield %y : tensor<3x5xi32, #tile>
  }
  return %r : tensor<3x5xi32, #tile>
}

// Both new.
func.func private @new(%x: tensor<3x5xi32, #tile>, %k: i1) -> tensor<3x5xi32, #tile> {
  %r = scf.if %k -> (tensor<3x5xi32, #tile>) {
    %y = arith.muli %x, %x : tensor<3x5xi32, #tile>
    scf.yield %y : tensor<3x5xi32, #tile>
  } else {
    %y = arith.addi %x, %x : tensor<3x5xi32, #tile>
    scf.yield %y : tensor<3x5xi32, #tile>
  }
  return %r : tensor<3x5xi32, #tile>
}

// Doubles until the first element is at least 100.
func.func private @until(%x: tensor<3x5xi32, #tile>) -> tensor<3x5xi32, #tile> {
  %zero = arith.constant 0 : index
  %limit = arith.constant 100 : i32
  %r = scf.while (%a = %x) : (tensor<3x5xi32, #tile>) -> tensor<3x5xi32, #tile> {
    %f = tensor.extract %a[%zero, %zero] : tensor<3x5xi32, #tile>
    %k = arith.cmpi slt, %f, %limit : i32
    scf.condition(%k) %a : tensor<3x5xi32, #tile>
  } do {
  ^bb0(%a: tensor<3x5xi32, #tile>):
    %b = arith.addi %a, %a : tensor<3x5xi32, #tile>
    scf.yield %b : tensor<3x5xi32, #tile>
  }
  return %r : tensor<3x5xi32, #tile>
}

// Two tensors that change places, one of them changed at one place each time.
func.func private @swap(%x: tensor<3x5xi32, #tile>, %y: tensor<3x5xi32, #tile>, %n: index)
    -> (tensor<3x5xi32, #tile>, tensor<3x5xi32, #tile>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r:2 = scf.for %k = %zero to %n step %one iter_args(%a = %x, %b = %y)
      -> (tensor<3x5xi32, #tile>, tensor<3x5xi32, #tile>) {
    %v = arith.index_cast %k : index to i32
    %c = tensor.insert %v into %a[%zero, %k] : tensor<3x5xi32, #tile>
    scf.yield %b, %c : tensor<3x5xi32, #tile>, tensor<3x5xi32, #tile>
  }
  return %r#0, %r#1 : tensor<3x5xi32, #tile>, tensor<3x5xi32, #tile>
}

func.func private @jump(%x: tensor<3x5xi32, #tile>, %k: i1) -> tensor<3x5xi32, #tile> {
  %y = arith.addi %x, %x : tensor<3x5xi32, #tile>
  cf.cond_br %k, ^left, ^right(%y : tensor<3x5xi32, #tile>)
^left:
  cf.br ^right(%x : tensor<3x5xi32, #tile>)
^right(%r: tensor<3x5xi32, #tile>):
  return %r : tensor<3x5xi32, #tile>
}

func.func @main() {
  %zero = arith.constant 0 : index
  %three = arith.constant 3 : index
  %five = arith.constant 5 : index
  %true = arith.constant true
  %false = arith.constant false
  %minus = arith.constant -1 : i32
  %p = arith.constant dense<[[1, 2, 3, 4, 5], [6, 7, 8, 9, 10], [11, 12, 13, 14, 15]]> : tensor<3x5xi32>
  %x = layout.convert %p : tensor<3x5xi32> to tensor<3x5xi32, #tile>
  %y = layout.convert %p : tensor<3x5xi32> to tensor<3x5xi32, #columns>

  %a = call @times(%x, %y, %three) : (tensor<3x5xi32, #tile>, tensor<3x5xi32, #columns>, index) -> tensor<3x5xi32, #tile>
  // CHECK: ( ( 4, 8, 12, 16, 20 ), ( 24, 28, 32, 36, 40 ), ( 44, 48, 52, 56, 60 ) )
  call @print(%a) : (tensor<3x5xi32, #tile>) -> ()
  %b = call @times(%x, %y, %zero) : (tensor<3x5xi32, #tile>, tensor<3x5xi32, #columns>, index) -> tensor<3x5xi32, #tile>
  // CHECK-NEXT: ( ( 1, 2, 3, 4, 5 ), ( 6, 7, 8, 9, 10 ), ( 11, 12, 13, 14, 15 ) )
  call @print(%b) : (tensor<3x5xi32, #tile>) -> ()
  %c = call @positive(%x, %minus) : (tensor<3x5xi32, #tile>, i32) -> tensor<3x5xi32, #tile>
  // CHECK-NEXT: ( ( -1, -2, -3, -4, -5 ), ( -6, -7, -8, -9, -10 ), ( -11, -12, -13, -14, -15 ) )
  call @print(%c) : (tensor<3x5xi32, #tile>) -> ()
  %d = call @new(%x, %true) : (tensor<3x5xi32, #tile>, i1) -> tensor<3x5xi32, #tile>
  // CHECK-NEXT: ( ( 1, 4, 9, 16, 25 ), ( 36, 49, 64, 81, 100 ), ( 121, 144, 169, 196, 225 ) )
  call @print(%d) : (tensor<3x5xi32, #tile>) -> ()
  %e = call @until(%x) : (tensor<3x5xi32, #tile>) -> tensor<3x5xi32, #tile>
  // CHECK-NEXT: ( ( 128, 256, 384, 512, 640 ), ( 768, 896, 1024, 1152, 1280 ), ( 1408, 1536, 1664, 1792, 1920 ) )
  call @print(%e) : (tensor<3x5xi32, #tile>) -> ()
  %f:2 = call @swap(%x, %c, %five)
    : (tensor<3x5xi32, #tile>, tensor<3x5xi32, #tile>, index) -> (tensor<3x5xi32, #tile>, tensor<3x5xi32, #tile>)
  // CHECK-NEXT: ( ( -1, 1, -3, 3, -5 ), ( -6, -7, -8, -9, -10 ), ( -11, -12, -13, -14, -15 ) )
  // CHECK-NEXT: ( ( 0, 2, 2, 4, 4 ), ( 6, 7, 8, 9, 10 ), ( 11, 12, 13, 14, 15 ) )
  call @print(%f#0) : (tensor<3x5xi32, #tile>) -> ()
  call @print(%f#1) : (tensor<3x5xi32, #tile>) -> ()
  %g = call @jump(%x, %false) : (tensor<3x5xi32, #tile>, i1) -> tensor<3x5xi32, #tile>
  // CHECK-NEXT: ( ( 2, 4, 6, 8, 10 ), ( 12, 14, 16, 18, 20 ), ( 22, 24, 26, 28, 30 ) )
  call @print(%g) : (tensor<3x5xi32, #tile>) -> ()
  return
}
