#!/usr/bin/env bash
# Says which of the named programs is missing, and how to get it.
set -euo pipefail
missing=0
for program in "$@"; do
  command -v "$program" >/dev/null 2>&1 && continue
  missing=1
  case "$program" in
    cargo) echo "error: \`cargo\` is missing; install Rust with rustup" >&2 ;;
    node | npm) echo "error: \`$program\` is missing; install Node.js 20 or later" >&2 ;;
    *) echo "error: \`$program\` is missing; install it with the system's package manager" >&2 ;;
  esac
done
exit "$missing"
