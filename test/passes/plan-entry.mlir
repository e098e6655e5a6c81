// layout-plan: the types of public functions, as the option says; what private functions take is free.
// RUN: layout-opt %s --mlir-print-local-scope --layout-plan=machine=tpu_v5e | FileCheck %s --check-prefix=FIXED
// RUN: layout-opt %s --mlir-print-local-scope --layout-plan="machine=tpu_v5e entry=default" | FileCheck %s --check-prefix=DEFAULT
// RUN: layout-opt %s --mlir-print-local-scope --layout-plan="machine=tpu_v5e entry=free" | FileCheck %s --check-prefix=FREE
// RUN: layout-opt %s --mlir-print-local-scope --layout-plan | FileCheck %s --check-prefix=OWN

module attributes {layout.machine = #layout.machine<tpu_v5e>} {
  // FIXED: func.func @f(%{{.*}}: tensor<1024x129xf32>, %{{.*}}: tensor<129x1024xf32, #layout.tiled<{1,0:T(2,128)}>>) -> tensor<129x1024xf32>
  // DEFAULT: func.func @f(%{{.*}}: tensor<1024x129xf32, #layout.tiled<{0,1:T(8,128)}>>, %{{.*}}: tensor<129x1024xf32, #layout.tiled<{1,0:T(2,128)}>>) -> tensor<129x1024xf32, #layout.tiled<{1,0:T(8,128)}>>
  // FREE: func.func @f(%{{.*}}: tensor<1024x129xf32, #layout.tiled<{0,1:T(8,128)}>>, %{{.*}}: tensor<129x1024xf32, #layout.tiled<{1,0:T(2,128)}>>) -> tensor<129x1024xf32, #layout.tiled<{1,0:T(8,128)}>>
  // OWN: func.func @f(%{{.*}}: tensor<1024x129xf32>, %{{.*}}: tensor<129x1024xf32, #layout.tiled<{1,0:T(2,128)}>>) -> tensor<129x1024xf32>
  func.func @f(%x: tensor<1024x129xf32>, %y: tensor<129x1024xf32, #layout.tiled<{1,0:T(2,128)}>>) -> tensor<129x1024xf32> {
    %e = tensor.empty() : tensor<129x1024xf32>
    %t = linalg.transpose ins(%x : tensor<1024x129xf32>) outs(%e : tensor<129x1024xf32>) permutation = [1, 0]
    %r = linalg.add ins(%t, %y : tensor<129x1024xf32>, tensor<129x1024xf32, #layout.tiled<{1,0:T(2,128)}>>) outs(%e : tensor<129x1024xf32>) -> tensor<129x1024xf32>
    return %r : tensor<129x1024xf32>
  }
}
