#!/usr/bin/env bash
# Builds the page for the browser into target/web: index.html, which holds all, and layout.wasm for programs. Prints the
# folder. Cargo builds nothing where no file has changed. Debian's Rust comes with the source of the standard library, and is
# installed where it is missing. With --if-reachable, a line says so where that fails, and nothing is printed.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
  echo "web: $1; the page for the browser is not built" >&2
  [[ ${if_reachable-} ]] && exit 0
  exit 1
}
[[ ${1-} != --if-reachable ]] || if_reachable=1

llvm=$(tools/llvm.sh version)
linker=wasm-ld-$llvm
tools/setup.sh rustc-web rust-web-src "lld-$llvm" >&2 || fail "rustc-web, rust-web-src and lld-$llvm cannot be installed"
[[ -x /usr/bin/rustc ]] && command -v "$linker" >/dev/null || fail "there is no /usr/bin/rustc, or no $linker"

# The standard library is built, too.
RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=$linker cargo build --quiet --package layout-web \
  --profile web --target-dir target/wasm --target wasm32-unknown-unknown -Zbuild-std=std,panic_abort -Zbuild-std-features=optimize_for_size >&2 ||
  fail "Debian's Rust cannot build it, or has no access to the sources of its library's packages"
mkdir -p target/web
python3 -B tools/web/build.py target/wasm/wasm32-unknown-unknown/web/layout_web.wasm target/web
cp LICENSE THIRD-PARTY.md target/web
echo "$PWD/target/web"
