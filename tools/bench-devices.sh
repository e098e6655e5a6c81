#!/bin/sh
# Plans a step of training over 8 to 4096 devices, and writes benches/devices.md: `tools/bench-devices.sh [--seconds S]`.
# S is the longest search, 60 if not given. The programs are written by JAX, of the Python that PYTHON says.
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
FOLDER=target/devices
"${PYTHON:-target/jax/bin/python}" tools/device_programs.py "$FOLDER"
exec "${PYTHON:-target/jax/bin/python}" tools/devices_table.py "$INSPECT" "$SECONDS_EACH" "$FOLDER"
