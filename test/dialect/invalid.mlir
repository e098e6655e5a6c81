// Messages are those of the diagnostics, columns those of standard error. Labels are those of Layout.td.
// RUN: layout-opt %s --split-input-file --verify-diagnostics
// RUN: not layout-opt %s --split-input-file 2>&1 | FileCheck %s

// minor_to_major is a permutation.
// CHECK: :[[#@LINE+2]]:59: error:
// expected-error@+1 {{minor_to_major must list each dimension once, found 1 twice}}
func.func private @order(tensor<3x5xf32, #layout.tiled<{1,1}>>)

// -----

// CHECK: :[[#@LINE+2]]:59: error:
// expected-error@+1 {{a dimension in minor_to_major must be in 0 to 1, found 2}}
func.func private @order(tensor<3x5xf32, #layout.tiled<{1,2}>>)

// -----

// CHECK: :[[#@LINE+2]]:61: error:
// expected-error@+1 {{expected a dimension number, found `}`}}
func.func private @order(tensor<3x5xf32, #layout.tiled<{1,0,}>>)

// -----

// Tiles.
// CHECK: :[[#@LINE+2]]:64: error:
// expected-error@+1 {{a tile size must be at least 1, found 0}}
func.func private @tile(tensor<3x5xf32, #layout.tiled<{1,0:T(8,0)}>>)

// -----

// CHECK: :[[#@LINE+2]]:62: error:
// expected-error@+1 {{a tile size must be at least 1, found -3}}
func.func private @tile(tensor<3x5xf32, #layout.tiled<{1,0:T(-3)}>>)

// -----

// CHECK: :[[#@LINE+2]]:62: error:
// expected-error@+1 {{expected a tile size or `*`, found `)`}}
func.func private @tile(tensor<3x5xf32, #layout.tiled<{1,0:T()}>>)

// -----

// CHECK: :[[#@LINE+2]]:54: error:
// expected-error@+1 {{unbalanced '(' character in pretty dialect name}}
func.func private @tile(tensor<3x5xf32, #layout.tiled<{1,0:T(8}>>)

// -----

// CHECK: :[[#@LINE+2]]:64: error:
// expected-error@+1 {{the last entry of a tile must be a size, found `*`: there is no more-minor dimension to merge into}}
func.func private @tile(tensor<3x5xf32, #layout.tiled<{1,0:T(2,*)}>>)

// -----

// CHECK: :[[#@LINE+2]]:62: error:
// expected-error@+1 {{`99999999999999999999` does not fit in 64 bits}}
func.func private @tile(tensor<3x5xf32, #layout.tiled<{1,0:T(99999999999999999999)}>>)

// -----

// The other attributes.
// CHECK: :[[#@LINE+2]]:68: error:
// expected-error@+1 {{the tail alignment must be at least 1, found 0}}
func.func private @tail(tensor<3x5xf32, #layout.tiled<{1,0:T(2,2)L(0)}>>)

// -----

// CHECK: :[[#@LINE+2]]:63: error:
// expected-error@+1 {{the number of a memory space must be in 0 to 127, found 128}}
func.func private @space(tensor<3x5xf32, #layout.tiled<{1,0:S(128)}>>)

// -----

// CHECK: :[[#@LINE+2]]:65: error:
// expected-error@+1 {{`T` must come before `S`}}
func.func private @order(tensor<3x5xf32, #layout.tiled<{1,0:S(1)T(2)}>>)

// -----

// CHECK: :[[#@LINE+2]]:67: error:
// expected-error@+1 {{a cut must be greater than the one before it, 2, found 2}}
func.func private @cuts(tensor<3x5xf32, #layout.tiled<{1,0:SC(0:2,2)}>>)

// -----

// CHECK: :[[#@LINE+2]]:61: error:
// expected-error@+1 {{expected `(` after `T`, found `ä`}}
func.func private @utf8(tensor<3x5xf32, #layout.tiled<{1,0:Tä}>>)

// -----

// The attribute around the layout.
// CHECK: :[[#@LINE+2]]:56: error:
// expected-error@+1 {{unbalanced '{' character in pretty dialect name}}
func.func private @braces(tensor<3x5xf32, #layout.tiled<{1,0}{>>)

// -----

// CHECK: :[[#@LINE+2]]:56: error:
// expected-error@+1 {{unbalanced '<' character in pretty dialect name}}
func.func private @braces(tensor<3x5xf32, #layout.tiled<{1,0}}>>)

// -----

// CHECK: :[[#@LINE+2]]:56: error:
// expected-error@+1 {{expected `{` to open a layout, found the end of the text}}
func.func private @empty(tensor<3x5xf32, #layout.tiled<>>)

// -----

// CHECK: :[[#@LINE+2]]:54: error:
// expected-error@+1 {{expected `<` after `tiled`, found the end of the attribute}}
func.func private @body(tensor<3x5xf32, #layout.tiled>)

// -----

// CHECK: :[[#@LINE+2]]:54: error:
// expected-error@+1 {{expected `<` after `tiled`, found `{`}}
func.func private @body(tensor<3x5xf32, #layout<tiled{1,0}>>)

// -----

// CHECK: :[[#@LINE+2]]:65: error:
// expected-error@+1 {{expected `>` to end the attribute}}
func.func private @behind(tensor<3x5xf32, #layout<tiled<{1,0}> x>>)

// -----

// CHECK: :[[#@LINE+2]]:49: error:
// expected-error@+1 {{unknown attribute `layout.toled`; did you mean `tiled`?}}
func.func private @name(tensor<3x5xf32, #layout.toled<{1,0}>>)

// -----

// CHECK: :[[#@LINE+2]]:49: error:
// expected-error@+1 {{expected valid keyword}}
func.func private @name(tensor<3x5xf32, #layout<>>)

// -----

// What pends is a layout.
// CHECK: :[[#@LINE+4]]:61: error:
// expected-error@+3 {{expected attribute name}}
// CHECK: :[[#@LINE+2]]:61: error:
// expected-error@+1 {{failed to parse Layout_PendingAttr parameter 'layout' which is to be a `::mlir::MemRefLayoutAttrInterface`}}
func.func private @pending(tensor<3x5xf32, #layout.pending<{1,0}>>)

// -----

// CHECK: :[[#@LINE+4]]:60: error:
// expected-error@+3 {{invalid kind of attribute specified}}
// CHECK: :[[#@LINE+2]]:86: error:
// expected-error@+1 {{failed to parse Layout_PendingAttr parameter 'layout' which is to be a `::mlir::MemRefLayoutAttrInterface`}}
func.func private @pending(tensor<3x5xf32, #layout.pending<#layout.memory_space<vmem>>>)

// -----

// (pending_c1)
// CHECK: :[[#@LINE+2]]:57: error:
// expected-error@+1 {{expected #layout.tiled, #layout.tensor_layout or #layout.swizzled, found affine_map<(d0) -> (d0)>}}
func.func private @pending(tensor<3xf32, #layout.pending<affine_map<(d0) -> (d0)>>>)

// -----

// Memory spaces have names, and (memory_space_c1) numbers in 0 to 127.
// CHECK: :[[#@LINE+2]]:63: error:
// expected-error@+1 {{unknown memory space `smem`; did you mean `vmem`?}}
func.func private @space(memref<3x5xf32, #layout.memory_space<smem>>)

// -----

// CHECK: :[[#@LINE+2]]:63: error:
// expected-error@+1 {{expected a memory space: `hbm`, `vmem`, `host` or `device n`, found the end of the text}}
func.func private @space(memref<3x5xf32, #layout.memory_space<>>)

// -----

// CHECK: :[[#@LINE+2]]:69: error:
// expected-error@+1 {{expected the number of a memory space after `device`, found the end of the text}}
func.func private @space(memref<3x5xf32, #layout.memory_space<device>>)

// -----

// CHECK: :[[#@LINE+2]]:70: error:
// expected-error@+1 {{the number of a memory space must be in 0 to 127, found 128}}
func.func private @space(memref<3x5xf32, #layout.memory_space<device 128>>)

// -----

// CHECK: :[[#@LINE+2]]:70: error:
// expected-error@+1 {{`99999999999999999999` does not fit in 64 bits}}
func.func private @space(memref<3x5xf32, #layout.memory_space<device 99999999999999999999>>)

// -----

// CHECK: :[[#@LINE+2]]:70: error:
// expected-error@+1 {{expected the number of a memory space after `device`, found `-`}}
func.func private @space(memref<3x5xf32, #layout.memory_space<device -1>>)

// -----

// CHECK: :[[#@LINE+2]]:68: error:
// expected-error@+1 {{expected the end of the memory space, found `1`}}
func.func private @space(memref<3x5xf32, #layout.memory_space<vmem 1>>)

// -----

// (tiled_c1) One entry in minor_to_major for each dimension.
// CHECK: :[[#@LINE+2]]:25: error:
// expected-error@+1 {{layout {0}: expected rank 2, found 1}}
func.func private @rank(memref<3x5xf32, #layout.tiled<{0}>>)

// -----

// CHECK: :[[#@LINE+2]]:63: error:
// expected-error@+1 {{layout {2,1,0}: expected rank 2, found 3}}
func.func private @rank(tensor<3x5xf32, #layout.tiled<{2,1,0}>>)

// -----

// CHECK: :[[#@LINE+2]]:72: error:
// expected-error@+1 {{layout {2,1,0:T(8,128)}: expected rank 2, found 3}}
func.func private @rank(tensor<?x5xf32, #layout.tiled<{2,1,0:T(8,128)}>>)

// -----

// (tiled_c2) Elements and bytes in 64 bits, splits inside their dimension.
// CHECK: :[[#@LINE+2]]:83: error:
// expected-error@+1 {{layout {1,0}: the number of elements does not fit in 64 bits}}
func.func private @elements(tensor<4294967296x4294967296xf32, #layout.tiled<{1,0}>>)

// -----

// CHECK: :[[#@LINE+2]]:29: error:
// expected-error@+1 {{layout {1,0:T(8,128)}: the number of elements does not fit in 64 bits}}
func.func private @elements(memref<4294967296x2147483647xf32, #layout.tiled<{1,0:T(8,128)}>>)

// -----

// CHECK: :[[#@LINE+2]]:89: error:
// expected-error@+1 {{layout {1,0:T(8,128)}: the number of bytes does not fit in 64 bits}}
func.func private @bytes(tensor<4294967296x1073741824xf32, #layout.tiled<{1,0:T(8,128)}>>)

// -----

// CHECK: :[[#@LINE+2]]:69: error:
// expected-error@+1 {{layout {1,0:SC(0:7)}: a cut must be less than the size of the dimension, 3, found 7}}
func.func private @cuts(tensor<3x5xf32, #layout.tiled<{1,0:SC(0:7)}>>)

// -----

// (tiled_c3) Elements are numbers.
// CHECK: :[[#@LINE+2]]:70: error:
// expected-error@+1 {{layout {1,0}: expected an integer, index, floating-point or complex element type, found '!llvm.ptr'}}
func.func private @element(tensor<3x5x!llvm.ptr, #layout.tiled<{1,0}>>)

// -----

// (tiled_c4) Elements fit in E(n).
// CHECK: :[[#@LINE+2]]:65: error:
// expected-error@+1 {{E(n) must be at least 8, the bits of i8, found E(4)}}
func.func private @bits(tensor<3x5xi8, #layout.tiled<{1,0:E(4)}>>)

// -----

// CHECK: :[[#@LINE+2]]:76: error:
// expected-error@+1 {{E(n) must be at least 64, the bits of complex<f32>, found E(32)}}
func.func private @bits(tensor<?x5xcomplex<f32>, #layout.tiled<{1,0:E(32)}>>)

// -----

// CHECK: :[[#@LINE+2]]:69: error:
// expected-error@+1 {{E(n) must be at least 64, the bits of index, found E(32)}}
func.func private @bits(tensor<3x5xindex, #layout.tiled<{1,0:E(32)}>>)

// -----

// Indexing maps.
// CHECK: :[[#@LINE+2]]:80: error:
// expected-error@+1 {{unknown variable `d1`}}
func.func private @map1() attributes {test.map = #layout.indexing_map<(d0) -> (d1), domain: d0 in [0, 9]>}

// -----

// (indexing_map_c3)
// CHECK: :[[#@LINE+2]]:89: error:
// expected-error@+1 {{the sum of the coefficients must fit in 64 bits, in which MLIR adds them without a check}}
func.func private @map3() attributes {test.map = #layout.indexing_map<(d0) -> (8 + d0 + 9223372036854775807), domain: d0 in [0, 9]>}

// -----

// CHECK: :[[#@LINE+2]]:80: error:
// expected-error@+1 {{an affine map cannot hold this minimum or maximum, which depends on the index even over the domain}}
func.func private @map2() attributes {test.map = #layout.indexing_map<(d0) -> (min(d0, 5)), domain: d0 in [0, 9]>}

// -----

// TensorLayouts: the text.
// CHECK: :[[#@LINE+2]]:72: error:
// expected-error@+1 {{a part on the address must have a stride, as `3:1`, found none}}
func.func private @text(tensor<12x8xf32, #layout.tensor_layout<((4_PE, 3), (8))>>)

// -----

// CHECK: :[[#@LINE+2]]:66: error:
// expected-error@+1 {{parts of an axis with several must each have a stride, as `4_PE:1`, found none for `PE`}}
func.func private @text(tensor<12x8xf32, #layout.tensor_layout<((4_PE, 3:8, 2_PE), (8:1))>>)

// -----

// CHECK: :[[#@LINE+2]]:90: error:
// expected-error@+1 {{`PE` must have no other use where it is broadcast whole, found dimension 0 along it}}
func.func private @text(tensor<12x8xf32, #layout.tensor_layout<((4_PE:1, 3:8), (8:1); B@[PE])>>)

// -----

// CHECK: :[[#@LINE+2]]:66: error:
// expected-error@+1 {{an extent must be at least 1, found 0}}
func.func private @text(tensor<12x8xf32, #layout.tensor_layout<((0_PE, 3:8), (8:1))>>)

// -----

// CHECK: :[[#@LINE+2]]:68: error:
// expected-error@+1 {{the name of an axis must not be `B`, which says what is broadcast}}
func.func private @text(tensor<12x8xf32, #layout.tensor_layout<((4_B, 3:8), (8:1))>>)

// -----

// CHECK: :[[#@LINE+2]]:77: error:
// expected-error@+1 {{expected `,`, `;` or `)` to close the layout, found `(`}}
func.func private @text(tensor<12x8xf32, #layout.tensor_layout<((4_PE, 3:8) (8:1))>>)

// -----

// (tensor_layout_c5)
// CHECK: :[[#@LINE+2]]:94: error:
// expected-error@+1 {{expected the end of the layout, found `x`}}
func.func private @generic() attributes {test.a = #layout.tensor_layout<((4_PE, 3:8), (8:1)) x>}

// -----

// (tensor_layout_c1) On a shape.
// CHECK: :[[#@LINE+2]]:83: error:
// expected-error@+1 {{layout ((4_PE, 3:8), (8:1)): expected rank 1, found 2}}
func.func private @rank(tensor<12xf32, #layout.tensor_layout<((4_PE, 3:8), (8:1))>>)

// -----

// CHECK: :[[#@LINE+2]]:25: error:
// expected-error@+1 {{layout ((4_PE, 3:8), (8:1)): expected rank 3, found 2}}
func.func private @rank(memref<?x8x2xf32, #layout.tensor_layout<((4_PE, 3:8), (8:1))>>)

// -----

// CHECK: :[[#@LINE+2]]:94: error:
// expected-error@+1 {{layout (10,8)/((4_PE, 3:8), (8:1)): the shape must have the sizes [10, 8] of the layout's prefix, found [11, 8]}}
func.func private @prefix(tensor<11x8xf32, #layout.tensor_layout<(10,8)/((4_PE, 3:8), (8:1))>>)

// -----

// (tensor_layout_c2)
// CHECK: :[[#@LINE+2]]:86: error:
// expected-error@+1 {{layout ((4_PE, 3:8), (8:1)): the size of dimension 0 must be at most 12, the product of its parts, found 13}}
func.func private @reach(tensor<13x8xf32, #layout.tensor_layout<((4_PE, 3:8), (8:1))>>)

// -----

// (tensor_layout_c3)
// CHECK: :[[#@LINE+2]]:90: error:
// expected-error@+1 {{layout ((4_PE, 3:7), (8:1)): the elements [1, 0] and [0, 7] share a place: their coordinates along Addr are the same}}
func.func private @collision(tensor<12x8xf32, #layout.tensor_layout<((4_PE, 3:7), (8:1))>>)

// -----

// CHECK: :[[#@LINE+2]]:30: error:
// expected-error@+1 {{layout ((4_PE:1, 3:8), (8:1); B@[2_PE:1]): copies of the elements [3, 0] and [0, 0] share a place along PE}}
func.func private @collision(memref<12x8xf32, #layout.tensor_layout<((4_PE:1, 3:8), (8:1); B@[2_PE:1])>>)

// -----

// (tensor_layout_c4)
// CHECK: :[[#@LINE+2]]:94: error:
// expected-error@+1 {{layout ((4_PE, 3:8), (8:1)): expected an integer, index, floating-point or complex element type, found '!llvm.ptr'}}
func.func private @element(tensor<12x8x!llvm.ptr, #layout.tensor_layout<((4_PE, 3:8), (8:1))>>)

// -----

// Machines.
// CHECK: :[[#@LINE+2]]:73: error:
// expected-error@+1 {{unknown machine `mn_cor`; did you mean `mn_core`?}}
func.func private @machine() attributes {test.machine = #layout.machine<mn_cor>}

// -----

// CHECK: :[[#@LINE+2]]:88: error:
// expected-error@+1 {{an axis must have a name of its own, found a second `PE`}}
func.func private @machine() attributes {test.machine = #layout.machine<axes: (2_PE, 4_PE), memories: (), word: 64>}

// -----

// CHECK: :[[#@LINE+2]]:107: error:
// expected-error@+1 {{unknown axis `L1B`; the machine has 2 PE}}
func.func private @machine() attributes {test.machine = #layout.machine<axes: (2_PE), memories: (LM: 1 at L1B with 3 bytes), word: 64>}

// -----

// Axes.
// CHECK: :[[#@LINE+4]]:64: error:
// CHECK: :[[#@LINE+3]]:64: error:
// expected-error@+2 {{expected string}}
// expected-error@+1 {{failed to parse Layout_AxisAttr parameter 'name' which is to be a `::llvm::StringRef`}}
func.func private @axis() attributes {test.axis = #layout.axis<PE, level = 0>}

// -----

// CHECK: :[[#@LINE+2]]:1: error:
// expected-error@+1 {{`layout.padding` must be a number such as 0.0 : f32, found "zero"}}
func.func private @padding(memref<3x5xf32, #layout.tiled<{1,0:T(2,2)}>> {layout.padding = "zero"})

// -----

// (machine_c2)
// CHECK: :[[#@LINE+2]]:1: error:
// expected-error@+1 {{`layout.machine` must be on a module, found it on 'func.func'}}
func.func private @machine() attributes {layout.machine = #layout.machine<mn_core>}

// -----

// CHECK: :[[#@LINE+2]]:1: error:
// expected-error@+1 {{`layout.machine` must be a #layout.machine, found 3 : i64}}
module attributes {layout.machine = 3} {}

// -----

// (machine_c3)
module attributes {layout.machine = #layout.machine<axes: (4_PE), memories: (LM: 1 at PE with 64 bytes), word: 64>} {
  // CHECK: :[[#@LINE+2]]:3: error:
  // expected-error@+1 {{tensor<12x8xf32, #layout.tensor_layout<((4_MAB, 3:8), (8:1))>> does not fit the machine: unknown axis `MAB`; the machine has 4 PE}}
  func.func private @axis(tensor<12x8xf32, #layout.tensor_layout<((4_MAB, 3:8), (8:1))>>)
}

// -----

module attributes {layout.machine = #layout.machine<axes: (4_PE), memories: (LM: 1 at PE with 64 bytes), word: 64>} {
  // CHECK: :[[#@LINE+2]]:3: error:
  // expected-error@+1 {{tensor<10xf32, #layout.tensor_layout<((5_PE, 2:1))>> does not fit the machine: the extent along PE must be at most the machine's 4, found 5}}
  func.func private @extent(tensor<10xf32, #layout.tensor_layout<((5_PE, 2:1))>>)
}

// -----

module attributes {layout.machine = #layout.machine<axes: (4_PE), memories: (LM: 1 at PE with 64 bytes), word: 64>} {
  func.func @capacity(%a: tensor<12x8xf32>) {
    // CHECK: :[[#@LINE+2]]:10: error:
    // expected-error@+1 {{tensor<12x8xf32, #layout.tensor_layout<((4_PE, 3:8), (8:1))>> does not fit the machine: capacity exceeded: the layout needs 96 bytes in each LM, which has 64}}
    %0 = layout.convert %a : tensor<12x8xf32> to tensor<12x8xf32, #layout.tensor_layout<((4_PE, 3:8), (8:1))>>
    return
  }
}

// -----

// Names that the dialect does not have, on operations, arguments and results.
// CHECK: :[[#@LINE+2]]:1: error:
// expected-error@+1 {{unknown attribute `layout.machin`; did you mean `machine`?}}
module attributes {layout.machin = 1} {}

// -----

// expected-error@+1 {{unknown attribute `layout.color`; expected machine, reads, feeds, manual_deallocation, padding, origins, trip_count, model or cost}}
func.func private @argument(index {layout.color = 1})

// -----

// expected-error@+1 {{unknown attribute `layout.raeds`; did you mean `reads`?}}
func.func private @result() -> (index {layout.raeds = []})

// -----

// expected-error@+1 {{`layout.trip_count` must be an i64 of at least 0, such as 32 : i64, found -1 : i64}}
func.func private @trips() attributes {layout.trip_count = -1}

// -----

// expected-error@+1 {{`layout.trip_count` must be an i64 of at least 0, such as 32 : i64, found 200 : ui8}}
func.func private @trips() attributes {layout.trip_count = 200 : ui8}

// -----

// expected-error@+1 {{`layout.trip_count` must be on one of scf.for, scf.forall, scf.parallel, scf.while, found it on 'func.func'}}
func.func private @trips() attributes {layout.trip_count = 32}

// -----

// expected-error@+1 {{unknown memory space `vmen`; did you mean `vmem`?}}
func.func private @space(memref<3x5xf32, #layout.memory_space<vmen>>)

// -----

// (axis_c1) The name is one that a TensorLayout can give to an axis.
// CHECK: :[[#@LINE+2]]:63: error:
// expected-error@+1 {{the name of an axis must be a letter and then letters and digits, found `P E`}}
func.func private @axis() attributes {test.axis = #layout.axis<"P E", level = 0>}

// -----

// (axis_c2) The level is 0 or more.
// CHECK: :[[#@LINE+2]]:63: error:
// expected-error@+1 {{the level of an axis must be 0 or more, found -1}}
func.func private @axis() attributes {test.axis = #layout.axis<"PE", level = -1>}

// -----

// Element types that MLIR's parser refuses: it still calls the verifier of the encoding, without a type.
// CHECK: :[[#@LINE+2]]:37: error:
// expected-error@+1 {{expected non-function type}}
func.func private @element(tensor<5x, #layout.tiled<{0}>>)

// -----

// expected-error@+1 {{invalid element type for complex}}
func.func private @element(tensor<5xcomplex<index>, #layout.tiled<{0}>>)

// -----

// expected-error@+1 {{undefined symbol alias id 'foo'}}
func.func private @element(tensor<5x!foo, #layout.tiled<{0}>>)

// -----

// expected-error@+1 {{vector}}
func.func private @element(tensor<5xvector<0xf32>, #layout.tensor_layout<((5:1))>>)

// -----

// expected-error@+1 {{expected non-function type}}
func.func private @element(tensor<5x, #layout.tensor_layout<((5:1))>>)

// -----

// expected-error@+1 {{expected non-function type}}
func.func private @element(memref<5x, #layout.tiled<{0}>>)

// -----

// A type that is no number, and has no size that a layout could know.
// expected-error@+1 {{layout {0}: expected an integer, index, floating-point or complex element type, found 'vector<2xf32>'}}
func.func private @element(tensor<5xvector<2xf32>, #layout.tiled<{0}>>)

// -----

// The text of an attribute has no quotes.
// CHECK: :[[#@LINE+2]]:57: error:
// expected-error@+1 {{the text must stand without quotes: `tiled<{1,0}>`, found `"`}}
func.func private @quoted(tensor<3x5xf32, #layout.tiled<"{1,0}">>)

// -----

// CHECK: :[[#@LINE+2]]:62: error:
// expected-error@+1 {{the text must stand without quotes: `memory_space<vmem>`, found `"`}}
func.func private @quoted(memref<3xf32, #layout.memory_space<"vmem">>)

// -----

// Swizzles and the layouts below them.
// CHECK: :[[#@LINE+2]]:62: error:
// expected-error@+1 {{expected `Sw<B,M,S>`, found `{`}}
func.func private @swizzled(tensor<8x8xf32, #layout.swizzled<{1,0}>>)

// -----

// CHECK: :[[#@LINE+2]]:68: error:
// expected-error@+1 {{expected `<B,M,S>`, the bits, the lowest of them and the shift, found `>`}}
func.func private @swizzled(tensor<8x8xf32, #layout.swizzled<Sw<3,3> o {1,0}>>)

// -----

// CHECK: :[[#@LINE+2]]:70: error:
// expected-error@+1 {{a swizzle of 3 bits must shift by at least as many, found 2}}
func.func private @swizzled(tensor<8x8xf32, #layout.swizzled<Sw<3,3,2> o {1,0}>>)

// -----

// CHECK: :[[#@LINE+2]]:71: error:
// expected-error@+1 {{a swizzle must stay within 62 bits, found one that does not}}
func.func private @swizzled(tensor<8x8xf32, #layout.swizzled<Sw<3,57,3> o {1,0}>>)

// -----

// CHECK: :[[#@LINE+2]]:72: error:
// expected-error@+1 {{expected `o` and the layout below the swizzle, found `{`}}
func.func private @swizzled(tensor<8x8xf32, #layout.swizzled<Sw<3,3,3> {1,0}>>)

// -----

// CHECK: :[[#@LINE+2]]:73: error:
// expected-error@+1 {{expected `(` to open a layout, found the end of the text}}
func.func private @swizzled(tensor<8x8xf32, #layout.swizzled<Sw<3,3,3> o>>)

// -----

// CHECK: :[[#@LINE+2]]:77: error:
// expected-error@+1 {{minor_to_major must list each dimension once, found 1 twice}}
func.func private @swizzled(tensor<8x8xf32, #layout.swizzled<Sw<3,3,3> o {1,1}>>)

// -----

// (swizzled_c4)
// CHECK: :[[#@LINE+2]]:85: error:
// expected-error@+1 {{a layout below a swizzle must have whole elements, found `E(..)`}}
func.func private @swizzled(tensor<8x8xf32, #layout.swizzled<Sw<3,3,3> o {1,0:T(2,2)E(64)}>>)

// -----

// (swizzled_c4)
// CHECK: :[[#@LINE+2]]:79: error:
// expected-error@+1 {{a layout below a swizzle must begin at address 0, found `M(..)`}}
func.func private @swizzled(tensor<8x8xf32, #layout.swizzled<Sw<3,3,3> o {1,0:M(8)}>>)

// -----

// (swizzled_c4)
// CHECK: :[[#@LINE+2]]:79: error:
// expected-error@+1 {{a layout below a swizzle must be in one memory, found `SC(..)`}}
func.func private @swizzled(tensor<8x8xf32, #layout.swizzled<Sw<3,3,3> o {1,0:SC(0:4)}>>)

// -----

// (swizzled_c4)
// CHECK: :[[#@LINE+2]]:81: error:
// expected-error@+1 {{a layout below a swizzle must have parts on the address alone, found an axis}}
func.func private @swizzled(tensor<8x8xf32, #layout.swizzled<Sw<3,3,3> o ((2:4, 4_PE), (8:8))>>)

// -----

// (swizzled_c4)
// CHECK: :[[#@LINE+2]]:92: error:
// expected-error@+1 {{a layout below a swizzle must have parts on the address alone, found copies}}
func.func private @swizzled(tensor<8x8xf32, #layout.swizzled<Sw<3,3,3> o ((8:8), (8:1); B@[PE])>>)

// -----

// (swizzled_c1)
// CHECK: :[[#@LINE+2]]:29: error:
// expected-error@+1 {{layout Sw<3,3,3> o {0}: expected rank 2, found 1}}
func.func private @swizzled(memref<8x8xf32, #layout.swizzled<Sw<3,3,3> o {0}>>)

// -----

// (swizzled_c1)
// CHECK: :[[#@LINE+2]]:29: error:
// expected-error@+1 {{layout Sw<3,3,3> o ((4:8), (8:1)): the size of dimension 0 must be at most 4, the product of its parts, found 8}}
func.func private @swizzled(memref<8x8xf32, #layout.swizzled<Sw<3,3,3> o ((4:8), (8:1))>>)

// -----

// (swizzled_c1)
// CHECK: :[[#@LINE+2]]:29: error:
// expected-error@+1 {{layout Sw<3,3,3> o ((8:8), (8:2)): the elements [1, 0] and [0, 4] share a place: their coordinates along Addr are the same}}
func.func private @swizzled(memref<8x8xf32, #layout.swizzled<Sw<3,3,3> o ((8:8), (8:2))>>)

// -----

// (swizzled_c2)
// CHECK: :[[#@LINE+2]]:29: error:
// expected-error@+1 {{layout Sw<3,3,3> o {1,0}: expected static sizes, found a dynamic one}}
func.func private @swizzled(memref<?x8xf32, #layout.swizzled<Sw<3,3,3> o {1,0}>>)

// -----

// (swizzled_c3)
// CHECK: :[[#@LINE+2]]:29: error:
// expected-error@+1 {{layout Sw<1,57,3> o {0}: 9000000000000000000 addresses in whole blocks of 2305843009213693952 do not fit in 64 bits}}
func.func private @swizzled(memref<9000000000000000000xi8, #layout.swizzled<Sw<1,57,3> o {0}>>)

// -----

// (swizzled_c5)
// CHECK: :[[#@LINE+2]]:86: error:
// expected-error@+1 {{layout Sw<3,3,3> o {1,0}: expected an integer, index, floating-point or complex element type, found '!llvm.ptr'}}
func.func private @swizzled(tensor<8x8x!llvm.ptr, #layout.swizzled<Sw<3,3,3> o {1,0}>>)

// -----

// (swizzled_c6)
// CHECK: :[[#@LINE+2]]:80: error:
// expected-error@+1 {{expected the end of the layout, found `x`}}
func.func private @swizzled(tensor<8x8xf32, #layout.swizzled<Sw<3,3,3> o {1,0} x>>)
