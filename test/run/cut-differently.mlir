// Products whose operands are cut differently along what is reduced, in rows and in columns; ragged. The numbers are those
// of plain loops: elements are small integers, so no sum is rounded.
// RUN: layout-opt %s --layout-to-llvm | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MALLOC_PERTURB_=85 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm='vectorize=avx512 reassociate contract' | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 \
// RUN:   MALLOC_PERTURB_=85 mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm='vectorize=avx2 form=physical' | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 \
// RUN:   MALLOC_PERTURB_=128 mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// All of it is vector code.
// RUN: layout-opt %s --layout-to-llvm='vectorize=avx512 reassociate' -o /dev/null 2>&1 | FileCheck %s --allow-empty --check-prefix=REMARK
// REMARK-NOT: not vectorised

#A = #layout.tiled<{1,0:T(8,3)}>
#B = #layout.tiled<{1,0:T(8,16)}>
#R = #layout.tiled<{1,0:T(4,16)}>
#id = affine_map<(i, j) -> (i, j)>
#ik = affine_map<(i, j, k) -> (i, k)>
#kj = affine_map<(i, j, k) -> (k, j)>
#ij = affine_map<(i, j, k) -> (i, j)>

func.func @main() {
  %zero = arith.constant 0 : index
  %none = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<13x50xf32, #A>
  %b = memref.alloc() : memref<50x21xf32, #B>
  %r = memref.alloc() : memref<13x21xf32, #R>
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%a : memref<13x50xf32, #A>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %k = linalg.index 1 : index
    %c3 = arith.constant 3 : i32
    %x = arith.index_cast %i : index to i32
    %y = arith.index_cast %k : index to i32
    %z = arith.muli %x, %c3 : i32
    %s = arith.subi %y, %z : i32
    %f = arith.sitofp %s : i32 to f32
    linalg.yield %f : f32
  }
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%b : memref<50x21xf32, #B>) {
  ^bb0(%o: f32):
    %k = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c7 = arith.constant 7 : i32
    %x = arith.index_cast %k : index to i32
    %y = arith.index_cast %j : index to i32
    %z = arith.muli %y, %c7 : i32
    %s = arith.subi %x, %z : i32
    %f = arith.sitofp %s : i32 to f32
    linalg.yield %f : f32
  }
  linalg.fill ins(%none : f32) outs(%r : memref<13x21xf32, #R>)
  linalg.generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<13x50xf32, #A>, memref<50x21xf32, #B>) outs(%r : memref<13x21xf32, #R>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  }
  %plain = memref.alloc() : memref<13x21xf32>
  memref.copy %r, %plain : memref<13x21xf32, #R> to memref<13x21xf32>
  // sum over k of (k - 3 i) (k - 7 j) = 40425 - 1225 (3 i + 7 j) + 1050 i j
  // CHECK: ( 40425, 31850, 23275, 14700
  // CHECK-SAME: -131075 )
  %first = vector.transfer_read %plain[%zero, %zero], %none : memref<13x21xf32>, vector<21xf32>
  vector.print %first : vector<21xf32>
  %twelve = arith.constant 12 : index
  // CHECK: ( -3675, 350, 4375
  // CHECK-SAME: 76825 )
  %last = vector.transfer_read %plain[%twelve, %zero], %none : memref<13x21xf32>, vector<21xf32>
  vector.print %last : vector<21xf32>
  memref.dealloc %a : memref<13x50xf32, #A>
  memref.dealloc %b : memref<50x21xf32, #B>
  memref.dealloc %r : memref<13x21xf32, #R>
  memref.dealloc %plain : memref<13x21xf32>
  return
}
