// Input of any kind is an error with a place, never a crash.
// RUN: head -c 10000000 /dev/zero | tr '\0' '[' > %t
// RUN: not layout-opt %t 2>&1 | FileCheck %s --check-prefix=NESTED
// RUN: (echo '#m = affine_map<(d0) -> ('; head -c 10000000 /dev/zero | tr '\0' '-') > %t
// RUN: not layout-opt %t 2>&1 | FileCheck %s --check-prefix=SIGNS
// RUN: (echo 'func.func private @f(tensor<3x5xf32, #layout.tiled<'; head -c 10000000 /dev/zero | tr '\0' '(') > %t
// RUN: not layout-opt %t 2>&1 | FileCheck %s --check-prefix=LAYOUT
// RUN: (head -c 9000 /dev/zero | tr '\0' '('; head -c 9000 /dev/zero | tr '\0' ')') > %t
// RUN: not layout-opt < %t 2>&1 | FileCheck %s --check-prefix=UPSTREAM
// RUN: (printf 'module attributes {a.b = '; head -c 9000 /dev/zero | tr '\0' '['; head -c 9000 /dev/zero | tr '\0' ']'; \
// RUN:   echo '} {}') > %t
// RUN: layout-opt %t --allow-unregistered-dialect | FileCheck %s --check-prefix=DEEP
// RUN: printf 'func.func private @f(tensor<3x5xf32, #layout.tiled<{1,0:\377}>>)' > %t
// RUN: not layout-opt %t 2>&1 | FileCheck %s --check-prefix=BYTES
// RUN: printf '\377\375' > %t
// RUN: not layout-opt %t 2>&1 | FileCheck %s --check-prefix=NO-TEXT
// RUN: echo 'module {}' | gzip > %t
// RUN: not layout-opt %t 2>&1 | FileCheck %s --check-prefix=GZIP
// RUN: tar -cf %t -C %S bad-input.mlir
// RUN: not layout-opt < %t 2>&1 | FileCheck %s --check-prefix=TAR
// RUN: printf 'PK\003\004\024' > %t
// RUN: not layout-opt %t --split-input-file 2>&1 | FileCheck %s --check-prefix=ZIP
// RUN: printf '\377\376m\0' > %t
// RUN: not layout-opt %t 2>&1 | FileCheck %s --check-prefix=UTF-16
// RUN: printf 'PK\005\006\0\0' > %t
// RUN: not layout-opt %t 2>&1 | FileCheck %s --check-prefix=EMPTY-ZIP
// RUN: printf '7z\274\257\047\034' > %t
// RUN: not layout-opt %t 2>&1 | FileCheck %s --check-prefix=SEVEN-ZIP
// RUN: printf '!<arch>\n' > %t
// RUN: not layout-opt %t 2>&1 | FileCheck %s --check-prefix=AR
// RUN: printf 'x\136\377' > %t
// RUN: not layout-opt %t 2>&1 | FileCheck %s --check-prefix=ZLIB
// RUN: echo 'x^2' | not layout-opt 2>&1 | FileCheck %s --check-prefix=LETTERS
// RUN: printf '\357\273\277module {}' | not layout-opt 2>&1 | FileCheck %s --check-prefix=BYTE-ORDER
// RUN: for text in BZh 'LZIP // m'; do \
// RUN:   echo "$text" | not layout-opt 2>&1 | FileCheck %s --check-prefix=LETTERS || exit 1; done
// RUN: printf '%%257sustar' // | layout-opt | FileCheck %s --check-prefix=COMMENT
// RUN: printf 'LZIP\001\014' > %t
// RUN: not layout-opt %t 2>&1 | FileCheck %s --check-prefix=LZIP
// RUN: not layout-opt '' 2>&1 | FileCheck %s --check-prefix=NO-INPUT
// RUN: not layout-opt --split-input-file ' ' 2>&1 | FileCheck %s --check-prefix=NO-INPUT
// RUN: not layout-opt %s -o '' 2>&1 | FileCheck %s --check-prefix=NO-OUTPUT
// RUN: not layout-opt %s -o ' ' 2>&1 | FileCheck %s --check-prefix=NO-OUTPUT
// RUN: not layout-opt %s --o=' ' 2>&1 | FileCheck %s --check-prefix=NO-OUTPUT
// RUN: not layout-opt %s --pass-pipeline ' ' 2>&1 | FileCheck %s --check-prefix=NO-PIPELINE
// RUN: not layout-opt %s -pass-pipeline= 2>&1 | FileCheck %s --check-prefix=NO-PIPELINE
// RUN: not layout-opt %s --layout-to-memref= 2>&1 | FileCheck %s --check-prefix=NO-VALUE

// NESTED: .tmp:1:10001: error: nested more than 10000 levels deep
// SIGNS: .tmp:2:9999: error: nested more than 10000 levels deep
// LAYOUT: .tmp:2:9998: error: nested more than 10000 levels deep
// UPSTREAM: <stdin>:1:1: error: expected operation name in quotes
// DEEP: module attributes {a.b = {{\[+\]+}}}
// BYTES: .tmp:1:57: error: expected UTF-8 text
// NO-TEXT: .tmp:1:1: error:
// GZIP: .tmp: error: expected text or bytecode of MLIR, found gzip; `gzip -d` decompresses it
// TAR: <stdin>: error: expected text or bytecode of MLIR, found a tar archive; `tar -xO` prints the files in it
// ZIP: .tmp: error: expected text or bytecode of MLIR, found a zip archive; `unzip -p` prints the files in it
// UTF-16: .tmp: error: expected text or bytecode of MLIR, found UTF-16; `iconv -f UTF-16 -t UTF-8` converts it
// EMPTY-ZIP: .tmp: error: expected text or bytecode of MLIR, found a zip archive without files
// SEVEN-ZIP: .tmp: error: expected text or bytecode of MLIR, found a 7z archive; `7z e -so` prints the files in it
// AR: .tmp: error: expected text or bytecode of MLIR, found an archive of ar; `ar p` prints the files in it
// ZLIB: .tmp: error: expected text or bytecode of MLIR, found zlib; `pigz -d` decompresses it
// LETTERS: <stdin>:1:1: error:
// COMMENT: module {
// LZIP: .tmp: error: expected text or bytecode of MLIR, found lzip; `lzip -d` decompresses it
// NO-PIPELINE: option `--pass-pipeline` has an empty value: expected `--pass-pipeline=VALUE`
// NO-VALUE: option `--layout-to-memref` has an empty value: expected `--layout-to-memref=VALUE`, or no `=`
// BYTE-ORDER: <stdin>:1:1: error: expected text of MLIR, found a byte order mark of UTF-8; `tail -c +4` prints what comes after it
// NO-INPUT: the input file must have a name, found none; - is standard input
// NO-OUTPUT: the output file must have a name, found none; - is standard output
