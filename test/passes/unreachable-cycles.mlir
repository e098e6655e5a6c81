// Values that are computed from themselves in blocks that nothing branches to, and through operations of dialects that are not
// loaded: no pass follows them for ever, and code that is reached is lowered as without them.
// RUN: layout-opt %s --allow-unregistered-dialect --layout-remove-conversions | FileCheck %s
// RUN: for pass in $(grep -oE '(Pass|Pipeline)<"layout-[a-z-]+' %S/../../passes/Passes.td | cut -d '"' -f 2); do \
// RUN:   case $pass in layout-deallocate|layout-verify) continue ;; esac; \
// RUN:   timeout 60 layout-opt %s --allow-unregistered-dialect --$pass -o %t.mlir; test $? -le 1 || exit 1; \
// RUN: done

#t = #layout.tiled<{1,0:T(2,2)}>

// A block that nothing branches to.
// CHECK-LABEL: func.func @unreachable(
// CHECK-NEXT: return
// CHECK-NEXT: {{^ +[}]$}}
func.func @unreachable(%x: tensor<3x5xf32, #t>) -> tensor<3x5xf32, #t> {
  return %x : tensor<3x5xf32, #t>
^a:
  %0 = layout.convert %1 : tensor<3x5xf32, #t> to tensor<3x5xf32>
  %1 = layout.convert %0 : tensor<3x5xf32> to tensor<3x5xf32, #t>
  cf.br ^a
}

// Two such blocks, of one value each.
// CHECK-LABEL: func.func @two_blocks(
// CHECK-NEXT: return
// CHECK-NEXT: {{^ +[}]$}}
func.func @two_blocks(%x: tensor<3x5xf32, #t>) -> tensor<3x5xf32, #t> {
  return %x : tensor<3x5xf32, #t>
^a:
  %0 = math.exp %1 : tensor<3x5xf32, #t>
  cf.br ^b
^b:
  %1 = math.exp %0 : tensor<3x5xf32, #t>
  cf.br ^a
}

// Memrefs: views, and indices.
// CHECK-LABEL: func.func @memrefs(
// CHECK-NEXT: return
// CHECK-NEXT: {{^ +[}]$}}
func.func @memrefs() {
  return
^a:
  %0 = memref.cast %1 : memref<?x5xf32, #layout.tiled<{1,0:T(2,2)}>> to memref<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>
  %1 = memref.cast %0 : memref<3x5xf32, #layout.tiled<{1,0:T(2,2)}>> to memref<?x5xf32, #layout.tiled<{1,0:T(2,2)}>>
  %c = arith.constant 0 : index
  %v = memref.load %0[%c, %c] : memref<3x5xf32, #t>
  cf.br ^a
}

func.func @indices(%m: memref<3x5xf32, #t>) {
  return
^a:
  %i = arith.addi %j, %j : index
  %j = affine.apply affine_map<(d) -> (d floordiv 2)>(%i)
  %v = memref.load %m[%i, %j] : memref<3x5xf32, #t>
  cf.br ^a
}

// A register of a circuit, and a graph.
// CHECK-LABEL: func.func @indices(
// CHECK: %[[A:.*]] = "circuit.register"(%[[B:.*]]) : (i32) -> i32
// CHECK: %[[B]] = arith.addi %[[A]], %[[A]] : i32
%a = "circuit.register"(%b) : (i32) -> i32
%b = arith.addi %a, %a : i32
func.func @graph() {
  "test.graph"() ({
    %0 = "test.node"(%1) : (i32) -> i32
    %1 = "test.node"(%0) : (i32) -> i32
    "test.yield"() : () -> ()
  }) : () -> ()
  return
}
