// RUN: layout-opt --help | FileCheck %s
// RUN: layout-opt --show-dialects | FileCheck %s --check-prefix=DIALECTS
// RUN: layout-opt --version | FileCheck %s --check-prefix=VERSION
// RUN: not layout-opt %s --layout-lower-memrefs=form=tiled 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not layout-opt %s --pass-pipeline='builtin.module(layout-to-memref{form=tiled})' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FORM
// RUN: not layout-opt %S/no-such-file.mlir 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: layout-opt %s -o %t && FileCheck %s --check-prefix=MODULE < %t

// Our pipelines and passes come first, together, and again among MLIR's, which are sorted by name, with their options.
// CHECK: Available Dialects: {{.*}} affine, {{.*}} layout, {{.*}} vector,
// CHECK: Pipelines of this project:
// CHECK-NEXT: --layout-distribute {{.*}}Lower
// CHECK-NEXT: --layout-to-llvm
// CHECK-NEXT: --layout-to-memref
// CHECK: Passes of this project:
// CHECK-NEXT: --layout-annotate-loops {{.*}}Tell
// CHECK-NEXT: --layout-approximate-math {{.*}}Compute
// CHECK-NEXT: --layout-call-libm {{.*}}Call
// CHECK-NEXT: --layout-call-mpi {{.*}}Call
// CHECK-NEXT: --layout-check-witness {{.*}}Compare the two programs of a witness
// CHECK-NEXT: --layout-convert-to-llvm {{.*}}Convert
// CHECK-NEXT: --layout-deallocate {{.*}}Free
// CHECK: Examples:
// CHECK: Exit status:
// CHECK: --canonicalize
// CHECK: --layout-lower-memrefs
// CHECK: --cache-bytes=<ulong>
// CHECK: --contract
// CHECK: --form=<value>
// CHECK-NEXT: =strided
// CHECK-NEXT: =physical
// CHECK: --parallel=<value>
// CHECK: --vectorize=<value>
// CHECK-NEXT: =none
// CHECK-NEXT: =avx2
// CHECK-NEXT: =avx512
// CHECK-NEXT: =neon
// CHECK: --layout-distribute
// CHECK: --cache-bytes=<ulong>
// CHECK: --form=<value>
// CHECK: --vectorize=<value>
// CHECK: --layout-to-llvm
// CHECK: --cache-bytes=<ulong>
// CHECK: --form=<value>
// CHECK: --vectorize=<value>
// CHECK: --layout-to-memref
// CHECK: --cache-bytes=<ulong>
// CHECK: --form=<value>
// CHECK: --vectorize=<value>

// DIALECTS: layout
// VERSION: layout-opt {{.*}}MLIR of LLVM version
// FORM-NOT: Cannot find
// FORM: error: form must be one of strided, physical
// MISSING: no-such-file.mlir
// MODULE: module
module {}
