#!/usr/bin/env bash
# Lowers the programs in examples/, runs them, and shows what became of them. Fails where a program's result with tiled
# layouts differs from the same computation on plain tensors by more than the program's header allows (`tolerance:`).
# BIN=FOLDER takes the tools from there, and builds nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

llvm=$(tools/llvm.sh)
bin=${BIN:-${CARGO_TARGET_DIR:-target}/release}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

bold='' plain=''
if [[ -t 1 && -z ${NO_COLOR:-} ]]; then bold=$'\e[1m' plain=$'\e[0m'; fi

fail() {
  echo "demo: $*" >&2
  exit 1
}

if [[ -z ${BIN:-} ]]; then
  [[ -x $bin/layout-opt ]] || echo "demo: building in release mode; the first time this takes a few minutes"
  cargo build --release --quiet -p layout-opt -p layout-inspect
fi

# The text of the first function that is defined in a module, with layouts in the place of their aliases.
first_function() {
  awk '/^#[a-z_]+[0-9]* = #layout\./ { name = $1; sub(/^[^=]*= /, ""); alias[name] = $0 }
    function whole(line,  text, name) {
      text = ""
      while (match(line, /#[a-z_]+[0-9]*/)) {
        name = substr(line, RSTART, RLENGTH)
        text = text substr(line, 1, RSTART - 1)
        line = substr(line, RSTART + RLENGTH)
        text = text ((name in alias) && line !~ /^\./ ? alias[name] : name)
      }
      return text line
    }
    /^  func\.func / && /{$/ { inside = 1 } inside { print whole($0) } inside && /^  }/ { exit }' "$1"
}

# The types of a function's arguments and result, one a line.
signature() {
  awk 'NR == 1 {
    text = substr($0, index($0, "(") + 1)
    gsub(/%arg[0-9]+: /, "", text)
    for (i = 1; depth >= 0; ++i) {
      c = substr(text, i, 1)
      if (c ~ /[(<{[]/) ++depth
      if (c ~ /[])>}]/) --depth
      if (depth < 0 || depth == 0 && c == ",") { print part; part = "" }
      else if (part != "" || c != " ") part = part c
    }
    text = substr(text, i)
    sub(/^ -> /, "", text); sub(/ {$/, "", text)
    print text
  }' "$1"
}

# What a lowered function holds: its loops, its divisions, and the innermost loop of its last nest. Fails if there are
# divisions. Arguments: the module, for its maps; the function.
essentials() {
  awk 'FNR == NR { if (/^#map/) { name = $1; sub(/^[^<]*</, ""); sub(/>$/, ""); maps[name] = $0 } next }
    function divides(line) { return line ~ /floordiv|ceildiv| mod |divsi|divui|remsi|remui/ }
    function plural(n, what) { return n " " what (n == 1 ? "" : "s") }
    # A map name with its arguments, as its expressions.
    function expanded(line,  name, given, map, arguments, n, i) {
      if (!match(line, /#map[0-9]*\([^)]*\)/)) return line
      name = substr(line, RSTART, RLENGTH)
      given = name; sub(/^[^(]*\(/, "", given); sub(/\)$/, "", given)
      map = name; sub(/\(.*/, "", map); map = maps[map]; sub(/^.* -> /, "", map)
      n = split(given, arguments, ", ")
      for (i = n; i > 0; --i) gsub("d" (i - 1), arguments[i], map)
      return substr(line, 1, RSTART - 1) map substr(line, RSTART + RLENGTH)
    }
    {
      line = $0
      while (match(line, /#map[0-9]*/)) {
        if (divides(maps[substr(line, RSTART, RLENGTH)])) ++divisions
        line = substr(line, RSTART + RLENGTH)
      }
      if (divides($0)) ++divisions
      line = expanded($0); sub(/ : memref<.*/, "", line); sub(/min \(/, "min(", line)
    }
    /affine\.for/ {
      ++loops
      match($0, /^ */)
      if (nests == 0 || RLENGTH <= indent) { ++nests; indent = RLENGTH; depth = 0; outer = "" }
      else { outer = outer (depth > 1 ? ", " : "") last }
      ++depth
      last = line; sub(/^.* to /, "", last); sub(/ {$/, "", last); sub(/,.*/, ", ..)", last)
      count = 0; open = 1
    }
    /^ *}$/ { open = 0 }
    open { body[++count] = line }
    END {
      printf "  %s in %s; ", plural(loops, "loop"), plural(nests, "nest")
      printf "divisions and remainders left in them: %d\n", divisions
      printf "  the innermost loop of the last nest (without types), inside loops to\n  %s:\n", outer
      match(body[1], /^ */); cut = RLENGTH
      for (i = 1; i <= count; ++i) print "    " substr(body[i], cut + 1)
      exit divisions > 0
    }' "$1" "$2"
}

# A table of the tiled types of a function, with the facts of layout-inspect for each.
memory() {
  grep -o 'tensor<[^<>]*, #layout\.tiled<[^<>]*>>' "$1" | awk '!seen[$0]++ {
    shape = $0; sub(/^tensor</, "", shape); sub(/,.*/, "", shape)
    layout = $0; sub(/^.*tiled</, "", layout); sub(/>>$/, "", layout)
    n = split(shape, parts, "x")
    element = parts[n]; sub(/^i/, "s", element)
    text = element "["
    for (i = 1; i < n; ++i) text = text parts[i] (i < n - 1 ? "," : "")
    print "{\"op\":\"layout\",\"text\":\"" text "]" layout "\"}"
  }' | "$bin/layout-inspect" --json | awk '
    function field(name,  value) {
      value = $0
      if (!sub(".*\"" name "\":\"?", "", value)) { print "demo: no " name " in " $0 > "/dev/stderr"; exit 1 }
      sub(/(",|,"|}).*/, "", value)
      return value
    }
    function grouped(n,  text) {
      for (n += 0; n >= 1000; n = int(n / 1000)) text = sprintf(",%03d%s", n % 1000, text)
      return n text
    }
    NR == 1 { printf "  %-46s %12s %12s %10s\n", "memory of a tensor of each kind", "bytes", "with padding", "waste" }
    {
      text = $0; sub(/.*"printed":"/, "", text); sub(/".*/, "", text)
      logical = field("logical_bytes"); padded = field("padded_bytes")
      waste = 100 * (padded - logical) / padded
      printf "  %-46s %12s %12s %8.1f %%\n", text, grouped(logical), grouped(padded), waste
    }'
}

show() {
  local file=$1 name tolerance difference before after seconds
  name=$(basename "$file" .mlir)
  tolerance=$(sed -n 's|^// tolerance: \([0-9.e-]*\).*|\1|p' "$file")
  "$bin/layout-opt" "$file" -o "$scratch/before.mlir" || fail "$file is not accepted"
  "$bin/layout-opt" "$file" '--layout-to-memref=form=physical' -o "$scratch/memref.mlir" || fail "$file is not lowered"
  "$bin/layout-opt" "$file" --layout-to-llvm -o "$scratch/llvm.mlir" || fail "$file is not lowered to LLVM"
  first_function "$scratch/before.mlir" >"$scratch/before.function"
  first_function "$scratch/memref.mlir" >"$scratch/memref.function"
  signature "$scratch/before.function" >"$scratch/before.types"
  signature "$scratch/memref.function" >"$scratch/memref.types"

  echo
  echo "$bold$file$plain  $(sed -n '1s|^// ||p' "$file")"
  awk 'FNR == NR { before[FNR] = $0; n = FNR; next }
    { printf "  %-8s %-60s -> %s\n", FNR < n ? "argument" : "result", before[FNR], $0 }' \
    "$scratch/before.types" "$scratch/memref.types"
  essentials "$scratch/memref.mlir" "$scratch/memref.function" || fail "$file: lowering left a division inside a tile"
  memory "$scratch/before.function"

  local TIMEFORMAT=%1R
  { time "$llvm/bin/mlir-runner" "$scratch/llvm.mlir" -e main -entry-point-result=void \
    -shared-libs="$llvm/lib/libmlir_c_runner_utils.so" \
    >"$scratch/printed" 2>"$scratch/errors"; } 2>"$scratch/seconds" ||
    fail "$file does not run: $(cat "$scratch/errors")"
  seconds=$(tail -n 1 "$scratch/seconds")
  sed -n 's/^\(tiled\|plain\) /  \1  .. /p' "$scratch/printed"
  difference=$(sed -n 's/^largest difference //p' "$scratch/printed")
  awk -v d="$difference" -v t="${tolerance:-0}" 'BEGIN { exit !(d ~ /^[0-9][0-9.e+-]*$/ && d + 0 <= t + 0) }' ||
    fail "$file: the tiled result differs by ${difference:-nothing printed}, more than ${tolerance:-0}"
  echo "  largest difference $difference (allowed ${tolerance:-0}), run in $seconds s: the numbers agree"
}

for file in examples/relayout.mlir examples/matmul.mlir examples/attention.mlir; do
  show "$file"
done
