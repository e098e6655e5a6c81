// What layout-export-weights refuses: the module and the files stay as they were.
// RUN: rm -rf %t && mkdir -p %t && cd %t && echo before > weights.o
// RUN: layout-opt %s --split-input-file --layout-export-weights="file=weights.o minimum=0" --verify-diagnostics
// RUN: grep before weights.o && test "$(ls -A)" = weights.o

// No folder, a folder, and an option of the wrong pipeline or without a value.
// RUN: echo 'llvm.mlir.global private constant @c(dense<[1, 2]> : tensor<2xi8>) : !llvm.array<2 x i8>' > fine.txt
// RUN: not layout-opt fine.txt --layout-to-llvm=weights=none/w.o 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: not layout-opt fine.txt --layout-to-llvm="weights={%t}" 2>&1 | FileCheck %s --check-prefix=IS
// RUN: not layout-opt fine.txt --layout-to-memref=weights=w.o 2>&1 | FileCheck %s --check-prefix=PIPELINE
// RUN: not layout-opt fine.txt --layout-to-llvm=weights= 2>&1 | FileCheck %s --check-prefix=EMPTY
// FOLDER: error: cannot write none/w.o: No such file or directory
// IS: error: cannot write {{.*}}: Is a directory
// PIPELINE: error: weights is an option of layout-to-llvm: layout-to-memref leaves constants as they are
// EMPTY: error: weights must be a text, found ``
// RUN: test ! -e w.o && test ! -e none

// A device is written, and stays one.
// RUN: layout-opt fine.txt --layout-to-llvm=weights=/dev/null && test -c /dev/null
// RUN: not layout-opt %s --layout-to-llvm="weights={a{b}.o}" 2>&1 | FileCheck %s --check-prefix=BRACES
// BRACES: error: weights must be a file without braces in its name, found `a{b}.o`

llvm.mlir.global private constant @fine(dense<[1, 2]> : tensor<2xi8>) : !llvm.array<2 x i8>
// expected-error @below {{its resource is not in the module, or has another number of bytes than its type}}
llvm.mlir.global private constant @lacking(dense_resource<lacking> : tensor<2xi8>) : !llvm.array<2 x i8>

// -----

// expected-error @below {{its resource is not in the module, or has another number of bytes than its type}}
llvm.mlir.global private constant @short(dense_resource<short> : tensor<2xf32>) : !llvm.array<2 x f32>
{-# dialect_resources: { builtin: { short: "0x0400000000010100" } } #-}

// -----

// expected-error @below {{cannot write weights.o: the target must have ELF and be one of x86_64, aarch64, arm64, found x86_64-apple-darwin}}
module attributes {llvm.target_triple = "x86_64-apple-darwin"} {
}

// -----

// expected-error @below {{cannot write weights.o: the target must have ELF and be one of x86_64, aarch64, arm64, found s390x}}
module attributes {llvm.target_triple = "s390x"} {
}
