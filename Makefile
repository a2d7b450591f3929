# The two commands: `make demo` and `make test`. Every stage of `test` is a target of its own.
export CARGO_TARGET_DIR ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/deckle/target
.DEFAULT_GOAL := help
