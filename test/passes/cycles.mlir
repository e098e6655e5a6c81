// Values that are computed from themselves, in graph regions: each pass says where one is, and none follows it for ever.
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

// Through a region: what is inside uses what is around it.
#t = #layout.tiled<{1,0:T(2,2)}>
// expected-error@+1 {{'scf.execute_region' op is computed from its own result}}
%0 = scf.execute_region -> tensor<3x5xf32, #t> {
  %1 = math.exp %0 : tensor<3x5xf32, #t>
  scf.yield %1 : tensor<3x5xf32, #t>
}

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
