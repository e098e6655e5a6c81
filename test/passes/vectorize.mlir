// Vector code by layout-lower-memrefs: what is loaded, moved between lanes and stored, for a kernel of each kind. Inside
// there is no division and no least of two numbers, and both forms give the same code on views of their buffers.
// RUN: layout-opt %s --split-input-file --layout-lower-memrefs='vectorize=avx512' > %t.strided
// RUN: layout-opt %s --split-input-file --layout-lower-memrefs='vectorize=avx512 form=physical' > %t.physical
// RUN: FileCheck %s --check-prefixes=CHECK,STRIDED --input-file=%t.strided
// RUN: FileCheck %s --check-prefixes=CHECK,PHYSICAL --input-file=%t.physical
// RUN: not grep -E 'floordiv|ceildiv| mod |min|affine.if|scf.if|prefetch' %t.strided
// RUN: sed 's/: memref.* to memref/: to memref/; s/%arg0: .*//' %t.strided > %t.1
// RUN: sed 's/: memref.* to memref/: to memref/; s/%arg0: .*//' %t.physical > %t.2
// RUN: cmp %t.1 %t.2

// RUN: layout-opt %s --split-input-file --layout-lower-memrefs='vectorize=avx2' | FileCheck %s --check-prefix=AVX2
// RUN: layout-opt %s --split-input-file --layout-lower-memrefs='vectorize=neon' | FileCheck %s --check-prefix=NEON
// RUN: layout-opt %s --split-input-file --layout-lower-memrefs='vectorize=neon vector-bits=64' | FileCheck %s --check-prefix=HALF
// RUN: layout-opt %s --split-input-file --layout-lower-memrefs='vectorize=avx512 reassociate' | FileCheck %s --check-prefix=ANY
// RUN: layout-opt %s --split-input-file --layout-lower-memrefs='vectorize=avx512 contract' | FileCheck %s --check-prefix=CONTRACT
// RUN: layout-opt %s --split-input-file --layout-lower-memrefs='vectorize=avx512 cache-bytes=20000' \
// RUN:   | FileCheck %s --check-prefix=CACHE
// RUN: layout-opt %s --split-input-file --layout-lower-memrefs='vectorize=avx512 parallel=parallel' \
// RUN:   | FileCheck %s --check-prefix=LOOPS
// RUN: layout-opt %s --split-input-file --layout-lower-memrefs='vectorize=avx512 parallel=forall' \
// RUN:   | FileCheck %s --check-prefix=FORALL
// RUN: layout-opt %s --split-input-file --layout-lower-memrefs | FileCheck %s --check-prefix=NONE
// NONE-NOT: vector

// Into tiles: whole vectors from buffer to buffer.
#T = #layout.tiled<{1,0:T(8,128)}>
// CHECK-LABEL: func.func @to_tiles(
// STRIDED-SAME: %[[R:[^:]*]]: memref<4x8x2x128xf32, strided<[2048, 128, 1024, 1]>>)
// PHYSICAL-SAME: %[[R:[^:]*]]: memref<4x2x8x128xf32>)
// CHECK: %[[FLAT:.*]] = memref.reinterpret_cast %[[R]] to offset: [0], sizes: [8192], strides: [1] {{.*}} to memref<8192xf32>
// CHECK-NOT: load
// CHECK: %[[V:.*]] = vector.load %{{.*}} : memref<8192xf32>, vector<16xf32>
// CHECK: vector.store %[[V]], %[[FLAT]]{{.*}} : memref<8192xf32>, vector<16xf32>
// CHECK-NOT: mask
// CHECK: return
// AVX2-LABEL: func.func @to_tiles(
// AVX2: vector.load {{.*}}vector<8xf32>
// NEON-LABEL: func.func @to_tiles(
// NEON: vector.load {{.*}}vector<4xf32>
// HALF-LABEL: func.func @to_tiles(
// HALF: vector.load {{.*}}vector<2xf32>
// The output has 32768 bytes, and so has the input: while one row of tiles is worked on, the next one is fetched. What
// is not streamed is fetched, too.
// CACHE-LABEL: func.func @to_tiles(
// CACHE: scf.if
// CACHE: memref.prefetch %reinterpret_cast[%{{.*}}], read, locality<3>, data
// CACHE-NOT: memref.prefetch
// CACHE: vector.store {{.*}}nontemporal = true{{.*}}
// CACHE: } else {
// CACHE: memref.prefetch %reinterpret_cast[%{{.*}}], read, locality<1>, data
// CACHE: memref.prefetch %reinterpret_cast_{{[0-9]+}}[%{{.*}}], write, locality<1>, data
// CACHE: vector.store
// The outermost loop alone.
// LOOPS-LABEL: func.func @to_tiles(
// LOOPS: scf.parallel
// LOOPS-NOT: scf.parallel
// LOOPS: scf.for
// FORALL-LABEL: func.func @to_tiles(
// FORALL: scf.forall (%{{.*}}) in (4)
// FORALL-NOT: scf.forall
// FORALL: scf.for
func.func @to_tiles(%a: memref<32x256xf32>, %r: memref<32x256xf32, #T>) {
  memref.copy %a, %r : memref<32x256xf32> to memref<32x256xf32, #T>
  return
}

// -----

// Rows two by two: moved as integers, which floating-point units need not look at.
#B = #layout.tiled<{1,0:T(8,128)(2,1)}>
// CHECK-LABEL: func.func @interleave(
// CHECK-DAG: vector.load {{.*}}vector<32xbf16>
// CHECK-DAG: vector.bitcast {{.*}} : vector<32xbf16> to vector<32xi16>
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 32, 1, 33, 2, 34, 3, 35, {{.*}}] : vector<32xi16>, vector<32xi16>
// CHECK: vector.bitcast {{.*}} : vector<32xi16> to vector<32xbf16>
// CHECK: vector.store {{.*}}vector<32xbf16>
// CHECK-NOT: memref.store
// CHECK: return
// Smaller than the cache.
// CACHE-LABEL: func.func @interleave(
// CACHE-NOT: nontemporal
// CACHE: return
func.func @interleave(%a: memref<16x256xbf16>, %r: memref<16x256xbf16, #B>) {
  memref.copy %a, %r : memref<16x256xbf16> to memref<16x256xbf16, #B>
  return
}

// -----

// Four by four and back: bytes.
#P = #layout.tiled<{1,0:T(8,128)(4,1)}>
// CHECK-LABEL: func.func @bytes(
// CHECK: vector.load {{.*}}vector<64xi8>
// CHECK: vector.shuffle {{.*}} : vector<64xi8>, vector<64xi8>
// CHECK: vector.store {{.*}}vector<64xi8>
// CHECK-NOT: memref.store
// CHECK: return
func.func @bytes(%a: memref<16x256xi8, #P>, %r: memref<16x256xi8>) {
  memref.copy %a, %r : memref<16x256xi8, #P> to memref<16x256xi8>
  return
}

// -----

// Ten elements at the end of each row: full vectors have no masks, the last ones say which lanes are there, in loads and
// stores alike.
#T = #layout.tiled<{1,0:T(8,128)}>
// CHECK-LABEL: func.func @ragged(
// CHECK: %[[V:.*]] = vector.load {{.*}}vector<16xf32>
// CHECK: vector.store %[[V]]
// CHECK: arith.constant dense<[true, true, true, true, true, true, true, true, true, true, false, false, false, false, false, false]>
// CHECK: %[[W:.*]] = vector.maskedload {{.*}}vector<16xi1>, vector<16xf32> into vector<16xf32>
// CHECK: vector.maskedstore {{.*}}, %[[W]] : memref<4096xf32>, vector<16xi1>, vector<16xf32>
// CHECK-NOT: memref.store
// CHECK: return
// Streams do not have masks.
// CACHE-LABEL: func.func @ragged(
// CACHE-NOT: maskedstore {{.*}}nontemporal
// CACHE: return
func.func @ragged(%a: memref<13x250xf32>, %r: memref<13x250xf32, #T>) {
  memref.copy %a, %r : memref<13x250xf32> to memref<13x250xf32, #T>
  return
}

// -----

// Four rows are interleaved in two steps, bytes and then pairs of bytes, and streamed: what is aligned as a whole is as
// long as a vector.
#P = #layout.tiled<{1,0:T(8,128)(4,1)}>
// CACHE-LABEL: func.func @interleaved(
// CACHE: vector.shuffle %[[A:[0-9]+]], %{{[0-9]+}} [0, 64, 1, 65, 2, 66, 3, 67,
// CACHE: vector.shuffle %[[B:[0-9]+]], %{{[0-9]+}} [0, 1, 64, 65, 2, 3, 66, 67,
// CACHE: vector.store {{.*}}alignment = 64 : i64, nontemporal = true{{.*}}vector<64xi8>
func.func @interleaved(%a: memref<128x256xi8>, %r: memref<128x256xi8, #P>) {
  memref.copy %a, %r : memref<128x256xi8> to memref<128x256xi8, #P>
  return
}

// -----

// A transpose goes through registers: both sides have whole vectors.
// CHECK-LABEL: func.func @transpose(
// CHECK: vector.load {{.*}}vector<16xf32>
// CHECK: vector.shuffle
// CHECK: vector.store {{.*}}vector<16xf32>
// CHECK-NOT: memref.store
// CHECK: return
func.func @transpose(%a: memref<64x64xf32>, %r: memref<64x64xf32, #layout.tiled<{0,1}>>) {
  memref.copy %a, %r : memref<64x64xf32> to memref<64x64xf32, #layout.tiled<{0,1}>>
  return
}

// -----

// The body becomes operations on vectors, casts among them; what is repeated is loaded once for a vector; an index is a
// vector of indices.
#T = #layout.tiled<{1,0:T(8,128)}>
#B = #layout.tiled<{1,0:T(16,128)(2,1)}>
#map = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func.func @body(
// CHECK: memref.load {{.*}}memref<16xf32>
// CHECK: vector.broadcast {{.*}} : f32 to vector<[[N:[0-9]+]]xf32>
// CHECK: arith.addf {{.*}} : vector<[[N]]xf32>
// CHECK: arith.index_cast {{.*}} : vector<[[N]]xindex> to vector<[[N]]xi32>
// CHECK: arith.sitofp {{.*}} : vector<[[N]]xi32> to vector<[[N]]xf32>
// To bf16 in integers.
// CHECK: arith.trunci {{.*}} : vector<[[N]]xi32> to vector<[[N]]xi16>
// CHECK: vector.store {{.*}}vector<32xbf16>
// CHECK-NOT: memref.store
// CHECK: return
func.func @body(%a: memref<16x256xf32, #T>, %b: memref<16xf32>, %r: memref<16x256xbf16, #B>) {
  linalg.generic {indexing_maps = [#map, affine_map<(i, j) -> (i)>, #map], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : memref<16x256xf32, #T>, memref<16xf32>) outs(%r : memref<16x256xbf16, #B>) {
  ^bb0(%x: f32, %y: f32, %o: bf16):
    %s = arith.addf %x, %y : f32
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i32
    %f = arith.sitofp %k : i32 to f32
    %m = arith.mulf %s, %f : f32
    %t = arith.truncf %m : f32 to bf16
    linalg.yield %t : bf16
  }
  return
}

// -----

// The greatest of each row: accumulators that go round the loops in registers, start as the least of all numbers, are put
// together in the end and with what the result was.
#T = #layout.tiled<{1,0:T(8,128)}>
// CHECK-LABEL: func.func @row_max(
// CHECK: arith.constant 0xFF800000 : f32
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>
// CHECK: arith.maximumf {{.*}} : vector<16xf32>
// CHECK: scf.yield {{.*}} : vector<16xf32>
// CHECK: vector.shuffle {{.*}} : vector<16xf32>, vector<16xf32>
// CHECK: arith.maximumf
// CHECK: return
func.func @row_max(%a: memref<16x1024xf32, #T>, %r: memref<16xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<16x1024xf32, #T>) outs(%r : memref<16xf32>) {
  ^bb0(%x: f32, %o: f32):
    %m = arith.maximumf %x, %o : f32
    linalg.yield %m : f32
  }
  return
}

// -----

// Sums of a row are added one after another unless it is said that the order does not matter: lanes are rows, and all
// sums start from the result. Integers are added in any order.
#T = #layout.tiled<{1,0:T(8,128)}>
// CHECK-LABEL: func.func @row_sum(
// CHECK-NOT: arith.constant {{.*}}0.000000e+00> : vector
// CHECK: scf.for {{.*}} iter_args(
// CHECK: arith.addf {{.*}} : vector<16xf32>
// CHECK: vector.store {{.*}}vector<16xf32>
// CHECK: return
// ANY-LABEL: func.func @row_sum(
// ANY: scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>
// ANY: vector.load {{.*}} vector<16xf32>
// ANY: arith.addf {{.*}} : vector<16xf32>
// ANY: scf.yield
// ANY: vector.shuffle
// ANY: return
func.func @row_sum(%a: memref<16x1024xf32, #T>, %r: memref<16xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<16x1024xf32, #T>) outs(%r : memref<16xf32>) {
  ^bb0(%x: f32, %o: f32):
    %m = arith.addf %x, %o : f32
    linalg.yield %m : f32
  }
  return
}

// CHECK-LABEL: func.func @integers(
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<16xi32>
// CHECK: arith.addi {{.*}} : vector<16xi32>
// CHECK: vector.shuffle
// CHECK: return
func.func @integers(%a: memref<16x1024xi32, #T>, %r: memref<16xi32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<16x1024xi32, #T>) outs(%r : memref<16xi32>) {
  ^bb0(%x: i32, %o: i32):
    %m = arith.addi %x, %o : i32
    linalg.yield %m : i32
  }
  return
}

// -----

// A contraction: a tile of the result in accumulators over the loops of the sum, each operand in a layout of its own.
#T = #layout.tiled<{1,0:T(8,128)}>
#C = #layout.tiled<{0,1}>
// CHECK-LABEL: func.func @contraction(
// CHECK: vector.load %{{.*}} : memref<8192xf32>, vector<16xf32>
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>, vector<16xf32>
// CHECK: memref.load
// CHECK: vector.broadcast {{.*}} : f32 to vector<16xf32>
// CHECK: arith.mulf %{{[^ ]*}}, %{{[^ ]*}} : vector<16xf32>
// CHECK: arith.addf %{{[^ ]*}}, %{{[^ ]*}} : vector<16xf32>
// CHECK: scf.yield {{.*}} : vector<16xf32>, vector<16xf32>
// CHECK: vector.store
// CHECK: return
// CONTRACT-LABEL: func.func @contraction(
// CONTRACT: arith.mulf {{.*}} fastmath<contract> : vector<16xf32>
// CONTRACT: arith.addf {{.*}} fastmath<contract> : vector<16xf32>
// LOOPS-LABEL: func.func @contraction(
// LOOPS: scf.parallel
// LOOPS: scf.for {{.*}} iter_args(
// LOOPS: return
func.func @contraction(%a: memref<32x64xf32, #C>, %b: memref<64x256xf32, #T>, %r: memref<32x256xf32>) {
  linalg.matmul ins(%a, %b : memref<32x64xf32, #C>, memref<64x256xf32, #T>) outs(%r : memref<32x256xf32>)
  return
}
