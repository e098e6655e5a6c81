// Right programs are no errors of verification: what lowering leaves out of a type, what a sign of zero leaves open,
// the neutral elements of types and flags, and copies of elements that lie apart.
// RUN: for options in form=strided form=physical vectorize=avx2 "vectorize=avx2 reassociate"; do \
// RUN:   layout-opt %s "--layout-to-memref=verify $options" -o /dev/null || exit 1; \
// RUN: done
// RUN: for entry in free default; do for machine in cpu tpu_v5e; do \
// RUN:   layout-opt %s "--layout-to-memref=verify plan machine=$machine entry=$entry" -o /dev/null || exit 1; \
// RUN: done; done

func.func @part_of_one_step(%x: tensor<2x6xf32, #layout.tensor_layout<((2_W:1), (6:1); B@[1_W:1])>>) -> tensor<2x6xf32> {
  %r = layout.convert %x : tensor<2x6xf32, #layout.tensor_layout<((2_W:1), (6:1); B@[1_W:1])>> to tensor<2x6xf32>
  return %r : tensor<2x6xf32>
}

func.func @promise_of_bits(%x: tensor<3x5xi1, #layout.tiled<{1,0:T(2,2)E(1)}>> {layout.padding = true}) -> tensor<3x5xi1> {
  %r = layout.convert %x : tensor<3x5xi1, #layout.tiled<{1,0:T(2,2)E(1)}>> to tensor<3x5xi1>
  return %r : tensor<3x5xi1>
}

func.func @promise_in_words(%x: tensor<3x5xi8, #layout.tiled<{1,0:T(2,2)E(32)}>> {layout.padding = -1 : i8}) -> tensor<3x5xi8> {
  %r = layout.convert %x : tensor<3x5xi8, #layout.tiled<{1,0:T(2,2)E(32)}>> to tensor<3x5xi8>
  return %r : tensor<3x5xi8>
}

func.func @sign_of_zero(%x: tensor<10xf32>, %s: tensor<f32>) -> tensor<f32> {
  %r = linalg.reduce { arith.maxnumf } ins(%x : tensor<10xf32>) outs(%s : tensor<f32>) dimensions = [0]
  return %r : tensor<f32>
}

func.func @planned(%x: tensor<12x8xf32>) -> tensor<12x8xf32> {
  %r = arith.addf %x, %x : tensor<12x8xf32>
  return %r : tensor<12x8xf32>
}

#tile = #layout.tiled<{1,0:T(2,2)}>
func.func @planned_relayout(%x: tensor<3x5xf32>) -> tensor<3x5xf32, #tile> {
  %r = layout.convert %x : tensor<3x5xf32> to tensor<3x5xf32, #tile>
  return %r : tensor<3x5xf32, #tile>
}

func.func @product_of_small_floats(%x: tensor<5x3xf16>, %s: tensor<5xf16>) -> tensor<5xf16> {
  %r = linalg.reduce { arith.mulf {fastmath = #arith.fastmath<reassoc>} } ins(%x : tensor<5x3xf16>) outs(%s : tensor<5xf16>) dimensions = [1]
  return %r : tensor<5xf16>
}

func.func @least_of_finite_numbers(%x: tensor<5x3xf32>, %s: tensor<5xf32>) -> tensor<5xf32> {
  %r = linalg.reduce { arith.minimumf {fastmath = #arith.fastmath<ninf>} } ins(%x : tensor<5x3xf32>) outs(%s : tensor<5xf32>) dimensions = [1]
  return %r : tensor<5xf32>
}

func.func @largest_with_all_flags(%x: tensor<5x3xf32>, %s: tensor<5xf32>) -> tensor<5xf32> {
  %r = linalg.reduce { arith.maxnumf {fastmath = #arith.fastmath<fast>} } ins(%x : tensor<5x3xf32>) outs(%s : tensor<5xf32>) dimensions = [1]
  return %r : tensor<5xf32>
}

#apart = #layout.tensor_layout<((4:1, 2_PE:1); B@[2_Time:2])>
func.func @copies_apart(%x: tensor<8xbf16, #apart>) -> tensor<8xbf16> {
  %r = layout.convert %x : tensor<8xbf16, #apart> to tensor<8xbf16>
  return %r : tensor<8xbf16>
}
