// The options of lowering: pass and pipelines take the same, print all of them, read what they print, and say what is right
// where a value is wrong.

// RUN: options='vectorize=avx512 vector-bits=256 vector-registers=16 reassociate contract cache-bytes=8589934592 parallel=forall'
// RUN: layout-opt %s --layout-lower-memrefs="$options" --dump-pass-pipeline 2>&1 | FileCheck %s
// RUN: layout-opt %s --layout-to-memref="$options" --dump-pass-pipeline 2>&1 | FileCheck %s
// RUN: layout-opt %s --layout-distribute="$options" --dump-pass-pipeline 2>&1 | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm="$options" --dump-pass-pipeline 2>&1 | FileCheck %s
// RUN: layout-opt %s --layout-lower-memrefs="$options" --dump-pass-pipeline 2>&1 | sed -n 's/^ *\(layout-lower.*\)$/\1/p' > %t
// RUN: layout-opt %s --pass-pipeline="builtin.module($(head -n 1 %t))" --dump-pass-pipeline 2>&1 | FileCheck %s
// CHECK: layout-lower-memrefs{cache-bytes=8589934592 contract=true form=strided parallel=forall reassociate=true vector-bits=256 vector-registers=16 vectorize=avx512}

// RUN: layout-opt %s --layout-to-memref=parallel=parallel --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=DEFAULT
// DEFAULT: layout-lower-memrefs{cache-bytes=0 contract=false form=strided parallel=parallel reassociate=false vector-bits=0 vector-registers=0 vectorize=none}

// RUN: not layout-opt %s --layout-to-memref='vectorize=sse' 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not layout-opt %s --pass-pipeline='builtin.module(layout-lower-memrefs{form=physical vectorize={sse}})' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TARGET
// TARGET: error: vectorize is one of none, avx2, avx512, neon

// RUN: not layout-opt %s --layout-to-llvm='parallel=loops' 2>&1 | FileCheck %s --check-prefix=PARALLEL
// PARALLEL: error: parallel is one of none, parallel, forall

// RUN: not layout-opt %s --layout-to-memref='vectorize=avx2 vector-bits=100' 2>&1 | FileCheck %s --check-prefix=BITS
// RUN: not layout-opt %s --pass-pipeline='builtin.module(layout-to-llvm{vector-bits=100 vectorize=neon})' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BITS
// BITS: error: vector-bits is 100, which is neither a power of two from 64 to 2048 nor 0, for what vectorize has

// RUN: not layout-opt %s --layout-lower-memrefs='vectorize=avx2 vector-registers=4' 2>&1 | FileCheck %s --check-prefix=REGISTERS
// REGISTERS: error: vector-registers is 4, which is neither from 8 to 64 nor 0, for what vectorize has

// RUN: not layout-opt %s --layout-distribute='vector-bits=256' 2>&1 | FileCheck %s --check-prefix=MACHINE
// MACHINE: error: vector-bits is of a machine, and vectorize names none: avx2, avx512, neon

// RUN: not layout-opt %s --layout-to-memref='vector-bits=many' 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER-NOT: invalid
// NUMBER: error: vector-bits is a number

// RUN: not layout-opt %s --layout-to-memref='contract=maybe' 2>&1 | FileCheck %s --check-prefix=BOOL
// BOOL: error: contract is true or false

// RUN: not layout-opt %s --pass-pipeline='builtin.module(layout-indexing-analysis{repotr})' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: unknown option `repotr`; did you mean `report`?

module {}
