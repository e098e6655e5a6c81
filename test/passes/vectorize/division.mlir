// Integers are divided by operations that cannot trap in any lane.
// RUN: bash %S/Inputs/both-forms.sh %s %t
// RUN: FileCheck %s --input-file=%t
// RUN: FileCheck %s --input-file=%t.physical

// 32 bits in f64, and where the divisor is 0, it is 1.
#T = #layout.tiled<{1,0:T(8,128)}>
#map = affine_map<(i, j) -> (i, j)>
#none = affine_map<(i, j) -> ()>
// CHECK-LABEL: func.func @words(
// CHECK: %[[Z:.*]] = arith.cmpi eq, %[[Y:.*]], %{{.*}} : vector<16xi32>
// CHECK: %[[D:.*]] = arith.select %[[Z]], %{{.*}}, %[[Y]]
// CHECK: arith.sitofp %{{.*}} : vector<16xi32> to vector<16xf64>
// CHECK: arith.sitofp %[[D]] : vector<16xi32> to vector<16xf64>
// CHECK: arith.divf
// CHECK: arith.fptosi {{.*}} : vector<16xf64> to vector<16xi32>
// CHECK-NOT: arith.divsi
// CHECK: return
func.func @words(%a: memref<16x256xi32>, %b: memref<16x256xi32, #T>) {
  linalg.div ins(%a, %b : memref<16x256xi32>, memref<16x256xi32, #T>) outs(%b : memref<16x256xi32, #T>)
  return
}

// -----

// 8 bits in f32; a remainder is what the quotient leaves.
#map = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func.func @bytes(
// CHECK: arith.extui %{{.*}} : vector<64xi8> to vector<64xi32>
// CHECK: arith.divf {{.*}} : vector<64xf32>
// CHECK: arith.trunci {{.*}} : vector<64xi32> to vector<64xi8>
// CHECK: %[[P:.*]] = arith.muli
// CHECK: arith.subi %{{.*}}, %[[P]] : vector<64xi8>
func.func @bytes(%a: memref<16x256xi8>, %b: memref<16x256xi8>) {
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<16x256xi8>) outs(%b : memref<16x256xi8>) {
  ^bb0(%x: i8, %y: i8):
    %r = arith.remui %x, %y : i8
    linalg.yield %r : i8
  }
  return
}

// -----

// LLVM divides 64 bits lane by lane: the least number over -1 would trap, too.
#map = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func.func @wide(
// CHECK: arith.cmpi eq
// CHECK: arith.ori
// CHECK: %[[D:.*]] = arith.select %{{.*}} : vector<8xi1>, vector<8xi64>
// CHECK: arith.divsi %{{.*}}, %[[D]] : vector<8xi64>
func.func @wide(%a: memref<16x256xi64>, %b: memref<16x256xi64>) {
  linalg.div ins(%a, %b : memref<16x256xi64>, memref<16x256xi64>) outs(%b : memref<16x256xi64>)
  return
}

// -----

// LLVM multiplies in place of dividing by a constant, which is found behind the guard of HLO; not if it is 0 or -1.
#map = affine_map<(i) -> (i)>
#none = affine_map<(i) -> ()>
// CHECK-LABEL: func.func @constants(
// CHECK: arith.select
// CHECK: %[[C:.*]] = arith.constant 7 : i32
// CHECK-NEXT: %[[SEVEN:.*]] = vector.broadcast %[[C]]
// CHECK-NEXT: arith.divsi %{{.*}}, %[[SEVEN]] : vector<16xi32>
// CHECK-NOT: divf
// CHECK: arith.divf
// CHECK: return
func.func @constants(%a: memref<256xi32>, %b: memref<256xi32>, %c: memref<256xi32>) {
  %seven = arith.constant 7 : i32
  linalg.generic {indexing_maps = [#map, #none, #map], iterator_types = ["parallel"]}
      ins(%a, %seven : memref<256xi32>, i32) outs(%b : memref<256xi32>) {
  ^bb0(%x: i32, %y: i32, %o: i32):
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %ones = arith.constant -1 : i32
    %least = arith.constant -2147483648 : i32
    %by_zero = arith.cmpi eq, %y, %zero : i32
    %is_least = arith.cmpi eq, %x, %least : i32
    %by_ones = arith.cmpi eq, %y, %ones : i32
    %overflows = arith.andi %is_least, %by_ones : i1
    %undefined = arith.ori %by_zero, %overflows : i1
    %by = arith.select %undefined, %one, %y : i32
    %q = arith.divsi %x, %by : i32
    linalg.yield %q : i32
  }
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
      ins(%a : memref<256xi32>) outs(%c : memref<256xi32>) {
  ^bb0(%x: i32, %o: i32):
    %ones = arith.constant -1 : i32
    %q = arith.divsi %x, %ones : i32
    linalg.yield %q : i32
  }
  return
}
