// Swizzled layouts, run: arithmetic in them is that of plain tensors, and elements are at the addresses of the definition.
// RUN: layout-opt %s --layout-to-llvm=verify | \
// RUN: mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm="form=physical vectorize=avx2" | \
// RUN: mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s

#rows = #layout.swizzled<Sw<3,3,3> o {1,0}>
#columns = #layout.swizzled<Sw<2,2,-4> o {0,1}>
#tiles = #layout.swizzled<Sw<2,4,3> o {1,0:T(8,128)}>
#parts = #layout.swizzled<Sw<1,0,2> o ((2:1, 32:4), (64:128, 1:1))>
#small = #layout.swizzled<Sw<2,0,3> o {1,0}>

func.func private @numbers(%seed: index) -> tensor<64x64xf32> {
  %r = tensor.generate {
  ^bb0(%i: index, %j: index):
    %c7 = arith.constant 7 : index
    %c13 = arith.constant 13 : index
    %x = arith.muli %i, %c7 : index
    %s = arith.addi %x, %j : index
    %t = arith.addi %s, %seed : index
    %m = arith.remui %t, %c13 : index
    %n = arith.index_cast %m : index to i32
    %f = arith.sitofp %n : i32 to f32
    tensor.yield %f : f32
  } : tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// transpose(x) * y + x, each in a layout of its own.
func.func private @swizzled(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %x = layout.convert %a : tensor<64x64xf32> to tensor<64x64xf32, #rows>
  %y = layout.convert %b {keep} : tensor<64x64xf32> to tensor<64x64xf32, #tiles>
  %e = tensor.empty() : tensor<64x64xf32, #columns>
  %t = linalg.transpose ins(%x : tensor<64x64xf32, #rows>) outs(%e : tensor<64x64xf32, #columns>) permutation = [1, 0]
  %c = layout.convert %a {keep} : tensor<64x64xf32> to tensor<64x64xf32, #parts>
  %p = linalg.matmul ins(%t, %y : tensor<64x64xf32, #columns>, tensor<64x64xf32, #tiles>) outs(%c : tensor<64x64xf32, #parts>)
    -> tensor<64x64xf32, #parts>
  %r = layout.convert %p : tensor<64x64xf32, #parts> to tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

func.func private @plain(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %t = linalg.transpose ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) permutation = [1, 0]
  %p = linalg.matmul ins(%t, %y : tensor<64x64xf32>, tensor<64x64xf32>) outs(%x : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %p : tensor<64x64xf32>
}

// A constant, and the first element of each of its rows.
func.func private @constant() -> vector<3xi32> {
  %c = arith.constant dense<[[0, 1, 2, 3, 4, 5, 6, 7], [10, 11, 12, 13, 14, 15, 16, 17], [20, 21, 22, 23, 24, 25, 26, 27]]>
    : tensor<3x8xi32, #small>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %x = tensor.extract %c[%c0, %c0] : tensor<3x8xi32, #small>
  %y = tensor.extract %c[%c1, %c0] : tensor<3x8xi32, #small>
  %z = tensor.extract %c[%c2, %c0] : tensor<3x8xi32, #small>
  %v = vector.from_elements %x, %y, %z : vector<3xi32>
  return %v : vector<3xi32>
}

func.func @main() {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0.0 : f32
  %x = call @numbers(%c0) : (index) -> tensor<64x64xf32>
  %y = call @numbers(%c5) : (index) -> tensor<64x64xf32>
  %a = call @swizzled(%x, %y) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = call @plain(%x, %y) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %e = tensor.empty() : tensor<f32>
  %o = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %d = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>],
      iterator_types = ["reduction", "reduction"]}
      ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%o : tensor<f32>) {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %f = arith.subf %p, %q : f32
    %g = math.absf %f : f32
    %h = arith.addf %s, %g : f32
    linalg.yield %h : f32
  } -> tensor<f32>
  %n = tensor.extract %d[] : tensor<f32>
  // CHECK: 0
  vector.print %n : f32
  %last = tensor.extract %a[%c5, %c0] : tensor<64x64xf32>
  // CHECK-NEXT: {{[1-9]}}
  vector.print %last : f32
  %v = call @constant() : () -> vector<3xi32>
  // CHECK-NEXT: ( 0, 10, 20 )
  vector.print %v : vector<3xi32>
  return
}
