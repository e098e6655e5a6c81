#!/usr/bin/env bash
# A Python with the packages of a list: `tools/python.sh FOLDER LIST`. They are installed where the list has changed.
set -euo pipefail
cd "$(dirname "$0")/.."

home=$1 list=$2
cmp --silent "$list" "$home/installed.txt" && exit
python3 -c 'import ensurepip, venv' 2>/dev/null || tools/setup.sh python3-venv
rm -rf "$home"
python3 -m venv "$home"
"$home/bin/pip" install --quiet --disable-pip-version-check --requirement "$list"
cp "$list" "$home/installed.txt"
