// What loops insert into a tensor is computed in its memory, and what is converted in the layout that it is converted to.
// RUN: layout-opt %s --split-input-file --layout-to-memref | FileCheck %s
// RUN: layout-opt %s --split-input-file --layout-to-memref=form=physical | FileCheck %s

// Each iteration writes its rows of the result.
#A = #layout.tiled<{1,0:T(8,128)}>
// CHECK-LABEL: func.func @forall(
// CHECK: memref.alloc
// CHECK: scf.forall
// CHECK-NOT: memref.alloc
// CHECK: memref.store
// CHECK-NOT: memref.store
// CHECK: return
func.func @forall(%x: tensor<64x256xf32, #A>) -> tensor<64x256xf32, #A> {
  %e = tensor.empty() : tensor<64x256xf32, #A>
  %r = scf.forall (%i) = (0) to (64) step (8) shared_outs(%o = %e) -> tensor<64x256xf32, #A> {
    %s = tensor.extract_slice %x[%i, 0] [8, 256] [1, 1] : tensor<64x256xf32, #A> to tensor<8x256xf32, #A>
    %t = arith.addf %s, %s : tensor<8x256xf32, #A>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%i, 0] [8, 256] [1, 1] : tensor<8x256xf32, #A> into tensor<64x256xf32, #A>
    }
  }
  return %r : tensor<64x256xf32, #A>
}

// -----

#A = #layout.tiled<{1,0:T(8,128)}>
// CHECK-LABEL: func.func @for(
// CHECK: memref.alloc
// CHECK: for
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @for(%x: tensor<64x256xf32, #A>) -> tensor<64x256xf32, #A> {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %e = tensor.empty() : tensor<64x256xf32, #A>
  %r = scf.for %i = %c0 to %c64 step %c8 iter_args(%o = %e) -> tensor<64x256xf32, #A> {
    %s = tensor.extract_slice %x[%i, 0] [8, 256] [1, 1] : tensor<64x256xf32, #A> to tensor<8x256xf32, #A>
    %u = math.exp %s : tensor<8x256xf32, #A>
    %n = tensor.insert_slice %u into %o[%i, 0] [8, 256] [1, 1] : tensor<8x256xf32, #A> into tensor<64x256xf32, #A>
    scf.yield %n : tensor<64x256xf32, #A>
  }
  return %r : tensor<64x256xf32, #A>
}

// -----

// Without a layout, too.
// CHECK-LABEL: func.func @plain(
// CHECK: memref.alloc
// CHECK: scf.forall
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @plain(%x: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %e = tensor.empty() : tensor<64x256xf32>
  %r = scf.forall (%i) = (0) to (64) step (8) shared_outs(%o = %e) -> tensor<64x256xf32> {
    %s = tensor.extract_slice %x[%i, 0] [8, 256] [1, 1] : tensor<64x256xf32> to tensor<8x256xf32>
    %t = arith.addf %s, %s : tensor<8x256xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%i, 0] [8, 256] [1, 1] : tensor<8x256xf32> into tensor<64x256xf32>
    }
  }
  return %r : tensor<64x256xf32>
}

// -----

// A product, and what it starts with, of sizes that only the program has.
// CHECK-LABEL: func.func @product(
// CHECK: memref.alloc
// CHECK: scf.forall
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @product(%x: tensor<?x32xf32>, %y: tensor<32x16xf32>, %n: index, %m: index) -> tensor<?x16xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?x16xf32>
  %r = scf.forall (%i) = (0) to (%n) step (%m) shared_outs(%o = %e) -> tensor<?x16xf32> {
    %s = tensor.extract_slice %x[%i, 0] [%m, 32] [1, 1] : tensor<?x32xf32> to tensor<?x32xf32>
    %p = tensor.empty(%m) : tensor<?x16xf32>
    %f = linalg.fill ins(%z : f32) outs(%p : tensor<?x16xf32>) -> tensor<?x16xf32>
    %t = linalg.matmul ins(%s, %y : tensor<?x32xf32>, tensor<32x16xf32>) outs(%f : tensor<?x16xf32>) -> tensor<?x16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%i, 0] [%m, 16] [1, 1] : tensor<?x16xf32> into tensor<?x16xf32>
    }
  }
  return %r : tensor<?x16xf32>
}

// -----

// What is inserted is computed of the rows that it replaces, in another order: in memory of its own.
#map = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func.func @overlaps(
// CHECK: for
// CHECK: memref.alloc
// CHECK: return
func.func @overlaps(%x: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %r = scf.for %i = %c0 to %c64 step %c8 iter_args(%o = %x) -> tensor<64x256xf32> {
    %s = tensor.extract_slice %o[%i, 0] [8, 256] [1, 1] : tensor<64x256xf32> to tensor<8x256xf32>
    %e = tensor.empty() : tensor<8x256xf32>
    %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (7 - i, j)>, #map], iterator_types = ["parallel", "parallel"]}
        ins(%s : tensor<8x256xf32>) outs(%e : tensor<8x256xf32>) {
    ^bb0(%a: f32, %b: f32):
      linalg.yield %a : f32
    } -> tensor<8x256xf32>
    %n = tensor.insert_slice %t into %o[%i, 0] [8, 256] [1, 1] : tensor<8x256xf32> into tensor<64x256xf32>
    scf.yield %n : tensor<64x256xf32>
  }
  return %r : tensor<64x256xf32>
}

// -----

// Into another memory.
#A = #layout.tiled<{1,0:T(8,128)}>
#V = #layout.tiled<{1,0:T(8,128)S(1)}>
// CHECK-LABEL: func.func @space(
// CHECK: memref.alloc() {{.*}}, #layout.memory_space<vmem>>
// CHECK-NOT: memref.alloc
// CHECK: math.exp
// CHECK-NOT: affine.for
// CHECK: return
func.func @space(%x: tensor<64x256xf32, #A>) -> tensor<64x256xf32, #V> {
  %y = math.exp %x : tensor<64x256xf32, #A>
  %r = layout.convert %y : tensor<64x256xf32, #A> to tensor<64x256xf32, #V>
  return %r : tensor<64x256xf32, #V>
}

// -----

// Into another layout.
#A = #layout.tiled<{1,0:T(8,128)}>
#B = #layout.tiled<{0,1:T(4,64)}>
// CHECK-LABEL: func.func @layout(
// CHECK-COUNT-1: memref.alloc
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @layout(%x: tensor<?x256xf32, #A>) -> tensor<?x256xf32, #B> {
  %z = arith.addf %x, %x : tensor<?x256xf32, #A>
  %r = layout.convert %z {keep} : tensor<?x256xf32, #A> to tensor<?x256xf32, #B>
  return %r : tensor<?x256xf32, #B>
}

// -----

// Not what is used besides, and not sums, which are read and written many times.
#A = #layout.tiled<{1,0:T(8,128)}>
#R = #layout.tiled<{0}>
#V = #layout.tiled<{1,0:T(8,128)S(1)}>
#W = #layout.tiled<{0:S(1)}>
// CHECK-LABEL: func.func @used(
// CHECK-COUNT-4: memref.alloc
// CHECK: return
func.func @used(%x: tensor<64x256xf32, #A>) -> (tensor<64x256xf32, #A>, tensor<64x256xf32, #V>, tensor<64xf32, #W>) {
  %c = arith.constant 0.0 : f32
  %y = math.exp %x : tensor<64x256xf32, #A>
  %r = layout.convert %y : tensor<64x256xf32, #A> to tensor<64x256xf32, #V>
  %e = tensor.empty() : tensor<64xf32, #R>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<64xf32, #R>) -> tensor<64xf32, #R>
  %s = linalg.reduce ins(%x : tensor<64x256xf32, #A>) outs(%f : tensor<64xf32, #R>) dimensions = [1]
    (%a: f32, %b: f32) {
      %t = arith.addf %a, %b : f32
      linalg.yield %t : f32
    }
  %w = layout.convert %s : tensor<64xf32, #R> to tensor<64xf32, #W>
  return %y, %r, %w : tensor<64x256xf32, #A>, tensor<64x256xf32, #V>, tensor<64xf32, #W>
}
