# Every command there is. `make` alone lists them.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

CARGO ?= cargo
# Where cargo builds: CARGO_TARGET_DIR if the caller set it.
TARGET := $(or $(CARGO_TARGET_DIR),$(CURDIR)/target)
GUEST_TARGET := $(TARGET)/guests
GUESTS := $(basename $(notdir $(wildcard guests/src/bin/*.rs)))
WASM := wasm32-wasip1
PREFIX ?= /usr/local

.PHONY: help setup build install guests run smoke preview test conformance conformance-doc fuzz snapshots ci \
	test-deps image test-docker test-docker-prebuilt test-docker-deps lint-deps lint fmt fmt-check docs clean

help: ## List the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 18

setup: ## Check for a C compiler and add the wasm target
	@command -v cc >/dev/null || { echo 'a C compiler is needed (Debian: apt-get install gcc libc6-dev)' >&2; exit 1; }
	@command -v rustup >/dev/null || { echo 'rustup is needed: https://rustup.rs' >&2; exit 1; }
	@targets=$$(rustup target list --installed); \
	if ! grep -qx '$(WASM)' <<< "$$targets"; then rustup target add $(WASM); fi

build: setup ## Build the release binary, target/release/warmbin
	$(CARGO) build --release --locked -p warmbin

install: build ## Install the binary below PREFIX (/usr/local)
	install -D -m 0755 "$(TARGET)/release/warmbin" "$(DESTDIR)$(PREFIX)/bin/warmbin"

guests: setup ## Build the sample programs, natively and as WebAssembly
	$(CARGO) build --quiet --release --locked --manifest-path guests/Cargo.toml --target-dir "$(GUEST_TARGET)"
	$(CARGO) build --quiet --release --locked --manifest-path guests/Cargo.toml --target-dir "$(GUEST_TARGET)" --target $(WASM)
	@mkdir -p guests/bin guests/wasm
	@# Renamed into place: a program that is running is never written to.
	@put() { cmp -s "$$1" "$$2" || { cp "$$1" "$$2.new" && mv "$$2.new" "$$2"; }; }; \
	for name in $(GUESTS); do \
		put "$(GUEST_TARGET)/release/$$name" guests/bin/$$name; \
		put "$(GUEST_TARGET)/$(WASM)/release/$$name.wasm" guests/wasm/$$name.wasm; \
	done

run: build guests ## Serve the sample programs, with the dashboard
	"$(TARGET)/release/warmbin" serve --config guests/warmbin.toml

smoke: ## Walk through the host that `make run` serves
	tests/smoke.sh http://127.0.0.1:8080 http://127.0.0.1:8081 "$$(cat guests/warmbin-data/admin-token)"

preview: ## Serve the dashboard over made-up records, on http://127.0.0.1:8099
	$(CARGO) run --locked -p warmbin-dashboard --example preview

# These load both cores or start a browser. Nextest knows them from .config/nextest.toml; plain cargo has to be told.
HEAVY := browser:: api::load:: real::git:: conformance::load body::tests::b04 body_faults::tests::x114

test: setup test-deps guests ## Run every test
	$(CARGO) test --quiet --locked --lib --manifest-path guests/Cargo.toml --target-dir "$(GUEST_TARGET)"
	@# Built together, so that the host under test has the very dependencies the tests have, and is built once.
	$(CARGO) build --locked --workspace --all-targets
	if $(CARGO) nextest --version >/dev/null 2>&1; then \
		$(CARGO) nextest run --locked --workspace --no-fail-fast; \
	else \
		status=0; \
		$(CARGO) test --locked --workspace --no-fail-fast -- $(addprefix --skip ,$(HEAVY)) || status=1; \
		$(CARGO) test --locked --workspace --test host -- --test-threads=1 $(HEAVY) || status=1; \
		exit $$status; \
	fi

conformance: setup guests ## Run the CGI rules alone, every case in every mode (docs/CONFORMANCE.md)
	$(CARGO) build --locked --workspace --bin warmbin --test host
	$(CARGO) test --locked --workspace --test host conformance

conformance-doc: ## Write docs/CONFORMANCE.md anew from the cases
	WARMBIN_WRITE_DOCS=1 $(CARGO) test --locked --workspace --test host conformance::document

FUZZ_TARGETS := $(basename $(notdir $(wildcard tests/fuzz/targets/*.rs)))
FUZZ_SECONDS ?= 300

fuzz: ## Fuzz what reads the words of others, FUZZ_SECONDS (300) each; what was learned stays in target/fuzz-corpus
	@$(CARGO) fuzz --version >/dev/null 2>&1 || $(CARGO) install --locked cargo-fuzz
	@# Instrumentation is a nightly feature; nothing else of a nightly toolchain is needed.
	for target in $(FUZZ_TARGETS); do \
		mkdir -p "$(TARGET)/fuzz-corpus/$$target"; \
		RUSTC_BOOTSTRAP=1 $(CARGO) fuzz run --fuzz-dir tests/fuzz --target-dir "$(TARGET)/fuzz" $$target \
			"$(TARGET)/fuzz-corpus/$$target" -- -max_total_time=$(FUZZ_SECONDS) -timeout=10 -print_final_stats=1; \
	done

snapshots: ## Accept what pages and the API's description look like now; then read the difference
	INSTA_UPDATE=always $(CARGO) test --locked -p warmbin -p warmbin-dashboard --lib

ci: ## All that has to hold before a change is merged
	.ci/run

# Command or file:package, for what tests use; the lines from git on are programs of docs/PROGRAMS.md and what they need.
# man2html depends on some web server: this one is small and stays off.
TEST_NEEDS := chromium:chromium chromedriver:chromium-driver perl:perl python3:python3 curl:curl \
	git:git /usr/lib/git-core/git-http-backend:git /usr/lib/cgit/cgit.cgi:cgit \
	/usr/lib/cgi-bin/gitweb.cgi:gitweb /usr/share/perl5/HTTP/Date.pm:libhttp-date-perl \
	/usr/share/perl5/CGI.pm:libcgi-pm-perl php-cgi:php-cgi \
	/usr/lib/cgi-bin/man/man2html:mini-httpd /usr/lib/cgi-bin/man/man2html:man2html \
	haserl:haserl /usr/lib/cgi-bin/mimetex.cgi:mimetex fossil:fossil
# Debian 13 has the command `docker` in a package of its own.
DOCKER_NEEDS := dockerd:docker.io 'docker:docker-cli|docker.io' debootstrap:debootstrap docker-compose:docker-compose \
	curl:curl python3:python3

test-deps: ## Install the Debian packages that tests use, if they are missing
	@# A program that this release does not have fails its own tests; the others are run.
	@.ci/install $(TEST_NEEDS) || [[ $$? == 3 ]]

image: ## Build the Docker image, warmbin
	docker build -t warmbin .

test-docker-deps: ## Install a Docker engine from Debian's packages, if there is none
	@.ci/install $(DOCKER_NEEDS)

test-docker: test-docker-deps ## Build the image and test it in a container (needs dockerd, debootstrap)
	docker/test.sh

test-docker-prebuilt: test-docker-deps guests ## Test the image around the binary that `make test` has built: quicker
	$(CARGO) build --locked --workspace --bin warmbin
	docker/test.sh --prebuilt "$(TARGET)/debug/warmbin"

lint-deps: ## Add clippy and rustfmt, which a minimal toolchain lacks
	@command -v rustup >/dev/null || exit 0; \
	components=$$(rustup component list --installed); \
	for name in clippy rustfmt; do \
		grep -q "^$$name" <<< "$$components" || rustup component add $$name; \
	done

lint: lint-deps ## Clippy on everything, warnings denied
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	$(CARGO) clippy --locked --manifest-path guests/Cargo.toml --target-dir "$(GUEST_TARGET)" --all-targets -- -D warnings

fmt: lint-deps ## Format everything
	$(CARGO) fmt --all
	$(CARGO) fmt --manifest-path guests/Cargo.toml
	$(CARGO) fmt --manifest-path tests/fuzz/Cargo.toml

fmt-check: lint-deps ## Fail where `make fmt` would change something
	$(CARGO) fmt --all --check
	$(CARGO) fmt --manifest-path guests/Cargo.toml --check
	$(CARGO) fmt --manifest-path tests/fuzz/Cargo.toml --check

docs: ## Build the internal documentation, warnings denied
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --locked --workspace --no-deps --document-private-items

clean: ## Remove what was built here, sample programs included
	$(CARGO) clean
	rm -rf guests/bin guests/wasm
