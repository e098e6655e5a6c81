#!/bin/bash
# fuzz.sh CHECK [SECONDS]: runs a check of fuzz/ under libFuzzer, from its corpus. Without CHECK: each check, 60 seconds.
# fuzz.sh minutes N: each check, N minutes for all together, without instrumentation where libFuzzer cannot be built.
# fuzz.sh keep CHECK: adds to the corpus of a check those of its texts below target/fuzz that reach code that no text of
# the corpus does, at most 400 bytes each.
# Texts found on the way are kept in target/fuzz/corpus/CHECK, one that shows an error in target/fuzz/CHECK-crash-*.
# The coverage instrumentation for libFuzzer is enabled by LLVM options, so a stable toolchain is enough.
set -euo pipefail
cd "$(dirname "$0")/.."

all=$(sed -n 's/^    "\([a-z_]*\)": .*/\1/p' fuzz/lib.rs)
keep=
case ${1:-} in
  minutes)
    seconds=$((${2:?how many minutes} * 60 / $(wc -w <<< "$all")))
    checks=$all
    ;;
  keep)
    keep=1 checks=${2:?which check} seconds=0
    ;;
  *)
    checks=${1:-$all} seconds=${2:-60}
    ;;
esac
target=$(rustc -vV | sed -n 's/^host: //p')
flags="-Cpasses=sancov-module -Cdebug-assertions -Coverflow-checks -Ccodegen-units=1"
for flag in level=4 inline-8bit-counters pc-table trace-compares; do
  flags+=" -Cllvm-args=-sanitizer-coverage-$flag"
done
cargo build --release --quiet --package layout-inspect --bin layout-inspect --package layout-opt --bin layout-lsp-server
export LAYOUT_INSPECT=$PWD/target/release/layout-inspect LAYOUT_LSP_SERVER=$PWD/target/release/layout-lsp-server
for check in $checks; do
  # With --target the flags are for what is fuzzed, and not for build scripts.
  if ! RUSTFLAGS=$flags cargo build --release --quiet --package layout-fuzz --features libfuzzer \
    --bin "fuzz-${check//_/-}" --target "$target" --target-dir target/fuzz; then
    [[ ! $keep ]] || exit 1
    echo "fuzz: no libFuzzer, so $check runs without it"
    cargo build --release --quiet --package layout-fuzz
    mkdir -p target/fuzz
    LAYOUT_FUZZ_INPUT=target/fuzz/$check-last target/release/layout-fuzz "$check" "$seconds" "$RANDOM"
    continue
  fi
  corpus=target/fuzz/corpus/$check
  mkdir -p "$corpus"
  csplit --quiet --elide-empty-files --suppress-matched --digits=4 --prefix="$corpus/text-" \
    "fuzz/corpus/$check.txt" '/^\/\/ -----$/' '{*}'
  fuzz=target/fuzz/$target/release/fuzz-${check//_/-}
  if [[ $keep ]]; then
    kept=$(mktemp -d)
    csplit --quiet --elide-empty-files --suppress-matched --digits=4 --prefix="$kept/text-" \
      "fuzz/corpus/$check.txt" '/^\/\/ -----$/' '{*}'
    ls "$kept" | sort > "$kept.known"
    "$fuzz" -merge=1 -max_len=400 "$kept" "$corpus" 2> /dev/null
    for text in $(ls "$kept" | sort | comm -23 - "$kept.known"); do
      # A text of several lines `// -----` would be several texts.
      if iconv -f utf-8 -t utf-8 "$kept/$text" > /dev/null 2>&1 && ! grep -qx '// -----' "$kept/$text"; then
        { echo '// -----' && cat "$kept/$text" && echo; } >> "fuzz/corpus/$check.txt"
      fi
    done
    rm -r "$kept" "$kept.known"
    continue
  fi
  "$fuzz" "$corpus" -max_total_time="$seconds" -timeout=300 -rss_limit_mb=4096 \
    -max_len=16384 -print_final_stats=1 -artifact_prefix="target/fuzz/$check-"
done
