#!/bin/sh
# Plans the HLO programs of a folder within a half and a quarter of the fast memory that they take, and writes
# benches/memory.md: `tools/bench-memory.sh [--seconds S] [FOLDER]`. A folder has NAME.unopt.hlo or NAME.hlo; test/hlo without
# one. S is the longest search, 60 if not given.
set -eu
SECONDS_EACH=60
if [ "${1:-}" = --seconds ]; then
    SECONDS_EACH=$2 && shift 2
fi
cd "$(dirname "$0")/.."
if [ -z "${INSPECT:-}" ]; then
    cargo build --release --quiet -p layout-inspect
    INSPECT=target/release/layout-inspect
fi
exec "${PYTHON:-python3}" tools/memory_table.py "$INSPECT" "$SECONDS_EACH" "${1:-test/hlo}"
