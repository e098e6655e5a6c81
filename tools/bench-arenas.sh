#!/bin/sh
# Lowers HLO programs and writes benches/arenas.md: the bytes of each arena, and how many of them are live at once.
# `tools/bench-arenas.sh [FOLDER ..]`; the programs of test/hlo, and of each folder that has NAME.hlo.
set -eu
cd "$(dirname "$0")/.."
if [ -z "${TOOLS:-}" ]; then
    cargo build --release --quiet -p layout-opt -p layout-translate
    TOOLS=target/release
fi
exec "${PYTHON:-python3}" tools/arena_table.py "$TOOLS" test/hlo "$@"
