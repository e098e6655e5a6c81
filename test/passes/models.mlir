// Operations of other compilers, by functions that are their models.
// RUN: layout-opt %s --allow-unregistered-dialect --mlir-print-local-scope --layout-plan="machine=tpu_v5e entry=free report" 2> %t.plan \
// RUN:   | FileCheck %s --check-prefix=PLAN
// RUN: FileCheck %s --check-prefix=COST < %t.plan
// RUN: layout-opt %s --allow-unregistered-dialect --mlir-print-local-scope --layout-remove-conversions=report 2> %t.left \
// RUN:   | FileCheck %s --check-prefix=REMOVE
// RUN: FileCheck %s --check-prefix=LEFT < %t.left
// RUN: layout-opt %s --allow-unregistered-dialect --layout-indexing-analysis=report -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MAPS
// RUN: layout-opt %s --allow-unregistered-dialect --layout-expand-operations | FileCheck %s --check-prefix=EXPAND
// RUN: layout-opt %s --allow-unregistered-dialect -o /dev/null \
// RUN:   --layout-verify="report=%t.shown passes=layout-plan{machine=tpu_v5e},layout-remove-conversions,layout-expand-operations"
// RUN: FileCheck %s --check-prefix=SHOWN < %t.shown

#rows = #layout.tiled<{1,0:T(8,128)}>
#columns = #layout.tiled<{0,1:T(8,128)}>

// EXPAND-NOT: @product
func.func private @product(%x: tensor<256x512xf32>, %w: tensor<512x128xf32>) -> tensor<256x128xf32>
    attributes {layout.model = "mini.product"} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<256x128xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<256x128xf32>) -> tensor<256x128xf32>
  %y = linalg.matmul ins(%x, %w : tensor<256x512xf32>, tensor<512x128xf32>) outs(%start : tensor<256x128xf32>) -> tensor<256x128xf32>
  return %y : tensor<256x128xf32>
}

// An operation of these sizes has no model, as the types differ.
func.func private @other_sizes(%x: tensor<3x5xf32>, %w: tensor<5x4xf32>) -> tensor<3x4xf32>
    attributes {layout.model = "mini.product"} {
  %y = tensor.empty() : tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// A kernel that takes rows alone, and says its cost.
// EXPAND-NOT: @kernel
func.func private @kernel(%x: tensor<256x128xf32, #rows>) -> tensor<256x128xf32, #rows>
    attributes {layout.model = "mini.kernel", layout.cost = 900 : i64} {
  %empty = tensor.empty() : tensor<256x128xf32, #rows>
  %y = linalg.exp ins(%x : tensor<256x128xf32, #rows>) outs(%empty : tensor<256x128xf32, #rows>) -> tensor<256x128xf32, #rows>
  return %y : tensor<256x128xf32, #rows>
}

// The kernels cost 900 cycles each, and their loops nothing.
// COST: remark: the plan costs 5061 cycles and every plan at least 5061: 23 arrays, 1 relayouts of 262144 bytes
// COST: remark: an argument becomes {1,0:T(8,128)} from {0,1:T(8,128)}: 262144 bytes

// PLAN-LABEL: func.func @main(
// PLAN: %[[Y:.*]] = "mini.product"(%{{.*}}, %{{.*}}) : (tensor<256x512xf32, #layout.tiled<{0,1:T(8,128)}>>, tensor<512x128xf32
// PLAN: "mini.kernel"(%{{.*}}) : (tensor<256x128xf32, #layout.tiled<{1,0:T(8,128)}>>) -> tensor<256x128xf32, #layout.tiled<{1,0:T(8,128)}>>
// PLAN-NOT: @layout.model

// The conversion goes through the product to the kernel, which takes no other layout.
// REMOVE-LABEL: func.func @main(
// REMOVE-NOT: layout.convert
// REMOVE: "mini.product"(%{{.*}}, %{{.*}}) : (tensor<256x512xf32, #layout.tiled<{0,1:T(8,128)}>>, tensor<512x128xf32>) -> tensor<256x128xf32, #layout.tiled<{1,0:T(8,128)}>>
// REMOVE: "mini.kernel"(%{{.*}}) : (tensor<256x128xf32, #layout.tiled<{1,0:T(8,128)}>>) -> tensor<256x128xf32, #layout.tiled<{1,0:T(8,128)}>>
// LEFT: remark: 2 of 3 conversions are left: 262144 of 786432 bytes

// MAPS: remark: indexing of `mini.product`
// MAPS: operand 0 is read: (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 255], d1 in [0, 127], s0 in [0, 511]
// MAPS: operand 1 is read: (d0, d1)[s0] -> (s0, d1)
// MAPS: remark: indexing of `mini.kernel`

// EXPAND-LABEL: func.func @main(
// EXPAND: linalg.matmul
// EXPAND: linalg.exp
// EXPAND-NOT: mini.
func.func @main(%x: tensor<256x512xf32, #columns>, %w: tensor<512x128xf32>) -> tensor<256x128xf32> {
  %c = layout.convert %x : tensor<256x512xf32, #columns> to tensor<256x512xf32>
  %y = "mini.product"(%c, %w) : (tensor<256x512xf32>, tensor<512x128xf32>) -> tensor<256x128xf32>
  %z = "mini.kernel"(%y) : (tensor<256x128xf32>) -> tensor<256x128xf32>
  return %z : tensor<256x128xf32>
}

// PLAN-LABEL: func.func @forced(
// PLAN: %[[C:.*]] = layout.convert %{{.*}} {keep, planned}
// PLAN: "mini.kernel"(%[[C]])
// REMOVE-LABEL: func.func @forced(
// REMOVE: %[[C:.*]] = layout.convert %{{.*}} : tensor<256x128xf32, #layout.tiled<{0,1:T(8,128)}>> to tensor<256x128xf32, #layout.tiled<{1,0:T(8,128)}>>
// REMOVE-NEXT: "mini.kernel"(%[[C]])
// SHOWN: @forced: proved
// SHOWN: @main: proved
func.func @forced(%x: tensor<256x128xf32, #columns>) -> tensor<256x128xf32, #rows> {
  %c = layout.convert %x : tensor<256x128xf32, #columns> to tensor<256x128xf32>
  %y = "mini.kernel"(%c) : (tensor<256x128xf32>) -> tensor<256x128xf32>
  %z = layout.convert %y : tensor<256x128xf32> to tensor<256x128xf32, #rows>
  return %z : tensor<256x128xf32, #rows>
}
