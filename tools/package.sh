#!/usr/bin/env bash
# Makes a Debian package of the tools, the plugin, the library, man pages and completions: target/package/*.deb.
#
#   tools/package.sh          builds in release mode, makes the package, and tries it with tools/package.sh try
#   tools/package.sh only     makes it and does not try it
#   tools/package.sh try DEB  unpacks a package into an empty folder and runs the demo with what is in there
#
# BIN=FOLDER takes the tools and the plugin from there and does not build them; LIBRARY=no leaves the library out;
# OUT=FOLDER is where the package goes.
set -euo pipefail
here=$PWD
cd "$(dirname "$0")/.."

name=layout-mlir
out=${OUT:-${CARGO_TARGET_DIR:-target}/package}
llvm=$(sed -n 's/^MLIR_SYS_.*_PREFIX = "\(.*\)"/\1/p' .cargo/config.toml)
tools=(layout-opt layout-lsp-server layout-inspect layout-translate)

fail() {
  echo "package: $*" >&2
  exit 1
}

# THE LIBRARY: whatever `cmake --install` installs goes into the package, for those who call the dialect from C and C++;
# nothing where there are no install rules. Arguments: the root that stands for /.
install_library() {
  [[ ${LIBRARY:-yes} == yes ]] || return 0
  grep -qs '^ *install(' CMakeLists.txt tools/*/*.cmake || return 0
  # Debian keeps libraries in a folder for the architecture.
  cmake -S . -B "$out/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr \
    -DCMAKE_INSTALL_LIBDIR="lib/$(multiarch)" -DMLIR_DIR="$llvm/lib/cmake/mlir" \
    -DLAYOUT_CARGO_TARGET_DIR="$(realpath -m "${CARGO_TARGET_DIR:-target}")" >/dev/null
  cmake --build "$out/build" >/dev/null
  DESTDIR=$1 cmake --install "$out/build" >/dev/null
}

multiarch() {
  gcc -print-multiarch
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

make_package() {
  local bin=${BIN:-} root=$out/root version arch tool doc library
  command -v dpkg-deb >/dev/null || fail "dpkg-deb is needed"
  if [[ -z $bin ]]; then
    cargo build --release --quiet -p layout-opt -p layout-inspect -p layout-translate
    bin=${CARGO_TARGET_DIR:-target}/release
  fi
  version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
  arch=$(dpkg --print-architecture)
  library=usr/lib/$(multiarch)
  doc=$root/usr/share/doc/$name
  SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
  export SOURCE_DATE_EPOCH

  rm -rf "$root"
  mkdir -p "$root"
  umask 022
  install_library "$(realpath "$root")"
  for tool in "${tools[@]}"; do
    install -D -s "$bin/$tool" "$root/usr/bin/$tool"
    install -d "$root/usr/share/man/man1"
    tools/man.sh "$bin/$tool" | gzip -9n >"$root/usr/share/man/man1/$tool.1.gz"
    # Shells look for a completion by the name of the command.
    install -D -m 644 tools/completions/layout.bash "$root/usr/share/bash-completion/completions/$tool"
    install -D -m 644 tools/completions/layout.fish "$root/usr/share/fish/vendor_completions.d/$tool.fish"
  done
  install -D -m 644 tools/completions/_layout-tools "$root/usr/share/zsh/vendor-completions/_layout-tools"
  install -D -s -m 644 "$bin/liblayout_plugin.so" "$root/$library/layout/liblayout_plugin.so"
  install -D -m 644 README.md "$doc/README.md"
  gzip -9n <CHANGELOG.md >"$doc/changelog.gz"
  gzip -9n <THIRD-PARTY.md >"$doc/THIRD-PARTY.md.gz"
  install -m 644 LICENSE "$doc/copyright"
  install -d "$doc/examples"
  install -m 644 examples/*.mlir "$doc/examples"

  local depends
  depends=$(dependencies "$root")
  [[ -n $depends ]] || fail "the tools link nothing?"
  install -d "$root/DEBIAN"
  [[ ! -e $root/$library/libLayout.so ]] || echo 'activate-noawait ldconfig' >"$root/DEBIAN/triggers"
  (cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
  cat >"$root/DEBIAN/control" <<END
Package: $name
Version: $version
Architecture: $arch
Section: devel
Priority: optional
Maintainer: The authors of layout-mlir <layout-mlir@example.invalid>
Installed-Size: $(du -sk "$root/usr" | cut -f 1)
Depends: $depends
Recommends: mlir-${llvm##*-}-tools
Suggests: libmlir-${llvm##*-}-dev
Description: Tensor layouts for MLIR
 A dialect of MLIR for tiled layouts in XLA's notation and for TensorLayouts over
 a tree of memories, the passes that lower them, and tools to look at layouts: a
 driver, a plugin for stock mlir-opt, a language server, an inspector, and an
 importer of HLO.
END
  find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
  dpkg-deb --root-owner-group -Z"${DEB_COMPRESS:-xz}" --build "$root" "$out/${name}_${version}_$arch.deb" >/dev/null
  echo "$out/${name}_${version}_$arch.deb"
}

try_package() {
  local root plugin
  root=$(mktemp -d)
  # shellcheck disable=SC2064 # the folder's name is known now
  trap "rm -rf '$root'" EXIT
  dpkg-deb --extract "$1" "$root"
  for tool in "${tools[@]}"; do
    "$root/usr/bin/$tool" --version
    man --warnings -l "$root/usr/share/man/man1/$tool.1.gz" >/dev/null 2>&1 ||
      ! command -v man >/dev/null || fail "the man page of $tool does not show"
    bash -c 'source "$1" && complete -p "$2"' - "$root/usr/share/bash-completion/completions/$tool" "$tool" >/dev/null
  done
  plugin=$(find "$root/usr/lib" -name liblayout_plugin.so)
  "$llvm/bin/mlir-opt" examples/relayout.mlir --load-dialect-plugin="$plugin" --load-pass-plugin="$plugin" \
    --pass-pipeline='builtin.module(layout-to-memref)' -o /dev/null
  BIN=$root/usr/bin tools/demo.sh
  echo "package: $1 works"
}

case ${1:-make} in
  make)
    deb=$(make_package)
    echo "$deb"
    try_package "$deb"
    ;;
  only) make_package ;;
  try)
    [[ $# == 2 ]] || fail "try which package?"
    try_package "$(cd "$here" && realpath "$2")"
    ;;
  *) fail "there are make, only and try, and no $1" ;;
esac
