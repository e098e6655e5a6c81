#!/usr/bin/env bash
# Makes docs/report.png: the page that `layout-inspect hlo --html` writes of examples/narrow.hlo, in Chromium.
#
#   tools/report-picture.sh              builds layout-inspect first
#   BIN=FOLDER tools/report-picture.sh   takes it from the folder
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -z "${BIN:-}" ]; then
  cargo build --release --quiet -p layout-inspect
  BIN=${CARGO_TARGET_DIR:-target}/release
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$BIN/layout-inspect" hlo examples/narrow.hlo --html "$scratch/report.html" --plan --machine tpu_v5e --seconds 60
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$scratch/profile" \
  --window-size=1000,900 --screenshot="$scratch/report.png" "file://$scratch/report.html" 2>"$scratch/log" ||
  { cat "$scratch/log" >&2; exit 1; }
size=$(stat -c %s "$scratch/report.png")
if [ "$size" -gt 150000 ]; then
  echo "report-picture: the picture must have at most 150000 bytes, found $size" >&2
  exit 1
fi
mv "$scratch/report.png" docs/report.png
