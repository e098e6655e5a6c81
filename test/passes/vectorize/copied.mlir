// An input of a product that is cut differently along what is reduced is copied into rows first.
// RUN: layout-opt %s --layout-to-memref='vectorize=avx512' 2>&1 | FileCheck %s
// RUN: layout-opt %s --layout-to-memref='vectorize=avx512 form=physical' | FileCheck %s

#A = #layout.tiled<{1,0:T(8,3)}>
#B = #layout.tiled<{1,0:T(8,16)}>
#ik = affine_map<(i, j, k) -> (i, k)>
#kj = affine_map<(i, j, k) -> (k, j)>
#ij = affine_map<(i, j, k) -> (i, j)>

// Parts of 3 in one, of 8 in the other: the smaller one is copied.
// CHECK-LABEL: func.func @product(
// CHECK: %[[COPY:.*]] = memref.alloc() {{.*}} : memref<1536xf32>
// CHECK: vector.{{(masked)?}}store {{.*}} : memref<1536xf32>
// CHECK: iter_args
// CHECK: memref.load %[[COPY]]
// CHECK-NOT: affine.store
// CHECK: memref.dealloc %[[COPY]]
func.func @product(%a: memref<32x48xf32, #A>, %b: memref<48x64xf32, #B>, %r: memref<32x64xf32, #B>) {
  linalg.generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<32x48xf32, #A>, memref<48x64xf32, #B>) outs(%r : memref<32x64xf32, #B>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  return
}

// Of three columns, each element would be read three times: there is no copy, and there are scalar loops.
// CHECK-LABEL: func.func @few(
// CHECK-NOT: memref.alloc
// CHECK: affine.store
func.func @few(%a: memref<3x48xf32, #A>, %b: memref<48x3xf32, #B>, %r: memref<3x3xf32, #B>) {
  linalg.generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<3x48xf32, #A>, memref<48x3xf32, #B>) outs(%r : memref<3x3xf32, #B>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  return
}
