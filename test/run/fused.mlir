// What is fused into one kernel, and what must not be: sums read at two places, what looks like a fill and is none, a sum of
// sums, and a result that is broadcast. The numbers are those of plain loops.
// RUN: layout-opt %s --layout-to-llvm | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MALLOC_PERTURB_=85 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm='vectorize=avx512 reassociate' | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MALLOC_PERTURB_=85 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm='vectorize=avx2 form=physical' | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MALLOC_PERTURB_=85 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s

#ij = affine_map<(i, j) -> (i, j)>
#ji = affine_map<(i, j) -> (j, i)>
#i = affine_map<(i, j) -> (i)>
#one = affine_map<(i) -> (i)>
#T = #layout.tiled<{1,0:T(8,128)}>

func.func private @numbers(%m: memref<16x16xf32, #T>) {
  linalg.generic {indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]} outs(%m : memref<16x16xf32, #T>) {
  ^bb0(%o: f32):
    %three = arith.constant 3 : index
    %seven = arith.constant 7 : index
    %eleven = arith.constant 11 : index
    %r = linalg.index 0 : index
    %c = linalg.index 1 : index
    %a = arith.muli %r, %three : index
    %b = arith.muli %c, %seven : index
    %s = arith.addi %a, %b : index
    %n = arith.remui %s, %eleven : index
    %k = arith.index_cast %n : index to i32
    %f = arith.sitofp %k : i32 to f32
    linalg.yield %f : f32
  }
  return
}

func.func private @show(%v: memref<16xf32>) {
  %zero = arith.constant 0 : index
  %none = arith.constant 0.0 : f32
  %row = vector.transfer_read %v[%zero], %none : memref<16xf32>, vector<8xf32>
  vector.print %row : vector<8xf32>
  return
}

func.func private @rows(%m: memref<16x16xf32, #T>, %first: f32) {
  %v = memref.alloc() : memref<16xf32>
  linalg.fill ins(%first : f32) outs(%v : memref<16xf32>)
  linalg.reduce ins(%m : memref<16x16xf32, #T>) outs(%v : memref<16xf32>) dimensions = [1] (%x: f32, %s: f32) {
    %y = arith.addf %x, %s : f32
    linalg.yield %y : f32
  }
  call @show(%v) : (memref<16xf32>) -> ()
  memref.dealloc %v : memref<16xf32>
  return
}

func.func @main() {
  %zero = arith.constant 0.0 : f32
  %hundred = arith.constant 100.0 : f32
  %a = memref.alloc() : memref<16x16xf32, #T>
  call @numbers(%a) : (memref<16x16xf32, #T>) -> ()
  // CHECK: ( 81, 85, 78, 82, 75, 79, 83, 87 )
  call @rows(%a, %zero) : (memref<16x16xf32, #T>, f32) -> ()

  // A product and its transpose, added: its sums are read at two places.
  %p = memref.alloc() : memref<16x16xf32, #T>
  %o = memref.alloc() : memref<16x16xf32, #T>
  linalg.fill ins(%zero : f32) outs(%p : memref<16x16xf32, #T>)
  linalg.matmul ins(%a, %a : memref<16x16xf32, #T>, memref<16x16xf32, #T>) outs(%p : memref<16x16xf32, #T>)
  linalg.generic {indexing_maps = [#ij, #ji, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%p, %p : memref<16x16xf32, #T>, memref<16x16xf32, #T>) outs(%o : memref<16x16xf32, #T>) {
  ^bb0(%x: f32, %y: f32, %old: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  }
  // CHECK-NEXT: ( 12463, 13877, 12475, 12910, 12553, 12152, 13456, 13187 )
  call @rows(%o, %zero) : (memref<16x16xf32, #T>, f32) -> ()

  // Not what is read is yielded, but another value: no fill of what is read.
  %v = memref.alloc() : memref<16xf32>
  linalg.generic {indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%zero : f32) outs(%v : memref<16xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %hundred : f32
  }
  linalg.reduce ins(%a : memref<16x16xf32, #T>) outs(%v : memref<16xf32>) dimensions = [1] (%x: f32, %s: f32) {
    %y = arith.addf %x, %s : f32
    linalg.yield %y : f32
  }
  // CHECK-NEXT: ( 181, 185, 178, 182, 175, 179, 183, 187 )
  call @show(%v) : (memref<16xf32>) -> ()

  // A reduction of what was made of a product.
  %q = memref.alloc() : memref<16x16xf32, #T>
  %d = memref.alloc() : memref<16x16xf32, #T>
  %w = memref.alloc() : memref<16xf32>
  linalg.fill ins(%zero : f32) outs(%w : memref<16xf32>)
  linalg.fill ins(%zero : f32) outs(%q : memref<16x16xf32, #T>)
  linalg.matmul ins(%a, %a : memref<16x16xf32, #T>, memref<16x16xf32, #T>) outs(%q : memref<16x16xf32, #T>)
  linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%q : memref<16x16xf32, #T>) outs(%d : memref<16x16xf32, #T>) {
  ^bb0(%x: f32, %old: f32):
    %s = arith.addf %x, %x : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#ij, #ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%d, %a : memref<16x16xf32, #T>, memref<16x16xf32, #T>) outs(%w : memref<16xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %m = arith.mulf %x, %y : f32
    %t = arith.addf %m, %s : f32
    linalg.yield %t : f32
  }
  // CHECK-NEXT: ( 64276, 78242, 63370, 69512, 58014, 59302, 69570, 79666 )
  call @show(%w) : (memref<16xf32>) -> ()

  // What is read first and what is written afterwards are one buffer, one place apart.
  %x = memref.alloc() : memref<17xf32>
  %lower = memref.subview %x[0] [16] [1] : memref<17xf32> to memref<16xf32, strided<[1]>>
  %upper = memref.subview %x[1] [16] [1] : memref<17xf32> to memref<16xf32, strided<[1], offset: 1>>
  %made = memref.alloc() : memref<16xf32>
  linalg.fill ins(%hundred : f32) outs(%x : memref<17xf32>)
  memref.copy %w, %lower : memref<16xf32> to memref<16xf32, strided<[1]>>
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%lower : memref<16xf32, strided<[1]>>) outs(%made : memref<16xf32>) {
  ^bb0(%a0: f32, %old: f32):
    %s = arith.addf %a0, %a0 : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]}
      ins(%made : memref<16xf32>) outs(%upper : memref<16xf32, strided<[1], offset: 1>>) {
  ^bb0(%a0: f32, %old: f32):
    %s = arith.addf %a0, %a0 : f32
    linalg.yield %s : f32
  }
  %all = memref.subview %x[0] [16] [1] : memref<17xf32> to memref<16xf32, strided<[1]>>
  %copy = memref.alloc() : memref<16xf32>
  memref.copy %all, %copy : memref<16xf32, strided<[1]>> to memref<16xf32>
  // CHECK-NEXT: ( 64276, 257104, 312968, 253480, 278048, 232056, 237208, 278280 )
  call @show(%copy) : (memref<16xf32>) -> ()
  return
}
