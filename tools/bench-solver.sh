#!/bin/sh
# Solves the problems of a folder with `layout-inspect solve`, replays the proofs, solves those that are small enough
# with HiGHS, and writes benches/solver.md. `tools/bench-solver.sh FOLDER [SECONDS]`; the folder has NAME.json or
# NAME.json.gz in the form of the ASPLOS 2025 contest on intra-operator parallelism. PYTHON has SciPy, for HiGHS.
set -eu
cd "$(dirname "$0")/.."
cargo build --release --quiet -p layout-inspect
exec "${PYTHON:-python3}" tools/solver_table.py target/release/layout-inspect "$@"
