// Functions that are models stay as they are, and models may be made of models.
// RUN: layout-opt %s --allow-unregistered-dialect --mlir-print-local-scope --layout-plan="machine=tpu_v5e entry=free report" 2> %t.plan \
// RUN:   | FileCheck %s --check-prefixes=SAME,PLAN
// RUN: FileCheck %s --check-prefix=COST < %t.plan
// RUN: layout-opt %s --allow-unregistered-dialect --mlir-print-local-scope --layout-remove-conversions=report 2> %t.left \
// RUN:   | FileCheck %s --check-prefixes=SAME,REMOVE
// RUN: FileCheck %s --check-prefix=LEFT < %t.left
// RUN: layout-opt %s --allow-unregistered-dialect --layout-indexing-analysis=report -o /dev/null 2>&1 | FileCheck %s --check-prefix=MAPS
// RUN: layout-opt %s --allow-unregistered-dialect --layout-expand-operations | FileCheck %s --check-prefix=EXPAND
// RUN: layout-opt %s --allow-unregistered-dialect --layout-to-llvm | FileCheck %s --check-prefix=LLVM
// RUN: layout-opt %s --allow-unregistered-dialect -o /dev/null \
// RUN:   --layout-verify="report=%t.shown passes=layout-plan{machine=tpu_v5e},layout-remove-conversions,layout-expand-operations"
// RUN: FileCheck %s --check-prefix=SHOWN < %t.shown

#columns = #layout.tiled<{0,1:T(8,128)}>

// Three uses of 1000 cycles, by way of another model, one kernel of 500. The bodies are in no remark.
// COST-NOT: nothing is known
// COST: remark: the plan costs 3769 cycles and every plan at least 3769

// The conversion in @public is not counted.
// LEFT: remark: 1 of 2 conversions are left

// EXPAND-NOT: layout.model
// EXPAND-NOT: layout.cost
// LLVM: llvm.func @public

// SAME-LABEL: func.func @public(
// SAME-SAME: %{{.*}}: tensor<256x128xf32, #layout.tiled<{0,1:T(8,128)}>>) -> tensor<256x128xf32>
// SAME-SAME: attributes {layout.cost = 500 : i64, layout.model = "mini.public"}
// SAME-NEXT: layout.convert %{{.*}} : tensor<256x128xf32, #layout.tiled<{0,1:T(8,128)}>> to tensor<256x128xf32>
// SAME-NEXT: return
func.func @public(%x: tensor<256x128xf32, #columns>) -> tensor<256x128xf32>
    attributes {layout.model = "mini.public", layout.cost = 500 : i64} {
  %y = layout.convert %x : tensor<256x128xf32, #columns> to tensor<256x128xf32>
  return %y : tensor<256x128xf32>
}

// SAME-LABEL: func.func private @inner(
// SAME-SAME: %{{.*}}: tensor<256x128xf32>) -> tensor<256x128xf32> attributes {layout.cost = 1000 : i64, layout.model = "mini.inner"}
func.func private @inner(%x: tensor<256x128xf32>) -> tensor<256x128xf32>
    attributes {layout.model = "mini.inner", layout.cost = 1000 : i64} {
  %empty = tensor.empty() : tensor<256x128xf32>
  %y = linalg.exp ins(%x : tensor<256x128xf32>) outs(%empty : tensor<256x128xf32>) -> tensor<256x128xf32>
  return %y : tensor<256x128xf32>
}

// SAME-LABEL: func.func private @outer(
// SAME-SAME: %{{.*}}: tensor<256x128xf32>) -> tensor<256x128xf32> attributes {layout.model = "mini.outer"}
// SAME-NEXT: "mini.inner"(%{{.*}}) : (tensor<256x128xf32>) -> tensor<256x128xf32>
func.func private @outer(%x: tensor<256x128xf32>) -> tensor<256x128xf32> attributes {layout.model = "mini.outer"} {
  %y = "mini.inner"(%x) : (tensor<256x128xf32>) -> tensor<256x128xf32>
  return %y : tensor<256x128xf32>
}

// A model that is also called is copied to its calls.
// SAME-LABEL: func.func private @called(
// SAME-SAME: layout.model = "mini.called"
func.func private @called(%x: tensor<256x128xf32>) -> tensor<256x128xf32> attributes {layout.model = "mini.called"} {
  %y = "mini.outer"(%x) : (tensor<256x128xf32>) -> tensor<256x128xf32>
  return %y : tensor<256x128xf32>
}

// The plan needs no conversion, and the other pass leaves the one of what the call returns, whose type it keeps.
// PLAN-LABEL: func.func @main(
// PLAN-SAME: %{{.*}}: tensor<256x128xf32, #layout.tiled<{0,1:T(8,128)}>>)
// PLAN-COUNT-3: "mini.outer"(
// PLAN-NEXT: "mini.public"(%{{.*}}) : (tensor<256x128xf32, #layout.tiled<{0,1:T(8,128)}>>)
// PLAN-NOT: layout.model
// REMOVE-LABEL: func.func @main(
// REMOVE-NEXT: "mini.outer"(%{{.*}}) : (tensor<256x128xf32, #layout.tiled<{0,1:T(8,128)}>>) -> tensor<256x128xf32>
// REMOVE: call @called(
// REMOVE-NEXT: layout.convert

// MAPS: remark: indexing of `mini.outer`
// MAPS-NEXT: %{{.*}}"mini.outer"
// MAPS-NEXT: ^
// MAPS-NEXT: operand 0 is read: (d0, d1) -> (d0, d1)
// SHOWN: @main: proved
func.func @main(%x: tensor<256x128xf32, #columns>) -> tensor<256x128xf32> {
  %c = layout.convert %x : tensor<256x128xf32, #columns> to tensor<256x128xf32>
  %a = "mini.outer"(%c) : (tensor<256x128xf32>) -> tensor<256x128xf32>
  %b = "mini.outer"(%a) : (tensor<256x128xf32>) -> tensor<256x128xf32>
  %d = call @called(%b) : (tensor<256x128xf32>) -> tensor<256x128xf32>
  %e = layout.convert %d : tensor<256x128xf32> to tensor<256x128xf32, #columns>
  %f = "mini.public"(%e) : (tensor<256x128xf32, #columns>) -> tensor<256x128xf32>
  return %f : tensor<256x128xf32>
}
