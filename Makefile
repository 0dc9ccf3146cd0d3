# Every command there is. `make` alone lists them.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

CARGO ?= cargo
# Where cargo builds: CARGO_TARGET_DIR if the caller set it.
TARGET := $(abspath $(or $(CARGO_TARGET_DIR),target))
GUEST_TARGET := $(TARGET)/guests
GUESTS := $(basename $(notdir $(wildcard guests/src/bin/*.rs)))
WASM := wasm32-wasip1 wasm32-wasip2

.PHONY: help setup build guests run test conformance conformance-doc test-deps test-docker test-docker-deps lint fmt fmt-check docs clean

help: ## List the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 18

setup: ## Check for a C compiler and add the wasm targets
	@command -v cc >/dev/null || { echo 'a C compiler is needed (Debian: apt-get install gcc libc6-dev)' >&2; exit 1; }
	@command -v rustup >/dev/null || { echo 'rustup is needed: https://rustup.rs' >&2; exit 1; }
	@missing=$$(comm -23 <(printf '%s\n' $(WASM) | sort) <(rustup target list --installed | sort)); \
	if [ -n "$$missing" ]; then rustup target add $$missing; fi

build: setup ## Build the release binary, target/release/warmbin
	$(CARGO) build --release --locked -p warmbin

guests: setup ## Build the sample programs, natively and as WebAssembly
	$(CARGO) build --quiet --release --locked --manifest-path guests/Cargo.toml --target-dir $(GUEST_TARGET)
	$(CARGO) build --quiet --release --locked --manifest-path guests/Cargo.toml --target-dir $(GUEST_TARGET) --target wasm32-wasip1
	@mkdir -p guests/bin guests/wasm
	@# Renamed into place: a program that is running is never written to.
	@put() { cmp -s "$$1" "$$2" || { cp "$$1" "$$2.new" && mv "$$2.new" "$$2"; }; }; \
	for name in $(GUESTS); do \
		put $(GUEST_TARGET)/release/$$name guests/bin/$$name; \
		put $(GUEST_TARGET)/wasm32-wasip1/release/$$name.wasm guests/wasm/$$name.wasm; \
	done

run: build guests ## Serve the sample programs, with the dashboard
	$(TARGET)/release/warmbin serve --config guests/warmbin.toml

test: setup test-deps guests ## Run every test
	$(CARGO) test --quiet --locked --lib --manifest-path guests/Cargo.toml --target-dir $(GUEST_TARGET)
	@# Built together, so that the host under test has the very dependencies the tests have, and is built once.
	$(CARGO) build --locked --workspace --all-targets
	if $(CARGO) nextest --version >/dev/null 2>&1; then \
		$(CARGO) nextest run --locked --workspace --no-fail-fast; \
	else \
		$(CARGO) test --locked --workspace --no-fail-fast; \
	fi

# Command → Debian package. Only what is missing is installed.
TEST_NEEDS := chromium:chromium chromedriver:chromium-driver git:git perl:perl python3:python3 curl:curl
DOCKER_NEEDS := dockerd:docker.io docker:docker.io debootstrap:debootstrap docker-compose:docker-compose curl:curl

define install
	@packages=; for need in $(1); do \
		command -v "$${need%%:*}" >/dev/null || packages="$$packages $${need##*:}"; \
	done; \
	if [ -n "$$packages" ]; then \
		sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
		$$sudo apt-get update -q; \
		DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -qy --no-install-recommends $$packages; \
	fi
endef

conformance: setup guests ## Run the CGI rules alone, every case in every mode (docs/CONFORMANCE.md)
	$(CARGO) build --locked -p warmbin -p warmbin-tests --all-targets
	$(CARGO) test --locked -p warmbin-tests conformance

conformance-doc: ## Write docs/CONFORMANCE.md anew from the cases
	WARMBIN_WRITE_DOCS=1 $(CARGO) test --locked -p warmbin-tests conformance::document

test-deps: ## Install the Debian packages that tests use, if they are missing
	$(call install,$(TEST_NEEDS))

test-docker-deps: ## Install a Docker engine from Debian's packages, if there is none
	$(call install,$(DOCKER_NEEDS))

test-docker: test-docker-deps ## Build the image and test it in a container (needs dockerd, debootstrap)
	docker/test.sh

lint: ## Clippy on everything, warnings denied
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	$(CARGO) clippy --locked --manifest-path guests/Cargo.toml --target-dir $(GUEST_TARGET) --all-targets -- -D warnings

fmt: ## Format everything
	$(CARGO) fmt --all
	$(CARGO) fmt --manifest-path guests/Cargo.toml

fmt-check: ## Fail where `make fmt` would change something
	$(CARGO) fmt --all --check
	$(CARGO) fmt --manifest-path guests/Cargo.toml --check

docs: ## Build the internal documentation, warnings denied
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --locked --workspace --no-deps --document-private-items

clean: ## Remove what was built here, sample programs included
	$(CARGO) clean
	rm -rf guests/bin guests/wasm
