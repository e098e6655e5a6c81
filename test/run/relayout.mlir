// Row-major to tiled and back, by way of another function: every element comes back.
// RUN: layout-opt %s --layout-to-llvm | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MALLOC_PERTURB_=128 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm=form=physical | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MALLOC_PERTURB_=85 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s

// Numbers from -100 to 100, no two neighbours alike.
func.func private @numbers_f32(%m: index, %n: index) -> tensor<?x?xf32> {
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<?x?xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c37 = arith.constant 37 : index
    %c101 = arith.constant 101 : index
    %c201 = arith.constant 201 : index
    %p = arith.muli %i, %c37 : index
    %q = arith.muli %j, %c101 : index
    %s = arith.addi %p, %q : index
    %r = arith.remui %s, %c201 : index
    %k = arith.index_cast %r : index to i32
    %c100 = arith.constant 100 : i32
    %h = arith.subi %k, %c100 : i32
    %v = arith.sitofp %h : i32 to f32
    linalg.yield %v : f32
  } -> tensor<?x?xf32>
  return %x : tensor<?x?xf32>
}

// Prints how many elements are equal, how many are not, and the last one.
func.func private @compare_f32(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %m = tensor.dim %x, %zero : tensor<?x?xf32>
  %n = tensor.dim %x, %one : tensor<?x?xf32>
  %counts:2 = scf.for %i = %zero to %m step %one iter_args(%p = %zero, %q = %zero) -> (index, index) {
    %row:2 = scf.for %j = %zero to %n step %one iter_args(%s = %p, %t = %q) -> (index, index) {
      %a = tensor.extract %x[%i, %j] : tensor<?x?xf32>
      %b = tensor.extract %y[%i, %j] : tensor<?x?xf32>
      %same = arith.cmpf oeq, %a, %b : f32
      %d = arith.index_castui %same : i1 to index
      %o = arith.subi %one, %d : index
      %s1 = arith.addi %s, %d : index
      %t1 = arith.addi %t, %o : index
      scf.yield %s1, %t1 : index, index
    }
    scf.yield %row#0, %row#1 : index, index
  }
  %i = arith.subi %m, %one : index
  %j = arith.subi %n, %one : index
  %last = tensor.extract %y[%i, %j] : tensor<?x?xf32>
  vector.print %counts#0 : index
  vector.print %counts#1 : index
  vector.print %last : f32
  return
}

// Numbers from -100 to 100, no two neighbours alike.
func.func private @numbers_bf16(%m: index, %n: index) -> tensor<?x?xbf16> {
  %e = tensor.empty(%m, %n) : tensor<?x?xbf16>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<?x?xbf16>) {
  ^bb0(%o: bf16):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c37 = arith.constant 37 : index
    %c101 = arith.constant 101 : index
    %c201 = arith.constant 201 : index
    %p = arith.muli %i, %c37 : index
    %q = arith.muli %j, %c101 : index
    %s = arith.addi %p, %q : index
    %r = arith.remui %s, %c201 : index
    %k = arith.index_cast %r : index to i32
    %c100 = arith.constant 100 : i32
    %h = arith.subi %k, %c100 : i32
    %v = arith.sitofp %h : i32 to bf16
    linalg.yield %v : bf16
  } -> tensor<?x?xbf16>
  return %x : tensor<?x?xbf16>
}

// Prints how many elements are equal, how many are not, and the last one.
func.func private @compare_bf16(%x: tensor<?x?xbf16>, %y: tensor<?x?xbf16>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %m = tensor.dim %x, %zero : tensor<?x?xbf16>
  %n = tensor.dim %x, %one : tensor<?x?xbf16>
  %counts:2 = scf.for %i = %zero to %m step %one iter_args(%p = %zero, %q = %zero) -> (index, index) {
    %row:2 = scf.for %j = %zero to %n step %one iter_args(%s = %p, %t = %q) -> (index, index) {
      %a = tensor.extract %x[%i, %j] : tensor<?x?xbf16>
      %b = tensor.extract %y[%i, %j] : tensor<?x?xbf16>
      %same = arith.cmpf oeq, %a, %b : bf16
      %d = arith.index_castui %same : i1 to index
      %o = arith.subi %one, %d : index
      %s1 = arith.addi %s, %d : index
      %t1 = arith.addi %t, %o : index
      scf.yield %s1, %t1 : index, index
    }
    scf.yield %row#0, %row#1 : index, index
  }
  %i = arith.subi %m, %one : index
  %j = arith.subi %n, %one : index
  %last = tensor.extract %y[%i, %j] : tensor<?x?xbf16>
  vector.print %counts#0 : index
  vector.print %counts#1 : index
  vector.print %last : bf16
  return
}

// Numbers from -100 to 100, no two neighbours alike.
func.func private @numbers_i8(%m: index, %n: index) -> tensor<?x?xi8> {
  %e = tensor.empty(%m, %n) : tensor<?x?xi8>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<?x?xi8>) {
  ^bb0(%o: i8):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c37 = arith.constant 37 : index
    %c101 = arith.constant 101 : index
    %c201 = arith.constant 201 : index
    %p = arith.muli %i, %c37 : index
    %q = arith.muli %j, %c101 : index
    %s = arith.addi %p, %q : index
    %r = arith.remui %s, %c201 : index
    %k = arith.index_cast %r : index to i32
    %c100 = arith.constant 100 : i32
    %h = arith.subi %k, %c100 : i32
    %v = arith.trunci %h : i32 to i8
    linalg.yield %v : i8
  } -> tensor<?x?xi8>
  return %x : tensor<?x?xi8>
}

// Prints how many elements are equal, how many are not, and the last one.
func.func private @compare_i8(%x: tensor<?x?xi8>, %y: tensor<?x?xi8>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %m = tensor.dim %x, %zero : tensor<?x?xi8>
  %n = tensor.dim %x, %one : tensor<?x?xi8>
  %counts:2 = scf.for %i = %zero to %m step %one iter_args(%p = %zero, %q = %zero) -> (index, index) {
    %row:2 = scf.for %j = %zero to %n step %one iter_args(%s = %p, %t = %q) -> (index, index) {
      %a = tensor.extract %x[%i, %j] : tensor<?x?xi8>
      %b = tensor.extract %y[%i, %j] : tensor<?x?xi8>
      %same = arith.cmpi eq, %a, %b : i8
      %d = arith.index_castui %same : i1 to index
      %o = arith.subi %one, %d : index
      %s1 = arith.addi %s, %d : index
      %t1 = arith.addi %t, %o : index
      scf.yield %s1, %t1 : index, index
    }
    scf.yield %row#0, %row#1 : index, index
  }
  %i = arith.subi %m, %one : index
  %j = arith.subi %n, %one : index
  %last = tensor.extract %y[%i, %j] : tensor<?x?xi8>
  vector.print %counts#0 : index
  vector.print %counts#1 : index
  vector.print %last : i8
  return
}

#full = #layout.tiled<{1,0:T(8,128)}>
func.func private @to_full(%x: tensor<16x256xf32>) -> tensor<16x256xf32, #full> {
  %y = layout.convert %x : tensor<16x256xf32> to tensor<16x256xf32, #full>
  return %y : tensor<16x256xf32, #full>
}
func.func private @full() {
  %m = arith.constant 16 : index
  %n = arith.constant 256 : index
  %x = call @numbers_f32(%m, %n) : (index, index) -> tensor<?x?xf32>
  %s = tensor.cast %x : tensor<?x?xf32> to tensor<16x256xf32>
  %t = call @to_full(%s) : (tensor<16x256xf32>) -> tensor<16x256xf32, #full>
  %b = layout.convert %t : tensor<16x256xf32, #full> to tensor<16x256xf32>
  %y = tensor.cast %b : tensor<16x256xf32> to tensor<?x?xf32>
  call @compare_f32(%x, %y) : (tensor<?x?xf32>, tensor<?x?xf32>) -> ()
  return
}
// CHECK: 4096
// CHECK-NEXT: 0
// CHECK-NEXT: 80{{$}}

#ragged = #layout.tiled<{1,0:T(8,128)}>
func.func private @to_ragged(%x: tensor<15x250xf32>) -> tensor<15x250xf32, #ragged> {
  %y = layout.convert %x : tensor<15x250xf32> to tensor<15x250xf32, #ragged>
  return %y : tensor<15x250xf32, #ragged>
}
func.func private @ragged() {
  %m = arith.constant 15 : index
  %n = arith.constant 250 : index
  %x = call @numbers_f32(%m, %n) : (index, index) -> tensor<?x?xf32>
  %s = tensor.cast %x : tensor<?x?xf32> to tensor<15x250xf32>
  %t = call @to_ragged(%s) : (tensor<15x250xf32>) -> tensor<15x250xf32, #ragged>
  %b = layout.convert %t : tensor<15x250xf32, #ragged> to tensor<15x250xf32>
  %y = tensor.cast %b : tensor<15x250xf32> to tensor<?x?xf32>
  call @compare_f32(%x, %y) : (tensor<?x?xf32>, tensor<?x?xf32>) -> ()
  return
}
// CHECK: 3750
// CHECK-NEXT: 0
// CHECK-NEXT: 40{{$}}

#bf16 = #layout.tiled<{1,0:T(8,128)(2,1)}>
func.func private @to_bf16(%x: tensor<15x250xbf16>) -> tensor<15x250xbf16, #bf16> {
  %y = layout.convert %x : tensor<15x250xbf16> to tensor<15x250xbf16, #bf16>
  return %y : tensor<15x250xbf16, #bf16>
}
func.func private @bf16() {
  %m = arith.constant 15 : index
  %n = arith.constant 250 : index
  %x = call @numbers_bf16(%m, %n) : (index, index) -> tensor<?x?xbf16>
  %s = tensor.cast %x : tensor<?x?xbf16> to tensor<15x250xbf16>
  %t = call @to_bf16(%s) : (tensor<15x250xbf16>) -> tensor<15x250xbf16, #bf16>
  %b = layout.convert %t : tensor<15x250xbf16, #bf16> to tensor<15x250xbf16>
  %y = tensor.cast %b : tensor<15x250xbf16> to tensor<?x?xbf16>
  call @compare_bf16(%x, %y) : (tensor<?x?xbf16>, tensor<?x?xbf16>) -> ()
  return
}
// CHECK: 3750
// CHECK-NEXT: 0
// CHECK-NEXT: 40{{$}}

#i8 = #layout.tiled<{1,0:T(8,128)(4,1)}>
func.func private @to_i8(%x: tensor<13x130xi8>) -> tensor<13x130xi8, #i8> {
  %y = layout.convert %x : tensor<13x130xi8> to tensor<13x130xi8, #i8>
  return %y : tensor<13x130xi8, #i8>
}
func.func private @i8() {
  %m = arith.constant 13 : index
  %n = arith.constant 130 : index
  %x = call @numbers_i8(%m, %n) : (index, index) -> tensor<?x?xi8>
  %s = tensor.cast %x : tensor<?x?xi8> to tensor<13x130xi8>
  %t = call @to_i8(%s) : (tensor<13x130xi8>) -> tensor<13x130xi8, #i8>
  %b = layout.convert %t : tensor<13x130xi8, #i8> to tensor<13x130xi8>
  %y = tensor.cast %b : tensor<13x130xi8> to tensor<?x?xi8>
  call @compare_i8(%x, %y) : (tensor<?x?xi8>, tensor<?x?xi8>) -> ()
  return
}
// CHECK: 1690
// CHECK-NEXT: 0
// CHECK-NEXT: -94{{$}}

#small = #layout.tiled<{1,0:T(2,2)}>
func.func private @to_small(%x: tensor<3x5xf32>) -> tensor<3x5xf32, #small> {
  %y = layout.convert %x : tensor<3x5xf32> to tensor<3x5xf32, #small>
  return %y : tensor<3x5xf32, #small>
}
func.func private @small() {
  %m = arith.constant 3 : index
  %n = arith.constant 5 : index
  %x = call @numbers_f32(%m, %n) : (index, index) -> tensor<?x?xf32>
  %s = tensor.cast %x : tensor<?x?xf32> to tensor<3x5xf32>
  %t = call @to_small(%s) : (tensor<3x5xf32>) -> tensor<3x5xf32, #small>
  %b = layout.convert %t : tensor<3x5xf32, #small> to tensor<3x5xf32>
  %y = tensor.cast %b : tensor<3x5xf32> to tensor<?x?xf32>
  call @compare_f32(%x, %y) : (tensor<?x?xf32>, tensor<?x?xf32>) -> ()
  return
}
// CHECK: 15
// CHECK-NEXT: 0
// CHECK-NEXT: -24{{$}}

#columns = #layout.tiled<{0,1}>
func.func private @to_columns(%x: tensor<3x5xf32>) -> tensor<3x5xf32, #columns> {
  %y = layout.convert %x : tensor<3x5xf32> to tensor<3x5xf32, #columns>
  return %y : tensor<3x5xf32, #columns>
}
func.func private @columns() {
  %m = arith.constant 3 : index
  %n = arith.constant 5 : index
  %x = call @numbers_f32(%m, %n) : (index, index) -> tensor<?x?xf32>
  %s = tensor.cast %x : tensor<?x?xf32> to tensor<3x5xf32>
  %t = call @to_columns(%s) : (tensor<3x5xf32>) -> tensor<3x5xf32, #columns>
  %b = layout.convert %t : tensor<3x5xf32, #columns> to tensor<3x5xf32>
  %y = tensor.cast %b : tensor<3x5xf32> to tensor<?x?xf32>
  call @compare_f32(%x, %y) : (tensor<?x?xf32>, tensor<?x?xf32>) -> ()
  return
}
// CHECK: 15
// CHECK-NEXT: 0
// CHECK-NEXT: -24{{$}}

#column_tiles = #layout.tiled<{0,1:T(8,128)(2,1)}>
func.func private @to_column_tiles(%x: tensor<15x250xbf16>) -> tensor<15x250xbf16, #column_tiles> {
  %y = layout.convert %x : tensor<15x250xbf16> to tensor<15x250xbf16, #column_tiles>
  return %y : tensor<15x250xbf16, #column_tiles>
}
func.func private @column_tiles() {
  %m = arith.constant 15 : index
  %n = arith.constant 250 : index
  %x = call @numbers_bf16(%m, %n) : (index, index) -> tensor<?x?xbf16>
  %s = tensor.cast %x : tensor<?x?xbf16> to tensor<15x250xbf16>
  %t = call @to_column_tiles(%s) : (tensor<15x250xbf16>) -> tensor<15x250xbf16, #column_tiles>
  %b = layout.convert %t : tensor<15x250xbf16, #column_tiles> to tensor<15x250xbf16>
  %y = tensor.cast %b : tensor<15x250xbf16> to tensor<?x?xbf16>
  call @compare_bf16(%x, %y) : (tensor<?x?xbf16>, tensor<?x?xbf16>) -> ()
  return
}
// CHECK: 3750
// CHECK-NEXT: 0
// CHECK-NEXT: 40{{$}}

#combined = #layout.tiled<{1,0:T(*,4)}>
func.func private @to_combined(%x: tensor<7x9xf32>) -> tensor<7x9xf32, #combined> {
  %y = layout.convert %x : tensor<7x9xf32> to tensor<7x9xf32, #combined>
  return %y : tensor<7x9xf32, #combined>
}
func.func private @combined() {
  %m = arith.constant 7 : index
  %n = arith.constant 9 : index
  %x = call @numbers_f32(%m, %n) : (index, index) -> tensor<?x?xf32>
  %s = tensor.cast %x : tensor<?x?xf32> to tensor<7x9xf32>
  %t = call @to_combined(%s) : (tensor<7x9xf32>) -> tensor<7x9xf32, #combined>
  %b = layout.convert %t : tensor<7x9xf32, #combined> to tensor<7x9xf32>
  %y = tensor.cast %b : tensor<7x9xf32> to tensor<?x?xf32>
  call @compare_f32(%x, %y) : (tensor<?x?xf32>, tensor<?x?xf32>) -> ()
  return
}
// CHECK: 63
// CHECK-NEXT: 0
// CHECK-NEXT: -75{{$}}

#long_rows = #layout.tiled<{1,0:T(1024)(128)(2,1)}>
func.func private @to_long_rows(%x: tensor<3x700xbf16>) -> tensor<3x700xbf16, #long_rows> {
  %y = layout.convert %x : tensor<3x700xbf16> to tensor<3x700xbf16, #long_rows>
  return %y : tensor<3x700xbf16, #long_rows>
}
func.func private @long_rows() {
  %m = arith.constant 3 : index
  %n = arith.constant 700 : index
  %x = call @numbers_bf16(%m, %n) : (index, index) -> tensor<?x?xbf16>
  %s = tensor.cast %x : tensor<?x?xbf16> to tensor<3x700xbf16>
  %t = call @to_long_rows(%s) : (tensor<3x700xbf16>) -> tensor<3x700xbf16, #long_rows>
  %b = layout.convert %t : tensor<3x700xbf16, #long_rows> to tensor<3x700xbf16>
  %y = tensor.cast %b : tensor<3x700xbf16> to tensor<?x?xbf16>
  call @compare_bf16(%x, %y) : (tensor<?x?xbf16>, tensor<?x?xbf16>) -> ()
  return
}
// CHECK: 2100
// CHECK-NEXT: 0
// CHECK-NEXT: 22{{$}}

#longer = #layout.tiled<{1,0:T(3,2,4)}>
func.func private @to_longer(%x: tensor<5x9xf32>) -> tensor<5x9xf32, #longer> {
  %y = layout.convert %x : tensor<5x9xf32> to tensor<5x9xf32, #longer>
  return %y : tensor<5x9xf32, #longer>
}
func.func private @longer() {
  %m = arith.constant 5 : index
  %n = arith.constant 9 : index
  %x = call @numbers_f32(%m, %n) : (index, index) -> tensor<?x?xf32>
  %s = tensor.cast %x : tensor<?x?xf32> to tensor<5x9xf32>
  %t = call @to_longer(%s) : (tensor<5x9xf32>) -> tensor<5x9xf32, #longer>
  %b = layout.convert %t : tensor<5x9xf32, #longer> to tensor<5x9xf32>
  %y = tensor.cast %b : tensor<5x9xf32> to tensor<?x?xf32>
  call @compare_f32(%x, %y) : (tensor<?x?xf32>, tensor<?x?xf32>) -> ()
  return
}
// CHECK: 45
// CHECK-NEXT: 0
// CHECK-NEXT: 52{{$}}

#uneven = #layout.tiled<{1,0:T(8,128)(3,1)}>
func.func private @to_uneven(%x: tensor<15x250xf32>) -> tensor<15x250xf32, #uneven> {
  %y = layout.convert %x : tensor<15x250xf32> to tensor<15x250xf32, #uneven>
  return %y : tensor<15x250xf32, #uneven>
}
func.func private @uneven() {
  %m = arith.constant 15 : index
  %n = arith.constant 250 : index
  %x = call @numbers_f32(%m, %n) : (index, index) -> tensor<?x?xf32>
  %s = tensor.cast %x : tensor<?x?xf32> to tensor<15x250xf32>
  %t = call @to_uneven(%s) : (tensor<15x250xf32>) -> tensor<15x250xf32, #uneven>
  %b = layout.convert %t : tensor<15x250xf32, #uneven> to tensor<15x250xf32>
  %y = tensor.cast %b : tensor<15x250xf32> to tensor<?x?xf32>
  call @compare_f32(%x, %y) : (tensor<?x?xf32>, tensor<?x?xf32>) -> ()
  return
}
// CHECK: 3750
// CHECK-NEXT: 0
// CHECK-NEXT: 40{{$}}

#grid = #layout.tiled<{1,0:T(2,4)(2,1,1,1)}>
func.func private @to_grid(%x: tensor<9x11xf32>) -> tensor<9x11xf32, #grid> {
  %y = layout.convert %x : tensor<9x11xf32> to tensor<9x11xf32, #grid>
  return %y : tensor<9x11xf32, #grid>
}
func.func private @grid() {
  %m = arith.constant 9 : index
  %n = arith.constant 11 : index
  %x = call @numbers_f32(%m, %n) : (index, index) -> tensor<?x?xf32>
  %s = tensor.cast %x : tensor<?x?xf32> to tensor<9x11xf32>
  %t = call @to_grid(%s) : (tensor<9x11xf32>) -> tensor<9x11xf32, #grid>
  %b = layout.convert %t : tensor<9x11xf32, #grid> to tensor<9x11xf32>
  %y = tensor.cast %b : tensor<9x11xf32> to tensor<?x?xf32>
  call @compare_f32(%x, %y) : (tensor<?x?xf32>, tensor<?x?xf32>) -> ()
  return
}
// CHECK: 99
// CHECK-NEXT: 0
// CHECK-NEXT: 0{{$}}

#tail = #layout.tiled<{1,0:T(2,2)L(100)}>
func.func private @to_tail(%x: tensor<3x5xi8>) -> tensor<3x5xi8, #tail> {
  %y = layout.convert %x : tensor<3x5xi8> to tensor<3x5xi8, #tail>
  return %y : tensor<3x5xi8, #tail>
}
func.func private @tail() {
  %m = arith.constant 3 : index
  %n = arith.constant 5 : index
  %x = call @numbers_i8(%m, %n) : (index, index) -> tensor<?x?xi8>
  %s = tensor.cast %x : tensor<?x?xi8> to tensor<3x5xi8>
  %t = call @to_tail(%s) : (tensor<3x5xi8>) -> tensor<3x5xi8, #tail>
  %b = layout.convert %t : tensor<3x5xi8, #tail> to tensor<3x5xi8>
  %y = tensor.cast %b : tensor<3x5xi8> to tensor<?x?xi8>
  call @compare_i8(%x, %y) : (tensor<?x?xi8>, tensor<?x?xi8>) -> ()
  return
}
// CHECK: 15
// CHECK-NEXT: 0
// CHECK-NEXT: -24{{$}}

#vmem = #layout.tiled<{1,0:T(8,128)S(1)}>
func.func private @to_vmem(%x: tensor<15x250xf32>) -> tensor<15x250xf32, #vmem> {
  %y = layout.convert %x : tensor<15x250xf32> to tensor<15x250xf32, #vmem>
  return %y : tensor<15x250xf32, #vmem>
}
func.func private @vmem() {
  %m = arith.constant 15 : index
  %n = arith.constant 250 : index
  %x = call @numbers_f32(%m, %n) : (index, index) -> tensor<?x?xf32>
  %s = tensor.cast %x : tensor<?x?xf32> to tensor<15x250xf32>
  %t = call @to_vmem(%s) : (tensor<15x250xf32>) -> tensor<15x250xf32, #vmem>
  %b = layout.convert %t : tensor<15x250xf32, #vmem> to tensor<15x250xf32>
  %y = tensor.cast %b : tensor<15x250xf32> to tensor<?x?xf32>
  call @compare_f32(%x, %y) : (tensor<?x?xf32>, tensor<?x?xf32>) -> ()
  return
}
// CHECK: 3750
// CHECK-NEXT: 0
// CHECK-NEXT: 40{{$}}

func.func @main() {
  call @full() : () -> ()
  call @ragged() : () -> ()
  call @bf16() : () -> ()
  call @i8() : () -> ()
  call @small() : () -> ()
  call @columns() : () -> ()
  call @column_tiles() : () -> ()
  call @combined() : () -> ()
  call @long_rows() : () -> ()
  call @longer() : () -> ()
  call @uneven() : () -> ()
  call @grid() : () -> ()
  call @tail() : () -> ()
  call @vmem() : () -> ()
  return
}
