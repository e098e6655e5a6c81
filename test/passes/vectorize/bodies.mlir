// The body of a structured operation becomes operations on vectors.
// RUN: bash %S/Inputs/both-forms.sh %s %t
// RUN: FileCheck %s --input-file=%t
// RUN: FileCheck %s --input-file=%t.physical

// Casts are operations on vectors, too; an element that is the same for all lanes is loaded once and broadcast; an index
// is a vector of indices.
#T = #layout.tiled<{1,0:T(8,128)}>
#B = #layout.tiled<{1,0:T(16,128)(2,1)}>
#map = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func.func @body(
// CHECK: memref.load {{.*}}memref<16xf32>
// CHECK: vector.broadcast {{.*}} : f32 to vector<[[N:[0-9]+]]xf32>
// CHECK: arith.addf {{.*}} : vector<[[N]]xf32>
// CHECK: arith.index_cast {{.*}} : vector<[[N]]xindex> to vector<[[N]]xi32>
// CHECK: arith.sitofp {{.*}} : vector<[[N]]xi32> to vector<[[N]]xf32>
// Rounding to bf16 is done in integers.
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
