// Vectors in tiled buffers: plain and affine loads and stores, transfers out of bounds, masked, transposed, in 2-D.
// RUN: layout-opt %s --layout-to-llvm | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MALLOC_PERTURB_=128 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm=form=physical | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MALLOC_PERTURB_=85 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s

// Element (i, j) is 10*i + j. 8x16 in tiles of 2x4: four elements of a row are adjacent.
#tile = #layout.tiled<{1,0:T(2,4)}>
#ragged = #layout.tiled<{1,0:T(2,4)(2,1)}>

func.func private @fill(%m: memref<8x16xf32, #tile>) {
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 16 {
      %ten = arith.constant 10 : index
      %a = arith.muli %i, %ten : index
      %b = arith.addi %a, %j : index
      %c = arith.index_cast %b : index to i32
      %d = arith.sitofp %c : i32 to f32
      affine.store %d, %m[%i, %j] : memref<8x16xf32, #tile>
    }
  }
  return
}

// Affine accesses, inside a tile and across its edge.
func.func private @affine(%m: memref<8x16xf32, #tile>, %i: index, %j: index) {
  affine.for %x = 0 to 2 {
    %d = affine.vector_load %m[%x * 2, %x * 4 + 4] : memref<8x16xf32, #tile>, vector<4xf32>
    // CHECK: ( 4, 5, 6, 7 )
    // CHECK-NEXT: ( 5, 6, 7, 8 )
    // CHECK-NEXT: ( 28, 29, 30, 31 )
    // CHECK-NEXT: ( 29, 30, 31, 32 )
    vector.print %d : vector<4xf32>
    %e = affine.vector_load %m[%x * 2, %x * 4 + 5] : memref<8x16xf32, #tile>, vector<4xf32>
    vector.print %e : vector<4xf32>
  }
  %v = arith.constant dense<[-1.0, -2.0, -3.0, -4.0]> : vector<4xf32>
  affine.vector_store %v, %m[symbol(%i), symbol(%j)] : memref<8x16xf32, #tile>, vector<4xf32>
  affine.vector_store %v, %m[symbol(%i) + 3, symbol(%j) + 3] : memref<8x16xf32, #tile>, vector<4xf32>
  %zero = arith.constant 0 : index
  %six = arith.constant 6 : index
  %p = arith.constant 0.0 : f32
  %a = vector.transfer_read %m[%i, %zero], %p {in_bounds = [true]} : memref<8x16xf32, #tile>, vector<16xf32>
  // CHECK-NEXT: ( 30, 31, 32, 33, -1, -2, -3, -4, 38, 39, 40, 41, 42, 43, 44, 45 )
  vector.print %a : vector<16xf32>
  %b = vector.transfer_read %m[%six, %zero], %p {in_bounds = [true]} : memref<8x16xf32, #tile>, vector<12xf32>
  // CHECK-NEXT: ( 60, 61, 62, 63, 64, 65, 66, -1, -2, -3, -4, 71 )
  vector.print %b : vector<12xf32>
  return
}

// Plain loads and stores want elements side by side, so no tiles.
#order = #layout.tiled<{2,0,1}>
func.func private @plain(%m: memref<2x3x8xf32, #order>, %i: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %v = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : vector<4xf32>
  %w = arith.addf %v, %v : vector<4xf32>
  %n = arith.constant -1.0 : f32
  linalg.fill ins(%n : f32) outs(%m : memref<2x3x8xf32, #order>)
  vector.store %v, %m[%zero, %i, %one] : memref<2x3x8xf32, #order>, vector<4xf32>
  vector.store %w, %m[%one, %i, %zero] : memref<2x3x8xf32, #order>, vector<4xf32>
  %a = vector.load %m[%zero, %i, %zero] : memref<2x3x8xf32, #order>, vector<8xf32>
  // CHECK-NEXT: ( -1, 1, 2, 3, 4, -1, -1, -1 )
  vector.print %a : vector<8xf32>
  %b = vector.load %m[%one, %i, %one] : memref<2x3x8xf32, #order>, vector<2xf32>
  // CHECK-NEXT: ( 4, 6 )
  vector.print %b : vector<2xf32>
  return
}

func.func private @transfers(%m: memref<3x5xi32, #ragged>, %i: index, %j: index) {
  %p = arith.constant -7 : i32
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  // Out of bounds is the padding value, not what the tile's padding holds.
  %a = vector.transfer_read %m[%i, %j], %p : memref<3x5xi32, #ragged>, vector<4xi32>
  // CHECK-NEXT: ( 23, 24, -7, -7 )
  vector.print %a : vector<4xi32>
  %b = vector.transfer_read %m[%i, %j], %p : memref<3x5xi32, #ragged>, vector<2x3xi32>
  // CHECK-NEXT: ( ( 23, 24, -7 ), ( -7, -7, -7 ) )
  vector.print %b : vector<2x3xi32>
  // Transposed, and repeated along a new dimension.
  %c = vector.transfer_read %m[%zero, %two], %p {permutation_map = affine_map<(i, j) -> (j, i)>, in_bounds = [true, true]}
      : memref<3x5xi32, #ragged>, vector<2x3xi32>
  // CHECK-NEXT: ( ( 2, 12, 22 ), ( 3, 13, 23 ) )
  vector.print %c : vector<2x3xi32>
  %d = vector.transfer_read %m[%two, %zero], %p {permutation_map = affine_map<(i, j) -> (0, j)>, in_bounds = [true, true]}
      : memref<3x5xi32, #ragged>, vector<2x3xi32>
  // CHECK-NEXT: ( ( 20, 21, 22 ), ( 20, 21, 22 ) )
  vector.print %d : vector<2x3xi32>
  %column = vector.transfer_read %m[%zero, %three], %p {permutation_map = affine_map<(i, j) -> (i)>}
      : memref<3x5xi32, #ragged>, vector<4xi32>
  // CHECK-NEXT: ( 3, 13, 23, -7 )
  vector.print %column : vector<4xi32>
  // A mask leaves out the second element.
  %mask = arith.constant dense<[true, false, true, true]> : vector<4xi1>
  %e = vector.transfer_read %m[%zero, %two], %p, %mask : memref<3x5xi32, #ragged>, vector<4xi32>
  // CHECK-NEXT: ( 2, -7, 4, -7 )
  vector.print %e : vector<4xi32>
  // Mask of a transposed vector: its dimensions are the memref's.
  %tall = arith.constant dense<[[true, false], [true, true], [false, true]]> : vector<3x2xi1>
  %f = vector.transfer_read %m[%zero, %two], %p, %tall {permutation_map = affine_map<(i, j) -> (j, i)>, in_bounds = [true, true]}
      : memref<3x5xi32, #ragged>, vector<2x3xi32>
  // CHECK-NEXT: ( ( 2, 12, -7 ), ( -7, 13, 23 ) )
  vector.print %f : vector<2x3xi32>

  %v = arith.constant dense<[-1, -2, -3, -4]> : vector<4xi32>
  vector.transfer_write %v, %m[%zero, %three] : vector<4xi32>, memref<3x5xi32, #ragged>
  vector.transfer_write %v, %m[%two, %zero], %mask : vector<4xi32>, memref<3x5xi32, #ragged>
  %w = arith.constant dense<[[-5, -6], [-8, -9]]> : vector<2x2xi32>
  vector.transfer_write %w, %m[%zero, %zero] {permutation_map = affine_map<(i, j) -> (j, i)>, in_bounds = [true, true]}
      : vector<2x2xi32>, memref<3x5xi32, #ragged>
  %all = vector.transfer_read %m[%zero, %zero], %p {in_bounds = [true, true]} : memref<3x5xi32, #ragged>, vector<3x5xi32>
  // CHECK-NEXT: ( ( -5, -8, 2, -1, -2 ), ( -6, -9, 12, 13, 14 ), ( -1, 21, -3, -4, 24 ) )
  vector.print %all : vector<3x5xi32>
  return
}

func.func @main() {
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %four = arith.constant 4 : index
  %m = memref.alloc() : memref<8x16xf32, #tile>
  call @fill(%m) : (memref<8x16xf32, #tile>) -> ()
  call @affine(%m, %three, %four) : (memref<8x16xf32, #tile>, index, index) -> ()
  memref.dealloc %m : memref<8x16xf32, #tile>

  %o = memref.alloc() : memref<2x3x8xf32, #order>
  call @plain(%o, %two) : (memref<2x3x8xf32, #order>, index) -> ()
  memref.dealloc %o : memref<2x3x8xf32, #order>

  %r = memref.alloc() : memref<3x5xi32, #ragged>
  affine.for %i = 0 to 3 {
    affine.for %j = 0 to 5 {
      %n = affine.apply affine_map<(i, j) -> (10 * i + j)>(%i, %j)
      %k = arith.index_cast %n : index to i32
      affine.store %k, %r[%i, %j] : memref<3x5xi32, #ragged>
    }
  }
  call @transfers(%r, %two, %three) : (memref<3x5xi32, #ragged>, index, index) -> ()
  memref.dealloc %r : memref<3x5xi32, #ragged>
  return
}
