#!/usr/bin/env bash
# Runs the models of the corpus beside XLA itself, which comes with JAX from PyPI. With --if-reachable, does without where
# PyPI cannot be reached.
set -euo pipefail
cd "$(dirname "$0")/.."

home=target/jax
if ! tools/python.sh "$home" tools/test-jax.txt; then
  [[ ${1-} == --if-reachable ]] || exit 1
  echo "test-jax: JAX cannot be installed; the models are not compared with it" >&2
  exit 0
fi
LAYOUT_JAX="$PWD/$home/bin/python" cargo test --workspace --test models
