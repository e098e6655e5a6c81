// What a loop hands on to its next iteration is no cycle, and a definition behind its use neither.
// RUN: for pass in $(grep -oE '(Pass|Pipeline)<"layout-[a-z-]+' %S/../../passes/Passes.td | cut -d '"' -f 2); do \
// RUN:   timeout 60 layout-opt %s --allow-unregistered-dialect --$pass -o %t.mlir 2> %t.errors; [ $? -le 1 ] || exit 1; \
// RUN:   not grep 'computed from its own result' %t.errors || exit 1; \
// RUN: done
// RUN: layout-opt %s --allow-unregistered-dialect --layout-to-memref | FileCheck %s

// CHECK: func.func @loop
// CHECK: "test.graph"
#t = #layout.tiled<{1,0:T(2,2)}>
func.func @loop(%x: tensor<3x5xf32, #t>) -> tensor<3x5xf32, #t> {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %9 = arith.constant 9 : index
  %r = scf.for %i = %0 to %9 step %1 iter_args(%y = %x) -> tensor<3x5xf32, #t> {
    %a = layout.convert %y : tensor<3x5xf32, #t> to tensor<3x5xf32>
    %b = math.exp %a : tensor<3x5xf32>
    %c = layout.convert %b : tensor<3x5xf32> to tensor<3x5xf32, #t>
    scf.yield %c : tensor<3x5xf32, #t>
  }
  return %r : tensor<3x5xf32, #t>
}

"test.graph"() ({
  %0 = "test.use"(%1) : (i32) -> i32
  %1 = "test.define"() : () -> i32
  "test.yield"() : () -> ()
}) : () -> ()
