// Upstream's mlir-opt with the dialect and the passes as a plugin.
// RUN: export LAYOUT_VERIFY=0
// RUN: mlir-opt --mlir-print-local-scope %s --load-dialect-plugin=%{plugin} | FileCheck %s
// RUN: mlir-opt %s --load-dialect-plugin=%{plugin} --load-pass-plugin=%{plugin} \
// RUN:   --pass-pipeline='builtin.module(layout-lower-memrefs{form=physical},layout-to-memref{form=strided},canonicalize)' \
// RUN:   --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=PASSES
// RUN: not mlir-opt %s --split-input-file --load-dialect-plugin=%{plugin} --allow-unregistered-dialect \
// RUN:   --pass-pipeline='builtin.module(layout-lower-memrefs)' 2>&1 | FileCheck %s --check-prefix=NO-PASS

// CHECK-LABEL: func.func private @declared
// CHECK-SAME: tensor<3x5xf32, #layout.tiled<{1,0:T(2,2)}>>
// PASSES: layout-lower-memrefs{{{.*}} form=physical {{.*}} vectorize=none}
// PASSES: layout-lower-memrefs{{{.*}} form=strided {{.*}} vectorize=none}
// NO-PASS: 'layout-lower-memrefs' does not refer to a registered pass
func.func private @declared(tensor<3x5xf32, #layout.tiled< {1,0:T(2,2)} >>)
