// Kernels over whole tiles, and why others have masks.
// RUN: layout-opt %s -split-input-file --layout-lower-memrefs="vectorize=avx512 padding=typed" | FileCheck %s
// RUN: layout-opt %s -split-input-file --layout-lower-memrefs="vectorize=avx512 padding=report" -o /dev/null 2>&1 | \
// RUN:   FileCheck %s --check-prefix=SAYS
// RUN: layout-opt %s -split-input-file --layout-lower-memrefs="vectorize=avx512" | FileCheck %s --check-prefix=MASKED

// What is computed of padding goes into padding.
#t = #layout.tiled<{1,0:T(8,128)}>
// CHECK-LABEL: @add(
// CHECK-NOT: masked
// SAYS: remark: d0 runs to 104 in place of 100; d1 runs to 128 in place of 120; padding of the output is not known
// MASKED-LABEL: @add(
// MASKED: vector.maskedstore
func.func @add(%a: memref<100x120xf32, #t>, %b: memref<100x120xf32, #t>, %c: memref<100x120xf32, #t>) {
  linalg.add ins(%a, %b : memref<100x120xf32, #t>, memref<100x120xf32, #t>) outs(%c : memref<100x120xf32, #t>)
  return
}

// -----

// A caller's zeros change no sum that begins as +0. The rows end where the row-major result does.
#t = #layout.tiled<{1,0:T(8,128)}>
// CHECK-LABEL: @sums(
// CHECK-NOT: vector.maskedload
// MASKED-LABEL: @sums(
// MASKED: vector.maskedload
// SAYS: remark: d1 runs to 128 in place of 120{{$}}
func.func @sums(%a: memref<100x120xf32, #t> {layout.padding = 0.0 : f32}, %s: memref<100xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%s : memref<100xf32>)
  linalg.reduce { arith.addf } ins(%a : memref<100x120xf32, #t>) outs(%s : memref<100xf32>) dimensions = [1]
  return
}

// -----

// Sums that begin as -0, or as what is in memory, would become +0; -0 changes none of them.
#t = #layout.tiled<{1,0:T(8,128)}>
// CHECK-LABEL: @begins_negative(
// CHECK: vector.maskedload
// SAYS: remark: d1 ends at 120: padding makes 0.000000e+00 : f32, which may change the result
// SAYS: remark: d1 ends at 120: padding makes 0.000000e+00 : f32, which may change the result
// SAYS: remark: d1 runs to 128 in place of 120{{$}}
func.func @begins_negative(%a: memref<100x120xf32, #t> {layout.padding = 0.0 : f32}, %s: memref<100xf32>) {
  %zero = arith.constant -0.0 : f32
  linalg.fill ins(%zero : f32) outs(%s : memref<100xf32>)
  linalg.reduce { arith.addf } ins(%a : memref<100x120xf32, #t>) outs(%s : memref<100xf32>) dimensions = [1]
  return
}
func.func @begins_in_memory(%a: memref<100x120xf32, #t> {layout.padding = 0.0 : f32}, %s: memref<100xf32>) {
  linalg.reduce { arith.addf } ins(%a : memref<100x120xf32, #t>) outs(%s : memref<100xf32>) dimensions = [1]
  return
}
func.func @negative_zeros(%a: memref<100x120xf32, #t> {layout.padding = -0.0 : f32}, %s: memref<100xf32>) {
  linalg.reduce { arith.addf } ins(%a : memref<100x120xf32, #t>) outs(%s : memref<100xf32>) dimensions = [1]
  return
}

// -----

// Zeros in one input of a product alone: what is in the other may be NaN. The second has its rows in tiles of 8.
#t = #layout.tiled<{1,0:T(8,128)}>
// SAYS: remark: d0 runs to 104 in place of 100; d1 runs to 128 in place of 120; padding of the output is not known; d2 ends at 100: what padding makes is not known
// SAYS: remark: d2 runs to 104 in place of 100; d0 runs to 104 in place of 100; d1 runs to 128 in place of 120; padding of the output is not known
func.func @half(%a: memref<100x100xf32, #t> {layout.padding = 0.0 : f32}, %b: memref<100x120xf32, #t>,
                %c: memref<100x120xf32, #t>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<100x120xf32, #t>)
  linalg.matmul ins(%a, %b : memref<100x100xf32, #t>, memref<100x120xf32, #t>) outs(%c : memref<100x120xf32, #t>)
  return
}
func.func @product(%a: memref<100x100xf32, #t> {layout.padding = 0.0 : f32},
                   %b: memref<100x120xf32, #t> {layout.padding = 0.0 : f32}, %c: memref<100x120xf32, #t>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<100x120xf32, #t>)
  linalg.matmul ins(%a, %b : memref<100x100xf32, #t>, memref<100x120xf32, #t>) outs(%c : memref<100x120xf32, #t>)
  return
}

// -----

// From the fill to the sum: what it wrote, what the squares of it are, and what is not known of exponentials.
#t = #layout.tiled<{1,0:T(8,128)}>
#ij = affine_map<(i, j) -> (i, j)>
// SAYS: remark: d0 runs to 104 in place of 100; d1 runs to 128 in place of 120; padding of the output holds 4.000000e+00 : f32
// SAYS: remark: d1 ends at 120: padding makes 4.000000e+00 : f32, which may change the result
// SAYS: remark: d1 runs to 128 in place of 120{{$}}
func.func @chain(%s: memref<100xf32>, %p: memref<100xf32>) {
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2.0 : f32
  %four = arith.constant -4.0 : f32
  %a = memref.alloc() : memref<100x120xf32, #t>
  %b = memref.alloc() : memref<100x120xf32, #t>
  linalg.fill ins(%two : f32) outs(%a : memref<100x120xf32, #t>)
  linalg.mul ins(%a, %a : memref<100x120xf32, #t>, memref<100x120xf32, #t>) outs(%b : memref<100x120xf32, #t>)
  linalg.fill ins(%zero : f32) outs(%s : memref<100xf32>)
  linalg.reduce { arith.addf } ins(%b : memref<100x120xf32, #t>) outs(%s : memref<100xf32>) dimensions = [1]
  linalg.generic {indexing_maps = [#ij, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%b : memref<100x120xf32, #t>) outs(%p : memref<100xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %four : f32
    %n = arith.negf %y : f32
    %r = arith.addf %o, %n : f32
    linalg.yield %r : f32
  }
  memref.dealloc %a : memref<100x120xf32, #t>
  memref.dealloc %b : memref<100x120xf32, #t>
  return
}

// -----

// In a loop, what follows a sum runs before it as well: it must leave the zeros, and a sum before it does not rely on them.
#t = #layout.tiled<{1,0:T(8,128)}>
#ij = affine_map<(i, j) -> (i, j)>
// SAYS: remark: d0 runs to 104 in place of 100; d1 runs to 128 in place of 120; padding of the output holds 0.000000e+00 : f32
// SAYS: remark: d1 runs to 128 in place of 120{{$}}
// SAYS: remark: what the padding of its output holds is needed
func.func @loop(%n: index, %s: memref<100xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<100x120xf32, #t>
  linalg.fill ins(%zero : f32) outs(%a : memref<100x120xf32, #t>)
  scf.for %i = %c0 to %n step %c1 {
    linalg.fill ins(%zero : f32) outs(%s : memref<100xf32>)
    linalg.reduce { arith.addf } ins(%a : memref<100x120xf32, #t>) outs(%s : memref<100xf32>) dimensions = [1]
    linalg.generic {indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]} outs(%a : memref<100x120xf32, #t>) {
    ^bb0(%x: f32):
      %y = math.exp %x : f32
      linalg.yield %y : f32
    }
  }
  memref.dealloc %a : memref<100x120xf32, #t>
  return
}

// -----

// One that leaves its block, or that is handed on, may be written by others.
#t = #layout.tiled<{1,0:T(8,128)}>
func.func private @other(memref<100x120xf32, #t>)
// SAYS: remark: d0 runs to 104 in place of 100; d1 runs to 128 in place of 120; padding of the output holds 0.000000e+00 : f32
// SAYS: remark: d1 ends at 120: what padding makes is not known
func.func @handed_on(%s: memref<100xf32>) {
  %zero = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<100x120xf32, #t>
  linalg.fill ins(%zero : f32) outs(%a : memref<100x120xf32, #t>)
  func.call @other(%a) : (memref<100x120xf32, #t>) -> ()
  linalg.fill ins(%zero : f32) outs(%s : memref<100xf32>)
  linalg.reduce { arith.addf } ins(%a : memref<100x120xf32, #t>) outs(%s : memref<100xf32>) dimensions = [1]
  memref.dealloc %a : memref<100x120xf32, #t>
  return
}

// -----

// A promise that the module's own calls may break is not believed; and one that a caller outside relies on is kept.
#t = #layout.tiled<{1,0:T(8,128)}>
// SAYS: remark: d1 ends at 120: what padding makes is not known
// SAYS: remark: what the padding of its output holds is needed
func.func @called(%a: memref<100x120xf32, #t> {layout.padding = 0.0 : f32}, %s: memref<100xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%s : memref<100xf32>)
  linalg.reduce { arith.addf } ins(%a : memref<100x120xf32, #t>) outs(%s : memref<100xf32>) dimensions = [1]
  return
}
func.func @calls(%a: memref<100x120xf32, #t>, %b: memref<100x120xf32, #t> {layout.padding = 0.0 : f32},
                 %s: memref<100xf32>) {
  linalg.exp ins(%a : memref<100x120xf32, #t>) outs(%b : memref<100x120xf32, #t>)
  func.call @called(%a, %s) : (memref<100x120xf32, #t>, memref<100xf32>) -> ()
  return
}

// -----

// Twenty columns in tiles of 128 would be six times the work, and a row-major operand has no padding.
#t = #layout.tiled<{1,0:T(8,128)}>
// SAYS-NOT: remark
// CHECK-LABEL: @little(
// CHECK: vector.maskedstore
func.func @little(%a: memref<8x20xf32, #t>, %b: memref<8x20xf32, #t>, %c: memref<100x120xf32>, %d: memref<100x120xf32, #t>) {
  linalg.exp ins(%a : memref<8x20xf32, #t>) outs(%b : memref<8x20xf32, #t>)
  linalg.copy ins(%c : memref<100x120xf32>) outs(%d : memref<100x120xf32, #t>)
  return
}

// -----

// With nnan, what is computed of padding that is NaN may be anything: even the sum of elements with it.
#t = #layout.tiled<{1,0:T(8,128)}>
#ij = affine_map<(i, j) -> (i, j)>
// SAYS: remark: d1 ends at 120: padding makes 0.000000e+00 : f32, which may change the result
func.func @flags(%a: memref<100x120xf32, #t> {layout.padding = 0.0 : f32}, %s: memref<100xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%s : memref<100xf32>)
  linalg.generic {indexing_maps = [#ij, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<100x120xf32, #t>) outs(%s : memref<100xf32>) {
  ^bb0(%x: f32, %o: f32):
    %r = arith.addf %o, %x fastmath<nnan> : f32
    linalg.yield %r : f32
  }
  return
}

// -----

// The padding of a constant whose elements are alike holds that element.
#t = #layout.tiled<{1,0:T(8,128)}>
memref.global "private" constant @ones : memref<8x120xi32, #t> = dense<1>
// SAYS: remark: d1 runs to 128 in place of 120{{$}}
// SAYS: remark: d1 ends at 120: padding makes 1 : i32, which may change the result
func.func @constants(%s: memref<8xi32>, %p: memref<8xi32>) {
  %a = memref.get_global @ones : memref<8x120xi32, #t>
  linalg.reduce { arith.muli } ins(%a : memref<8x120xi32, #t>) outs(%s : memref<8xi32>) dimensions = [1]
  linalg.reduce { arith.addi } ins(%a : memref<8x120xi32, #t>) outs(%p : memref<8xi32>) dimensions = [1]
  return
}

// -----

// What LLVM may make of an operation is not known: 41 times the nearest number to 1/41 is not 1, x + c - c may be x, and a
// shift that says that it loses no bit may be none.
#t = #layout.tiled<{1,0:T(8,128)}>
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
// SAYS: remark: d1 ends at 120: what padding makes is not known
// SAYS: remark: d1 ends at 120: what padding makes is not known
// SAYS: remark: d1 ends at 120: what padding makes is not known
func.func @reciprocal(%a: memref<100x120xf32, #t> {layout.padding = 41.0 : f32}, %s: memref<100xf32>) {
  linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<100x120xf32, #t>) outs(%s : memref<100xf32>) {
  ^bb0(%x: f32, %o: f32):
    %c = arith.constant 41.0 : f32
    %y = arith.divf %x, %c fastmath<arcp> : f32
    %r = arith.mulf %o, %y : f32
    linalg.yield %r : f32
  }
  return
}
func.func @regrouped(%a: memref<100x120xf32, #t> {layout.padding = 2.0 : f32}, %s: memref<100xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%s : memref<100xf32>)
  linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<100x120xf32, #t>) outs(%s : memref<100xf32>) {
  ^bb0(%x: f32, %o: f32):
    %c = arith.constant 1.0e30 : f32
    %y = arith.addf %x, %c fastmath<reassoc,nsz> : f32
    %z = arith.subf %y, %c fastmath<reassoc,nsz> : f32
    %r = arith.addf %o, %z : f32
    linalg.yield %r : f32
  }
  return
}
func.func @exact(%a: memref<100x120xi32, #t> {layout.padding = 1 : i32}, %s: memref<100xi32>) {
  linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<100x120xi32, #t>) outs(%s : memref<100xi32>) {
  ^bb0(%x: i32, %o: i32):
    %c = arith.constant 1 : i32
    %y = arith.shrui %x, %c exact : i32
    %z = arith.shli %y, %c : i32
    %r = arith.addi %o, %z : i32
    linalg.yield %r : i32
  }
  return
}

// -----

// A promise is kept by what may be given the argument, too: a function that is called, and the result of a branch.
#t = #layout.tiled<{1,0:T(8,128)}>
// SAYS: remark: what the padding of its output holds is needed
// SAYS: remark: what the padding of its output holds is needed
// SAYS: remark: d0 runs to 104 in place of 100; d1 runs to 128 in place of 120; padding of the output is not known
func.func private @given(%a: memref<100x120xf32, #t>) {
  linalg.exp ins(%a : memref<100x120xf32, #t>) outs(%a : memref<100x120xf32, #t>)
  return
}
func.func @gives(%c: i1, %a: memref<100x120xf32, #t> {layout.padding = 0.0 : f32}, %b: memref<100x120xf32, #t>,
                 %o: memref<100x120xf64, #t>, %p: memref<100x120xf64, #t>) {
  func.call @given(%a) : (memref<100x120xf32, #t>) -> ()
  %x = scf.if %c -> memref<100x120xf32, #t> {
    scf.yield %a : memref<100x120xf32, #t>
  } else {
    scf.yield %b : memref<100x120xf32, #t>
  }
  linalg.exp ins(%x : memref<100x120xf32, #t>) outs(%x : memref<100x120xf32, #t>)
  %y = scf.if %c -> memref<100x120xf64, #t> {
    scf.yield %o : memref<100x120xf64, #t>
  } else {
    scf.yield %p : memref<100x120xf64, #t>
  }
  linalg.exp ins(%y : memref<100x120xf64, #t>) outs(%y : memref<100x120xf64, #t>)
  return
}

// -----

// Products of integers both of whose inputs hold zeros hold zeros; of floating-point numbers 0 times an element may be NaN.
#t = #layout.tiled<{1,0:T(8,128)}>
// SAYS: remark: d2 runs to 104 in place of 100; d0 runs to 104 in place of 100; d1 runs to 128 in place of 120; padding of the output holds 0 : i32
// SAYS: remark: d2 runs to 104 in place of 100; d0 runs to 104 in place of 100; d1 runs to 128 in place of 120; padding of the output is not known
func.func @zeros(%a: memref<100x100xi32, #t> {layout.padding = 0 : i32},
                 %b: memref<100x120xi32, #t> {layout.padding = 0 : i32}, %c: memref<100x120xi32, #t>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%c : memref<100x120xi32, #t>)
  linalg.matmul ins(%a, %b : memref<100x100xi32, #t>, memref<100x120xi32, #t>) outs(%c : memref<100x120xi32, #t>)
  return
}
func.func @one_of_two(%a: memref<100x100xf32, #t> {layout.padding = 0.0 : f32},
                      %b: memref<100x120xf32, #t> {layout.padding = 0.0 : f32}, %c: memref<100x120xf32, #t>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<100x120xf32, #t>)
  linalg.matmul ins(%a, %b : memref<100x100xf32, #t>, memref<100x120xf32, #t>) outs(%c : memref<100x120xf32, #t>)
  return
}

// -----

// Padding of a buffer of the function's own is filled with what changes nothing in a reduction, once and before the loop that
// it is in; not of an argument, and not for a sum that reads fewer elements than 32 times those that would be filled.
#t = #layout.tiled<{1,0:T(8,128)}>
#ik = affine_map<(i, j, k) -> (i, k)>
#jk = affine_map<(i, j, k) -> (j, k)>
#ij = affine_map<(i, j, k) -> (i, j)>
// CHECK-LABEL: @filled(
// CHECK: %[[FILLED:.*]] = vector.broadcast %{{.*}} : f32 to vector<8xf32>
// CHECK-NEXT: vector.store %[[FILLED]]
// CHECK: scf.for
// SAYS: remark: d0 runs to 104 in place of 100; d1 runs to 128 in place of 120; padding of the output is not known
// SAYS: remark: d0 runs to 104 in place of 100; d1 runs to 128 in place of 120; padding of the output is not known
// SAYS: remark: d2 runs to 128 in place of 120; padding of operand 0 is filled before with 0.000000e+00 : f32; padding of operand 1 is filled before with 0.000000e+00 : f32
// SAYS: remark: d1 ends at 120: what padding makes is not known
func.func @filled(%x: memref<100x120xf32, #t>, %n: index, %c: memref<100x100xf32>, %s: memref<100xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<100x120xf32, #t>
  %b = memref.alloc() : memref<100x120xf32, #t>
  linalg.exp ins(%x : memref<100x120xf32, #t>) outs(%a : memref<100x120xf32, #t>)
  linalg.exp ins(%x : memref<100x120xf32, #t>) outs(%b : memref<100x120xf32, #t>)
  scf.for %i = %c0 to %n step %c1 {
    linalg.fill ins(%zero : f32) outs(%c : memref<100x100xf32>)
    linalg.generic {indexing_maps = [#ik, #jk, #ij], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<100x120xf32, #t>, memref<100x120xf32, #t>) outs(%c : memref<100x100xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %r = arith.mulf %p, %q : f32
      %u = arith.addf %o, %r : f32
      linalg.yield %u : f32
    }
  }
  linalg.exp ins(%x : memref<100x120xf32, #t>) outs(%a : memref<100x120xf32, #t>)
  linalg.fill ins(%zero : f32) outs(%s : memref<100xf32>)
  linalg.reduce { arith.addf } ins(%a : memref<100x120xf32, #t>) outs(%s : memref<100xf32>) dimensions = [1]
  memref.dealloc %a : memref<100x120xf32, #t>
  memref.dealloc %b : memref<100x120xf32, #t>
  return
}
