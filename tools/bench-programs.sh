#!/usr/bin/env bash
# Makes programs with JAX and writes tables of benches/programs.md. The first argument is `table`, which puts each through
# everything (read, analysed, imported, lowered, compiled, run beside XLA), or `speed`, which races vector code with XLA on
# one core, or `threads`, which runs it with one thread and with two, or `compiling`, which times compilation, or `traffic`,
# which counts the bytes that it moves, or `cpu_table`, which runs those of tools/programs/cpu and test/hlo in row-major and
# in planned layouts and writes benches/cpu.md. Further ones are parts of the names of programs; then nothing is written, or
# with --keep in front, only their lines. In the environment: PROGRAM_FOLDERS, folders of programs, instead of those;
# LAYOUT_TOOLS, a folder with tools that are built; PROGRAM_SECONDS and PROGRAM_GIGABYTES, the most that a step may take;
# KERNEL_OPTIONS, KERNEL_FLAGS, as in tools/programs/laid_out.py.
set -euo pipefail
cd "$(dirname "$0")/.."

script=$1
shift

LLVM=$(tools/llvm.sh)
export LLVM

packages=()
[[ -x $LLVM/bin/clang ]] || packages+=("clang-${LLVM##*-}")
((${#packages[@]} == 0)) || tools/setup.sh "${packages[@]}"

home=target/jax
tools/python.sh "$home" tools/test-jax.txt

if [[ -z ${LAYOUT_TOOLS:-} ]]; then
  LAYOUT_TOOLS=$PWD/${CARGO_TARGET_DIR:-target}/release
  [[ -x $LAYOUT_TOOLS/layout-opt ]] || echo "bench-programs: building in release mode; the first time this takes a few minutes"
  cargo build --release --quiet -p layout-opt -p layout-translate -p layout-inspect
fi
export LAYOUT_TOOLS

if [[ $script == cpu_table ]]; then
  IFS=: read -ra folders <<<"${PROGRAM_FOLDERS:-tools/programs/cpu:test/hlo}"
  write=(--write benches/cpu.md)
  [[ $# -eq 0 ]] || write=()
  exec "$home/bin/python" -B tools/programs/cpu_table.py "${write[@]}" "${folders[@]}" "${@/#/--part=}"
fi
IFS=: read -ra folders <<<"${PROGRAM_FOLDERS:-target/programs}"
[[ -n ${PROGRAM_FOLDERS:-} || -d target/programs ]] || "$home/bin/python" -B tools/programs/make.py target/programs
write=()
[[ $# -gt 0 && $1 != --keep ]] || write=(--write benches/programs.md)
exec "$home/bin/python" -B tools/programs/"$script".py "${write[@]}" "${folders[@]/#/--folder=}" "$@"
