# Two stages: a toolchain that builds the host and the sample programs, and a small Debian with the interpreters that
# native programs want (sh, perl, python3). Nothing here needs BuildKit, so that any engine can build it.
#
#   docker build -t warmbin .
#   docker run --rm -p 127.0.0.1:8080:8080 -p 127.0.0.1:8081:8081 -v warmbin-data:/data warmbin

# Where no registry is reached, others stand in for these (docker/base-images.sh).
ARG RUST_IMAGE=rust:1.95-bookworm
ARG DEBIAN_IMAGE=debian:bookworm-slim

FROM ${RUST_IMAGE} AS build
WORKDIR /src
RUN rustup target add wasm32-wasip1

# Dependencies first, against empty crates: this layer is rebuilt only when a manifest or the lock file changes, and
# it holds the minutes that compiling the WebAssembly engine takes.
COPY Cargo.toml Cargo.lock ./
COPY host/cgi/Cargo.toml host/cgi/
COPY host/exec/Cargo.toml host/exec/
COPY host/store/Cargo.toml host/store/
COPY host/bench/Cargo.toml host/bench/
COPY host/server/Cargo.toml host/server/
COPY dashboard/Cargo.toml dashboard/
COPY tests/Cargo.toml tests/
RUN for crate in host/cgi host/exec host/store host/bench host/server dashboard tests; do \
        mkdir -p $crate/src && echo '//! Empty.' > $crate/src/lib.rs; \
    done \
    && mkdir -p tests/host && echo 'fn main() {}' | tee host/server/src/main.rs > tests/host/main.rs \
    && cargo build --release --locked -p warmbin

COPY . .
# The empty crates are newer than the real ones as far as Cargo can tell. Only tests have a use for the puppet.
RUN find host dashboard -name '*.rs' -exec touch {} + \
    && make build guests \
    && rm guests/bin/puppet guests/wasm/puppet.wasm

FROM ${DEBIAN_IMAGE}
# The host itself never speaks TLS; scripts that fetch something need the certificates.
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates perl python3 \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 10001 warmbin \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin warmbin \
    && install -d -o warmbin -g warmbin -m 0750 /data
COPY --from=build /src/target/release/warmbin /usr/local/bin/warmbin
COPY --from=build /src/guests/bin /usr/share/warmbin/guests/bin
COPY --from=build /src/guests/wasm /usr/share/warmbin/guests/wasm
COPY guests/scripts /usr/share/warmbin/guests/scripts
COPY guests/warmbin.toml /usr/share/warmbin/guests/warmbin.toml

# Inside a container, loopback reaches nobody: both listeners bind every address, and the port mapping decides who may
# connect. A dashboard that others can reach needs a token; without WARMBIN_ADMIN_TOKEN one is made and printed once.
# For the same reason a request's mode may be picked only with the token.
ENV WARMBIN_LISTEN=0.0.0.0:8080 \
    WARMBIN_ADMIN_LISTEN=0.0.0.0:8081 \
    WARMBIN_DATA=/data \
    WARMBIN_MODE_OVERRIDE=authenticated \
    WARMBIN_ADMIN_TOKEN_GENERATE=true

LABEL org.opencontainers.image.title="warmbin" \
      org.opencontainers.image.description="A CGI host with sample programs: native or WebAssembly, measured" \
      org.opencontainers.image.source="https://github.com/warmbin/warmbin" \
      org.opencontainers.image.licenses="MIT OR Apache-2.0"

USER 10001:10001
VOLUME /data
EXPOSE 8080 8081
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 CMD ["warmbin", "healthcheck"]
ENTRYPOINT ["warmbin"]
CMD ["serve", "--config", "/usr/share/warmbin/guests/warmbin.toml"]
