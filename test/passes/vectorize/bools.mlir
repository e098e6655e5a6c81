// Elements of one bit are bytes in memory and between lanes, and bits where something is computed.
// RUN: bash %S/Inputs/both-forms.sh %s %t
// RUN: FileCheck %s --input-file=%t
// RUN: FileCheck %s --input-file=%t.physical

#T = #layout.tiled<{1,0:T(8,128)}>
#map = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func.func @made(
// CHECK: builtin.unrealized_conversion_cast {{.*}} : memref<4096xi1> to memref<4096xi8>
// CHECK: %[[BITS:.*]] = arith.cmpf olt, {{.*}} : vector<[[N:[0-9]+]]xf32>
// CHECK: %[[BYTES:.*]] = arith.extui %[[BITS]] : vector<[[N]]xi1> to vector<[[N]]xi8>
// CHECK: vector.store {{.*}} : memref<4096xi8>, vector<{{[0-9]+}}xi8>
// CHECK-NOT: memref.store
// CHECK: return
func.func @made(%a: memref<16x256xf32, #T>, %b: memref<16x256xf32, #T>, %r: memref<16x256xi1, #T>) {
  linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : memref<16x256xf32, #T>, memref<16x256xf32, #T>) outs(%r : memref<16x256xi1, #T>) {
  ^bb0(%x: f32, %y: f32, %o: i1):
    %c = arith.cmpf olt, %x, %y : f32
    linalg.yield %c : i1
  }
  return
}

// CHECK-LABEL: func.func @chosen(
// CHECK: %[[LOADED:.*]] = vector.load {{.*}} : memref<4096xi8>, vector<{{[0-9]+}}xi8>
// CHECK: %[[MASK:.*]] = arith.cmpi ne, {{.*}} : vector<[[N:[0-9]+]]xi8>
// CHECK: arith.select %[[MASK]], {{.*}} : vector<[[N]]xi1>, vector<[[N]]xf32>
// CHECK-NOT: memref.load
// CHECK: return
func.func @chosen(%m: memref<16x256xi1>, %a: memref<16x256xf32, #T>, %r: memref<16x256xf32, #T>) {
  linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%m, %a : memref<16x256xi1>, memref<16x256xf32, #T>) outs(%r : memref<16x256xf32, #T>) {
  ^bb0(%c: i1, %x: f32, %o: f32):
    %none = arith.constant 0.0 : f32
    %s = arith.select %c, %x, %none : f32
    linalg.yield %s : f32
  }
  return
}

// What is the same for all lanes is one byte.
// CHECK-LABEL: func.func @of_rows(
// CHECK: %[[ONE:.*]] = memref.load {{.*}} : memref<16xi8>
// CHECK: %[[SAME:.*]] = vector.broadcast %[[ONE]] : i8 to vector<16xi8>
// CHECK-NOT: shuffle
// CHECK: %[[MASK:.*]] = arith.cmpi ne, %[[SAME]], {{.*}} : vector<16xi8>
// CHECK: arith.select %[[MASK]], {{.*}} : vector<16xi1>, vector<16xf32>
// CHECK-NOT: shuffle
// CHECK: return
func.func @of_rows(%m: memref<16xi1>, %a: memref<16x256xf32, #T>, %r: memref<16x256xf32, #T>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%m, %a : memref<16xi1>, memref<16x256xf32, #T>) outs(%r : memref<16x256xf32, #T>) {
  ^bb0(%c: i1, %x: f32, %o: f32):
    %none = arith.constant 0.0 : f32
    %s = arith.select %c, %x, %none : f32
    linalg.yield %s : f32
  }
  return
}

// A relayout moves bytes.
// CHECK-LABEL: func.func @moved(
// CHECK: vector.load {{.*}}xi8>
// CHECK-NOT: xi1>
// CHECK: vector.store {{.*}}xi8>
// CHECK: return
func.func @moved(%a: memref<16x256xi1>, %r: memref<16x256xi1, #T>) {
  memref.copy %a, %r : memref<16x256xi1> to memref<16x256xi1, #T>
  return
}

// A body yields a value from outside, which is a bit.
// CHECK-LABEL: func.func @same(
// CHECK: %[[BITS:.*]] = vector.broadcast {{.*}} : i1 to vector<[[N:[0-9]+]]xi1>
// CHECK: arith.extui %[[BITS]] : vector<[[N]]xi1> to vector<[[N]]xi8>
// CHECK: vector.store {{.*}}xi8>
// CHECK: return
func.func @same(%b: i1, %r: memref<16x256xi1, #T>) {
  linalg.map outs(%r : memref<16x256xi1, #T>) (%o: i1) { linalg.yield %b : i1 }
  return
}
