// Rows that end inside a vector.
// RUN: bash %S/Inputs/both-forms.sh %s %t
// RUN: FileCheck %s --input-file=%t
// RUN: FileCheck %s --input-file=%t.physical

// Ten elements are left at the end of each row: the last vector is loaded and stored with a mask, the others without.
#T = #layout.tiled<{1,0:T(8,128)}>
// CHECK-LABEL: func.func @ragged(
// CHECK: %[[V:.*]] = vector.load {{.*}}vector<16xf32>
// CHECK: vector.store %[[V]]
// CHECK: arith.constant dense<[true, true, true, true, true, true, true, true, true, true, false, false, false, false, false, false]>
// CHECK: %[[W:.*]] = vector.maskedload {{.*}}vector<16xi1>, vector<16xf32> into vector<16xf32>
// CHECK: vector.maskedstore {{.*}}, %[[W]] : memref<4096xf32>, vector<16xi1>, vector<16xf32>
// CHECK-NOT: memref.store
// CHECK: return
func.func @ragged(%a: memref<13x250xf32>, %r: memref<13x250xf32, #T>) {
  memref.copy %a, %r : memref<13x250xf32> to memref<13x250xf32, #T>
  return
}
