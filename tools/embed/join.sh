#!/bin/sh
# Joins what a compiler can use of archives and object files into one archive, with GNU ld and objcopy.
#
#   join.sh LD NM OBJCOPY AR MAP OUTPUT INPUT..
#
# MAP lists the names that stay in use, as for libLayout.so. Functions that none of them needs are left out, and so are
# the names of MLIR's that only those use: a compiler links no library for them. The names of Rust become local, so that
# another archive of Rust in the same program has its own.
set -eu
ld=$1 nm=$2 objcopy=$3 ar=$4 map=$5 output=$6
shift 6

# The patterns of MAP as regular expressions, and the names that they match as options. Plugins for other formats are of no
# use here, and fail on large objects.
patterns=$(sed -n '/global:/,/local:/s/^ *\([^ :;]*\);.*$/^\1$/p' "$map" | sed 's/\*/.*/g; s/?/./g')
"$nm" --plugin=/dev/null --extern-only --defined-only "$@" | awk 'NF == 3 { print $3 }' |
  grep -e "$patterns" | sort -u | sed 's/^/--undefined=/' > "$output.names"
"$ld" -r --gc-sections --strip-debug "@$output.names" -o "$output.o" "$@"
"$objcopy" --strip-unneeded --localize-hidden --wildcard --localize-symbol='_R*' \
  --localize-symbol='_ZN*17h????????????????E' --localize-symbol='rust_*' --localize-symbol='__r*' "$output.o"
# These, which are local now, are one in a program with several archives of Rust.
"$objcopy" --wildcard --globalize-symbol='DW.ref.*' "$output.o"
rm -f "$output" "$output.names"
"$ar" --plugin=/dev/null rcs "$output" "$output.o"
rm "$output.o"
