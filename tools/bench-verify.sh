#!/usr/bin/env bash
# Writes benches/verify.md: how long lowering takes without verification, and how long verification takes, for the programs of
# test/run with vector code. Times are those of the processor, the least of three runs; starting the tool is in both.
#
#   cargo build --release -p layout-opt && tools/bench-verify.sh
set -euo pipefail
cd "$(dirname "$0")/.."
tool=${1:-target/release/layout-opt}
TIMEFORMAT='%U %S'

# Seconds of the processor, the least of three runs of a pipeline with some options.
seconds() {
  for _ in 1 2 3; do
    { time "$tool" "$1" --split-input-file --layout-to-memref="$2" -o /dev/null >/dev/null 2>/dev/null || true; } 2>&1
  done | awk '{ t = $1 + $2; if (NR == 1 || t < least) least = t } END { print least }'
}

for program in test/run/*.mlir; do
  "$tool" "$program" --split-input-file --layout-to-memref=vectorize=avx2 -o /dev/null 2>/dev/null || continue
  lowering=$(seconds "$program" vectorize=avx2)
  both=$(seconds "$program" "verify vectorize=avx2")
  echo "$(basename "$program") $lowering $both"
done | awk '
  BEGIN {
    print "# What verification costs"
    print ""
    print "Seconds of the processor to lower a program of `test/run` with `vectorize=avx2`, and what `verify` adds. `tools/bench-verify.sh`"
    print "writes this table."
    print ""
    print "| program | lowering s | verification s | ratio |"
    print "|---|---|---|---|"
  }
  {
    more = $3 - $2
    if (more < 0.001) more = 0.001
    printf "| %s | %.3f | %.3f | %.1f |\n", $1, $2, more, more / $2
    sum += log(more / $2)
  }
  { all += $2; added += more }
  END { printf "\nThe geometric mean of the ratios is %.2f; all programs together take %.1f times as long. ", exp(sum / NR), added / all }' > benches/verify.md
