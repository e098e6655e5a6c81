#!/bin/sh
# Plans the HLO programs of a folder and two large ones, and writes benches/plan.md. `tools/bench-plan.sh [FOLDER]`; the
# folder has NAME.hlo or NAME.unopt.hlo. JUDGE is a command for `layout-inspect plan --judge`, in which {} stands for NAME;
# without it there is no table of a judge. JUDGEMENTS is the most plans that it is asked of, 16 if not set.
set -eu
cd "$(dirname "$0")/.."
cargo build --release --quiet -p layout-inspect
exec "${PYTHON:-python3}" tools/plan_table.py target/release/layout-inspect "${1:-test/hlo}"
