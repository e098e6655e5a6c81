#!/usr/bin/env bash
# Installs JAX, which holds XLA itself, from PyPI, and prints its Python: `LAYOUT_JAX=$(tools/test-jax.sh) cargo test` compares
# programs with it. With --if-reachable, prints nothing where PyPI cannot be reached.
set -euo pipefail
cd "$(dirname "$0")/.."

home=target/jax
if ! tools/python.sh "$home" tools/test-jax.txt >&2; then
  [[ ${1-} == --if-reachable ]] || exit 1
  echo "test-jax: JAX cannot be installed; the models are not compared with it" >&2
  exit 0
fi
echo "$PWD/$home/bin/python"
