#!/bin/sh
# Plans the HLO programs of folders and two large ones, and writes benches/plan.md:
# `tools/bench-plan.sh [--judge COMMAND] [--judgements N] [FOLDER..]`. A folder has NAME.unopt.hlo or NAME.hlo, and perhaps
# NAME.after.hlo, after XLA's layout assignment; test/hlo without one. The judge is a command as for `layout-inspect plan
# --judge`, in which {} stands for NAME; without it, what a judge said before stays in the page. N is the most plans that
# it is asked of, 16 if not given. tools/plan_programs.py writes programs of this project into a folder.
set -eu
while true; do
    case "${1:-}" in
        --judge) JUDGE=$2 && shift 2 ;;
        --judgements) JUDGEMENTS=$2 && shift 2 ;;
        *) break ;;
    esac
done
export JUDGE="${JUDGE:-}" JUDGEMENTS="${JUDGEMENTS:-16}"
cd "$(dirname "$0")/.."
if [ -z "${INSPECT:-}" ]; then
    cargo build --release --quiet -p layout-inspect
    INSPECT=target/release/layout-inspect
fi
[ $# -gt 0 ] || set -- test/hlo
exec "${PYTHON:-python3}" tools/plan_table.py "$INSPECT" "$@"
