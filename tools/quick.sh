#!/usr/bin/env bash
# Formatting, Clippy and the nearest tests of the files that differ from a commit: `tools/quick.sh [COMMIT]`. Without one,
# from the last commit, or from the one before where nothing is uncommitted. Of the long tests one in sixteen runs, and each
# whose file differs.
set -euo pipefail
cd "$(dirname "$0")/.."
export LAYOUT_SAMPLE=${LAYOUT_SAMPLE:-$(($(date +%s) / 86400))/16}

changed() { git diff --name-only "$1"; git ls-files --others --exclude-standard; }
files=$(changed "${1-HEAD}")
[[ $files || ${1-} ]] || files=$(changed HEAD^)

# The test programs, parts of them, parts of lit, and the packages for each file; the first row that matches counts.
tests=() imports=() pages=() parts=() packages=()
while read -r file; do
  folder=$file
  while [[ $folder == */* && ! -e ${folder%/*}/Cargo.toml ]]; do folder=${folder%/*}; done
  # The manifest at the root is that of the maths.
  if [[ $file == *.rs && -e $file ]]; then
    [[ $folder == */* ]] && manifest=${folder%/*}/Cargo.toml || manifest=Cargo.toml
    packages+=("$(sed -n '/^\[package\]/,$s/^name = "\(.*\)"/\1/p' "$manifest" | head -n 1)")
  fi
  case $file in
    src/planning/*) tests+=(plan rules) ;;
    src/programs/*) tests+=(translate rules) imports+=(imports) parts+=(passes/expand-foreign run/foreign) ;;
    src/maps/* | src/expr.rs) tests+=(maps rules) ;;
    src/hlo/* | src/operations/* | src/analysis/*) tests+=(programs rules) ;;
    src/*) tests+=(layouts rules) ;;
    dialect/*) tests+=(rules) parts+=(dialect/) ;;
    passes/verify/*) tests+=(proofs rules) ;;
    passes/vectorize/*) tests+=(rules) parts+=(passes/vectorize) ;;
    passes/*) tests+=(rules) parts+=(passes/) ;;
    tools/inspect/*) tests+=(inspect) ;;
    tools/translate/*) tests+=(translate) imports+=(imports) ;;
    tools/opt/*) parts+=(tools/) ;;
    test/*/*.mlir | test/*/*.test) parts+=("${file#test/}") ;;
    test/reference/*) tests+=(layouts maps programs lowering) ;;
    test/lib.rs | test/pages.rs | test/build.rs) tests+=(structure) ;;
    test/jit.rs) tests+=(lowering) ;;
    test/*.rs | test/*/*.rs | test/*/*.txt)
      file=${file#test/} && file=${file%%/*} && file=${file%.rs}
      [[ ! -e test/$file.rs && ! -e test/$file/main.rs ]] || tests+=("$file")
      ;;
    docs/passes.md | docs/dialect.md) tests+=(rules) pages+=(docs) ;;
    docs/limits.md) tests+=(rules) pages+=(limits) ;;
    *.md)
      tests+=(rules)
      page=$(sed -n "s|^    \(.*\): \"$file\",|readme::\1|p" test/structure/readme.rs)
      [[ ! $page ]] || pages+=("$page")
      ;;
  esac
done <<< "$files"

cargo fmt --all --check
unique() { printf '%s\n' "$@" | sort -u; }
mapfile -t packages < <(unique "${packages[@]}" | sed '/^$/d; s/^/--package=/')
((${#packages[@]} == 0)) || cargo clippy --quiet --all-targets "${packages[@]}" -- -D warnings
mapfile -t tests < <(unique "${tests[@]}" | sed '/^$/d; s/^/--test=/')
((${#tests[@]} == 0)) || cargo test --workspace --quiet "${tests[@]}"
((${#imports[@]} == 0)) || cargo test --workspace --quiet --test lowering -- "${imports[@]}"
((${#pages[@]} == 0)) || LAYOUT_SAMPLE=0/1 cargo test --workspace --quiet --test structure -- "${pages[@]}"
# Installation and packages build the tools once more.
for part in $(unique "${parts[@]}"); do
  [[ $part == */ || $part == passes/vectorize ]] || export LAYOUT_SAMPLE=0/1
  cargo test --workspace --quiet --test lit -- "$part" --skip tools/install --skip tools/package
done
