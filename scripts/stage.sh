#!/usr/bin/env bash
# Runs one stage of `make test`, says how long it took, and fails with the command that repeats it.
set -euo pipefail
times="${DECKLE_CACHE:?run it through make}/stage-times"
if [ "$1" = --summary ]; then
  echo "── all stages passed ──"
  cat "$times"
  rm -f "$times"
  exit 0
fi
[ "$1" = fmt ] && rm -f "$times"
echo "── $1 ──"
start=$SECONDS
if ! make "$1"; then
  echo "error: stage \`$1\` failed; repeat it alone with: make $1" >&2
  exit 1
fi
printf '%-12s %5d s\n' "$1" "$((SECONDS - start))" >>"$times"
