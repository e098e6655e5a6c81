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

# Whole programs: what is proved, tried and open of their functions, and how long that takes.
translate=${2:-target/release/layout-translate}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for program in test/hlo/*.hlo; do
  name=$(basename "$program" .hlo)
  "$translate" --import-hlo "$program" -o "$folder/$name.mlir" 2>/dev/null || continue
  for options in "" vectorize=avx2; do
    lowering=$(seconds "$folder/$name.mlir" "$options")
    both=$(seconds "$folder/$name.mlir" "verify $options")
    "$tool" "$folder/$name.mlir" --layout-to-memref="verify $options" -o /dev/null >/dev/null 2>"$folder/said" || true
    functions=$(grep -c 'func.func' "$folder/$name.mlir")
    tried=$(grep -c 'remark:.*but tried' "$folder/said" || true)
    open=$(grep -c 'remark:.*not proved:' "$folder/said" || true)
    echo "$name ${options:-scalar} $functions $tried $open $lowering $both"
  done
done | awk '
  BEGIN {
    print "\n"
    print "# Whole programs"
    print ""
    print "The models of `test/hlo`, as scalar and as vector code: how many of their functions are shown (by a proof, or by running"
    print "all of them), tried alone, and open; and the same times as above."
    print ""
    print "| program | code | functions | shown | tried | open | lowering s | verification s | ratio |"
    print "|---|---|---|---|---|---|---|---|---|"
  }
  {
    more = $7 - $6
    if (more < 0.001) more = 0.001
    printf "| %s | %s | %d | %d | %d | %d | %.3f | %.3f | %.1f |\n", $1, $2, $3, $3 - $4 - $5, $4, $5, $6, more, more / $6
    all += $3; shown += $3 - $4 - $5; tried += $4; open += $5; lowering += $6; added += more
  }
  END {
    printf "\nOf %d functions, %d are shown, %d tried, %d open; verification takes %.1f times as long as lowering.\n", all, shown, tried, open, added / lowering
  }' >> benches/verify.md
