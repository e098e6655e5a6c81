// Values that are computed from themselves, in graph regions and in blocks that nothing branches to: each pass says where one is,
// and none follows it for ever.
// RUN: layout-opt %s --split-input-file --allow-unregistered-dialect --layout-remove-conversions --verify-diagnostics
// RUN: layout-opt %s --split-input-file --allow-unregistered-dialect --layout-to-llvm --verify-diagnostics
// RUN: for pass in $(grep -oE '(Pass|Pipeline)<"layout-[a-z-]+' %S/../../passes/Passes.td | cut -d '"' -f 2); do \
// RUN:   case $pass in layout-deallocate|layout-verify) continue ;; esac; \
// RUN:   timeout 60 layout-opt %s --split-input-file --allow-unregistered-dialect --$pass --verify-diagnostics -o %t.mlir || exit 1; \
// RUN: done

#t = #layout.tiled<{1,0:T(2,2)}>
// expected-error@+1 {{'layout.convert' op is computed from its own result: expected definitions that can come before their uses}}
%0 = layout.convert %1 : tensor<3x5xf32, #t> to tensor<3x5xf32>
// expected-note@+1 {{through this 'layout.convert' op}}
%1 = layout.convert %0 : tensor<3x5xf32> to tensor<3x5xf32, #t>

// -----

#t = #layout.tiled<{1,0:T(2,2)}>
// expected-error@+1 {{'layout.convert' op is computed from its own result}}
%0 = layout.convert %0 : tensor<3x5xf32, #t> to tensor<3x5xf32, #t>

// -----

// Tensors: elementwise, structured, slices, reshapes, casts.
#t = #layout.tiled<{1,0:T(2,2)}>
// expected-error@+1 {{'arith.addf' op is computed from its own result}}
%0 = arith.addf %4, %4 : tensor<4x6xf32, #t>
// The others, up to four of them.
// expected-note@+1 {{through this 'tensor.cast' op}}
%4 = tensor.cast %3 : tensor<?x6xf32, #t> to tensor<4x6xf32, #t>
// expected-note@+1 {{through this 'tensor.extract_slice' op}}
%3 = tensor.extract_slice %2[0, 0] [%n, 6] [1, 1] : tensor<8x6xf32, #t> to tensor<?x6xf32, #t>
// expected-note@+1 {{through this 'tensor.insert_slice' op}}
%2 = tensor.insert_slice %1 into %e[0, 0] [4, 6] [1, 1] : tensor<4x6xf32, #t> into tensor<8x6xf32, #t>
// expected-note@+1 {{through this 'linalg.copy' op}}
%1 = linalg.copy ins(%0 : tensor<4x6xf32, #t>) outs(%f : tensor<4x6xf32, #t>) -> tensor<4x6xf32, #t>
%n = arith.constant 4 : index
%e = tensor.empty() : tensor<8x6xf32, #t>
%f = tensor.empty() : tensor<4x6xf32, #t>

// -----

// A block that nothing branches to.
#t = #layout.tiled<{1,0:T(2,2)}>
func.func @unreachable(%x: tensor<3x5xf32, #t>) -> tensor<3x5xf32, #t> {
  return %x : tensor<3x5xf32, #t>
^a:
  // expected-error@+1 {{'layout.convert' op is computed from its own result}}
  %0 = layout.convert %1 : tensor<3x5xf32, #t> to tensor<3x5xf32>
  // expected-note@+1 {{through this 'layout.convert' op}}
  %1 = layout.convert %0 : tensor<3x5xf32> to tensor<3x5xf32, #t>
  cf.br ^a
}

// -----

// Two such blocks, of one value each.
#t = #layout.tiled<{1,0:T(2,2)}>
func.func @two_blocks(%x: tensor<3x5xf32, #t>) -> tensor<3x5xf32, #t> {
  return %x : tensor<3x5xf32, #t>
^a:
  // expected-error@+1 {{'math.exp' op is computed from its own result}}
  %0 = math.exp %1 : tensor<3x5xf32, #t>
  cf.br ^b
^b:
  // expected-note@+1 {{through this 'math.exp' op}}
  %1 = math.exp %0 : tensor<3x5xf32, #t>
  cf.br ^a
}

// -----

// Memrefs: views, and indices.
#t = #layout.tiled<{1,0:T(2,2)}>
func.func @memrefs() {
  return
^a:
  // expected-error@+1 {{'memref.cast' op is computed from its own result}}
  %0 = memref.cast %1 : memref<?x5xf32, #layout.tiled<{1,0:T(2,2)}>> to memref<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>
  // expected-note@+1 {{through this 'memref.cast' op}}
  %1 = memref.cast %0 : memref<3x5xf32, #layout.tiled<{1,0:T(2,2)}>> to memref<?x5xf32, #layout.tiled<{1,0:T(2,2)}>>
  %c = arith.constant 0 : index
  %v = memref.load %0[%c, %c] : memref<3x5xf32, #t>
  cf.br ^a
}

// -----

#t = #layout.tiled<{1,0:T(2,2)}>
func.func @indices(%m: memref<3x5xf32, #t>) {
  return
^a:
  // expected-error@+1 {{'arith.addi' op is computed from its own result}}
  %i = arith.addi %j, %j : index
  // expected-note@+1 {{through this 'affine.apply' op}}
  %j = affine.apply affine_map<(d) -> (d floordiv 2)>(%i)
  %v = memref.load %m[%i, %j] : memref<3x5xf32, #t>
  cf.br ^a
}

// -----

// Through a region: what is inside uses what is around it.
#t = #layout.tiled<{1,0:T(2,2)}>
// expected-error@+1 {{'test.graph' op is computed from its own result}}
%0 = "test.graph"() ({
  %1 = layout.convert %0 : tensor<3x5xf32, #t> to tensor<3x5xf32>
  "test.yield"(%1) : (tensor<3x5xf32>) -> ()
}) : () -> tensor<3x5xf32, #t>

// -----

// In the region of an operation that is not known.
#t = #layout.tiled<{1,0:T(2,2)}>
func.func @unregistered() {
  "test.graph"() ({
    // expected-error@+1 {{'layout.convert' op is computed from its own result}}
    %0 = layout.convert %1 : tensor<3x5xf32, #t> to tensor<3x5xf32>
    // expected-note@+1 {{through this 'layout.convert' op}}
    %1 = layout.convert %0 : tensor<3x5xf32> to tensor<3x5xf32, #t>
    "test.yield"() : () -> ()
  }) : () -> ()
  return
}
