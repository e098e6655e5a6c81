// Memrefs with an affine_map as their layout: permuted, in tiles, with gaps, of an unknown size; through loads and stores, copies,
// structured operations, globals, functions, slices, and beside the layouts of the dialect.
// RUN: layout-opt %s --layout-to-llvm \
// RUN:   | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm=form=physical \
// RUN:   | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm=vectorize=avx2 2> %t.remarks \
// RUN:   | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
#turned = affine_map<(i, j) -> (j, i)>
#tiles = affine_map<(i, j) -> (i floordiv 2, j floordiv 4, i mod 2, j mod 4)>
#gaps = affine_map<(i, j) -> (i * 8 + j)>
#columns = affine_map<(i, j) -> (j * 3 + i)>
#diagonal = affine_map<(i, j) -> (i, i + j)>
#T = #layout.tiled<{1,0:T(8,128)}>
func.func private @printMemrefF32(memref<*xf32>)
memref.global "private" constant @numbers : memref<3x5xf32, #tiles> =
  dense<[[1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0], [11.0, 12.0, 13.0, 14.0, 15.0]]>

func.func private @fill(%m: memref<3x5xf32, #turned>) {
  %ten = arith.constant 10 : index
  affine.for %i = 0 to 3 {
    affine.for %j = 0 to 5 {
      %row = arith.muli %i, %ten : index
      %n = arith.addi %row, %j : index
      %k = arith.index_cast %n : index to i32
      %f = arith.sitofp %k : i32 to f32
      affine.store %f, %m[%i, %j] : memref<3x5xf32, #turned>
    }
  }
  return
}
func.func private @add(%a: memref<3x5xf32, #turned>, %b: memref<3x5xf32, #tiles>, %c: memref<3x5xf32, #gaps>) {
  linalg.add ins(%a, %b : memref<3x5xf32, #turned>, memref<3x5xf32, #tiles>) outs(%c : memref<3x5xf32, #gaps>)
  return
}
func.func private @open(%n: index) -> f32 {
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %v = arith.constant 4.0 : f32
  %m = memref.alloc(%n) : memref<?x5xf32, #turned>
  linalg.fill ins(%v : f32) outs(%m : memref<?x5xf32, #turned>)
  %x = memref.load %m[%one, %three] : memref<?x5xf32, #turned>
  %size = memref.dim %m, %one : memref<?x5xf32, #turned>
  %rows_of = arith.constant 0 : index
  %rows = memref.dim %m, %rows_of : memref<?x5xf32, #turned>
  %all = arith.muli %size, %rows : index
  %all_i = arith.index_cast %all : index to i32
  %all_f = arith.sitofp %all_i : i32 to f32
  %sum = arith.addf %x, %all_f : f32
  memref.dealloc %m : memref<?x5xf32, #turned>
  return %sum : f32
}
func.func private @open_gaps(%n: index) -> f32 {
  %one = arith.constant 1 : index
  %v = arith.constant 4.0 : f32
  %m = memref.alloc(%n) : memref<?x5xf32, #gaps>
  linalg.fill ins(%v : f32) outs(%m : memref<?x5xf32, #gaps>)
  %x = memref.load %m[%one, %one] : memref<?x5xf32, #gaps>
  memref.dealloc %m : memref<?x5xf32, #gaps>
  return %x : f32
}
func.func private @print(%x: memref<3x5xf32>) {
  %u = memref.cast %x : memref<3x5xf32> to memref<*xf32>
  call @printMemrefF32(%u) : (memref<*xf32>) -> ()
  return
}

func.func @main() {
  %a = memref.alloc() : memref<3x5xf32, #turned>
  call @fill(%a) : (memref<3x5xf32, #turned>) -> ()
  %b = memref.alloc() : memref<3x5xf32, #tiles>
  memref.copy %a, %b : memref<3x5xf32, #turned> to memref<3x5xf32, #tiles>
  %c = memref.alloc() : memref<3x5xf32, #gaps>
  call @add(%a, %b, %c) : (memref<3x5xf32, #turned>, memref<3x5xf32, #tiles>, memref<3x5xf32, #gaps>) -> ()
  %p = memref.alloc() : memref<3x5xf32>
  memref.copy %c, %p : memref<3x5xf32, #gaps> to memref<3x5xf32>
  // CHECK: 0, {{ *}}2, {{ *}}4, {{ *}}6, {{ *}}8],
  // CHECK-NEXT: [20, {{ *}}22, {{ *}}24, {{ *}}26, {{ *}}28],
  // CHECK-NEXT: [40, {{ *}}42, {{ *}}44, {{ *}}46, {{ *}}48]]
  call @print(%p) : (memref<3x5xf32>) -> ()

  %g = memref.get_global @numbers : memref<3x5xf32, #tiles>
  %d = memref.alloca() : memref<3x5xf32, #diagonal>
  memref.copy %g, %d : memref<3x5xf32, #tiles> to memref<3x5xf32, #diagonal>
  %t = memref.alloc() : memref<3x5xf32, #T>
  memref.copy %d, %t : memref<3x5xf32, #diagonal> to memref<3x5xf32, #T>
  %k = memref.alloc() : memref<3x5xf32, #columns>
  memref.copy %t, %k : memref<3x5xf32, #T> to memref<3x5xf32, #columns>
  memref.copy %k, %p : memref<3x5xf32, #columns> to memref<3x5xf32>
  // CHECK: 1, {{ *}}2, {{ *}}3, {{ *}}4, {{ *}}5],
  // CHECK-NEXT: [6, {{ *}}7, {{ *}}8, {{ *}}9, {{ *}}10],
  // CHECK-NEXT: [11, {{ *}}12, {{ *}}13, {{ *}}14, {{ *}}15]]
  call @print(%p) : (memref<3x5xf32>) -> ()

  %s = memref.subview %c[1, 1] [2, 2] [1, 2] : memref<3x5xf32, #gaps> to memref<2x2xf32, strided<[8, 2], offset: 9>>
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %x = memref.load %s[%one, %one] : memref<2x2xf32, strided<[8, 2], offset: 9>>
  // CHECK: 46
  vector.print %x : f32

  %tensor = bufferization.to_tensor %b restrict : memref<3x5xf32, #tiles> to tensor<3x5xf32, #T>
  %e = tensor.extract %tensor[%two, %one] : tensor<3x5xf32, #T>
  // CHECK: 21
  vector.print %e : f32
  %three = arith.constant 3 : index
  %open = call @open(%three) : (index) -> f32
  // CHECK: 19
  vector.print %open : f32
  %open_gaps = call @open_gaps(%three) : (index) -> f32
  // CHECK: 4
  vector.print %open_gaps : f32
  memref.dealloc %a : memref<3x5xf32, #turned>
  memref.dealloc %b : memref<3x5xf32, #tiles>
  memref.dealloc %c : memref<3x5xf32, #gaps>
  memref.dealloc %k : memref<3x5xf32, #columns>
  memref.dealloc %t : memref<3x5xf32, #T>
  memref.dealloc %p : memref<3x5xf32>
  return
}
