// TensorLayouts, run: each layout of the specification there and back with an operation in between; a broadcast, a
// transpose, a row reduction and products over places; a product over a whole board beside the plain one.
// RUN: layout-opt %s --layout-to-llvm | \
// RUN: mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm=form=physical | \
// RUN: mlir-runner -e main -entry-point-result=void -shared-libs=%{runner_libs} | FileCheck %s

#rows = #layout.tensor_layout<((4_PE, 3:8), (8:1))>
#columns = #layout.tensor_layout<((12:2), (4_PE, 2:1))>
#cyclic = #layout.tensor_layout<((3:8, 4_PE), (8:1))>
#blocks = #layout.tensor_layout<((2_PE:2, 6:4), (2_PE:1, 4:1))>
#blocks_across = #layout.tensor_layout<((2_PE:1, 6:4), (2_PE:2, 4:1))>
#copied = #layout.tensor_layout<((12:8), (8:1))>
#copied_aloud = #layout.tensor_layout<((12:8), (8:1); B@[PE])>
#twice = #layout.tensor_layout<((8_MAB:2, 2_L1B:1, 2_MAB:1), (4:1))>
#padded_rows = #layout.tensor_layout<(10,7)/((3:7, 4_PE), (7:1))>
#padded_columns = #layout.tensor_layout<(10,7)/((10:2), (2:1, 4_PE))>
#words = #layout.tensor_layout<(256,16)/((8_L2B:1, 4:2, 8_L1B:1), (2:1, 4_PE:1, 2_W:1); B@[MAB])>
#dram = #layout.tensor_layout<(256,16)/((4_L2B:2, 64:8), (8:1, 2_W:1))>
#told_apart = #layout.tensor_layout<((16:1), (8_MAB:2, 8_L1B:1, 2_MAB:1, 4_PE:1, 2_W:1); B@[8_L2B:1])>
#cube = #layout.tensor_layout<((2_L2B:1, 4_MAB, 2:16), (2_L1B:4, 4_PE, 2_W, 2:1), (4_L2B:2, 4_L1B:1, 2:8))>
#dense = #layout.tensor_layout<((32:2), (2:1, 4_PE:1, 2_W:1))>
#time = #layout.tensor_layout<((), (2:24, 4_L1B:1, 2_Time:3, 2:12, 3:1), (3_Time:1, 4_PE))>
#copied_square = #layout.tensor_layout<((8:8), (8:1))>
#one_row = #layout.tensor_layout<((2_PE:1, 4:1); B@[2_PE:2])>
#turned = #layout.tensor_layout<((4_PE, 2:12), (12:1))>
#sums = #layout.tensor_layout<((4_PE, 3:1))>
#board = #layout.tensor_layout<((16_L2B, 8_L1B, 8:8), (16_MAB, 8:1, 4_PE))>
#id = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>
#none = affine_map<(i, j) -> ()>

module attributes {layout.machine = #layout.machine<mn_core>} {
// Small numbers without a pattern that a layout could share.
func.func private @numbers(%rows: index, %columns: index, %seed: index) -> tensor<?x?xf32> {
  %r = tensor.generate %rows, %columns {
  ^bb0(%i: index, %j: index):
    %c7 = arith.constant 7 : index
    %c13 = arith.constant 13 : index
    %c5 = arith.constant 5 : index
    %x = arith.muli %i, %c7 : index
    %y = arith.muli %j, %c5 : index
    %s = arith.addi %x, %y : index
    %t = arith.addi %s, %seed : index
    %m = arith.remui %t, %c13 : index
    %n = arith.index_cast %m : index to i32
    %f = arith.sitofp %n : i32 to f32
    tensor.yield %f : f32
  } : tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// Prints the sum of absolute differences, then the sum of the first.
func.func private @compare(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %o = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #none, #none], iterator_types = ["reduction", "reduction"]}
      ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%o, %o : tensor<f32>, tensor<f32>) {
  ^bb0(%x: f32, %y: f32, %s: f32, %t: f32):
    %d = arith.subf %x, %y : f32
    %p = math.absf %d : f32
    %n = arith.addf %s, %p : f32
    %m = arith.addf %t, %x : f32
    linalg.yield %n, %m : f32, f32
  } -> (tensor<f32>, tensor<f32>)
  %d = tensor.extract %r#0[] : tensor<f32>
  %s = tensor.extract %r#1[] : tensor<f32>
  %v = vector.from_elements %d, %s : vector<2xf32>
  vector.print %v : vector<2xf32>
  return
}

func.func private @zeros() -> tensor<12x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<12x8xf32>
  %o = linalg.fill ins(%zero : f32) outs(%e : tensor<12x8xf32>) -> tensor<12x8xf32>
  return %o : tensor<12x8xf32>
}

// Three consecutive rows to each PE.
func.func private @rows(%x: tensor<12x8xf32>) -> tensor<12x8xf32> {
  %y = layout.convert %x : tensor<12x8xf32> to tensor<12x8xf32, #rows>
  %z = arith.addf %y, %y : tensor<12x8xf32, #rows>
  %r = layout.convert %z : tensor<12x8xf32, #rows> to tensor<12x8xf32>
  return %r : tensor<12x8xf32>
}

// Two consecutive columns to each PE.
func.func private @columns(%x: tensor<12x8xf32>) -> tensor<12x8xf32> {
  %y = layout.convert %x : tensor<12x8xf32> to tensor<12x8xf32, #columns>
  %z = arith.addf %y, %y : tensor<12x8xf32, #columns>
  %r = layout.convert %z : tensor<12x8xf32, #columns> to tensor<12x8xf32>
  return %r : tensor<12x8xf32>
}

// Consecutive rows to different PEs.
func.func private @cyclic(%x: tensor<12x8xf32>) -> tensor<12x8xf32> {
  %y = layout.convert %x : tensor<12x8xf32> to tensor<12x8xf32, #cyclic>
  %z = arith.addf %y, %y : tensor<12x8xf32, #cyclic>
  %r = layout.convert %z : tensor<12x8xf32, #cyclic> to tensor<12x8xf32>
  return %r : tensor<12x8xf32>
}

// 6x4 blocks, PEs numbered along rows first.
func.func private @blocks(%x: tensor<12x8xf32>) -> tensor<12x8xf32> {
  %y = layout.convert %x : tensor<12x8xf32> to tensor<12x8xf32, #blocks>
  %z = arith.addf %y, %y : tensor<12x8xf32, #blocks>
  %r = layout.convert %z : tensor<12x8xf32, #blocks> to tensor<12x8xf32>
  return %r : tensor<12x8xf32>
}

// 6x4 blocks, PEs numbered along columns first.
func.func private @blocks_across(%x: tensor<12x8xf32>) -> tensor<12x8xf32> {
  %y = layout.convert %x : tensor<12x8xf32> to tensor<12x8xf32, #blocks_across>
  %z = arith.addf %y, %y : tensor<12x8xf32, #blocks_across>
  %r = layout.convert %z : tensor<12x8xf32, #blocks_across> to tensor<12x8xf32>
  return %r : tensor<12x8xf32>
}

// The whole matrix copied to every PE.
func.func private @copied(%x: tensor<12x8xf32>) -> tensor<12x8xf32> {
  %y = layout.convert %x : tensor<12x8xf32> to tensor<12x8xf32, #copied>
  %z = arith.addf %y, %y : tensor<12x8xf32, #copied>
  %r = layout.convert %z : tensor<12x8xf32, #copied> to tensor<12x8xf32>
  return %r : tensor<12x8xf32>
}

// The same, said aloud.
func.func private @copied_aloud(%x: tensor<12x8xf32>) -> tensor<12x8xf32> {
  %y = layout.convert %x : tensor<12x8xf32> to tensor<12x8xf32, #copied_aloud>
  %z = arith.addf %y, %y : tensor<12x8xf32, #copied_aloud>
  %r = layout.convert %z : tensor<12x8xf32, #copied_aloud> to tensor<12x8xf32>
  return %r : tensor<12x8xf32>
}

// An axis twice inside a dimension.
func.func private @twice(%x: tensor<32x4xf32>) -> tensor<32x4xf32> {
  %y = layout.convert %x : tensor<32x4xf32> to tensor<32x4xf32, #twice>
  %z = arith.addf %y, %y : tensor<32x4xf32, #twice>
  %r = layout.convert %z : tensor<32x4xf32, #twice> to tensor<32x4xf32>
  return %r : tensor<32x4xf32>
}

// 10 rows padded to 12.
func.func private @padded_rows(%x: tensor<10x7xf32>) -> tensor<10x7xf32> {
  %y = layout.convert %x : tensor<10x7xf32> to tensor<10x7xf32, #padded_rows>
  %z = arith.addf %y, %y : tensor<10x7xf32, #padded_rows>
  %r = layout.convert %z : tensor<10x7xf32, #padded_rows> to tensor<10x7xf32>
  return %r : tensor<10x7xf32>
}

// 7 columns padded to 8.
func.func private @padded_columns(%x: tensor<10x7xf32>) -> tensor<10x7xf32> {
  %y = layout.convert %x : tensor<10x7xf32> to tensor<10x7xf32, #padded_columns>
  %z = arith.addf %y, %y : tensor<10x7xf32, #padded_columns>
  %r = layout.convert %z : tensor<10x7xf32, #padded_columns> to tensor<10x7xf32>
  return %r : tensor<10x7xf32>
}

// Two elements to a word.
func.func private @words(%x: tensor<256x16xf32>) -> tensor<256x16xf32> {
  %y = layout.convert %x : tensor<256x16xf32> to tensor<256x16xf32, #words>
  %z = arith.addf %y, %y : tensor<256x16xf32, #words>
  %r = layout.convert %z : tensor<256x16xf32, #words> to tensor<256x16xf32>
  return %r : tensor<256x16xf32>
}

// Every second L2B.
func.func private @dram(%x: tensor<256x16xf32>) -> tensor<256x16xf32> {
  %y = layout.convert %x : tensor<256x16xf32> to tensor<256x16xf32, #dram>
  %z = arith.addf %y, %y : tensor<256x16xf32, #dram>
  %r = layout.convert %z : tensor<256x16xf32, #dram> to tensor<256x16xf32>
  return %r : tensor<256x16xf32>
}

// Copies at eight L2Bs only.
func.func private @told_apart(%x: tensor<16x1024xf32>) -> tensor<16x1024xf32> {
  %y = layout.convert %x : tensor<16x1024xf32> to tensor<16x1024xf32, #told_apart>
  %z = arith.addf %y, %y : tensor<16x1024xf32, #told_apart>
  %r = layout.convert %z : tensor<16x1024xf32, #told_apart> to tensor<16x1024xf32>
  return %r : tensor<16x1024xf32>
}

// Of three dimensions, smaller than the original.
func.func private @cube(%x: tensor<512x32xf32>) -> tensor<512x32xf32> {
  %c = tensor.expand_shape %x [[0, 1], [2]] output_shape [16, 32, 32] : tensor<512x32xf32> into tensor<16x32x32xf32>
  %y = layout.convert %c : tensor<16x32x32xf32> to tensor<16x32x32xf32, #cube>
  %z = arith.addf %y, %y : tensor<16x32x32xf32, #cube>
  %b = layout.convert %z : tensor<16x32x32xf32, #cube> to tensor<16x32x32xf32>
  %r = tensor.collapse_shape %b [[0, 1], [2]] : tensor<16x32x32xf32> into tensor<512x32xf32>
  return %r : tensor<512x32xf32>
}

// All in one place, in words.
func.func private @dense(%x: tensor<32x16xf32>) -> tensor<32x16xf32> {
  %y = layout.convert %x : tensor<32x16xf32> to tensor<32x16xf32, #dense>
  %z = arith.addf %y, %y : tensor<32x16xf32, #dense>
  %r = layout.convert %z : tensor<32x16xf32, #dense> to tensor<32x16xf32>
  return %r : tensor<32x16xf32>
}

// Pieces of work, smaller than the original.
func.func private @time(%x: tensor<96x12xf32>) -> tensor<96x12xf32> {
  %c = tensor.expand_shape %x [[0, 1], [2]] output_shape [1, 96, 12] : tensor<96x12xf32> into tensor<1x96x12xf32>
  %y = layout.convert %c : tensor<1x96x12xf32> to tensor<1x96x12xf32, #time>
  %z = arith.addf %y, %y : tensor<1x96x12xf32, #time>
  %b = layout.convert %z : tensor<1x96x12xf32, #time> to tensor<1x96x12xf32>
  %r = tensor.collapse_shape %b [[0, 1], [2]] : tensor<1x96x12xf32> into tensor<96x12xf32>
  return %r : tensor<96x12xf32>
}

// A row, held by the PEs of its columns, added to every row.
func.func private @broadcast(%x: tensor<12x8xf32>, %row: tensor<8xf32>) -> tensor<12x8xf32> {
  %a = layout.convert %x : tensor<12x8xf32> to tensor<12x8xf32, #blocks>
  %b = layout.convert %row : tensor<8xf32> to tensor<8xf32, #one_row>
  %e = tensor.empty() : tensor<12x8xf32, #blocks>
  %s = linalg.generic {indexing_maps = [#id, #j, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<12x8xf32, #blocks>, tensor<8xf32, #one_row>) outs(%e : tensor<12x8xf32, #blocks>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %n = arith.addf %p, %q : f32
    linalg.yield %n : f32
  } -> tensor<12x8xf32, #blocks>
  %r = layout.convert %s : tensor<12x8xf32, #blocks> to tensor<12x8xf32>
  return %r : tensor<12x8xf32>
}

// Rows over PEs become columns over PEs.
func.func private @transpose(%x: tensor<12x8xf32>) -> tensor<8x12xf32> {
  %a = layout.convert %x : tensor<12x8xf32> to tensor<12x8xf32, #rows>
  %e = tensor.empty() : tensor<8x12xf32, #turned>
  %t = linalg.transpose ins(%a : tensor<12x8xf32, #rows>) outs(%e : tensor<8x12xf32, #turned>) permutation = [1, 0]
  %r = layout.convert %t : tensor<8x12xf32, #turned> to tensor<8x12xf32>
  return %r : tensor<8x12xf32>
}

// The sum of each row, inside the PE that has it.
func.func private @row_sums(%x: tensor<12x8xf32>) -> tensor<12xf32> {
  %zero = arith.constant 0.0 : f32
  %a = layout.convert %x : tensor<12x8xf32> to tensor<12x8xf32, #rows>
  %e = tensor.empty() : tensor<12xf32, #sums>
  %o = linalg.fill ins(%zero : f32) outs(%e : tensor<12xf32, #sums>) -> tensor<12xf32, #sums>
  %s = linalg.reduce ins(%a : tensor<12x8xf32, #rows>) outs(%o : tensor<12xf32, #sums>) dimensions = [1]
    (%p: f32, %q: f32) {
      %n = arith.addf %p, %q : f32
      linalg.yield %n : f32
    }
  %r = layout.convert %s : tensor<12xf32, #sums> to tensor<12xf32>
  return %r : tensor<12xf32>
}

// A product whose contraction is inside each place: rows of one operand, all of the other.
func.func private @product(%x: tensor<12x8xf32>, %y: tensor<8x8xf32>) -> tensor<12x8xf32> {
  %z = call @zeros() : () -> tensor<12x8xf32>
  %a = layout.convert %x : tensor<12x8xf32> to tensor<12x8xf32, #rows>
  %b = layout.convert %y : tensor<8x8xf32> to tensor<8x8xf32, #copied_square>
  %o = layout.convert %z : tensor<12x8xf32> to tensor<12x8xf32, #rows>
  %p = linalg.matmul ins(%a, %b : tensor<12x8xf32, #rows>, tensor<8x8xf32, #copied_square>)
      outs(%o : tensor<12x8xf32, #rows>) -> tensor<12x8xf32, #rows>
  %r = layout.convert %p : tensor<12x8xf32, #rows> to tensor<12x8xf32>
  return %r : tensor<12x8xf32>
}

func.func @main() {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %c10 = arith.constant 10 : index
  %c11 = arith.constant 11 : index
  %c12 = arith.constant 12 : index
  %c13 = arith.constant 13 : index
  %c14 = arith.constant 14 : index
  %c15 = arith.constant 15 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c96 = arith.constant 96 : index
  %c256 = arith.constant 256 : index
  %c512 = arith.constant 512 : index
  %c1024 = arith.constant 1024 : index

  %rows_n = call @numbers(%c12, %c8, %c0) : (index, index, index) -> tensor<?x?xf32>
  %rows_x = tensor.cast %rows_n : tensor<?x?xf32> to tensor<12x8xf32>
  %rows_r = call @rows(%rows_x) : (tensor<12x8xf32>) -> tensor<12x8xf32>
  %rows_e = arith.addf %rows_x, %rows_x : tensor<12x8xf32>
  %rows_a = tensor.cast %rows_r : tensor<12x8xf32> to tensor<?x?xf32>
  %rows_b = tensor.cast %rows_e : tensor<12x8xf32> to tensor<?x?xf32>
  // CHECK: ( 0, 1158 )
  call @compare(%rows_a, %rows_b) : (tensor<?x?xf32>, tensor<?x?xf32>) -> ()

  %columns_n = call @numbers(%c12, %c8, %c1) : (index, index, index) -> tensor<?x?xf32>
  %columns_x = tensor.cast %columns_n : tensor<?x?xf32> to tensor<12x8xf32>
  %columns_r = call @columns(%columns_x) : (tensor<12x8xf32>) -> tensor<12x8xf32>
  %columns_e = arith.addf %columns_x, %columns_x : tensor<12x8xf32>
  %columns_a = tensor.cast %columns_r : tensor<12x8xf32> to tensor<?x?xf32>
  %columns_b = tensor.cast %columns_e : tensor<12x8xf32> to tensor<?x?xf32>
  // CHECK-NEXT: ( 0, 1142 )
  call @compare(%columns_a, %columns_b) : (tensor<?x?xf32>, tensor<?x?xf32>) -> ()

  %cyclic_n = call @numbers(%c12, %c8, %c2) : (index, index, index) -> tensor<?x?xf32>
  %cyclic_x = tensor.cast %cyclic_n : tensor<?x?xf32> to tensor<12x8xf32>
  %cyclic_r = call @cyclic(%cyclic_x) : (tensor<12x8xf32>) -> tensor<12x8xf32>
  %cyclic_e = arith.addf %cyclic_x, %cyclic_x : tensor<12x8xf32>
  %cyclic_a = tensor.cast %cyclic_r : tensor<12x8xf32> to tensor<?x?xf32>
  %cyclic_b = tensor.cast %cyclic_e : tensor<12x8xf32> to tensor<?x?xf32>
  // CHECK-NEXT: ( 0, 1152 )
  call @compare(%cyclic_a, %cyclic_b) : (tensor<?x?xf32>, tensor<?x?xf32>) -> ()

  %blocks_n = call @numbers(%c12, %c8, %c3) : (index, index, index) -> tensor<?x?xf32>
  %blocks_x = tensor.cast %blocks_n : tensor<?x?xf32> to tensor<12x8xf32>
  %blocks_r = call @blocks(%blocks_x) : (tensor<12x8xf32>) -> tensor<12x8xf32>
  %blocks_e = arith.addf %blocks_x, %blocks_x : tensor<12x8xf32>
  %blocks_a = tensor.cast %blocks_r : tensor<12x8xf32> to tensor<?x?xf32>
  %blocks_b = tensor.cast %blocks_e : tensor<12x8xf32> to tensor<?x?xf32>
  // CHECK-NEXT: ( 0, 1162 )
  call @compare(%blocks_a, %blocks_b) : (tensor<?x?xf32>, tensor<?x?xf32>) -> ()

  %blocks_across_n = call @numbers(%c12, %c8, %c4) : (index, index, index) -> tensor<?x?xf32>
  %blocks_across_x = tensor.cast %blocks_across_n : tensor<?x?xf32> to tensor<12x8xf32>
  %blocks_across_r = call @blocks_across(%blocks_across_x) : (tensor<12x8xf32>) -> tensor<12x8xf32>
  %blocks_across_e = arith.addf %blocks_across_x, %blocks_across_x : tensor<12x8xf32>
  %blocks_across_a = tensor.cast %blocks_across_r : tensor<12x8xf32> to tensor<?x?xf32>
  %blocks_across_b = tensor.cast %blocks_across_e : tensor<12x8xf32> to tensor<?x?xf32>
  // CHECK-NEXT: ( 0, 1146 )
  call @compare(%blocks_across_a, %blocks_across_b) : (tensor<?x?xf32>, tensor<?x?xf32>) -> ()

  %copied_n = call @numbers(%c12, %c8, %c5) : (index, index, index) -> tensor<?x?xf32>
  %copied_x = tensor.cast %copied_n : tensor<?x?xf32> to tensor<12x8xf32>
  %copied_r = call @copied(%copied_x) : (tensor<12x8xf32>) -> tensor<12x8xf32>
  %copied_e = arith.addf %copied_x, %copied_x : tensor<12x8xf32>
  %copied_a = tensor.cast %copied_r : tensor<12x8xf32> to tensor<?x?xf32>
  %copied_b = tensor.cast %copied_e : tensor<12x8xf32> to tensor<?x?xf32>
  // CHECK-NEXT: ( 0, 1156 )
  call @compare(%copied_a, %copied_b) : (tensor<?x?xf32>, tensor<?x?xf32>) -> ()

  %copied_aloud_n = call @numbers(%c12, %c8, %c6) : (index, index, index) -> tensor<?x?xf32>
  %copied_aloud_x = tensor.cast %copied_aloud_n : tensor<?x?xf32> to tensor<12x8xf32>
  %copied_aloud_r = call @copied_aloud(%copied_aloud_x) : (tensor<12x8xf32>) -> tensor<12x8xf32>
  %copied_aloud_e = arith.addf %copied_aloud_x, %copied_aloud_x : tensor<12x8xf32>
  %copied_aloud_a = tensor.cast %copied_aloud_r : tensor<12x8xf32> to tensor<?x?xf32>
  %copied_aloud_b = tensor.cast %copied_aloud_e : tensor<12x8xf32> to tensor<?x?xf32>
  // CHECK-NEXT: ( 0, 1140 )
  call @compare(%copied_aloud_a, %copied_aloud_b) : (tensor<?x?xf32>, tensor<?x?xf32>) -> ()

  %twice_n = call @numbers(%c32, %c4, %c7) : (index, index, index) -> tensor<?x?xf32>
  %twice_x = tensor.cast %twice_n : tensor<?x?xf32> to tensor<32x4xf32>
  %twice_r = call @twice(%twice_x) : (tensor<32x4xf32>) -> tensor<32x4xf32>
  %twice_e = arith.addf %twice_x, %twice_x : tensor<32x4xf32>
  %twice_a = tensor.cast %twice_r : tensor<32x4xf32> to tensor<?x?xf32>
  %twice_b = tensor.cast %twice_e : tensor<32x4xf32> to tensor<?x?xf32>
  // CHECK-NEXT: ( 0, 1536 )
  call @compare(%twice_a, %twice_b) : (tensor<?x?xf32>, tensor<?x?xf32>) -> ()

  %padded_rows_n = call @numbers(%c10, %c7, %c8) : (index, index, index) -> tensor<?x?xf32>
  %padded_rows_x = tensor.cast %padded_rows_n : tensor<?x?xf32> to tensor<10x7xf32>
  %padded_rows_r = call @padded_rows(%padded_rows_x) : (tensor<10x7xf32>) -> tensor<10x7xf32>
  %padded_rows_e = arith.addf %padded_rows_x, %padded_rows_x : tensor<10x7xf32>
  %padded_rows_a = tensor.cast %padded_rows_r : tensor<10x7xf32> to tensor<?x?xf32>
  %padded_rows_b = tensor.cast %padded_rows_e : tensor<10x7xf32> to tensor<?x?xf32>
  // CHECK-NEXT: ( 0, 844 )
  call @compare(%padded_rows_a, %padded_rows_b) : (tensor<?x?xf32>, tensor<?x?xf32>) -> ()

  %padded_columns_n = call @numbers(%c10, %c7, %c9) : (index, index, index) -> tensor<?x?xf32>
  %padded_columns_x = tensor.cast %padded_columns_n : tensor<?x?xf32> to tensor<10x7xf32>
  %padded_columns_r = call @padded_columns(%padded_columns_x) : (tensor<10x7xf32>) -> tensor<10x7xf32>
  %padded_columns_e = arith.addf %padded_columns_x, %padded_columns_x : tensor<10x7xf32>
  %padded_columns_a = tensor.cast %padded_columns_r : tensor<10x7xf32> to tensor<?x?xf32>
  %padded_columns_b = tensor.cast %padded_columns_e : tensor<10x7xf32> to tensor<?x?xf32>
  // CHECK-NEXT: ( 0, 854 )
  call @compare(%padded_columns_a, %padded_columns_b) : (tensor<?x?xf32>, tensor<?x?xf32>) -> ()

  %words_n = call @numbers(%c256, %c16, %c10) : (index, index, index) -> tensor<?x?xf32>
  %words_x = tensor.cast %words_n : tensor<?x?xf32> to tensor<256x16xf32>
  %words_r = call @words(%words_x) : (tensor<256x16xf32>) -> tensor<256x16xf32>
  %words_e = arith.addf %words_x, %words_x : tensor<256x16xf32>
  %words_a = tensor.cast %words_r : tensor<256x16xf32> to tensor<?x?xf32>
  %words_b = tensor.cast %words_e : tensor<256x16xf32> to tensor<?x?xf32>
  // CHECK-NEXT: ( 0, 49174 )
  call @compare(%words_a, %words_b) : (tensor<?x?xf32>, tensor<?x?xf32>) -> ()

  %dram_n = call @numbers(%c256, %c16, %c11) : (index, index, index) -> tensor<?x?xf32>
  %dram_x = tensor.cast %dram_n : tensor<?x?xf32> to tensor<256x16xf32>
  %dram_r = call @dram(%dram_x) : (tensor<256x16xf32>) -> tensor<256x16xf32>
  %dram_e = arith.addf %dram_x, %dram_x : tensor<256x16xf32>
  %dram_a = tensor.cast %dram_r : tensor<256x16xf32> to tensor<?x?xf32>
  %dram_b = tensor.cast %dram_e : tensor<256x16xf32> to tensor<?x?xf32>
  // CHECK-NEXT: ( 0, 49176 )
  call @compare(%dram_a, %dram_b) : (tensor<?x?xf32>, tensor<?x?xf32>) -> ()

  %told_apart_n = call @numbers(%c16, %c1024, %c12) : (index, index, index) -> tensor<?x?xf32>
  %told_apart_x = tensor.cast %told_apart_n : tensor<?x?xf32> to tensor<16x1024xf32>
  %told_apart_r = call @told_apart(%told_apart_x) : (tensor<16x1024xf32>) -> tensor<16x1024xf32>
  %told_apart_e = arith.addf %told_apart_x, %told_apart_x : tensor<16x1024xf32>
  %told_apart_a = tensor.cast %told_apart_r : tensor<16x1024xf32> to tensor<?x?xf32>
  %told_apart_b = tensor.cast %told_apart_e : tensor<16x1024xf32> to tensor<?x?xf32>
  // CHECK-NEXT: ( 0, 196606 )
  call @compare(%told_apart_a, %told_apart_b) : (tensor<?x?xf32>, tensor<?x?xf32>) -> ()

  %cube_n = call @numbers(%c512, %c32, %c13) : (index, index, index) -> tensor<?x?xf32>
  %cube_x = tensor.cast %cube_n : tensor<?x?xf32> to tensor<512x32xf32>
  %cube_r = call @cube(%cube_x) : (tensor<512x32xf32>) -> tensor<512x32xf32>
  %cube_e = arith.addf %cube_x, %cube_x : tensor<512x32xf32>
  %cube_a = tensor.cast %cube_r : tensor<512x32xf32> to tensor<?x?xf32>
  %cube_b = tensor.cast %cube_e : tensor<512x32xf32> to tensor<?x?xf32>
  // CHECK-NEXT: ( 0, 196590 )
  call @compare(%cube_a, %cube_b) : (tensor<?x?xf32>, tensor<?x?xf32>) -> ()

  %dense_n = call @numbers(%c32, %c16, %c14) : (index, index, index) -> tensor<?x?xf32>
  %dense_x = tensor.cast %dense_n : tensor<?x?xf32> to tensor<32x16xf32>
  %dense_r = call @dense(%dense_x) : (tensor<32x16xf32>) -> tensor<32x16xf32>
  %dense_e = arith.addf %dense_x, %dense_x : tensor<32x16xf32>
  %dense_a = tensor.cast %dense_r : tensor<32x16xf32> to tensor<?x?xf32>
  %dense_b = tensor.cast %dense_e : tensor<32x16xf32> to tensor<?x?xf32>
  // CHECK-NEXT: ( 0, 6124 )
  call @compare(%dense_a, %dense_b) : (tensor<?x?xf32>, tensor<?x?xf32>) -> ()

  %time_n = call @numbers(%c96, %c12, %c15) : (index, index, index) -> tensor<?x?xf32>
  %time_x = tensor.cast %time_n : tensor<?x?xf32> to tensor<96x12xf32>
  %time_r = call @time(%time_x) : (tensor<96x12xf32>) -> tensor<96x12xf32>
  %time_e = arith.addf %time_x, %time_x : tensor<96x12xf32>
  %time_a = tensor.cast %time_r : tensor<96x12xf32> to tensor<?x?xf32>
  %time_b = tensor.cast %time_e : tensor<96x12xf32> to tensor<?x?xf32>
  // CHECK-NEXT: ( 0, 13800 )
  call @compare(%time_a, %time_b) : (tensor<?x?xf32>, tensor<?x?xf32>) -> ()

  %row = arith.constant dense<[100.0, 200.0, 300.0, 400.0, 500.0, 600.0, 700.0, 800.0]> : tensor<8xf32>
  %sum = call @broadcast(%rows_x, %row) : (tensor<12x8xf32>, tensor<8xf32>) -> tensor<12x8xf32>
  %sum_v = vector.transfer_read %sum[%c0, %c0], %zero {in_bounds = [true, true]} : tensor<12x8xf32>, vector<12x8xf32>
  // CHECK-NEXT: ( ( 100, 205, 310, 402, 507, 612, 704, 809 ), ( 107, 212, 304, 409, 501, 606, 711, 803 ), ( 101, 206, 311, 403, 508, 600, 705, 810 ), ( 108, 200, 305, 410, 502, 607, 712, 804 ), ( 102, 207, 312, 404, 509, 601, 706, 811 ), ( 109, 201, 306, 411, 503, 608, 700, 805 ), ( 103, 208, 300, 405, 510, 602, 707, 812 ), ( 110, 202, 307, 412, 504, 609, 701, 806 ), ( 104, 209, 301, 406, 511, 603, 708, 800 ), ( 111, 203, 308, 400, 505, 610, 702, 807 ), ( 105, 210, 302, 407, 512, 604, 709, 801 ), ( 112, 204, 309, 401, 506, 611, 703, 808 ) )
  vector.print %sum_v : vector<12x8xf32>

  %turned = call @transpose(%rows_x) : (tensor<12x8xf32>) -> tensor<8x12xf32>
  %turned_v = vector.transfer_read %turned[%c0, %c0], %zero {in_bounds = [true, true]} : tensor<8x12xf32>, vector<8x12xf32>
  // CHECK-NEXT: ( ( 0, 7, 1, 8, 2, 9, 3, 10, 4, 11, 5, 12 ), ( 5, 12, 6, 0, 7, 1, 8, 2, 9, 3, 10, 4 ), ( 10, 4, 11, 5, 12, 6, 0, 7, 1, 8, 2, 9 ), ( 2, 9, 3, 10, 4, 11, 5, 12, 6, 0, 7, 1 ), ( 7, 1, 8, 2, 9, 3, 10, 4, 11, 5, 12, 6 ), ( 12, 6, 0, 7, 1, 8, 2, 9, 3, 10, 4, 11 ), ( 4, 11, 5, 12, 6, 0, 7, 1, 8, 2, 9, 3 ), ( 9, 3, 10, 4, 11, 5, 12, 6, 0, 7, 1, 8 ) )
  vector.print %turned_v : vector<8x12xf32>

  %sums = call @row_sums(%rows_x) : (tensor<12x8xf32>) -> tensor<12xf32>
  %sums_v = vector.transfer_read %sums[%c0], %zero {in_bounds = [true]} : tensor<12xf32>, vector<12xf32>
  // CHECK-NEXT: ( 49, 53, 44, 48, 52, 43, 47, 51, 42, 46, 50, 54 )
  vector.print %sums_v : vector<12xf32>

  %y_n = call @numbers(%c8, %c8, %c3) : (index, index, index) -> tensor<?x?xf32>
  %y = tensor.cast %y_n : tensor<?x?xf32> to tensor<8x8xf32>
  %product = call @product(%rows_x, %y) : (tensor<12x8xf32>, tensor<8x8xf32>) -> tensor<12x8xf32>
  %product_v = vector.transfer_read %product[%c0, %c0], %zero {in_bounds = [true, true]} : tensor<12x8xf32>, vector<12x8xf32>
  // CHECK-NEXT: ( ( 315, 313, 285, 231, 359, 383, 264, 236 ), ( 399, 313, 279, 310, 276, 385, 260, 317 ), ( 210, 313, 208, 259, 336, 296, 269, 177 ), ( 320, 339, 228, 195, 279, 324, 291, 284 ), ( 261, 365, 248, 300, 391, 352, 313, 222 ), ( 293, 248, 229, 132, 334, 315, 205, 303 ), ( 260, 300, 275, 263, 303, 369, 253, 267 ), ( 344, 300, 269, 173, 389, 371, 249, 348 ), ( 311, 287, 185, 278, 267, 269, 245, 195 ), ( 252, 313, 205, 214, 379, 297, 267, 302 ), ( 362, 339, 225, 319, 322, 325, 289, 240 ), ( 303, 365, 245, 255, 434, 353, 311, 347 ) )
  vector.print %product_v : vector<12x8xf32>

  // 1024x512 over a whole board.
  %a_n = call @numbers(%c1024, %c8, %c0) : (index, index, index) -> tensor<?x?xf32>
  %b_n = call @numbers(%c8, %c512, %c3) : (index, index, index) -> tensor<?x?xf32>
  %a = tensor.cast %a_n : tensor<?x?xf32> to tensor<1024x8xf32>
  %b = tensor.cast %b_n : tensor<?x?xf32> to tensor<8x512xf32>
  %e = tensor.empty() : tensor<1024x512xf32>
  %o = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x512xf32>) -> tensor<1024x512xf32>
  %plain = linalg.matmul ins(%a, %b : tensor<1024x8xf32>, tensor<8x512xf32>) outs(%o : tensor<1024x512xf32>)
    -> tensor<1024x512xf32>
  %e_board = tensor.empty() : tensor<1024x512xf32, #board>
  %o_board = linalg.fill ins(%zero : f32) outs(%e_board : tensor<1024x512xf32, #board>) -> tensor<1024x512xf32, #board>
  %spread = linalg.matmul ins(%a, %b : tensor<1024x8xf32>, tensor<8x512xf32>) outs(%o_board : tensor<1024x512xf32, #board>)
    -> tensor<1024x512xf32, #board>
  %back = layout.convert %spread : tensor<1024x512xf32, #board> to tensor<1024x512xf32>
  %back_a = tensor.cast %back : tensor<1024x512xf32> to tensor<?x?xf32>
  %plain_b = tensor.cast %plain : tensor<1024x512xf32> to tensor<?x?xf32>
  // CHECK-NEXT: ( 0, 1.51042e+08 )
  call @compare(%back_a, %plain_b) : (tensor<?x?xf32>, tensor<?x?xf32>) -> ()
  return
}
}
