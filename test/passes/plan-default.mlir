// layout-plan: where the machine's arrays have tiles, a type without a layout means the default one. So what a plan costs does not
// depend on whether types say it.
// RUN: layout-opt %s --mlir-print-local-scope --layout-plan=machine=tpu_v5e | FileCheck %s
// RUN: layout-opt %s --mlir-print-local-scope --layout-plan="machine=tpu_v5e entry=default" | FileCheck %s --check-prefix=DEFAULT
// RUN: for entry in free default fixed; do layout-opt %s --layout-plan="machine=tpu_v5e report entry=$entry" -o /dev/null; done 2>&1 \
// RUN:   | grep -o 'costs .* relayouts' | FileCheck %s --check-prefix=COSTS

// COSTS: costs {{[0-9]+}} cycles
// COSTS: costs [[COST:[0-9]+]] cycles and every plan at least {{[0-9]+}}: [[ARRAYS:[0-9]+]] arrays, 1 relayouts
// COSTS: costs [[COST]] cycles and every plan at least {{[0-9]+}}: [[ARRAYS]] arrays, 1 relayouts

// What is in the default layout says nothing: there is no conversion to what has the same bytes.
// CHECK-LABEL: func.func @exp(
// CHECK-SAME: %[[X:.*]]: tensor<64x256xf32>) -> tensor<64x256xf32>
// CHECK-NOT: layout
// CHECK: linalg.exp ins(%[[X]] : tensor<64x256xf32>)
// CHECK-NOT: layout
// CHECK: return
// DEFAULT-LABEL: func.func @exp(
// DEFAULT-SAME: tensor<64x256xf32, #layout.tiled<{1,0:T(8,128)}>>
// DEFAULT-NOT: layout.convert
// DEFAULT: return
func.func @exp(%x: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %e = tensor.empty() : tensor<64x256xf32>
  %y = linalg.exp ins(%x : tensor<64x256xf32>) outs(%e : tensor<64x256xf32>) -> tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}

// A type without tiles says an order at the entry of the program, and nothing inside.
#C = #layout.tiled<{0,1}>
// CHECK-LABEL: func.func @order(
// CHECK-SAME: tensor<1024x256xf32, #layout.tiled<{0,1}>>) -> tensor<1024x256xf32>
// CHECK: %[[X:.*]] = layout.convert {{.*}} to tensor<1024x256xf32, #layout.tiled<{0,1:T(8,128)}>>
// CHECK: math.exp %[[X]]
// CHECK: layout.convert {{.*}} to tensor<1024x256xf32>
// DEFAULT-LABEL: func.func @order(
// DEFAULT-SAME: tensor<1024x256xf32, #layout.tiled<{0,1:T(8,128)}>>) -> tensor<1024x256xf32, #layout.tiled<{1,0:T(8,128)}>>
func.func @order(%x: tensor<1024x256xf32, #C>) -> tensor<1024x256xf32> {
  %a = math.exp %x : tensor<1024x256xf32, #C>
  %b = layout.convert %a : tensor<1024x256xf32, #C> to tensor<1024x256xf32>
  return %b : tensor<1024x256xf32>
}
