#!/usr/bin/env bash
# What the reports say of the memory of programs, beside XLA:TPU, ahead of time and without a device. JAX with libtpu comes
# from PyPI; libtpu is Google's, under Google's terms, and no part of the project. Where it cannot be installed, one line says so.
# Needs the package of tools/test-python.sh.
set -euo pipefail
cd "$(dirname "$0")/.."

home=target/tpu
if ! tools/python.sh "$home" tools/test-tpu.txt >&2; then
  echo "test-tpu: JAX with libtpu cannot be installed; the advice is not compared with XLA:TPU" >&2
  exit 0
fi
PYTHONPATH="$PWD/target/wheel" "$home/bin/python" -m unittest discover --start-directory tools/python/tests --pattern 'tpu_*.py'
