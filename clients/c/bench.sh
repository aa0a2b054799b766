#!/bin/bash
# Measures a C module's round trip through the broker: bench.sh [CALLS]. STRATA
# names the program `strata`.
set -eu
cd "$(dirname "$0")"
# In /tmp, because a socket's path has at most 107 bytes.
folder=$(mktemp -d /tmp/strata-c-bench-XXXXXX)
app=
trap '[ -z "$app" ] || { kill -TERM "$app"; wait "$app"; }; rm -rf "$folder"' EXIT
${CC:-cc} -O2 -std=c11 -I. bench.c strata.c -o "$folder/bench"
echo "{app: cbench, modules: {Echo: {run: [$folder/bench], provides: [Echo]}}}" > "$folder/strata.yaml"
export XDG_RUNTIME_DIR=$folder
(cd "$folder" && exec "${STRATA:-strata}" up > up.log 2>&1) &
app=$!
until (cd "$folder" && "${STRATA:-strata}" call Echo/echo 1 > /dev/null 2>&1); do kill -0 "$app"; done
STRATA_SOCKET=$folder/strata/cbench.sock "$folder/bench" "${1:-20000}"
