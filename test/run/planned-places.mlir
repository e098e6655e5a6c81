// Programs whose tensors are spread over 2 x 4 places: what comes out computes what went in. Products whose sum is spread,
// windows, slices, reshapes, loops, calls, given TensorLayouts.
// RUN: layout-opt %s --layout-to-llvm | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: for entry in fixed free; do for reassociate in true false; do \
// RUN:   layout-opt %s --layout-to-llvm="plan entry=$entry reassociate=$reassociate" \
// RUN:     | mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s || exit 1; done; done

module attributes {layout.machine = #layout.machine<axes: (2_G, 4_PE), memories: (LM: 1 at PE with 65536 bytes), word: 32, unit: cycle, links: (G: 16, PE: 8)>} {
  // Element (i, j) is (7 i + j) mod 10.
  func.func private @numbers() -> tensor<12x96xf32> {
    %e = tensor.empty() : tensor<12x96xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        outs(%e : tensor<12x96xf32>) {
    ^bb0(%o: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %seven = arith.constant 7 : index
      %ten = arith.constant 10 : index
      %k = arith.muli %i, %seven : index
      %s = arith.addi %k, %j : index
      %m = arith.remui %s, %ten : index
      %n = arith.index_cast %m : index to i32
      %f = arith.sitofp %n : i32 to f32
      linalg.yield %f : f32
    } -> tensor<12x96xf32>
    return %r : tensor<12x96xf32>
  }

  func.func private @product(%x: tensor<12x96xf32>) -> tensor<4x4xf32> {
    %a = tensor.extract_slice %x[0, 0] [4, 96] [1, 1] : tensor<12x96xf32> to tensor<4x96xf32>
    %b = tensor.extract_slice %x[8, 0] [4, 96] [1, 1] : tensor<12x96xf32> to tensor<4x96xf32>
    %t = tensor.empty() : tensor<96x4xf32>
    %bt = linalg.transpose ins(%b : tensor<4x96xf32>) outs(%t : tensor<96x4xf32>) permutation = [1, 0]
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<4x4xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
    %p = linalg.matmul ins(%a, %bt : tensor<4x96xf32>, tensor<96x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
    // Added to what is there already.
    %q = linalg.matmul ins(%a, %bt : tensor<4x96xf32>, tensor<96x4xf32>) outs(%p : tensor<4x4xf32>) -> tensor<4x4xf32>
    return %q : tensor<4x4xf32>
  }

  // Sums of three neighbours, twice in a loop.
  func.func private @windows(%x: tensor<12x96xf32>) -> tensor<12x92xf32> {
    %zero = arith.constant 0.0 : f32
    %s0 = arith.constant 0 : index
    %s1 = arith.constant 1 : index
    %s2 = arith.constant 2 : index
    %r = scf.for %k = %s0 to %s2 step %s1 iter_args(%a = %x) -> (tensor<12x96xf32>) {
      %e = tensor.empty() : tensor<12x94xf32>
      %z = linalg.fill ins(%zero : f32) outs(%e : tensor<12x94xf32>) -> tensor<12x94xf32>
      %w = tensor.empty() : tensor<3xf32>
      %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j + k)>, affine_map<(i, j, k) -> (k)>, affine_map<(i, j, k) -> (i, j)>],
          iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %w : tensor<12x96xf32>, tensor<3xf32>) outs(%z : tensor<12x94xf32>) {
      ^bb0(%v: f32, %unused: f32, %o: f32):
        %n = arith.addf %v, %o : f32
        linalg.yield %n : f32
      } -> tensor<12x94xf32>
      %p = tensor.pad %s low[0, 1] high[0, 1] {
      ^bb0(%i: index, %j: index):
        tensor.yield %zero : f32
      } : tensor<12x94xf32> to tensor<12x96xf32>
      scf.yield %p : tensor<12x96xf32>
    }
    %c = tensor.extract_slice %r[0, 2] [12, 92] [1, 1] : tensor<12x96xf32> to tensor<12x92xf32>
    return %c : tensor<12x92xf32>
  }

  // Rows summed up, in a given layout on the way.
  func.func private @sums(%x: tensor<12x92xf32>) -> tensor<12xf32> {
    %g = layout.convert %x {keep} : tensor<12x92xf32> to tensor<12x92xf32, #layout.tensor_layout<((3:46, 4_PE), (2_G, 46:1))>>
    %d = arith.addf %g, %g : tensor<12x92xf32, #layout.tensor_layout<((3:46, 4_PE), (2_G, 46:1))>>
    %h = layout.convert %d : tensor<12x92xf32, #layout.tensor_layout<((3:46, 4_PE), (2_G, 46:1))>> to tensor<12x92xf32>
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<12xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<12xf32>) -> tensor<12xf32>
    %s = linalg.reduce { arith.addf } ins(%h : tensor<12x92xf32>) outs(%z : tensor<12xf32>) dimensions = [1]
    return %s : tensor<12xf32>
  }

  func.func private @flat(%x: tensor<4x4xf32>) -> tensor<2x8xf32> {
    %f = tensor.collapse_shape %x [[0, 1]] : tensor<4x4xf32> into tensor<16xf32>
    %m = arith.mulf %f, %f : tensor<16xf32>
    %r = tensor.expand_shape %m [[0, 1]] output_shape [2, 8] : tensor<16xf32> into tensor<2x8xf32>
    return %r : tensor<2x8xf32>
  }

  func.func private @printMemrefF32(tensor<*xf32>)
  func.func @main() {
    %x = call @numbers() : () -> tensor<12x96xf32>
    %p = call @product(%x) : (tensor<12x96xf32>) -> tensor<4x4xf32>
    %w = call @windows(%x) : (tensor<12x96xf32>) -> tensor<12x92xf32>
    %s = call @sums(%w) : (tensor<12x92xf32>) -> tensor<12xf32>
    %f = call @flat(%p) : (tensor<4x4xf32>) -> tensor<2x8xf32>
    %up = tensor.cast %p : tensor<4x4xf32> to tensor<*xf32>
    call @printMemrefF32(%up) : (tensor<*xf32>) -> ()
    %us = tensor.cast %s : tensor<12xf32> to tensor<*xf32>
    call @printMemrefF32(%us) : (tensor<*xf32>) -> ()
    %uf = tensor.cast %f : tensor<2x8xf32> to tensor<*xf32>
    call @printMemrefF32(%uf) : (tensor<*xf32>) -> ()
    return
  }
}

// CHECK: {{\[}}[3080,   3440,   5240,   3320],
// CHECK-NEXT: [4664,   3212,   3320,   5528],
// CHECK-NEXT: [4048,   4784,   3200,   3536],
// CHECK-NEXT: [3052,   3956,   4460,   3104]]
// CHECK: [7380,  7452,  7524,  7416,  7388,  7540,  7452,  7364,  7516,  7488,  7380,  7452]
// CHECK: {{\[}}[9.4864e+06,   1.18336e+07,   2.74576e+07,   1.10224e+07,   2.17529e+07,   1.03169e+07,   1.10224e+07,   3.05588e+07],
// CHECK-NEXT: [1.63863e+07,   2.28867e+07,   1.024e+07,   1.25033e+07,   9.3147e+06,   1.56499e+07,   1.98916e+07,   9.63482e+06]]
