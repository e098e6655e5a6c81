#!/usr/bin/env bash
# Prints the man page of layout-opt or layout-lsp-server, whose command line is that of MLIR's driver: its own help as roff,
# with what tools/man adds. `tools/man.sh target/release/layout-opt`
set -euo pipefail

tool=$1
name=${tool##*/}
more=$(dirname "$0")/man/$name.txt
version=$("$tool" --version | sed -n '1s/^[^ ]* \([^ ,]*\).*/\1/p')

{
  # The hundreds of options of MLIR and LLVM are left to --help.
  "$tool" --help | sed '/^OPTIONS:/,$d'
  [[ ! -f $more ]] || cat "$more"
} | awk -v name="$name" -v version="$version" '
  function roff(text) {
    gsub(/\\/, "\\e", text); gsub(/-/, "\\-", text); gsub(/`/, "\\(ga", text); gsub(/\047/, "\\(aq", text)
    return text ~ /^[.]/ ? "\\&" text : text
  }
  function say(text) { body[section] = body[section] text "\n" }
  function open(title) {
    section = toupper(title)
    if (!(section in body)) { order[++sections] = section; body[section] = "" }
  }
  BEGIN { open("SYNOPSIS"); open("DESCRIPTION") }
  NR == 1 { sub(/^OVERVIEW: /, ""); sub("^" name ", ", ""); sub(/[.]$/, ""); title = $0; next }
  /^Available Dialects:/ { next }
  /^(Usage|USAGE): / { open("SYNOPSIS"); sub(/^[^ ]* /, ""); say(roff($0)); say(".br"); next }
  /^[^ ]/ && section == "SYNOPSIS" { open("DESCRIPTION") }
  /^[A-Z][A-Za-z ]*:$/ { sub(/:$/, ""); open($0); listed = 1; next }
  /^$/ { if (listed) { listed = 0; open("DESCRIPTION") } else if (body[section] != "") say(".PP"); next }
  # An entry; its meaning follows after two spaces, or on the lines below, indented.
  listed && /^ / && !/^        / {
    sub(/^ */, "")
    at = match($0, /   */)
    say(".TP\n.B " roff(at ? substr($0, 1, at - 1) : $0))
    if (at) say(roff(substr($0, at + RLENGTH)))
    next
  }
  { sub(/^ */, ""); say(roff($0)); if (!listed) say(".br") }
  END {
    printf ".TH %s 1 \"\" \"layout %s\" \"Tensor layouts for MLIR\"\n.SH NAME\n%s \\- %s\n", toupper(name), version, roff(name), roff(title)
    for (i = 1; i <= sections; ++i) {
      text = body[order[i]]
      sub(/(\.(PP|br)\n)+$/, "", text)
      gsub(/\.br\n\.PP/, ".PP", text)
      if (text != "") printf ".SH %s\n%s", order[i], text
    }
  }'
