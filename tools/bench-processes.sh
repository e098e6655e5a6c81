#!/bin/sh
# Writes benches/processes.md: programs in 1 and 2 processes, with what they send. `tools/bench-processes.sh`
set -eu
cd "$(dirname "$0")/.."
if [ -z "${TOOLS:-}" ]; then
    cargo build --release --quiet -p layout-opt
    TOOLS=target/release
fi
"${PYTHON:-python3}" tools/processes_table.py "$TOOLS" >target/processes.md
mv target/processes.md benches/processes.md
