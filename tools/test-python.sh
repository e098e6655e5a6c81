#!/usr/bin/env bash
# Builds the Python package, installs its wheel into an environment of its own, and runs its tests. With --if-reachable, does
# without where PyPI cannot be reached. JAX is compared where `tools/test-jax.sh` has installed it, and pycute where PyPI has it.
# With --wheel, only builds the wheel, into target/wheels.
set -euo pipefail
cd "$(dirname "$0")/.."

home=target/python
if ! tools/python.sh "$home" tools/test-python.txt; then
  [[ ${1-} == --if-reachable ]] || exit 1
  echo "test-python: what builds wheels cannot be installed; the Python package is not tested" >&2
  exit 0
fi
rm -rf target/wheels
# Tests take the artifacts of a build for development.
profile=dev folder=debug
[[ ${1-} == --wheel ]] && profile=release folder=release
# The commands are scripts of the wheel.
cargo build --quiet --profile "$profile" -p layout-inspect -p layout-translate
scripts=tools/python/tensor_layout._native.data/scripts
rm -rf "$scripts"
for command in layout-inspect layout-translate; do
  install -D -s "${CARGO_TARGET_DIR:-target}/$folder/$command" "$scripts/$command"
done
PATH="$PWD/$home/bin:$PATH" "$home/bin/maturin" build --quiet --profile "$profile" --manifest-path tools/python/Cargo.toml --out target/wheels \
  --interpreter "$home/bin/python"
# Module and commands run on each Linux that the name of the wheel says.
platform=$(basename target/wheels/*.whl .whl)
platform=${platform##*-}
"$home/bin/auditwheel" show target/wheels/*.whl | tr '\n' ' ' | grep -qF "platform tag: \"${platform%%.*}\"" || {
  echo "test-python: auditwheel does not find the wheel to be for $platform" >&2
  exit 1
}
[[ ${1-} != --wheel ]] || exit 0

# The package without what it depends on, which each Python has by itself.
rm -rf target/wheel
"$home/bin/pip" install --quiet --disable-pip-version-check --no-deps --no-index --target target/wheel target/wheels/*.whl
# pycute is a part of NVIDIA's package, and needs none of what that depends on.
pycute=target/pycute
if ! cmp --silent tools/test-pycute.txt $pycute/installed.txt; then
  rm -rf $pycute
  if "$home/bin/pip" install --quiet --disable-pip-version-check --no-deps --target $pycute --requirement tools/test-pycute.txt; then
    cp tools/test-pycute.txt $pycute/installed.txt
  else
    echo "test-python: pycute cannot be installed; the algebra of layouts is not compared with it" >&2
  fi
fi

for python in "$home/bin/python" ${LAYOUT_JAX:-target/jax/bin/python}; do
  [[ -x $python ]] || continue
  PYTHONPATH="$PWD/target/wheel:$PWD/$pycute" "$python" -W error -m unittest discover --quiet --start-directory tools/python/tests
done
