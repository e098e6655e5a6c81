// Programs on tiled buffers: allocation, globals, loads and stores, copies, sizes, views, calls and branches.
// RUN: layout-opt %s --layout-to-llvm | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MALLOC_PERTURB_=128 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm=form=physical | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MALLOC_PERTURB_=85 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s

#tile = #layout.tiled<{1,0:T(2,2)}>
#merged = #layout.tiled<{1,0:T(*,4)}>
#vmem = #layout.tiled<{0,1:T(2,4)S(1)}>
#columns = #layout.tiled<{0,1}>

memref.global "private" constant @table : memref<3x5xi32, #tile> = dense<[
  [0, 1, 2, 3, 4], [10, 11, 12, 13, 14], [20, 21, 22, 23, 24]]>
memref.global "private" @counter : memref<3xi32, #layout.tiled<{0:T(2)}>> = dense<5>
memref.global "private" @scratch : memref<3x5xi32, #columns>

func.func private @print(%m: memref<3x5xi32>) {
  %zero = arith.constant 0 : index
  %p = arith.constant 0 : i32
  %v = vector.transfer_read %m[%zero, %zero], %p {in_bounds = [true, true]} : memref<3x5xi32>, vector<3x5xi32>
  vector.print %v : vector<3x5xi32>
  return
}

// From one layout to the next: memref.copy, layout.convert, a loop, linalg.
func.func private @around() {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %five = arith.constant 5 : index
  %table = memref.get_global @table : memref<3x5xi32, #tile>
  %scratch = memref.get_global @scratch : memref<3x5xi32, #columns>
  memref.copy %table, %scratch : memref<3x5xi32, #tile> to memref<3x5xi32, #columns>
  %a = memref.alloca()[%five] : memref<3x5xi32, #merged>
  scf.for %i = %zero to %three step %one {
    scf.for %j = %zero to %five step %one {
      %x = memref.load %scratch[%i, %j] : memref<3x5xi32, #columns>
      memref.store %x, %a[%i, %j] : memref<3x5xi32, #merged>
    }
  }
  %b = layout.convert %a : memref<3x5xi32, #merged> to memref<3x5xi32, #vmem, #layout.memory_space<vmem>>
  %c = memref.alloc() {alignment = 64 : i64} : memref<3x5xi32>
  linalg.add ins(%b, %table : memref<3x5xi32, #vmem, #layout.memory_space<vmem>>, memref<3x5xi32, #tile>)
      outs(%c : memref<3x5xi32>)
  // CHECK: ( ( 0, 2, 4, 6, 8 ), ( 20, 22, 24, 26, 28 ), ( 40, 42, 44, 46, 48 ) )
  call @print(%c) : (memref<3x5xi32>) -> ()
  memref.dealloc %c : memref<3x5xi32>
  return
}

// Affine loops, one of them backwards, over a transposed sum.
func.func private @affine() {
  %table = memref.get_global @table : memref<3x5xi32, #tile>
  %t = memref.alloc() : memref<5x3xi32, #tile>
  affine.for %i = 0 to 3 {
    affine.for %j = 0 to 5 {
      %x = affine.load %table[2 - %i, %j] : memref<3x5xi32, #tile>
      affine.store %x, %t[%j, %i] : memref<5x3xi32, #tile>
    }
  }
  %zero = arith.constant 0 : index
  %p = arith.constant 0 : i32
  %v = vector.transfer_read %t[%zero, %zero], %p {in_bounds = [true, true]} : memref<5x3xi32, #tile>, vector<5x3xi32>
  // CHECK-NEXT: ( ( 20, 10, 0 ), ( 21, 11, 1 ), ( 22, 12, 2 ), ( 23, 13, 3 ), ( 24, 14, 4 ) )
  vector.print %v : vector<5x3xi32>
  memref.dealloc %t : memref<5x3xi32, #tile>
  return
}

// A global that keeps what was written.
func.func private @count(%i: index) {
  %g = memref.get_global @counter : memref<3xi32, #layout.tiled<{0:T(2)}>>
  %x = memref.load %g[%i] : memref<3xi32, #layout.tiled<{0:T(2)}>>
  %one = arith.constant 1 : i32
  %y = arith.addi %x, %one : i32
  memref.store %y, %g[%i] : memref<3xi32, #layout.tiled<{0:T(2)}>>
  // CHECK-NEXT: 6
  // CHECK-NEXT: 7
  vector.print %y : i32
  return
}

// Sizes known only at run time, where the dimension is not tiled; casts between known and unknown.
#rows = #layout.tiled<{1,0:T(4)}>
func.func private @rows(%m: memref<?x6xi32, #rows>) -> index {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = memref.dim %m, %zero : memref<?x6xi32, #rows>
  scf.for %i = %zero to %n step %one {
    affine.for %j = 0 to 6 {
      %s = arith.addi %i, %j : index
      %x = arith.index_cast %s : index to i32
      memref.store %x, %m[%i, %j] : memref<?x6xi32, #rows>
    }
  }
  %k = memref.dim %m, %one : memref<?x6xi32, #rows>
  %r = arith.muli %n, %k : index
  return %r : index
}
func.func private @dynamic(%n: index) {
  %m = memref.alloc(%n) : memref<?x6xi32, #rows>
  %size = call @rows(%m) : (memref<?x6xi32, #rows>) -> index
  // CHECK-NEXT: 24
  vector.print %size : index
  %s = memref.cast %m : memref<?x6xi32, #rows> to memref<4x6xi32, #rows>
  %three = arith.constant 3 : index
  %five = arith.constant 5 : index
  %x = memref.load %s[%three, %five] : memref<4x6xi32, #rows>
  // CHECK-NEXT: 8
  vector.print %x : i32
  memref.dealloc %m : memref<?x6xi32, #rows>
  return
}

// A layout without tiles has strides, so what views there are of strided buffers work on it.
func.func private @views(%i: index) {
  %m = memref.alloc() : memref<3x5xi32, #columns>
  %table = memref.get_global @table : memref<3x5xi32, #tile>
  memref.copy %table, %m : memref<3x5xi32, #tile> to memref<3x5xi32, #columns>
  %s = memref.subview %m[1, %i] [2, 2] [1, 1]
      : memref<3x5xi32, #columns> to memref<2x2xi32, strided<[1, 3], offset: ?>>
  %zero = arith.constant 0 : index
  %p = arith.constant 0 : i32
  %c = memref.alloc() : memref<2x2xi32>
  memref.copy %s, %c : memref<2x2xi32, strided<[1, 3], offset: ?>> to memref<2x2xi32>
  %v = vector.transfer_read %c[%zero, %zero], %p {in_bounds = [true, true]} : memref<2x2xi32>, vector<2x2xi32>
  // CHECK-NEXT: ( ( 12, 13 ), ( 22, 23 ) )
  vector.print %v : vector<2x2xi32>
  memref.dealloc %c : memref<2x2xi32>
  memref.dealloc %m : memref<3x5xi32, #columns>
  return
}

// Which of two buffers, by scf.if, by arith.select, by cf.br; and one that a loop swaps.
func.func private @branches(%k: i1) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %table = memref.get_global @table : memref<3x5xi32, #tile>
  %m = memref.alloc() : memref<3x5xi32, #tile>
  %n1 = arith.constant -1 : i32
  linalg.fill ins(%n1 : i32) outs(%m : memref<3x5xi32, #tile>)
  %a = scf.if %k -> (memref<3x5xi32, #tile>) {
    scf.yield %table : memref<3x5xi32, #tile>
  } else {
    scf.yield %m : memref<3x5xi32, #tile>
  }
  %b = arith.select %k, %m, %table : memref<3x5xi32, #tile>
  %x = memref.load %a[%one, %three] : memref<3x5xi32, #tile>
  %y = memref.load %b[%one, %three] : memref<3x5xi32, #tile>
  // CHECK-NEXT: 13
  // CHECK-NEXT: -1
  vector.print %x : i32
  vector.print %y : i32
  %c:2 = scf.for %i = %zero to %three step %one iter_args(%p = %a, %q = %b)
      -> (memref<3x5xi32, #tile>, memref<3x5xi32, #tile>) {
    scf.yield %q, %p : memref<3x5xi32, #tile>, memref<3x5xi32, #tile>
  }
  %z = memref.load %c#0[%one, %three] : memref<3x5xi32, #tile>
  // CHECK-NEXT: -1
  vector.print %z : i32
  cf.cond_br %k, ^yes(%c#1 : memref<3x5xi32, #tile>), ^no(%c#0 : memref<3x5xi32, #tile>)
^yes(%d: memref<3x5xi32, #tile>):
  %w = memref.load %d[%two, %zero] : memref<3x5xi32, #tile>
  // CHECK-NEXT: 20
  vector.print %w : i32
  cf.br ^end
^no(%e: memref<3x5xi32, #tile>):
  cf.br ^end
^end:
  memref.dealloc %m : memref<3x5xi32, #tile>
  return
}

func.func @main() {
  %two = arith.constant 2 : index
  %four = arith.constant 4 : index
  %true = arith.constant true
  call @around() : () -> ()
  call @affine() : () -> ()
  call @count(%two) : (index) -> ()
  call @count(%two) : (index) -> ()
  call @dynamic(%four) : (index) -> ()
  call @views(%two) : (index) -> ()
  call @branches(%true) : (i1) -> ()
  return
}
