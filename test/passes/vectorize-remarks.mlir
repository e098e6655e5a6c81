// Where there can be no vector code, loops over single elements do the same, and a remark says why.
// RUN: layout-opt %s --split-input-file --layout-lower-memrefs='vectorize=avx2' --verify-diagnostics -o %t
// RUN: FileCheck %s --input-file=%t
// RUN: layout-opt %s --split-input-file --layout-lower-memrefs='vectorize=avx2 form=physical' --verify-diagnostics -o %t
// RUN: FileCheck %s --input-file=%t
// RUN: layout-opt %s --split-input-file --layout-lower-memrefs | FileCheck %s
// RUN: layout-opt %s --split-input-file --layout-to-llvm='vectorize=neon' -o /dev/null

// CHECK-NOT: vector
// CHECK-LABEL: func.func @bytes(
// CHECK: scf.for
// CHECK: memref.load
// CHECK-NOT: vector
#mask = #layout.tiled<{1,0:T(32,128)(32,1)E(1)}>
func.func @bytes(%a: memref<?x256xi1, #mask>, %r: memref<?x256xi1, #mask>) {
  // expected-remark@+1 {{not vectorised: its sizes are known only at run time}}
  memref.copy %a, %r : memref<?x256xi1, #mask> to memref<?x256xi1, #mask>
  return
}

// -----

// Elements of parts of a byte, of no known size, or of several numbers.
#T = #layout.tiled<{1,0:T(8,128)}>
// CHECK-LABEL: func.func @nibbles(
// CHECK-NOT: vector
func.func @nibbles(%a: memref<16x256xi4>, %r: memref<16x256xi4, #T>) {
  // expected-remark@+1 {{not vectorised: elements must have 1, 8, 16, 32 or 64 bits, found i4}}
  memref.copy %a, %r : memref<16x256xi4> to memref<16x256xi4, #T>
  return
}

// CHECK-LABEL: func.func @indices(
// CHECK-NOT: vector
func.func @indices(%a: memref<16x256xindex>, %r: memref<16x256xindex, #T>) {
  // expected-remark@+1 {{not vectorised: elements must have 1, 8, 16, 32 or 64 bits, found index}}
  memref.copy %a, %r : memref<16x256xindex> to memref<16x256xindex, #T>
  return
}

// CHECK-LABEL: func.func @complex(
// CHECK-NOT: vector
func.func @complex(%a: memref<16x256xcomplex<f32>>, %r: memref<16x256xcomplex<f32>, #T>) {
  // expected-remark@+1 {{not vectorised: elements must have 1, 8, 16, 32 or 64 bits, found complex<f32>}}
  memref.copy %a, %r : memref<16x256xcomplex<f32>> to memref<16x256xcomplex<f32>, #T>
  return
}

// CHECK-LABEL: func.func @wide(
// CHECK-NOT: vector
func.func @wide(%a: memref<16x256xf128>, %r: memref<16x256xf128, #T>) {
  // expected-remark@+1 {{not vectorised: elements must have 1, 8, 16, 32 or 64 bits, found f128}}
  memref.copy %a, %r : memref<16x256xf128> to memref<16x256xf128, #T>
  return
}

// -----

// Operations that have no vector form.
#T = #layout.tiled<{1,0:T(8,128)}>
#map = affine_map<(i, j) -> (i, j)>
func.func private @helper(f32) -> f32

// CHECK-LABEL: func.func @call(
// CHECK-NOT: vector
func.func @call(%a: memref<16x256xf32, #T>) {
  // expected-remark@+1 {{not vectorised: 'func.call' has no vector form that cannot trap}}
  linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} outs(%a : memref<16x256xf32, #T>) {
  ^bb0(%x: f32):
    %y = func.call @helper(%x) : (f32) -> f32
    linalg.yield %y : f32
  }
  return
}

// CHECK-LABEL: func.func @inside(
// CHECK-NOT: vector
func.func @inside(%a: memref<16x256xi64>, %r: memref<16x256xi64, #T>) {
  // expected-remark@+1 {{not vectorised: values must have 1, 8, 16, 32 or 64 bits, found i128}}
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<16x256xi64>) outs(%r : memref<16x256xi64, #T>) {
  ^bb0(%x: i64, %o: i64):
    %w = arith.extsi %x : i64 to i128
    %p = arith.muli %w, %w : i128
    %c = arith.constant 64 : i128
    %h = arith.shrsi %p, %c : i128
    %y = arith.trunci %h : i128 to i64
    linalg.yield %y : i64
  }
  return
}

// -----

// CHECK-LABEL: func.func @one(
// CHECK-NOT: vector
func.func @one(%a: memref<f32>, %r: memref<1x1xf32, #layout.tiled<{1,0:T(8,128)}>>) {
  // expected-remark@+1 {{not vectorised: no operand has contiguous elements}}
  linalg.generic {indexing_maps = [affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<f32>) outs(%r : memref<1x1xf32, #layout.tiled<{1,0:T(8,128)}>>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  return
}

// -----

// CHECK-LABEL: func.func @two_sums(
// CHECK-NOT: vector
func.func @two_sums(%a: memref<16x256xf32, #layout.tiled<{1,0:T(8,128)}>>, %s: memref<16xf32>, %m: memref<16xf32>) {
  // expected-remark@+1 {{not vectorised: it reduces to several outputs}}
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<16x256xf32, #layout.tiled<{1,0:T(8,128)}>>) outs(%s, %m : memref<16xf32>, memref<16xf32>) {
  ^bb0(%x: f32, %p: f32, %q: f32):
    %y = arith.addf %x, %p : f32
    %z = arith.maximumf %x, %q : f32
    linalg.yield %y, %z : f32, f32
  }
  return
}

// -----

// Rows of 6 and of 4: no loops have both as their steps.
// CHECK-LABEL: func.func @cuts(
// CHECK-NOT: vector
func.func @cuts(%a: memref<24x24xf32, #layout.tiled<{1,0:T(6,6)}>>, %r: memref<24x24xf32, #layout.tiled<{1,0:T(4,4)}>>) {
  // expected-remark@+1 {{not vectorised: the tile boundaries of its operands do not align}}
  memref.copy %a, %r : memref<24x24xf32, #layout.tiled<{1,0:T(6,6)}>> to memref<24x24xf32, #layout.tiled<{1,0:T(4,4)}>>
  return
}

// -----

// Where each place of a machine holds a part, each has loops of its own.
module attributes {layout.machine = #layout.machine<axes: (4_PE), memories: (), word: 64>} {
  // CHECK-LABEL: func.func @places(
  // CHECK-NOT: vector
  func.func @places(%a: memref<16x64xf32>, %r: memref<16x64xf32, #layout.tensor_layout<((4_PE, 4:64), (64:1))>>) {
    // expected-remark@+1 {{not vectorised: it runs a loop nest of its own on each place of the machine}}
    memref.copy %a, %r : memref<16x64xf32> to memref<16x64xf32, #layout.tensor_layout<((4_PE, 4:64), (64:1))>>
    return
  }
}

// -----

// A vector that holds one element is none.
// RUN: layout-opt %s --split-input-file --layout-lower-memrefs='vectorize=neon vector-bits=64' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NARROW
// NARROW: remark: not vectorised: a vector of 64 bits holds one element
// CHECK-LABEL: func.func @narrow(
func.func @narrow(%a: memref<16x16xf64>, %r: memref<16x16xf64, #layout.tiled<{0,1}>>) {
  memref.copy %a, %r : memref<16x16xf64> to memref<16x16xf64, #layout.tiled<{0,1}>>
  return
}

// -----

// Sums in the order in which they are written down want lanes along the result.
// CHECK-LABEL: func.func @total(
// CHECK-NOT: vector
func.func @total(%a: memref<16x256xf32, #layout.tiled<{1,0:T(8,128)}>>, %r: memref<f32>) {
  // expected-remark@+1 {{not vectorised: no operand has contiguous elements in a dimension that can be vectorised}}
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%a : memref<16x256xf32, #layout.tiled<{1,0:T(8,128)}>>) outs(%r : memref<f32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %o : f32
    linalg.yield %y : f32
  }
  return
}
