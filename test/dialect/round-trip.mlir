// Everything of the dialect, as it prints: from the text, from what was printed, from the generic form, from bytecode.
// RUN: layout-opt %s --mlir-print-local-scope | FileCheck %s
// RUN: layout-opt %s | layout-opt --mlir-print-local-scope | FileCheck %s
// RUN: layout-opt %s --mlir-print-op-generic | layout-opt --mlir-print-local-scope | FileCheck %s

// CHECK-LABEL: func.func private @tensors
// CHECK-SAME: tensor<16x256xbf16, #layout.tiled<{1,0:T(8,128)(2,1)}>>
// CHECK-SAME: tensor<3x5xf32, #layout.tiled<{0,1}>>
// CHECK-SAME: tensor<3x5xf32, #layout.tiled<{1,0}>>
// CHECK-SAME: tensor<f32, #layout.tiled<{:T(256)}>>
// CHECK-SAME: tensor<?x5xi4, #layout.tiled<{1,0:T(2,2)L(64)E(4)S(5)M(8)}>>
// CHECK-SAME: tensor<2x7x8x11x10xf32, #layout.tiled<{4,3,2,1,0:T(*,*,2,*,3)}>>
// CHECK-SAME: tensor<6x4xcomplex<f32>, #layout.tiled<{1,0:#(u32)*(u64)SC(0:2,4)}>>
// CHECK-SAME: tensor<7xindex, #layout.tiled<{0:T(4)}>>
func.func private @tensors(
    tensor<16x256xbf16, #layout.tiled<{1,0:T(8,128)(2,1)}>>,
    tensor<3x5xf32, #layout.tiled<{0,1}>>,
    tensor<3x5xf32, #layout.tiled<{1,0}>>,
    tensor<f32, #layout.tiled<{:T(256)}>>,
    tensor<?x5xi4, #layout.tiled<{1,0:T(2,2)L(64)E(4)S(5)M(8)}>>,
    tensor<2x7x8x11x10xf32, #layout.tiled<{4,3,2,1,0:T(*,*,2,*,3)}>>,
    tensor<6x4xcomplex<f32>, #layout.tiled<{1,0:#(u32)*(u64)SC(0:2,4)}>>,
    tensor<7xindex, #layout.tiled<{0:T(4)}>>)

// A layout that is the builtin one stays as well.
// CHECK-LABEL: func.func private @memrefs
// CHECK-SAME: memref<16x256xbf16, #layout.tiled<{1,0:T(8,128)(2,1)S(1)}>, #layout.memory_space<vmem>>
// CHECK-SAME: memref<2x3xf32, #layout.tiled<{1,0}>>
// CHECK-SAME: memref<?x3xvector<4xf32>, #layout.tiled<{0,1}>>
func.func private @memrefs(
    memref<16x256xbf16, #layout.tiled<{1,0:T(8,128)(2,1)S(1)}>, #layout.memory_space<vmem>>,
    memref<2x3xf32, #layout.tiled<{1,0}>>,
    memref<?x3xvector<4xf32>, #layout.tiled<{0,1}>>)

// The text is canonical: white space, comments, leading zeros and defaults go.
// CHECK-LABEL: func.func private @canonical
// CHECK-SAME: tensor<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>
// CHECK-SAME: tensor<3x5xf32, #layout.tiled<{1,0}>>
// CHECK-SAME: tensor<f32, #layout.tiled<{}>>
func.func private @canonical(
    tensor<3x5xf32, #layout.tiled< { 1 , 0 : T( 02, 2 ) /* here */ L(1)E(0)S(0) } >>,
    tensor<3x5xf32, #layout<tiled <{1,0:}> >>,
    tensor<f32, #layout.tiled<{:}>>)

// A swizzle of a tiled layout or of a TensorLayout; one of no bits stays.
// CHECK-LABEL: func.func private @swizzled
// CHECK-SAME: memref<64x64xf32, #layout.swizzled<Sw<3,3,3> o {1,0}>>
// CHECK-SAME: tensor<16x200xbf16, #layout.swizzled<Sw<2,4,-3> o {1,0:T(8,128)S(1)}>>
// CHECK-SAME: memref<8x8xvector<4xf32>, #layout.swizzled<Sw<2,0,3> o (8:8, 8:1)>>
// CHECK-SAME: memref<8xf32, #layout.swizzled<Sw<0,2,0> o {0}>>
// CHECK-SAME: memref<3x0xf32, #layout.pending<#layout.swizzled<Sw<1,0,1> o {1,0}>>>
func.func private @swizzled(
    memref<64x64xf32, #layout.swizzled< S<3, 3, 3> o { 1 , 0 } >>,
    tensor<16x200xbf16, #layout.swizzled<Sw<2,4,-3>o{1,0:T(8,128)S(1)}>>,
    memref<8x8xvector<4xf32>, #layout.swizzled<Sw<2,0,3> o (8:8,8:1)>>,
    memref<8xf32, #layout.swizzled<Sw<0,2,0> o {0}>>,
    memref<3x0xf32, #layout.pending<#layout.swizzled<Sw<1,0,1> o {1,0}>>>)

// CHECK-LABEL: func.func private @memory_spaces
// CHECK-SAME: #layout.memory_space<hbm>
// CHECK-SAME: #layout.memory_space<vmem>
// CHECK-SAME: #layout.memory_space<host>
// CHECK-SAME: #layout.memory_space<device 2>
// CHECK-SAME: #layout.memory_space<device 127>
// CHECK-SAME: #layout.memory_space<hbm>
// CHECK-SAME: #layout.memory_space<vmem>
// CHECK-SAME: #layout.memory_space<host>
func.func private @memory_spaces(
    memref<f32, #layout.memory_space<hbm>>,
    memref<f32, #layout.memory_space<vmem>>,
    memref<f32, #layout.memory_space<host>>,
    memref<f32, #layout.memory_space<device 2>>,
    memref<f32, #layout.memory_space< device 127 >>,
    memref<f32, #layout.memory_space<device 0>>,
    memref<f32, #layout.memory_space<device 1>>,
    memref<f32, #layout.memory_space<device 5>>)

#tiled = #layout.tiled<{1,0:T(2,2)}>

// CHECK-LABEL: func.func private @pending
// CHECK-SAME: memref<3x5xf32, #layout.pending<#layout.tiled<{1,0:T(2,2)}>>>
// CHECK-SAME: memref<3x5xf32, #layout.pending<#layout.tiled<{1,0:T(2,2)}>>>
func.func private @pending(
    memref<3x5xf32, #layout.pending<#layout.tiled<{1,0:T(2,2)}>>>,
    memref<3x5xf32, #layout.pending<#tiled>>)

// CHECK-LABEL: func.func @convert
func.func @convert(%tensor: tensor<3x5xf32>, %memref: memref<?x5xf32>) {
  // CHECK: layout.convert %{{.*}} {kept} : tensor<3x5xf32> to tensor<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>
  %0 = layout.convert %tensor {kept} : tensor<3x5xf32> to tensor<3x5xf32, #tiled>
  // CHECK: layout.convert %{{.*}} : memref<?x5xf32> to memref<?x5xf32, #layout.tiled<{1,0:T(2,2)}>, #layout.memory_space<vmem>>
  %1 = layout.convert %memref : memref<?x5xf32> to memref<?x5xf32, #tiled, #layout.memory_space<vmem>>
  // CHECK: %[[STARTED:.*]] = layout.convert %{{.*}} {async, keep} : tensor<3x5xf32> to tensor<3x5xf32, #layout.tiled<{1,0:S(1)}>>
  %2 = layout.convert %tensor {async, keep} : tensor<3x5xf32> to tensor<3x5xf32, #layout.tiled<{1,0:S(1)}>>
  // CHECK: layout.await %[[STARTED]] : tensor<3x5xf32, #layout.tiled<{1,0:S(1)}>>
  %3 = layout.await %2 : tensor<3x5xf32, #layout.tiled<{1,0:S(1)}>>
  return
}

// Indexing maps keep their variables' names and kinds; a division may be written `/`.
// CHECK: #layout.indexing_map<(d0)[s0]{rt0} -> (d0 floordiv 8 + rt0, s0), domain: d0 in [0, 9], s0 in [-3, 15], rt0 in [0, 3], d0 + s0 in [0, 20]>
func.func private @map1() attributes {test.map = #layout.indexing_map<(d0)[s0]{rt0} -> (d0 / 8 + rt0, s0), domain: d0 in [0, 9], s0 in [-3, 15], rt0 in [0, 3], d0 + s0 in [0, 20]>}
// CHECK: #layout.indexing_map<(i){offset} -> (i + offset), domain: i in [0, 9], offset in [0, 3]>
func.func private @map2() attributes {test.map = #layout.indexing_map<(i){offset} -> (i + offset), domain: i in [0, 9], offset in [0, 3]>}
// CHECK: #layout.indexing_map<() -> (0)>, {{.*}}#layout.indexing_map<KNOWN EMPTY>, {{.*}}#layout.indexing_map<UNDEFINED>
func.func private @map3() attributes {test.a = #layout.indexing_map<() -> (0)>, test.b = #layout.indexing_map<KNOWN EMPTY>, test.c = #layout.indexing_map<UNDEFINED>}
// A minimum that the domain decides can be said.
// CHECK: #layout.indexing_map<(d0) -> (d0), domain: d0 in [0, 9]>
func.func private @map4() attributes {test.map = #layout.indexing_map<(d0) -> (min(d0, 20)), domain: d0 in [0, 9]>}

// TensorLayouts: every part of the notation, canonical. A prefix that says what the parts say goes, as do strides of 1
// where an axis occurs once.
// CHECK-LABEL: func.func private @tensor_layouts
// CHECK-SAME: tensor<12x8xf32, #layout.tensor_layout<((4_PE, 3:8), (8:1))>>
// CHECK-SAME: tensor<10x7xf32, #layout.tensor_layout<(10,7)/((3:7, 4_PE), (7:1))>>
// CHECK-SAME: tensor<10x7xf32, #layout.tensor_layout<((3:7, 4_PE), (7:1))>>
// CHECK-SAME: tensor<2x3xf32, #layout.tensor_layout<(2:3, 3:1)>>
// CHECK-SAME: tensor<12x8xbf16, #layout.tensor_layout<((2_PE:2, 6:4), (2_PE:1, 4:1))>>
// CHECK-SAME: tensor<1x800x100xi16, #layout.tensor_layout<(1,800,100)/((), (8:96, 8_L1B, 1, 2_Time:25, 2:48, 16:1), (25_Time:1, 4_PE))>>
// CHECK-SAME: tensor<16x256xf32, #layout.tensor_layout<((16:1), (8_MAB:2, 8_L1B, 2_MAB:1, 4_PE, 2_W); B@[8_L2B:1, X])>>
// CHECK-SAME: tensor<?x8xf32, #layout.tensor_layout<((4_PE, 3:8), (8:1))>>
func.func private @tensor_layouts(
    tensor<12x8xf32, #layout.tensor_layout<((4_PE, 3:8), (8:1))>>,
    tensor<10x7xf32, #layout.tensor_layout<(10,7)/((3:7, 4_PE), (7:1))>>,
    tensor<10x7xf32, #layout.tensor_layout< / ( (3:7,4_PE:1),(7_Addr:1)) >>,
    tensor<2x3xf32, #layout.tensor_layout<(2:3, 3:1)>>,
    tensor<12x8xbf16, #layout<tensor_layout<(12,8)/((2_PE:2, 6:4), (2_PE:1, 4:1))>>>,
    tensor<1x800x100xi16, #layout.tensor_layout<(1,800,100)/((), (8:96, 8_L1B, 1:1, 2_Time:25, 2:48, 16:1), (25_Time:1, 4_PE))>>,
    tensor<16x256xf32, #layout.tensor_layout<((16:1), (8_MAB:2, 8_L1B:1, 2_MAB:1, 4_PE:1, 2_W:1); B@[8_L2B:1, X])>>,
    tensor<?x8xf32, #layout.tensor_layout<((4_PE, 3:8), (8:1))>>)

#board = #layout.tensor_layout<((16_L2B, 8_L1B, 8:8), (16_MAB, 8:1, 4_PE))>

// CHECK-LABEL: func.func private @board
// CHECK-SAME: memref<1024x512xf32, #layout.tensor_layout<((16_L2B, 8_L1B, 8:8), (16_MAB, 8:1, 4_PE))>, #layout.memory_space<vmem>>
// CHECK-SAME: memref<1024x512xf32, #layout.pending<#layout.tensor_layout<((16_L2B, 8_L1B, 8:8), (16_MAB, 8:1, 4_PE))>>>
// CHECK-SAME: memref<?x3xvector<4xf32>, #layout.tensor_layout<((4_PE), (3:1); B@[MAB])>>
func.func private @board(
    memref<1024x512xf32, #board, #layout.memory_space<vmem>>,
    memref<1024x512xf32, #layout.pending<#board>>,
    memref<?x3xvector<4xf32>, #layout.tensor_layout<((4_PE), (3:1); B@[MAB])>>)

// Machines print in full, also those that have a name; axes as they are.
// CHECK: #layout.machine<axes: (16_L2B, 8_L1B, 16_MAB, 4_PE), memories: (DRAM: 0 at L2B with 8589934592 bytes reading 64 writing 64, LM: 1 at PE with 16384 bytes reading 16 writing 8), word: 64, unit: cycle, registers: 1x1, links: (L2B: 64, L1B: 64, MAB: 16, PE: 8)>
func.func private @machine1() attributes {test.machine = #layout.machine<mn_core>}
// CHECK: #layout.machine<axes: (4x2_L2B, 8_L1B, 16_MAB, 4_PE),
func.func private @machine2() attributes {test.machine = #layout.machine< mn_core_2 >}
// CHECK: #layout.machine<axes: (), memories:
func.func private @machine3() attributes {test.machine = #layout.machine<tpu_like>}
// CHECK: #layout.machine<axes: (4x2_L2B, 8_L1B), memories: (a_1: 127 at L1B with 0 bytes), word: 1>
func.func private @machine4() attributes {test.machine = #layout.machine<axes:(4 x 2 _ L2B,8_L1B) ,memories : (a_1:127 at L1B with 0 bytes) , word:1>}
// CHECK: #layout.machine<axes: (), memories: (), word: 64>
func.func private @machine5() attributes {test.machine = #layout.machine<axes: (), memories: (), word: 64>}
// CHECK: #layout.axis<"PE", level = 3>
func.func private @axis() attributes {test.axis = #layout.axis<"PE", level = 3>}

// CHECK-LABEL: module @machine attributes {layout.machine = #layout.machine<axes: (4_PE), memories: (LM: 1 at PE with 16384 bytes), word: 64>}
module @machine attributes {layout.machine = #layout.machine<axes: (4_PE), memories: (LM: 1 at PE with 16384 bytes), word: 64>} {
  // CHECK: func.func @places
  func.func @places(%a: tensor<12x8xf32>) {
    // CHECK: layout.convert %{{.*}} : tensor<12x8xf32> to tensor<12x8xf32, #layout.tensor_layout<((4_PE, 3:8), (8:1))>>
    %0 = layout.convert %a : tensor<12x8xf32> to tensor<12x8xf32, #layout.tensor_layout<((4_PE, 3:8), (8:1))>>
    // CHECK: scf.forall
    scf.forall (%pe) in (4) {
      // CHECK: mapping = [#layout.axis<"PE", level = 0>]
    } {mapping = [#layout.axis<"PE", level = 0>]}
    return
  }
}
