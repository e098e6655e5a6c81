// Reductions keep accumulators in registers.
// RUN: bash %S/Inputs/both-forms.sh %s %t
// RUN: FileCheck %s --input-file=%t
// RUN: FileCheck %s --input-file=%t.physical
// RUN: layout-opt %s --split-input-file --layout-lower-memrefs='vectorize=avx512 reassociate' \
// RUN:   | FileCheck %s --check-prefix=ANY
// RUN: layout-opt %s --split-input-file --layout-lower-memrefs=vectorize=neon | FileCheck %s --check-prefix=NEON

// The maximum of each row: three vectors of integers start at minus infinity and are carried by the loops. After them, they
// are put together, then the lanes, and then the result's old value. AArch64 has an instruction for it.
#T = #layout.tiled<{1,0:T(8,128)}>
// CHECK-LABEL: func.func @row_max(
// CHECK: arith.constant 0xFF800000 : f32
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<16xi32>
// CHECK: %[[X:.*]] = vector.bitcast {{.*}} : vector<16xf32> to vector<16xi32>
// CHECK-NEXT: arith.maxsi {{.*}}, %[[X]] : vector<16xi32>
// CHECK-NEXT: arith.minui {{.*}}, %[[X]] : vector<16xi32>
// CHECK-NEXT: arith.maxui {{.*}}, %[[X]] : vector<16xi32>
// CHECK: scf.yield {{.*}} : vector<16xi32>
// CHECK: %[[NAN:.*]] = arith.cmpi ugt
// CHECK: %[[NEGATIVE:.*]] = arith.cmpi slt
// CHECK: %[[NUMBER:.*]] = arith.select %[[NEGATIVE]]
// CHECK: arith.select %[[NAN]], {{.*}}, %[[NUMBER]]
// CHECK: vector.shuffle {{.*}} : vector<16xf32>, vector<16xf32>
// CHECK-NOT: arith.maximumf
// CHECK: return
// NEON-LABEL: func.func @row_max(
// NEON-COUNT-4: arith.maximumf {{.*}} : vector<4xf32>
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

// The sum of each row is added up in the order of the row, unless `reassociate` allows any order: each lane is a row, and
// starts from the result. Integers are added in any order.
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
