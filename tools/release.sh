#!/usr/bin/env bash
# Makes what a release has, in target/release-files, and tries each part in an empty folder outside of the repository:
#
#   wheel     the Python package with the commands layout-inspect and layout-translate
#   crates    an archive of each crate that can be published
#   archives  the sources, and the commands for any Linux that has the C library of the wheel's name
#   packages  two Debian packages
#
# Writes SHA256SUMS, and CONTENTS with the files in each part. With words of the list, only those parts. OUT=FOLDER is
# where the files go.
set -euo pipefail
cd "$(dirname "$0")/.."

repository=$PWD
out=$(realpath -m "${OUT:-target/release-files}")
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
commands=(layout-inspect layout-translate)
# What is tried: a program of one array, which takes 500 KiB.
program='HloModule m
ENTRY e {
  ROOT x = f32[1000,3]{1,0:T(8,128)} parameter(0)
}'
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH

fail() {
  echo "release: $*" >&2
  exit 1
}

# Packs a folder of this folder; the same files give the same bytes.
pack() {
  tar --create --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner "$1" | gzip -9n >"$2"
}

# Runs the two commands of a folder, with nothing of this shell's environment.
try_commands() {
  [[ $(env -i "$1/layout-inspect" --version) == "layout-inspect $version"* ]] || fail "$1/layout-inspect has another version"
  env -i "$1/layout-inspect" hlo program.hlo | grep -q '500.0 KiB' || fail "$1/layout-inspect does not report"
  env -i "$1/layout-translate" --import-hlo program.hlo | grep -q 'layout.tiled' || fail "$1/layout-translate does not import"
}

make_wheel() {
  tools/test-python.sh --wheel
  cp target/wheels/*.whl "$out"
}

# A Python without other packages than pip installs from the wheel alone.
try_wheel() {
  python3 -m venv python
  python/bin/pip install --quiet --disable-pip-version-check --no-deps --no-index "$out"/*.whl
  try_commands "$PWD/python/bin"
  python/bin/python -c 'import tensor_layout as tl; tl.report("program.hlo").to_html("page.html")'
  grep -q 'It fits' page.html || fail "the wheel writes no page"
}

published() {
  cargo metadata --format-version 1 --no-deps --locked --offline |
    python3 -c 'import json, sys
for package in json.load(sys.stdin)["packages"]:
    if package["publish"] is None:
        print(package["name"])'
}

make_crates() {
  local crate names=()
  for crate in $(published); do
    names+=(--package "$crate")
  done
  cargo package --quiet --no-verify --locked --offline --allow-dirty --target-dir "$target/packages" "${names[@]}"
  for crate in $(published); do
    cp "$target/packages/package/$crate-$version.crate" "$out"
  done
}

# A program in Rust that knows the archives alone.
try_crates() {
  local crate
  mkdir -p user/src
  for crate in "$out"/*.crate; do
    tar -xzf "$crate"
  done
  {
    printf '[package]\nname = "user"\nversion = "0.1.0"\nedition = "2024"\n\n[dependencies]\n'
    printf '%s = "%s"\n' tensor-layout "$version" layout-plan "$version"
    printf '\n[patch.crates-io]\n'
    for crate in $(cd "$repository" && published); do
      printf '%s = { path = "../%s-%s" }\n' "$crate" "$crate" "$version"
    done
  } >user/Cargo.toml
  cp "$repository/Cargo.lock" user
  cat >user/src/main.rs <<'END'
use layout_plan::memory::MemoryUse;
use tensor_layout::hlo::Module;

fn main() {
    let module = Module::parse(&std::fs::read_to_string("program.hlo").unwrap()).unwrap();
    println!("{}", MemoryUse::of(&module).unwrap().spaces[&0].peak);
}
END
  [[ $(cargo run --quiet --offline --manifest-path user/Cargo.toml --target-dir "$target/release-user") == 1024000 ]] ||
    fail "the crates count another peak"
}

make_archives() {
  local command name=layout-tools-$version-$(uname -m)-linux root=$out/parts
  git archive --prefix="layout-mlir-$version/" HEAD | gzip -9n >"$out/layout-mlir-$version.tar.gz"
  cargo build --quiet --release --locked "${commands[@]/#/--package=}"
  for command in "${commands[@]}"; do
    install -D -s "$target/release/$command" "$root/$name/bin/$command"
    "$target/release/$command" --man "$root/$name/share/man/man1"
    install -d "$root/$name/share/bash-completion/completions"
    "$target/release/$command" --completions bash >"$root/$name/share/bash-completion/completions/$command"
  done
  install -m 644 LICENSE THIRD-PARTY.md "$root/$name"
  (cd "$root" && pack "$name" "$out/$name.tar.gz")
  rm -r "$root"
}

# The sources describe themselves without the repository, and the commands run where they were unpacked.
try_archives() {
  tar -xzf "$out/layout-mlir-$version.tar.gz"
  (cd "layout-mlir-$version" && cargo check --quiet --locked --offline -p tensor-layout --target-dir "$target/release-user") ||
    fail "the sources do not build"
  tar -xzf "$out"/layout-tools-*.tar.gz
  try_commands "$(echo "$PWD"/layout-tools-*/bin)"
}

make_packages() {
  OUT=$target/package tools/package.sh only | while read -r deb; do
    cp "$deb" "$out"
  done
}

# Installs them into an empty root, and builds a compiler in C++ with what is there.
try_packages() {
  "$repository/tools/package.sh" try "$out"/*.deb
}

# Tries a part in an empty folder.
try() {
  local folder
  folder=$(mktemp -d)
  # shellcheck disable=SC2064 # the folder's name is known now
  trap "rm -rf '$folder'" EXIT
  (cd "$folder" && echo "$program" >program.hlo && "try_$1")
  rm -rf "$folder"
  echo "release: $1 tried"
}

# The files of each file of the release.
contents() {
  local file
  for file in *.*; do
    echo "$file, $(stat --format=%s "$file") bytes"
    case $file in
      *.whl) python3 -c 'import sys, zipfile
for own in zipfile.ZipFile(sys.argv[1]).infolist():
    print(f"  {own.file_size:>10} {own.filename}")' "$file" ;;
      *.deb) dpkg-deb --fsys-tarfile "$file" | tar -tv | awk '{ printf "  %10s %s\n", $3, $6 }' ;;
      *) tar -tvzf "$file" | awk '{ printf "  %10s %s\n", $3, $6 }' ;;
    esac
  done
}

parts=("$@")
[[ $# -gt 0 ]] || parts=(wheel crates archives packages)
for part in "${parts[@]}"; do
  [[ $(type -t "make_$part") == function ]] || fail "there are wheel, crates, archives and packages, and no $part"
done
rm -rf "$out"
mkdir -p "$out"
for part in "${parts[@]}"; do
  "make_$part"
  try "$part"
done
cd "$out"
contents >CONTENTS
sha256sum -- *.* CONTENTS >SHA256SUMS
cat SHA256SUMS
