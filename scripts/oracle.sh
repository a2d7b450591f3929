#!/usr/bin/env bash
# Installs the reference parser that the differential tests run, outside the checkout.
set -euo pipefail
shared="${DECKLE_SHARED:?run it through make}"
cache="${DECKLE_CACHE:?run it through make}/oracle"
if [ ! -f "$shared/oracle/blocks.mjs" ]; then
  echo "error: $shared/oracle is not there; the tests read real documents and the reference parser from \`shared\`, beside the checkout (DECKLE_SHARED)" >&2
  exit 1
fi
mkdir -p "$cache"
if ! cmp -s "$shared/oracle/package-lock.json" "$cache/package-lock.json" || [ ! -d "$cache/node_modules" ]; then
  cp -f "$shared"/oracle/* "$cache/"
  chmod -R u+w "$cache"
  (cd "$cache" && npm ci --silent --no-audit --no-fund)
fi
cp -f "$shared/oracle/blocks.mjs" "$cache/blocks.mjs"
