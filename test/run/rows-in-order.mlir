// What must not go by blocks of rows, or not all of it: loads and other bodies of what is written, a buffer of several
// iterations, one of two names, and rows that are two indices. The numbers are those of plain loops.
// RUN: layout-opt %s --layout-to-llvm | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MALLOC_PERTURB_=85 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm='vectorize=avx512 row-block-bytes=256' | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MALLOC_PERTURB_=85 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm='vectorize=avx2 row-block-bytes=2048' | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MALLOC_PERTURB_=85 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm='vectorize=avx512 row-block-bytes=10000' | GLIBC_TUNABLES=glibc.malloc.tcache_count=0 MALLOC_PERTURB_=85 \
// RUN:   mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>
#none = affine_map<(i, j) -> ()>
#hij = affine_map<(h, i, j) -> (h, i, j)>
#diagonal = affine_map<(h, j) -> (h, h, j)>

// What is loaded between an operation and the one that it is fused into has been written before.
func.func private @load(%x: memref<64x64xi32>, %z: memref<64x64xi32>, %y: memref<64x64xi32>) {
  %zero = arith.constant 0 : index
  %m = memref.alloc() : memref<64x64xi32>
  %square = memref.alloc() : memref<64x64xi32>
  linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<64x64xi32>) outs(%m : memref<64x64xi32>) {
  ^bb0(%a0: i32, %o0: i32):
    %t = arith.addi %a0, %a0 : i32
    linalg.yield %t : i32
  }
  linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%z : memref<64x64xi32>) outs(%square : memref<64x64xi32>) {
  ^bb0(%a0: i32, %o0: i32):
    %t0 = arith.muli %a0, %a0 : i32
    linalg.yield %t0 : i32
  }
  %v = memref.load %m[%zero, %zero] : memref<64x64xi32>
  linalg.generic {indexing_maps = [#ij, #ij, #none, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%m, %square, %v : memref<64x64xi32>, memref<64x64xi32>, i32) outs(%y : memref<64x64xi32>) {
  ^bb0(%a0: i32, %a1: i32, %a2: i32, %o0: i32):
    %p = arith.muli %a0, %a1 : i32
    %q = arith.addi %p, %a2 : i32
    linalg.yield %q : i32
  }
  memref.dealloc %m : memref<64x64xi32>
  memref.dealloc %square : memref<64x64xi32>
  return
}

// A body that loads what is no operand comes after what writes that.
func.func private @body(%x: memref<64x64xi32>, %z: memref<64x64xi32>, %y: memref<64x64xi32>) {
  %m = memref.alloc() : memref<64x64xi32>
  linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<64x64xi32>) outs(%m : memref<64x64xi32>) {
  ^bb0(%a0: i32, %o0: i32):
    %t = arith.addi %a0, %a0 : i32
    linalg.yield %t : i32
  }
  linalg.generic {indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]}
      outs(%z : memref<64x64xi32>) {
  ^bb0(%o0: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %t = memref.load %m[%j, %i] : memref<64x64xi32>
    linalg.yield %t : i32
  }
  linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%m : memref<64x64xi32>) outs(%y : memref<64x64xi32>) {
  ^bb0(%a0: i32, %o0: i32):
    %t = arith.addi %o0, %a0 : i32
    linalg.yield %t : i32
  }
  memref.dealloc %m : memref<64x64xi32>
  return
}

// What an iteration leaves in a buffer the next one finds there.
func.func private @iterations(%x: memref<64x64xi32>, %z: memref<64x64xi32>, %y: memref<64x64xi32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %nothing = arith.constant 0 : i32
  %m = memref.alloc() : memref<64x64xi32>
  scf.for %k = %zero to %three step %one {
    %first = arith.cmpi eq, %k, %zero : index
    linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]}
        ins(%x : memref<64x64xi32>) outs(%m, %z : memref<64x64xi32>, memref<64x64xi32>) {
    ^bb0(%a0: i32, %o0: i32, %o1: i32):
      %s = arith.select %first, %nothing, %o0 : i32
      %t = arith.addi %a0, %s : i32
      linalg.yield %t, %s : i32, i32
    }
    linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
        ins(%m : memref<64x64xi32>) outs(%y : memref<64x64xi32>) {
    ^bb0(%a0: i32, %o0: i32):
      %t = arith.addi %o0, %a0 : i32
      linalg.yield %t : i32
    }
  }
  memref.dealloc %m : memref<64x64xi32>
  return
}

// The argument of a block is a buffer that the function has by another name, too.
func.func private @branch(%x: memref<64x64xi32>, %z: memref<64x64xi32>, %y: memref<64x64xi32>, %w: memref<64xi32>, %v: memref<64xi32>) {
  %nothing = arith.constant 0 : i32
  %zero = arith.constant 0 : index
  %first = memref.load %x[%zero, %zero] : memref<64x64xi32>
  %is_nothing = arith.cmpi eq, %first, %nothing : i32
  cf.cond_br %is_nothing, ^bb1, ^bb2
^bb1:
  memref.store %first, %z[%zero, %zero] : memref<64x64xi32>
  cf.br ^bb3(%w : memref<64xi32>)
^bb2:
  memref.store %first, %y[%zero, %zero] : memref<64x64xi32>
  cf.br ^bb3(%v : memref<64xi32>)
^bb3(%s: memref<64xi32>):
  linalg.fill ins(%nothing : i32) outs(%s : memref<64xi32>)
  linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<64x64xi32>) outs(%s : memref<64xi32>) {
  ^bb0(%a0: i32, %o0: i32):
    %t = arith.addi %o0, %a0 : i32
    linalg.yield %t : i32
  }
  linalg.generic {indexing_maps = [#ij, #i, #j, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s, %w : memref<64x64xi32>, memref<64xi32>, memref<64xi32>) outs(%y : memref<64x64xi32>) {
  ^bb0(%a0: i32, %a1: i32, %a2: i32, %o0: i32):
    %p = arith.addi %a0, %a1 : i32
    %q = arith.muli %p, %a2 : i32
    linalg.yield %q : i32
  }
  return
}

// Of a diagonal a step in a row is a step in another one, too.
func.func private @diagonal(%x: memref<64x64xi32>, %z: memref<64x64xi32>, %y: memref<64x64xi32>) {
  %a = memref.expand_shape %x [[0, 1], [2]] output_shape [8, 8, 64] : memref<64x64xi32> into memref<8x8x64xi32>
  %w = memref.subview %y[0, 0] [8, 64] [1, 1] : memref<64x64xi32> to memref<8x64xi32, strided<[64, 1]>>
  %m = memref.alloc() : memref<8x8x64xi32>
  linalg.generic {indexing_maps = [#hij, #hij], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a : memref<8x8x64xi32>) outs(%m : memref<8x8x64xi32>) {
  ^bb0(%a0: i32, %o0: i32):
    %t = arith.addi %a0, %a0 : i32
    linalg.yield %t : i32
  }
  linalg.generic {indexing_maps = [#diagonal, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%m : memref<8x8x64xi32>) outs(%w : memref<8x64xi32, strided<[64, 1]>>) {
  ^bb0(%a0: i32, %o0: i32):
    %t = arith.addi %o0, %a0 : i32
    linalg.yield %t : i32
  }
  memref.dealloc %m : memref<8x8x64xi32>
  return
}

func.func private @numbers(%m: memref<64x64xi32>, %by: index) {
  linalg.generic {indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]}
      outs(%m : memref<64x64xi32>) {
  ^bb0(%o0: i32):
    %three = arith.constant 3 : index
    %modulus = arith.constant 11 : index
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %p = arith.muli %i, %three : index
    %q = arith.muli %j, %by : index
    %s = arith.addi %p, %q : index
    %n = arith.remui %s, %modulus : index
    %t = arith.index_cast %n : index to i32
    linalg.yield %t : i32
  }
  return
}

// A sum in which each element has another weight.
func.func private @print(%m: memref<64x64xi32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = arith.constant 64 : index
  %none = arith.constant 0 : i32
  %all = scf.for %i = %zero to %n step %one iter_args(%s = %none) -> (i32) {
    %row = scf.for %j = %zero to %n step %one iter_args(%t = %s) -> (i32) {
      %v = memref.load %m[%i, %j] : memref<64x64xi32>
      %k = arith.muli %i, %n : index
      %l = arith.addi %k, %j : index
      %w = arith.index_cast %l : index to i32
      %p = arith.muli %v, %w : i32
      %u = arith.addi %t, %p : i32
      scf.yield %u : i32
    }
    scf.yield %row : i32
  }
  vector.print %all : i32
  return
}

func.func @main() {
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %four = arith.constant 4 : index
  %six = arith.constant 6 : index
  %eight = arith.constant 8 : index
  %five = arith.constant 5 : index
  %seven = arith.constant 7 : index
  %x = memref.alloc() : memref<64x64xi32>
  %y = memref.alloc() : memref<64x64xi32>
  %z = memref.alloc() : memref<64x64xi32>
  %w = memref.alloc() : memref<64xi32>
  %v = memref.alloc() : memref<64xi32>
  %nothing = arith.constant 0 : i32
  func.call @numbers(%x, %two) : (memref<64x64xi32>, index) -> ()
  func.call @numbers(%y, %five) : (memref<64x64xi32>, index) -> ()
  func.call @numbers(%z, %seven) : (memref<64x64xi32>, index) -> ()
  func.call @load(%x, %z, %y) : (memref<64x64xi32>, memref<64x64xi32>, memref<64x64xi32>) -> ()
  // CHECK: 41924156
  func.call @print(%z) : (memref<64x64xi32>) -> ()
  // CHECK-NEXT: -1371355164
  func.call @print(%y) : (memref<64x64xi32>) -> ()
  func.call @numbers(%x, %three) : (memref<64x64xi32>, index) -> ()
  func.call @numbers(%y, %five) : (memref<64x64xi32>, index) -> ()
  func.call @numbers(%z, %seven) : (memref<64x64xi32>, index) -> ()
  func.call @body(%x, %z, %y) : (memref<64x64xi32>, memref<64x64xi32>, memref<64x64xi32>) -> ()
  // CHECK: 83839730
  func.call @print(%z) : (memref<64x64xi32>) -> ()
  // CHECK-NEXT: 125768819
  func.call @print(%y) : (memref<64x64xi32>) -> ()
  func.call @numbers(%x, %four) : (memref<64x64xi32>, index) -> ()
  func.call @numbers(%y, %five) : (memref<64x64xi32>, index) -> ()
  func.call @numbers(%z, %seven) : (memref<64x64xi32>, index) -> ()
  func.call @iterations(%x, %z, %y) : (memref<64x64xi32>, memref<64x64xi32>, memref<64x64xi32>) -> ()
  // CHECK: 83841034
  func.call @print(%z) : (memref<64x64xi32>) -> ()
  // CHECK-NEXT: 293452191
  func.call @print(%y) : (memref<64x64xi32>) -> ()
  func.call @numbers(%x, %six) : (memref<64x64xi32>, index) -> ()
  func.call @numbers(%y, %five) : (memref<64x64xi32>, index) -> ()
  func.call @numbers(%z, %seven) : (memref<64x64xi32>, index) -> ()
  linalg.fill ins(%nothing : i32) outs(%w : memref<64xi32>)
  func.call @branch(%x, %z, %y, %w, %v) : (memref<64x64xi32>, memref<64x64xi32>, memref<64x64xi32>, memref<64xi32>, memref<64xi32>) -> ()
  // CHECK: 41924156
  func.call @print(%z) : (memref<64x64xi32>) -> ()
  // CHECK-NEXT: 709086083
  func.call @print(%y) : (memref<64x64xi32>) -> ()
  func.call @numbers(%x, %eight) : (memref<64x64xi32>, index) -> ()
  func.call @numbers(%y, %five) : (memref<64x64xi32>, index) -> ()
  func.call @numbers(%z, %seven) : (memref<64x64xi32>, index) -> ()
  func.call @diagonal(%x, %z, %y) : (memref<64x64xi32>, memref<64x64xi32>, memref<64x64xi32>) -> ()
  // CHECK: 41924156
  func.call @print(%z) : (memref<64x64xi32>) -> ()
  // CHECK-NEXT: 43237373
  func.call @print(%y) : (memref<64x64xi32>) -> ()
  memref.dealloc %x : memref<64x64xi32>
  memref.dealloc %y : memref<64x64xi32>
  memref.dealloc %z : memref<64x64xi32>
  memref.dealloc %w : memref<64xi32>
  memref.dealloc %v : memref<64xi32>
  return
}
