// Elements of one bit: computed, read as masks, moved to other layouts and back, converted, reduced; ragged. The numbers are
// those of plain loops.
// RUN: layout-opt %s --layout-to-llvm | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MALLOC_PERTURB_=85 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm='vectorize=avx512 reassociate' | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 \
// RUN:   MALLOC_PERTURB_=85 mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm='vectorize=avx2 form=physical' | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 \
// RUN:   MALLOC_PERTURB_=128 mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// All of it is vector code.
// RUN: layout-opt %s --layout-to-llvm='vectorize=avx512 reassociate' -o /dev/null 2>&1 | FileCheck %s --allow-empty --check-prefix=REMARK
// REMARK-NOT: not vectorised

#T = #layout.tiled<{1,0:T(8,128)}>
#C = #layout.tiled<{0,1:T(4,16)}>
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

// Whether i * i + 3 * j is 2 or less, modulo 7.
func.func private @mask(%m: memref<13x250xi1, #T>) {
  linalg.generic {indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]} outs(%m : memref<13x250xi1, #T>) {
  ^bb0(%o: i1):
    %c3 = arith.constant 3 : i32
    %c7 = arith.constant 7.0 : f32
    %c2 = arith.constant 2.0 : f32
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %r = arith.index_cast %i : index to i32
    %c = arith.index_cast %j : index to i32
    %rr = arith.muli %r, %r : i32
    %cc = arith.muli %c, %c3 : i32
    %s = arith.addi %rr, %cc : i32
    %f = arith.sitofp %s : i32 to f32
    %q = arith.divf %f, %c7 : f32
    %w = math.floor %q : f32
    %p = arith.mulf %w, %c7 : f32
    %d = arith.subf %f, %p : f32
    %is = arith.cmpf ole, %d, %c2 : f32
    linalg.yield %is : i1
  }
  return
}

func.func @main() {
  %zero = arith.constant 0 : index
  %none = arith.constant 0 : i32
  %false = arith.constant false
  %true = arith.constant true
  %m = memref.alloc() : memref<13x250xi1, #T>
  %moved = memref.alloc() : memref<13x250xi1, #C>
  %back = memref.alloc() : memref<13x250xi1>
  call @mask(%m) : (memref<13x250xi1, #T>) -> ()
  linalg.copy ins(%m : memref<13x250xi1, #T>) outs(%moved : memref<13x250xi1, #C>)
  linalg.copy ins(%moved : memref<13x250xi1, #C>) outs(%back : memref<13x250xi1>)
  // How many are set in each row: read as masks, and converted.
  %rows = memref.alloc() : memref<13xi32>
  linalg.fill ins(%none : i32) outs(%rows : memref<13xi32>)
  linalg.generic {indexing_maps = [#ij, #ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%back, %moved : memref<13x250xi1>, memref<13x250xi1, #C>) outs(%rows : memref<13xi32>) {
  ^bb0(%a: i1, %b: i1, %s: i32):
    %hundred = arith.constant 100 : i32
    %x = arith.extui %a : i1 to i32
    %y = arith.select %b, %hundred, %none : i32
    %xy = arith.addi %x, %y : i32
    %t = arith.addi %s, %xy : i32
    linalg.yield %t : i32
  }
  %row = vector.transfer_read %rows[%zero], %none : memref<13xi32>, vector<13xi32>
  // CHECK: ( 10807, 10807, 10807, 10908, 10908, 10807, 10807, 10807, 10807, 10807, 10908, 10908, 10807 )
  vector.print %row : vector<13xi32>
  // As a signed number, a bit is -1.
  %signed = memref.alloc() : memref<13x250xi32>
  linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%m : memref<13x250xi1, #T>) outs(%signed : memref<13x250xi32>) {
  ^bb0(%a: i1, %o: i32):
    %x = arith.extsi %a : i1 to i32
    linalg.yield %x : i32
  }
  %twelve = arith.constant 12 : index
  %some = vector.transfer_read %signed[%twelve, %zero], %none : memref<13x250xi32>, vector<9xi32>
  // CHECK: ( 0, -1, 0, 0, -1, 0, -1, 0, -1 )
  vector.print %some : vector<9xi32>
  // Whether any of a column is set; and of which rows all are the same in both layouts, of the first three.
  %any = memref.alloc() : memref<250xi1>
  linalg.fill ins(%false : i1) outs(%any : memref<250xi1>)
  linalg.reduce ins(%m : memref<13x250xi1, #T>) outs(%any : memref<250xi1>) dimensions = [0] (%x: i1, %s: i1) {
    %y = arith.ori %x, %s : i1
    linalg.yield %y : i1
  }
  %all = memref.alloc() : memref<13xi1>
  linalg.fill ins(%true : i1) outs(%all : memref<13xi1>)
  linalg.generic {indexing_maps = [#ij, #ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%m, %back : memref<13x250xi1, #T>, memref<13x250xi1>) outs(%all : memref<13xi1>) {
  ^bb0(%x: i1, %same: i1, %s: i1):
    %i = linalg.index 0 : index
    %three = arith.constant 3 : i64
    %k = arith.index_cast %i : index to i64
    %few = arith.cmpi slt, %k, %three : i64
    %xor = arith.xori %x, %same : i1
    %not = arith.xori %xor, %true : i1
    %either = arith.andi %few, %not : i1
    %y = arith.andi %either, %s : i1
    linalg.yield %y : i1
  }
  %one = arith.constant 1 : index
  %end = arith.constant 13 : index
  %columns = scf.for %k = %zero to %end step %one iter_args(%s = %none) -> (i32) {
    %a = memref.load %any[%k] : memref<250xi1>
    %b = memref.load %all[%k] : memref<13xi1>
    %x = arith.extui %a : i1 to i32
    %y = arith.extui %b : i1 to i32
    %ten = arith.constant 100 : i32
    %z = arith.muli %y, %ten : i32
    %t = arith.addi %s, %x : i32
    %u = arith.addi %t, %z : i32
    scf.yield %u : i32
  }
  // CHECK: 313
  vector.print %columns : i32
  memref.dealloc %m : memref<13x250xi1, #T>
  memref.dealloc %moved : memref<13x250xi1, #C>
  memref.dealloc %back : memref<13x250xi1>
  memref.dealloc %rows : memref<13xi32>
  memref.dealloc %signed : memref<13x250xi32>
  memref.dealloc %any : memref<250xi1>
  memref.dealloc %all : memref<13xi1>
  return
}
