#!/usr/bin/env bash
# Licences, bans, sources and advisories of all crates, as deny.toml says; by cargo-deny. Advisories are looked up where
# their database can be fetched, and else left out with a line that says so.
#
#   tools/deny.sh                 fails where cargo-deny is not installed
#   tools/deny.sh --if-installed  does nothing there
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v cargo-deny >/dev/null; then
  [[ ${1:-} != --if-installed ]] || exit 0
  echo "deny: there is no cargo-deny on the PATH: cargo install cargo-deny --locked" >&2
  exit 1
fi
cargo deny --log-level warn --offline check --hide-inclusion-graph licenses bans sources
if timeout 60 cargo deny fetch db >/dev/null 2>&1; then
  cargo deny --log-level warn check --disable-fetch advisories
else
  echo "deny: the database of advisories cannot be fetched, so they are not looked up" >&2
fi
