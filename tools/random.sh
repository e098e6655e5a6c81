#!/bin/bash
# random.sh [maps N] [layouts N] [programs N] [SEED]: the random tests with as many cases as asked for, 1,000,000 maps,
# 1,000,000 layouts and 100,000 programs if nothing is. Maps are compared with a plain evaluator at every point, layouts with
# the definition element by element, programs with the same ones without layouts: each kind in both forms, half of them as
# vector code with random options. A case that is wrong fails its test and is shrunk; the last line of each counts.
set -euo pipefail
cd "$(dirname "$0")/.."

declare -A counts=()
seed=
while (($#)); do
  case $1 in
    maps | layouts | programs) counts[$1]=${2:?"how many $1"} && shift 2 ;;
    *[!0-9]*) echo "random.sh: unknown argument $1" >&2 && exit 2 ;;
    *) seed=$1 && shift ;;
  esac
done
((${#counts[@]})) || counts=([maps]=1000000 [layouts]=1000000 [programs]=100000)

# Runs a command; says how many cases there were, and how long it took.
count() {
  local what=$1 start=$SECONDS status=0
  shift
  "$@" || status=$?
  ((status)) && echo "$what: WRONG ($((SECONDS - start)) s)" || echo "$what: 0 wrong ($((SECONDS - start)) s)"
  return "$status"
}

[[ $seed ]] && export LAYOUT_LAWS_SEED=$seed LAYOUT_SEED=$seed
status=0
if [[ ${counts[maps]:-} ]]; then
  LAYOUT_LAWS=${counts[maps]} count "${counts[maps]} maps" \
    cargo test --release --quiet --package tensor-layout --test maps -- laws_hold_for_random_maps || status=1
fi
if [[ ${counts[layouts]:-} ]]; then
  LAYOUT_LAWS=${counts[layouts]} count "${counts[layouts]} layouts" \
    cargo test --release --quiet --package tensor-layout --test layouts -- laws_hold_for_random_layouts || status=1
fi
if [[ ${counts[programs]:-} ]]; then
  # Each kind in two forms, and as many again as vector code.
  kinds=$(grep -cE '^    (\("[a-z_]+", [a-z_]+::|PADDING\[[0-9]\],)' test/differential/programs/mod.rs)
  each=$(((counts[programs] + 4 * kinds - 1) / (4 * kinds)))
  LAYOUT_PROGRAMS=$each count "$((each * 4 * kinds)) programs" \
    cargo test --release --quiet --package layout-test --test differential || status=1
fi
exit "$status"
