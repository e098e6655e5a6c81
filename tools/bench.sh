#!/usr/bin/env bash
# Measures: `tools/bench.sh NAME ARGUMENT..` runs a benchmark or a command of tools/bench; `tools/bench.sh NAME --help` says
# with what. In the environment: LAYOUT_TOOLS, a folder with tools that are built, and PYTHON, a Python with what is imported;
# without these, tools are built in release mode, and the packages of tools/test-jax.txt installed into target/jax. BENCHES is
# a folder for results, in the place of `benches`.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

LLVM=${LLVM:-$("$root/tools/llvm.sh")}
export LLVM PYTHONPATH=$root/tools PYTHONDONTWRITEBYTECODE=1

tools=yes packages=yes
case ${1:-} in
  plan | preferences | memory | schedule | arenas | offsets | verify | processes) packages=no ;;
  pages | tpu-judge) tools=no packages=no ;;
  export) tools=no ;;
  import | sources | speed | threads | traffic | compiling | cpu | cpu-judge | cpu-machine | kernels)
    [[ -n ${CLANG:-} || -x $LLVM/bin/clang ]] || "$root/tools/setup.sh" "clang-${LLVM##*-}"
    ;;
esac
if [[ -z ${PYTHON:-} && $packages == yes ]]; then
  "$root/tools/python.sh" target/jax tools/test-jax.txt
  PYTHON=$root/target/jax/bin/python
fi
if [[ -z ${LAYOUT_TOOLS:-} && $tools == yes ]]; then
  target=${CARGO_TARGET_DIR:-target}
  [[ $target == /* ]] || target=$root/$target
  export LAYOUT_TOOLS=$target/release
  [[ -x $LAYOUT_TOOLS/layout-opt ]] || echo "bench: building in release mode; the first time this takes a few minutes" >&2
  (cd "$root" && cargo build --release --quiet -p layout-opt -p layout-translate -p layout-inspect)
fi
exec "${PYTHON:-python3}" -m bench "$@"
