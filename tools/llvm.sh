#!/usr/bin/env bash
# Where LLVM is. The version is that of the variable MLIR_SYS_220_PREFIX in .cargo/config.toml, which is 22.
#
#   tools/llvm.sh            the prefix: of the environment, or else of llvm-config-22 on the PATH, or else of
#                            .cargo/config.toml
#   tools/llvm.sh version    22
#   tools/llvm.sh variables  what to set, for Cargo, CMake and the tests to use that prefix: a line for each variable
set -euo pipefail
config=$(dirname "$0")/../.cargo/config.toml

name=$(sed -n 's/^\(MLIR_SYS_[0-9]*_PREFIX\) = .*/\1/p' "$config")
version=${name#MLIR_SYS_}
version=${version%0_PREFIX}
prefix=${!name:-}
if [[ -z $prefix ]] && command -v "llvm-config-$version" >/dev/null; then
  prefix=$("llvm-config-$version" --prefix)
fi
[[ -n $prefix ]] || prefix=$(sed -n "s/^$name = \"\(.*\)\"/\1/p" "$config")

case ${1:-prefix} in
  prefix) echo "$prefix" ;;
  version) echo "$version" ;;
  variables) printf '%s=%s\n' "$name" "$prefix" "TABLEGEN_${version}0_PREFIX" "$prefix" ;;
  *) echo "llvm.sh: expected prefix, version or variables, found $1" >&2 && exit 2 ;;
esac
