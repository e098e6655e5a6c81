#!/usr/bin/env bash
# Measures: `tools/bench.sh NAME ARGUMENT..` runs a benchmark or a command of tools/bench; `tools/bench.sh NAME --help` says
# with what. In the environment: LAYOUT_TOOLS, a folder with tools that are built, and PYTHON, a Python with what is imported;
# without these, tools are built in release mode, and the packages of tools/test-jax.txt installed into target/jax.
set -euo pipefail
cd "$(dirname "$0")/.."

LLVM=${LLVM:-$(tools/llvm.sh)}
export LLVM PYTHONPATH=tools PYTHONDONTWRITEBYTECODE=1

case ${1:-} in
  # They need no packages.
  plan | memory | schedule | arenas | offsets | verify | processes) PYTHON=${PYTHON:-python3} ;;
esac
case ${1:-} in
  import | speed | threads | traffic | compiling | cpu | cpu-judge | cpu-machine | kernels)
    [[ -x $LLVM/bin/clang ]] || tools/setup.sh "clang-${LLVM##*-}"
    ;;
esac
if [[ -z ${PYTHON:-} ]]; then
  tools/python.sh target/jax tools/test-jax.txt
  PYTHON=target/jax/bin/python
fi
if [[ -z ${LAYOUT_TOOLS:-} ]]; then
  LAYOUT_TOOLS=$PWD/${CARGO_TARGET_DIR:-target}/release
  [[ -x $LAYOUT_TOOLS/layout-opt ]] || echo "bench: building in release mode; the first time this takes a few minutes" >&2
  cargo build --release --quiet -p layout-opt -p layout-translate -p layout-inspect
fi
export LAYOUT_TOOLS
exec "$PYTHON" -m bench "$@"
