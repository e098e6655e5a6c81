#!/usr/bin/env bash
# Installs what the build needs from Debian, once, and any packages named. Does nothing where all of it is there, and on
# other systems only looks for it.
set -euo pipefail

llvm=$("$(dirname "$0")/llvm.sh" version)
prefix=$("$(dirname "$0")/llvm.sh")
packages=(
  "libmlir-$llvm-dev" "mlir-$llvm-tools" "llvm-$llvm-dev" "llvm-$llvm-tools" "libclang-$llvm-dev" "libpolly-$llvm-dev"
  "libomp-$llvm-dev" "clang-format-$llvm" zlib1g-dev libzstd-dev libxml2-dev cmake ninja-build g++ make python3-psutil
  # The pages of layout-inspect are tested in a browser, with a font that is the same everywhere.
  chromium chromium-driver fonts-dejavu-core
  # Runs the tests of the C API.
  valgrind
  # Decides again what proofs of lowering decide about addresses.
  z3
  # Programs of several processes: mpirun, and the library that they call.
  openmpi-bin "$@"
)

fail() {
  echo "setup: $*" >&2
  exit 1
}

command -v cargo >/dev/null || fail "there is no cargo on the PATH; install Rust first, from https://rustup.rs"

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  found=$("$prefix/bin/llvm-config" --version 2>/dev/null || echo none)
  [[ $found == "$llvm".* ]] || fail "expected LLVM $llvm in $prefix, found $found. This is no Debian: install LLVM and MLIR $llvm, \
and set the variables that tools/llvm.sh variables prints"
  for program in cmake ninja c++ make z3 valgrind; do
    command -v "$program" >/dev/null || fail "there is no $program on the PATH"
  done
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null || true)
  [[ $status == "install ok installed" ]] || missing+=("$package")
done
((${#missing[@]})) || exit 0

if ((EUID == 0)); then
  as_root=()
elif command -v sudo >/dev/null && sudo --non-interactive true 2>/dev/null; then
  as_root=(sudo)
else
  fail "packages are missing, and this is neither root nor sudo without a password. As root: apt-get install ${missing[*]}"
fi

echo "setup: installing ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update >"$log" 2>&1 || { cat "$log" >&2; fail "apt-get update failed"; }
for package in "${missing[@]}"; do
  apt-cache show "$package" >/dev/null 2>&1 ||
    fail "apt knows no package $package: Debian 12 has LLVM $llvm in bookworm-security: is that among apt's sources?"
done
"${as_root[@]}" apt-get install --yes --no-install-recommends "${missing[@]}" >"$log" 2>&1 ||
  { cat "$log" >&2; fail "apt-get install failed"; }
