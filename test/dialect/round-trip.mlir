// Everything of the dialect, as it prints: from the text, from what was printed, from the generic form, from bytecode.
// RUN: layout-opt %s | FileCheck %s
// RUN: layout-opt %s | layout-opt | FileCheck %s
// RUN: layout-opt %s --mlir-print-op-generic | layout-opt | FileCheck %s

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
