#!/usr/bin/env bash
# Runs whole programs in row-major and in planned layouts, and writes benches/cpu.md. Arguments: parts of the names of
# programs; then nothing is written. In the environment: PROGRAM_FOLDERS, folders of HLO texts instead of
# tools/programs/cpu and test/hlo; LAYOUT_TOOLS, a folder with tools that are built; KERNEL_OPTIONS, KERNEL_FLAGS, as in
# tools/programs/laid_out.py.
set -euo pipefail
cd "$(dirname "$0")/.."

LLVM=$(tools/llvm.sh)
export LLVM

packages=()
[[ -x $LLVM/bin/clang ]] || packages+=("clang-${LLVM##*-}")
((${#packages[@]} == 0)) || tools/setup.sh "${packages[@]}"

home=target/kernels
[[ -n ${PYTHON:-} ]] || tools/python.sh "$home" tools/bench-kernels.txt

if [[ -z ${LAYOUT_TOOLS:-} ]]; then
  LAYOUT_TOOLS=$PWD/${CARGO_TARGET_DIR:-target}/release
  cargo build --release --quiet -p layout-opt -p layout-translate -p layout-inspect
fi
export LAYOUT_TOOLS

IFS=: read -ra folders <<<"${PROGRAM_FOLDERS:-tools/programs/cpu:test/hlo}"
write=(--write benches/cpu.md)
[[ $# -eq 0 ]] || write=()
exec "${PYTHON:-$home/bin/python}" -B tools/programs/cpu_table.py "${write[@]}" "${folders[@]}" "${@/#/--part=}"
