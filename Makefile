# The two commands: `make demo` and `make test`. Each does its own set-up; every stage of `test` is a target of its own.

SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

CACHE ?= $(if $(XDG_CACHE_HOME),$(XDG_CACHE_HOME),$(HOME)/.cache)/deckle
export CARGO_TARGET_DIR ?= $(CACHE)/target
# Real documents, hostile cases and the reference parser stand beside the checkout.
export DECKLE_SHARED ?= $(abspath $(CURDIR)/../shared)
export DECKLE_CACHE := $(CACHE)

CARGO := cargo
STAGES := fmt lint unit fuzz docs deps

.PHONY: help demo test setup setup-tools setup-oracle setup-mcp setup-services $(STAGES) sabotage prove bench build install clean-cache

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | awk 'BEGIN {FS = ":.*## "} {printf "  make %-14s %s\n", $$1, $$2}'

demo: ## Set up and run the main job on a sample workspace (DEMO_YES=1 does not wait for the answer)
	@scripts/need.sh cargo
	@$(CARGO) build --quiet --locked --bin deckle
	@"$(CARGO_TARGET_DIR)/debug/deckle" demo $(if $(DEMO_YES),--yes)

test: setup ## Set up and run every stage; this is all that CI runs
	@for stage in $(STAGES); do scripts/stage.sh $$stage; done
	@scripts/stage.sh --summary

setup: setup-tools setup-oracle setup-mcp setup-services ## Install what the tests need

setup-tools:
	@scripts/need.sh cargo node npm python3 git
	@cargo nextest --version >/dev/null 2>&1 || $(CARGO) install --locked cargo-nextest

setup-oracle:
	@scripts/oracle.sh

setup-mcp:
	@scripts/mcp.sh

setup-services:
	@scripts/services.sh install

fmt: ## Check the formatting
	@$(CARGO) fmt --all --check

lint: ## Clippy with warnings as errors, and the rules of the house
	@$(CARGO) clippy --workspace --all-targets --locked --quiet -- -D warnings
	@$(CARGO) xtask tidy

unit: ## Every test, on the real Postgres and Redis
	@scripts/services.sh with $(CARGO) nextest run --workspace --locked --profile ci
	@$(CARGO) test --doc --workspace --locked --quiet

docs: ## Rustdoc without warnings (generated pages are checked by `unit`)
	@RUSTDOCFLAGS=-Dwarnings $(CARGO) doc --workspace --no-deps --locked --quiet

deps: ## Licences, sources, bans, unused dependencies
	@$(CARGO) xtask deps

fuzz: ## Each fuzz target for FUZZ_SECONDS (30)
	@$(CARGO) xtask fuzz --seconds $${FUZZ_SECONDS:-30}

sabotage: ## Each harness must fail when its safety is removed
	@$(CARGO) xtask sabotage

prove: setup ## The proofs at larger counts: random documents and edits, fuzzing
	@$(CARGO) xtask prove docs --corpus $(DECKLE_SHARED)/corpora --mutations $${DECKLE_MUTATIONS:-1000000}
	@DECKLE_EDITS=$${DECKLE_EDITS:-200000} DECKLE_PROVE_SCALE=25 scripts/services.sh with $(CARGO) nextest run --workspace --locked --cargo-profile prove
	@FUZZ_SECONDS=$${FUZZ_SECONDS:-600} $(MAKE) fuzz

bench: setup-oracle ## Measure side by side and write docs/benchmarks.md
	@$(CARGO) bench --workspace --locked --quiet
	@$(CARGO) xtask bench

install: ## Install the `deckle` command
	@$(CARGO) install --locked --path crates/deckle
