#!/bin/bash
# fuzz.sh CHECK [SECONDS]: runs a check of fuzz/ under libFuzzer, from its corpus. Without CHECK: each check, 60 seconds.
# Texts found on the way are kept in target/fuzz/corpus/CHECK, one that shows an error in target/fuzz/CHECK-crash-*.
# The coverage instrumentation for libFuzzer is enabled by LLVM options, so a stable toolchain is enough.
set -euo pipefail
cd "$(dirname "$0")/.."

checks=${1:-$(sed -n 's/^    "\([a-z_]*\)": .*/\1/p' fuzz/lib.rs)}
target=$(rustc -vV | sed -n 's/^host: //p')
flags="-Cpasses=sancov-module -Cdebug-assertions -Coverflow-checks -Ccodegen-units=1"
for flag in level=4 inline-8bit-counters pc-table trace-compares; do
  flags+=" -Cllvm-args=-sanitizer-coverage-$flag"
done
cargo build --release --quiet --package layout-inspect --bin layout-inspect
export LAYOUT_INSPECT=$PWD/target/release/layout-inspect
for check in $checks; do
  # With --target the flags are for what is fuzzed, and not for build scripts.
  RUSTFLAGS=$flags cargo build --release --quiet --package layout-fuzz --features libfuzzer --bin "fuzz-${check//_/-}" \
    --target "$target" --target-dir target/fuzz
  corpus=target/fuzz/corpus/$check
  mkdir -p "$corpus"
  csplit --quiet --elide-empty-files --suppress-matched --digits=4 --prefix="$corpus/text-" \
    "fuzz/corpus/$check.txt" '/^\/\/ -----$/' '{*}'
  "target/fuzz/$target/release/fuzz-${check//_/-}" "$corpus" -max_total_time="${2:-60}" -timeout=20 -rss_limit_mb=4096 \
    -max_len=16384 -print_final_stats=1 -artifact_prefix="target/fuzz/$check-"
done
