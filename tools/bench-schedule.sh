#!/bin/sh
# Orders the HLO programs of folders so that they take least memory, and writes benches/schedule.md:
# `tools/bench-schedule.sh [FOLDER..]`. Folders have NAME.hlo; test/hlo without one.
set -eu
cd "$(dirname "$0")/.."
if [ -z "${INSPECT:-}" ]; then
    cargo build --release --quiet -p layout-inspect
    INSPECT=target/release/layout-inspect
fi
exec "${PYTHON:-python3}" tools/schedule_table.py "$INSPECT" "${@:-test/hlo}"
