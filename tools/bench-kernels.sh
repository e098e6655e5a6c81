#!/usr/bin/env bash
# Times the kernels of tools/kernels beside their peers, checks them against NumPy, and writes benches/kernels.md.
# Arguments: parts of the names of kernels, with commas between; then nothing is written. In the environment:
# KERNEL_OPTIONS, the options of --layout-to-llvm beside form; KERNEL_FLAGS, clang's; KERNEL_SECONDS, how long a kernel
# goes on; LAYOUT_OPT, a layout-opt that is built; CLANG.
set -euo pipefail
cd "$(dirname "$0")/.."

LLVM=$(tools/llvm.sh)
export LLVM

packages=()
[[ -n ${CLANG:-} || -x $LLVM/bin/clang ]] || packages+=("clang-${LLVM##*-}")
((${#packages[@]} == 0)) || tools/setup.sh "${packages[@]}"

home=target/kernels
tools/python.sh "$home" tools/bench-kernels.txt

if [[ -z ${LAYOUT_OPT:-} ]]; then
  LAYOUT_OPT=${CARGO_TARGET_DIR:-target}/release/layout-opt
  [[ -x $LAYOUT_OPT ]] || echo "bench-kernels: building in release mode; the first time this takes a few minutes"
  cargo build --release --quiet -p layout-opt
  export LAYOUT_OPT
fi

exec "$home/bin/python" -B tools/kernels/bench.py --write benches/kernels.md "$@"
