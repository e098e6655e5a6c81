// RUN: layout-opt %s --layout-indexing-analysis | FileCheck %s
// RUN: layout-opt %s --layout-indexing-analysis=report -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: layout-opt %s --layout-indexing-analysis | layout-opt -o /dev/null

// A structured operation, through its indexing maps; what its body does not use is not read.
// CHECK-LABEL: func.func @product(
// CHECK-SAME: layout.feeds = {{\[\[}}[#layout.indexing_map<(d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 3], d1 in [0, 7], s0 in [0, 15]>], [#layout.indexing_map<(d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 7], d1 in [0, 15], s0 in [0, 3]>]]]
// CHECK-SAME: layout.reads = {{\[\[}}[#layout.indexing_map<(d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 3], d1 in [0, 15], s0 in [0, 7]>], [#layout.indexing_map<(d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 3], d1 in [0, 15], s0 in [0, 7]>]]]
// CHECK: linalg.fill
// CHECK-SAME: layout.reads = {{\[\[}}[#layout.indexing_map<(d0, d1) -> (), domain: d0 in [0, 3], d1 in [0, 15]>], []]]
func.func @product(%a: tensor<4x8xf32, #layout.tiled<{1,0:T(8,128)}>>, %b: tensor<8x16xf32>) -> tensor<4x16xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x16xf32>) -> tensor<4x16xf32>
  %plain = layout.convert %a : tensor<4x8xf32, #layout.tiled<{1,0:T(8,128)}>> to tensor<4x8xf32>
  %c = linalg.matmul ins(%plain, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%start : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %c : tensor<4x16xf32>
}

// Slices: offsets that only the program knows are run-time variables, those in attributes are numbers.
// REPORT: indexing of `tensor.extract_slice`
// REPORT: operand 0 is read: (d0, d1){rt0} -> (d0 + rt0, d1 * 4 + 2), domain: d0 in [0, 1], d1 in [0, 2], rt0 in [0, 2], rt0: 1[]
// REPORT: operand 0 feeds: (d0, d1){rt0} -> (d0 - rt0, (d1 - 2) floordiv 4), domain: d0 in [0, 3], d1 in [2, 10], rt0 in [0, 2], d0 - rt0 in [0, 1], d1 mod 4 in [2, 2], rt0: 1[]
// REPORT: indexing of `tensor.extract_slice`
// REPORT: operand 0 is read: (d0) -> (3, d0), domain: d0 in [0, 15]
// REPORT: indexing of `tensor.insert_slice`
// REPORT: operand 0 is read: (d0, d1){rt0} -> (d0 - 1, d1 - rt0), domain: d0 in [1, 2], d1 in [0, 15], rt0 in [0, 13], d1 - rt0 in [0, 2], rt0: 2[]
// REPORT: operand 1 is read: (d0, d1) -> (0, d1), domain: d0 in [0, 0], d1 in [0, 15]
// REPORT: operand 1 is read: (d0, d1) -> (3, d1), domain: d0 in [3, 3], d1 in [0, 15]
// REPORT: operand 2 is read: (d0, d1) -> (), domain: d0 in [0, 3], d1 in [0, 15]
// REPORT: indexing of `tensor.pad`
// REPORT: operand 0 is read: (d0, d1) -> (d0 - 1, d1), domain: d0 in [1, 2], d1 in [0, 2]
// REPORT: indexing of `tensor.extract`
// REPORT: operand 0 is read: (){rt0, rt1} -> (rt0, rt1), domain: rt0 in [0, 3], rt1 in [0, 15], rt0: 1[], rt1: 2[]
func.func @slices(%x: tensor<4x16xf32>, %t: tensor<2x3xf32>, %i: index) -> (tensor<2x3xf32>, tensor<16xf32>, tensor<4x16xf32>, tensor<3x5xf32>, f32) {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.extract_slice %x[%i, 2] [2, 3] [1, 4] : tensor<4x16xf32> to tensor<2x3xf32>
  %1 = tensor.extract_slice %x[3, 0] [1, 16] [1, 1] : tensor<4x16xf32> to tensor<16xf32>
  %2 = tensor.insert_slice %t into %x[1, %i] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<4x16xf32>
  %3 = tensor.pad %t low[1, 0] high[0, 2] {
  ^bb0(%p: index, %q: index):
    tensor.yield %zero : f32
  } : tensor<2x3xf32> to tensor<3x5xf32>
  %4 = tensor.extract %x[%i, %i] : tensor<4x16xf32>
  return %0, %1, %2, %3, %4 : tensor<2x3xf32>, tensor<16xf32>, tensor<4x16xf32>, tensor<3x5xf32>, f32
}

// A call reads what its callee's body reads: two transposes are none.
// CHECK-LABEL: func.func private @turned(
func.func private @turned(%x: tensor<3x5xf32>) -> tensor<5x3xf32> {
  %empty = tensor.empty() : tensor<5x3xf32>
  %t = linalg.transpose ins(%x : tensor<3x5xf32>) outs(%empty : tensor<5x3xf32>) permutation = [1, 0]
  return %t : tensor<5x3xf32>
}

// CHECK-LABEL: func.func @twice(
// CHECK-SAME: layout.reads = {{\[\[}}[#layout.indexing_map<(d0, d1) -> (d0, d1), domain: d0 in [0, 2], d1 in [0, 4]>]]]
// CHECK: call @turned
// CHECK-SAME: layout.reads = {{\[\[}}[#layout.indexing_map<(d0, d1) -> (d1, d0), domain: d0 in [0, 4], d1 in [0, 2]>]]]
func.func @twice(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %t = call @turned(%x) : (tensor<3x5xf32>) -> tensor<5x3xf32>
  %empty = tensor.empty() : tensor<3x5xf32>
  %u = linalg.transpose ins(%t : tensor<5x3xf32>) outs(%empty : tensor<3x5xf32>) permutation = [1, 0]
  return %u : tensor<3x5xf32>
}

// What calls itself, has sizes known only at run time, or a region that is not looked into, is said to be unknown.
// CHECK-LABEL: func.func @unknown(
// CHECK: call @again
// CHECK-SAME: layout.reads = {{\[\[}}[#layout.indexing_map<UNDEFINED>]]]
// CHECK: scf.if
// CHECK: layout.reads = {{\[\[}}[#layout.indexing_map<UNDEFINED>]]]
// REPORT: operand 0 is read: UNDEFINED: `again` is not looked into
// REPORT: indexing of `linalg.{{negf|generic|elementwise}}`
// REPORT: operand 0 is read: UNDEFINED: the loops have sizes that are known only at run time
func.func @unknown(%x: tensor<3xf32>, %c: i1, %d: tensor<?xf32>) -> tensor<3xf32> {
  %r = call @again(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %n = linalg.negf ins(%d : tensor<?xf32>) outs(%d : tensor<?xf32>) -> tensor<?xf32>
  %s = scf.if %c -> tensor<3xf32> {
    scf.yield %r : tensor<3xf32>
  } else {
    scf.yield %x : tensor<3xf32>
  }
  return %s : tensor<3xf32>
}

func.func private @again(%x: tensor<3xf32>) -> tensor<3xf32> {
  %r = call @again(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}
