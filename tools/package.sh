#!/usr/bin/env bash
# Makes two Debian packages, target/package/*.deb, each with man pages and completions:
#
#   layout-tools  layout-inspect and layout-translate, which need no LLVM
#   layout-mlir   layout-opt, the language server, the plugin, the library and the pages
#
#   tools/package.sh           builds in release mode, makes the packages, and tries them with tools/package.sh try
#   tools/package.sh only      makes them and does not try them
#   tools/package.sh try DEB.. installs packages into an empty root, runs the demo with what is in there, and builds a
#                              compiler with the library
#
# BIN=FOLDER takes the tools and the plugin from there and does not build them; LIBRARY=no leaves the library out, and the
# plugin is then the one that needs none; OUT=FOLDER is where the package goes.
set -euo pipefail
here=$PWD
cd "$(dirname "$0")/.."

declare -A tools=([layout-tools]="layout-inspect layout-translate" [layout-mlir]="layout-opt layout-lsp-server")
out=${OUT:-${CARGO_TARGET_DIR:-target}/package}
llvm=$(tools/llvm.sh)

fail() {
  echo "package: $*" >&2
  exit 1
}

# Builds in a folder of its own, and without the names of this machine's folders, which Rust keeps for messages of panics.
private_build() {
  cargo_home=${CARGO_HOME:-$HOME/.cargo}
  out=$(realpath -m "$out")
  export CARGO_TARGET_DIR=$out/cargo
  CARGO_ENCODED_RUSTFLAGS=$(printf -- '--remap-path-prefix=%s=/usr/src/%s\x1f' "$cargo_home" cargo "$PWD" layout-mlir)
  export CARGO_ENCODED_RUSTFLAGS=$CARGO_ENCODED_RUSTFLAGS--remap-path-prefix=$out=/usr/src/layout-mlir/target/package
}

# The library with its plugin, headers and CMake files. Arguments: the root, in place of /.
install_library() {
  # Debian keeps libraries in a folder for the architecture.
  cmake -S . -B "$out/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr \
    -DCMAKE_INSTALL_LIBDIR="lib/$(multiarch)" -DMLIR_DIR="$llvm/lib/cmake/mlir" \
    -DLAYOUT_CARGO_TARGET_DIR="$CARGO_TARGET_DIR" >/dev/null
  cmake --build "$out/build" >/dev/null
  DESTDIR=$1 cmake --install "$out/build" --strip >/dev/null
}

multiarch() {
  gcc -print-multiarch
}

# Man pages, and completions under the names by which shells look for them. Arguments: the folder of the tools, the folder
# `share`, and the tools. Those that are made of MLIR's driver have theirs from their --help, the others make them
# themselves.
install_help() {
  local bin=$1 share=$2 tool
  install -d "$share/man/man1" "$share/bash-completion/completions" "$share/fish/vendor_completions.d" \
    "$share/zsh/vendor-completions"
  for tool in "${@:3}"; do
    case $tool in
      layout-opt | layout-lsp-server)
        tools/man.sh "$bin/$tool" >"$share/man/man1/$tool.1"
        install -m 644 tools/completions/layout.bash "$share/bash-completion/completions/$tool"
        install -m 644 tools/completions/layout.fish "$share/fish/vendor_completions.d/$tool.fish"
        install -m 644 tools/completions/_layout-tools "$share/zsh/vendor-completions/_layout-tools"
        ;;
      *)
        "$bin/$tool" --man "$share/man/man1"
        "$bin/$tool" --completions bash >"$share/bash-completion/completions/$tool"
        "$bin/$tool" --completions fish >"$share/fish/vendor_completions.d/$tool.fish"
        "$bin/$tool" --completions zsh >"$share/zsh/vendor-completions/_$tool"
        ;;
    esac
  done
  gzip -9n "$share"/man/man1/*.1
}

# The packages of the shared libraries that files in the root link, each in the version here or a later one.
dependencies() {
  find "$1" -type f \( -perm -u=x -o -name '*.so*' \) -print0 |
    while IFS= read -r -d '' file; do
      objdump -p "$file" 2>/dev/null | awk '$1 == "NEEDED" { print $2 }' | while read -r library; do
        [[ ! -e $1/usr/lib/$(multiarch)/$library ]] || continue
        path=$(ldd "$file" | awk -v name="$library" '$1 == name || $1 ~ "/" name "$" { print ($2 == "=>" ? $3 : $1); exit }')
        package=$(owner "$path") || fail "no package has $library, which $file links"
        dpkg-query --show --showformat='${Package} (>= ${Version})\n' "$package" | sed 's/-[^-]*)$/)/'
      done
    done | sort -u | paste -sd, | sed 's/,/, /g'
}

# The package of a library, of the file itself and not of a link to it. /lib and /usr/lib are one folder, and dpkg knows
# one of the names.
owner() {
  local real path
  real=$(readlink -f "$1")
  for path in "$real" "${real#/usr}" "/usr$real" "$1"; do
    dpkg-query --search "$path" 2>/dev/null | sed 's/:.*//' | grep -m 1 . && return
  done
  return 1
}

# What both packages have; prints the file. Arguments: the package, its root, the folder of the tools, its dependencies on
# packages made here, and the fields of its own.
finish_package() {
  local name=$1 root=$2 bin=$3 own=$4 fields=$5 doc=$2/usr/share/doc/$1 depends tool deb all
  read -ra all <<<"${tools[$name]}"
  for tool in "${all[@]}"; do
    install -D -s "$bin/$tool" "$root/usr/bin/$tool"
  done
  install_help "$bin" "$root/usr/share" "${all[@]}"
  for file in LICENSE THIRD-PARTY.md; do
    install -D -m 644 "$file" "$doc/$file"
  done
  ln -s LICENSE "$doc/copyright"
  gzip -9n <CHANGELOG.md >"$doc/changelog.gz"
  if [[ -n ${cargo_home:-} ]] && grep -rlF -e "$cargo_home/" -e "$PWD/" "$root"/usr/{bin,lib*} >&2; then
    fail "these files name folders of this machine"
  fi
  depends=$(dependencies "$root")
  [[ -n $depends ]] || fail "the tools link nothing?"
  install -d "$root/DEBIAN"
  [[ ! -e $root/usr/lib/$(multiarch)/libLayout.so ]] || echo 'activate-noawait ldconfig' >"$root/DEBIAN/triggers"
  (cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
  cat >"$root/DEBIAN/control" <<END
Package: $name
Version: $version
Architecture: $arch
Section: devel
Priority: optional
Maintainer: The authors of layout-mlir <layout-mlir@example.invalid>
Installed-Size: $(du -sk "$root/usr" | cut -f 1)
Depends: $own$depends
$fields
END
  find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
  deb=$out/${name}_${version}_$arch.deb
  dpkg-deb --root-owner-group -Z"${DEB_COMPRESS:-xz}" --build "$root" "$deb" >/dev/null
  echo "$deb"
}

make_packages() {
  local bin=${BIN:-} root=$out/root version arch library doc file
  command -v dpkg-deb >/dev/null || fail "dpkg-deb is needed"
  [[ -n $bin && ${LIBRARY:-yes} != yes ]] || private_build
  if [[ -z $bin ]]; then
    cargo build --release --quiet -p layout-opt -p layout-inspect -p layout-translate
    bin=$CARGO_TARGET_DIR/release
  fi
  version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
  arch=$(dpkg --print-architecture)
  library=usr/lib/$(multiarch)
  doc=$root/layout-mlir/usr/share/doc/layout-mlir
  SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
  export SOURCE_DATE_EPOCH

  rm -rf "$root"
  mkdir -p "$root"/{layout-tools,layout-mlir}
  umask 022
  finish_package layout-tools "$root/layout-tools" "$bin" "" "Suggests: layout-mlir
Description: Tensor layouts: what programs make of memory
 layout-inspect shows tiled layouts in XLA's notation and TensorLayouts over a
 tree of memories, and reports what an HLO program makes of memory;
 layout-translate imports HLO into MLIR. Neither needs LLVM."

  if [[ ${LIBRARY:-yes} == yes ]]; then
    install_library "$(realpath "$root/layout-mlir")"
  else
    install -D -s -m 644 "$bin/liblayout_plugin.so" "$root/layout-mlir/$library/layout/liblayout_plugin.so"
  fi
  # Under the names by which they link to each other.
  for file in README.md CHANGELOG.md SECURITY.md docs/*.{md,svg,png,json} $(find examples -type f -not -path "*/target/*" -not -path "*/build/*"); do
    install -D -m 644 "$file" "$doc/$file"
  done
  finish_package layout-mlir "$root/layout-mlir" "$bin" "layout-tools (= $version), " \
    "Recommends: mlir-$(tools/llvm.sh version)-tools
Suggests: libmlir-$(tools/llvm.sh version)-dev, cmake
Description: Tensor layouts for MLIR
 A dialect of MLIR for tiled layouts in XLA's notation and for TensorLayouts over
 a tree of memories, and the passes that lower them: a driver, a plugin for stock
 mlir-opt, a language server; the library, headers and CMake files for compilers
 that use it."
}

try_packages() {
  local root plugin deb tool
  root=$(mktemp -d)
  # shellcheck disable=SC2064 # the folder's name is known now
  trap "rm -rf '$root'" EXIT
  mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates"
  touch "$root/var/lib/dpkg/status"
  for deb in "$@"; do
    install_package "$deb" "$root"
  done
  for tool in ${tools[*]}; do
    "$root/usr/bin/$tool" --version
    man --warnings -l "$root/usr/share/man/man1/$tool.1.gz" >/dev/null 2>&1 ||
      ! command -v man >/dev/null || fail "the man page of $tool does not show"
    bash -c 'source "$1" && complete -p "$2"' - "$root/usr/share/bash-completion/completions/$tool" "$tool" >/dev/null
  done
  plugin=$(find "$root/usr/lib" -iname 'liblayout*plugin.so')
  "$llvm/bin/mlir-opt" examples/relayout.mlir --load-dialect-plugin="$plugin" --load-pass-plugin="$plugin" \
    --pass-pipeline='builtin.module(layout-to-memref)' -o /dev/null
  BIN=$root/usr/bin tools/demo.sh
  if [[ -n $(find "$root/usr/lib" -name libLayout.so) ]]; then
    cmake -S "$root/usr/share/doc/layout-mlir/examples/embed-cpp" -B "$root/build" -G Ninja \
      -DCMAKE_PREFIX_PATH="$root/usr" >/dev/null
    cmake --build "$root/build" >/dev/null
    "$root/build/mini-opt" examples/embed-cpp/matmul.mlir --mini-pipeline -o /dev/null
  fi
  echo "package: $* work"
}

# Installs a package with dpkg into a root, where only packages made here are: other dependencies have to be on this
# machine.
install_package() {
  local admin=$2/var/lib/dpkg name depends package version
  name=$(dpkg-deb --field "$1" Package)
  dpkg --root="$2" --force-not-root --force-depends --force-bad-path --log=/dev/null --install "$1" >"$admin/log" 2>&1 ||
    fail "dpkg does not install $1: $(<"$admin/log")"
  [[ $(dpkg-query --admindir="$admin" --show --showformat='${Status}' "$name") == 'install ok installed' ]] ||
    fail "$1 is not installed"
  dpkg --root="$2" --verify "$name"
  depends=$(dpkg-query --admindir="$admin" --show --showformat='${Depends}' "$name")
  while read -r package version; do
    [[ -z ${tools[$package]:-} ]] || continue
    dpkg --compare-versions "$(dpkg-query --show --showformat='${Version}' "$package")" ge "$version" ||
      fail "$1 needs $package $version"
  done < <(sed 's/, /\n/g; s/[(>=)]//g' <<<"$depends")
}

case ${1:-make} in
  make)
    made=$(make_packages)
    echo "$made"
    mapfile -t debs <<<"$made"
    try_packages "${debs[@]}"
    ;;
  only) make_packages ;;
  try)
    [[ $# -ge 2 ]] || fail "try which packages?"
    mapfile -t debs < <(cd "$here" && realpath "${@:2}")
    try_packages "${debs[@]}"
    ;;
  *) fail "there are make, only and try, and no $1" ;;
esac
