// Kernels over the same rows go together, a block of rows after another.
// RUN: layout-opt %s --split-input-file --layout-lower-memrefs='vectorize=avx512 reassociate row-block-bytes=65536' --canonicalize --cse | FileCheck %s
// RUN: layout-opt %s --split-input-file --layout-lower-memrefs='vectorize=avx512 reassociate row-block-bytes=0' --canonicalize --cse | FileCheck %s --check-prefix=ALONE

// A softmax of 1024 rows of 512 f32, 2 KiB each: eight rows of three arrays are 48 KiB. What only these kernels use has eight
// rows.
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
// CHECK-LABEL: func.func @softmax(
// CHECK-DAG: memref.alloc() {{.*}}: memref<8xf32>
// CHECK-DAG: memref.alloc() {{.*}}: memref<4096xf32>
// CHECK-DAG: memref.alloc() {{.*}}: memref<8xf32>
// CHECK: scf.for %{{.*}} = %c0 to %c128 step
// CHECK-COUNT-2: math.exp
// CHECK: arith.divf
// CHECK: } {{$}}
// ALONE-LABEL: func.func @softmax(
// ALONE-DAG: memref.alloc() {{.*}}: memref<1024xf32>
// ALONE-DAG: memref.alloc() {{.*}}: memref<1024x512xf32>
func.func @softmax(%x: memref<1024x512xf32>, %y: memref<1024x512xf32>) {
  return
}
