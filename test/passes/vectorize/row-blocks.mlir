// Kernels over the same rows go together, a block of rows after another.
// RUN: layout-opt %s --split-input-file --layout-lower-memrefs='vectorize=avx512 reassociate row-block-bytes=65536' --canonicalize --cse | FileCheck %s
// RUN: layout-opt %s --split-input-file --layout-lower-memrefs='vectorize=avx512 reassociate row-block-bytes=0' --canonicalize --cse | FileCheck %s --check-prefix=ALONE
// RUN: layout-opt %s --split-input-file --layout-lower-memrefs='vectorize=avx512 reassociate row-block-bytes=1000000000' --canonicalize --cse | FileCheck %s --check-prefix=ALONE

// A softmax of 1024 rows of 512 f32, 2 KiB each: eight rows of three arrays are 48 KiB. What only these kernels use has eight
// rows.
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
// CHECK-LABEL: func.func @softmax(
// CHECK: memref.alloc() {{.*}}: memref<8xf32>
// CHECK: memref.alloc() {{.*}}: memref<4096xf32>
// CHECK: memref.alloc() {{.*}}: memref<8xf32>
// CHECK: scf.for %[[BLOCK:.*]] = %{{.*}} to %c128 step
// CHECK-NOT: to %c128 step
// CHECK: math.exp
// CHECK-NOT: to %c128 step
// CHECK: arith.addf
// CHECK-NOT: to %c128 step
// CHECK: arith.divf
// CHECK: return
// ALONE-LABEL: func.func @softmax(
// ALONE: memref.alloc() : memref<1024xf32>
// ALONE: to %c128 step
// ALONE: memref.alloc() : memref<1024x512xf32>
// ALONE: to %c128 step
// ALONE: math.exp
// ALONE: to %c128 step
// ALONE: arith.addf
// ALONE: to %c128 step
// ALONE: arith.divf
// ALONE: return
func.func @softmax(%x: memref<1024x512xf32>, %y: memref<1024x512xf32>) {
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %m = memref.alloc() : memref<1024xf32>
  linalg.fill ins(%least : f32) outs(%m : memref<1024xf32>)
  linalg.reduce {arith.maximumf} ins(%x : memref<1024x512xf32>) outs(%m : memref<1024xf32>) dimensions = [1]
  %e = memref.alloc() : memref<1024x512xf32>
  linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : memref<1024x512xf32>, memref<1024xf32>) outs(%e : memref<1024x512xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %p = math.exp %d : f32
    linalg.yield %p : f32
  }
  %s = memref.alloc() : memref<1024xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<1024xf32>)
  linalg.reduce {arith.addf} ins(%e : memref<1024x512xf32>) outs(%s : memref<1024xf32>) dimensions = [1]
  linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%e, %s : memref<1024x512xf32>, memref<1024xf32>) outs(%y : memref<1024x512xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %q = arith.divf %a, %b : f32
    linalg.yield %q : f32
  }
  memref.dealloc %m : memref<1024xf32>
  memref.dealloc %e : memref<1024x512xf32>
  memref.dealloc %s : memref<1024xf32>
  return
}

// -----

// The sum of columns is of all rows, so what reads it is not of the same rows.
#all = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
// CHECK-LABEL: func.func @columns(
// CHECK: to %c1024 step
// CHECK: arith.addf
// CHECK: vector.store {{.*}}memref<512xf32>
// CHECK: vector.store {{.*}}memref<512xf32>
// CHECK: to %c1024 step
// CHECK: arith.divf
// CHECK: return
// ALONE-LABEL: func.func @columns(
func.func @columns(%x: memref<1024x512xf32>, %s: memref<512xf32>, %y: memref<1024x512xf32>) {
  linalg.generic {indexing_maps = [#all, #column], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<1024x512xf32>) outs(%s : memref<512xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %o, %a : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [#all, #column, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : memref<1024x512xf32>, memref<512xf32>) outs(%y : memref<1024x512xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %q = arith.divf %a, %b : f32
    linalg.yield %q : f32
  }
  return
}

// -----

// Rows of several dimensions: one of the first and a block of the second; tiles of eight rows. What another operation in
// between has nothing to do with comes first.
#T = #layout.tiled<{2,1,0:T(8,128)}>
#all = affine_map<(h, i, j) -> (h, i, j)>
#row = affine_map<(h, i, j) -> (h, i)>
#one = affine_map<(i) -> (i)>
// CHECK-LABEL: func.func @heads(
// CHECK: arith.negf
// CHECK: scf.for %{{.*}} = %{{.*}} to %c12 step
// CHECK: scf.for %{{.*}} = %{{.*}} to %c32 step
// CHECK-NOT: to %c12 step
// CHECK: arith.addf
// CHECK-NOT: to %c12 step
// CHECK: arith.mulf
// CHECK: return
// ALONE-LABEL: func.func @heads(
// ALONE: to %c12 step
// ALONE: arith.addf
// ALONE: arith.negf
// ALONE: to %c12 step
// ALONE: arith.mulf
// ALONE: return
func.func @heads(%x: memref<12x256x512xf32, #T>, %g: memref<512xf32>, %n: memref<512xf32>, %y: memref<12x256x512xf32, #T>) {
  %zero = arith.constant 0.0 : f32
  %s = memref.alloc() : memref<12x256xf32>
  linalg.fill ins(%zero : f32) outs(%s : memref<12x256xf32>)
  linalg.reduce {arith.addf} ins(%x : memref<12x256x512xf32, #T>) outs(%s : memref<12x256xf32>) dimensions = [2]
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%g : memref<512xf32>) outs(%n : memref<512xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.negf %a : f32
    linalg.yield %t : f32
  }
  linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %s : memref<12x256x512xf32, #T>, memref<12x256xf32>) outs(%y : memref<12x256x512xf32, #T>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %q = arith.mulf %a, %b : f32
    linalg.yield %q : f32
  }
  memref.dealloc %s : memref<12x256xf32>
  return
}
