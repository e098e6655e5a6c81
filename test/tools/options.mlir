// The options of lowering: pass and pipelines take the same, print all of them, read what they print, and say what is right
// where a value is wrong.

// RUN: export LAYOUT_VERIFY=0
// RUN: options='vectorize=avx512 vector-bits=256 vector-registers=16 reassociate contract cache-bytes=8589934592 parallel=forall'
// RUN: layout-opt %s --layout-lower-memrefs="$options" --dump-pass-pipeline 2>&1 | FileCheck %s
// RUN: layout-opt %s --layout-to-memref="$options" --dump-pass-pipeline 2>&1 | FileCheck %s
// RUN: layout-opt %s --layout-distribute="$options" --dump-pass-pipeline 2>&1 | FileCheck %s
// RUN: layout-opt %s --layout-to-llvm="$options" --dump-pass-pipeline 2>&1 | FileCheck %s
// RUN: layout-opt %s --layout-lower-memrefs="$options" --dump-pass-pipeline 2>&1 | sed -n 's/^ *\(layout-lower.*\)$/\1/p' > %t
// RUN: layout-opt %s --pass-pipeline="builtin.module($(head -n 1 %t))" --dump-pass-pipeline 2>&1 | FileCheck %s
// CHECK: layout-lower-memrefs{{[{](.* )?}}cache-bytes=8589934592 {{(.* )?}}contract=true {{(.* )?}}form=strided {{(.* )?}}parallel=forall
// CHECK-SAME: reassociate=true {{(.* )?}}vector-bits=256 {{(.* )?}}vector-registers=16 {{(.* )?}}vectorize=avx512{{[ }]}}

// RUN: layout-opt %s --layout-to-memref=parallel=parallel --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=DEFAULT
// DEFAULT: layout-lower-memrefs{{[{](.* )?}}cache-bytes=0 {{(.* )?}}contract=false {{(.* )?}}form=strided {{(.* )?}}parallel=parallel
// DEFAULT-SAME: reassociate=false {{(.* )?}}vector-bits=0 {{(.* )?}}vector-registers=0 {{(.* )?}}vectorize=none{{[ }]}}

// RUN: not layout-opt %s --layout-to-memref='vectorize=sse' 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not layout-opt %s --pass-pipeline='builtin.module(layout-lower-memrefs{form=physical vectorize={sse}})' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TARGET
// TARGET: error: vectorize must be one of none, avx2, avx512, neon, found `sse`

// RUN: not layout-opt %s --layout-to-llvm='parallel=loops' 2>&1 | FileCheck %s --check-prefix=PARALLEL
// PARALLEL: error: parallel must be one of none, parallel, forall, openmp, found `loops`

// RUN: not layout-opt %s --layout-to-memref='vectorize=avx2 vector-bits=100' 2>&1 | FileCheck %s --check-prefix=BITS
// RUN: not layout-opt %s --pass-pipeline='builtin.module(layout-to-llvm{vector-bits=100 vectorize=neon})' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BITS
// BITS: error: vector-bits must be 0 or a power of two from 64 to 2048, found 100

// RUN: not layout-opt %s --layout-lower-memrefs='vectorize=avx2 vector-registers=4' 2>&1 | FileCheck %s --check-prefix=REGISTERS
// REGISTERS: error: vector-registers must be 0 or a number from 8 to 64, found 4

// RUN: not layout-opt %s --layout-distribute='vector-bits=256' 2>&1 | FileCheck %s --check-prefix=MACHINE
// MACHINE: error: vectorize must be one of avx2, avx512, neon where vector-bits is given, found none

// RUN: not layout-opt %s --layout-to-memref='vector-bits=many' 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER-NOT: invalid
// NUMBER: error: vector-bits must be a number from 0 to 4294967295, found `many`

// RUN: not layout-opt %s --layout-to-memref='contract=maybe' 2>&1 | FileCheck %s --check-prefix=BOOL
// BOOL: error: contract must be true or false, found `maybe`

// RUN: not layout-opt %s --pass-pipeline='builtin.module(layout-indexing-analysis{repotr})' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: unknown option `repotr`; did you mean `report`?

// An option with `=` and nothing after it, in a pass or a pipeline; what a pass prints of itself is read.
// RUN: for option in layout-verify=report= layout-verify=report 'layout-verify=smt={}' "layout-verify=report=x passes={ }" \
// RUN:     "layout-verify=steps=" "layout-verify=remarks=' '" layout-to-memref=verify= 'layout-distribute=plan={ }' \
// RUN:     "layout-to-llvm=arena=\"\"" 'layout-to-memref=plan machine= entry=free' layout-lower-memrefs=cache-bytes= \
// RUN:     layout-indexing-analysis=report=; do not layout-opt %s "--$option" -o /dev/null 2>&1 || exit 1; done \
// RUN:   | FileCheck %s --check-prefix=EMPTY
// EMPTY: error: report must be the path of a file, found ``
// EMPTY: error: report must be the path of a file, found ``
// EMPTY: error: smt must be the path of a file, found ``
// EMPTY: error: passes must be a list of passes, separated by commas, found ``
// EMPTY: error: steps must be a number, found ``
// EMPTY: error: remarks must be true or false, found ``
// EMPTY: error: verify must be true or false, found ``
// EMPTY: error: plan must be true or false, found ``
// EMPTY: error: arena must be one of {{.*}}, found ``
// EMPTY: error: machine must be one of {{.*}}, found ``
// EMPTY: error: cache-bytes must be a number from 0 to {{.*}}, found ``
// EMPTY: error: report must be true or false, found ``
// A pass that cannot be read is an error before any pass runs.
// RUN: for passes in layout-to-memref,nosuch layout-to-memref,cse{x=1} layout-to-memref,layout-lower-memrefs{vectorize=zzz}; do \
// RUN:   not layout-opt %s "--layout-verify=passes={$passes}" 2>&1 || exit 1; done | FileCheck %s --check-prefix=LATER
// LATER: nosuch
// LATER: x
// LATER: zzz
// RUN: layout-opt %s --layout-verify=passes=cse --dump-pass-pipeline 2>&1 | sed -n 's/^ *\(layout-verify.*\)$/\1/p' > %t
// RUN: layout-opt %s --pass-pipeline="builtin.module($(head -n 1 %t))" --dump-pass-pipeline 2>&1 \
// RUN:   | FileCheck %s --check-prefix=READ
// READ: layout-verify{kernels=none passes=cse remarks=true report=none smt=none steps=0 witness=none}

module {}
