#!/bin/bash
# Finds the two base images of the Dockerfile, and prints what to set so that docker-compose.yml builds with them:
#
#   WARMBIN_RUST_IMAGE=…
#   WARMBIN_DEBIAN_IMAGE=…
#
# They are the official ones. Where no registry can be reached, others are made: Debian's slim image by debootstrap, and
# the Rust image from it plus this machine's toolchain. These have names of their own, as what calls itself `debian` or
# `rust` has to be that for everybody else on this machine.
#
# With --debian-only, only the second; made, it is of this machine's own release, whose binaries it is to run.
set -euo pipefail
cd "$(dirname "$0")/.."

# The default of a build argument of the Dockerfile.
default() {
    sed -n "s/^ARG $1=//p" Dockerfile
}

# Whether an image is there, or comes. Without a registry, the engine says so at once.
official() {
    docker image inspect "$1" > /dev/null 2>&1 || docker pull -q "$1" > /dev/null 2>&1
}

# And one of ours.
made() {
    docker image inspect "$1" > /dev/null 2>&1
}

slim=$(default DEBIAN_IMAGE)
rust=$(default RUST_IMAGE)
release=bookworm
if [[ ${1-} == --debian-only ]]; then
    rust=
    release=$(. /etc/os-release && echo "$VERSION_CODENAME")
    slim=debian:$release-slim
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

official "$slim" || slim=warmbin-base/$slim
[[ -z $rust ]] || official "$rust" || rust=warmbin-base/$rust

if [[ $slim == warmbin-base/* ]] && ! made "$slim"; then
    echo "base-images: making $slim with debootstrap" >&2
    debootstrap --variant=minbase "$release" "$work/slim" > "$work/debootstrap.log" ||
        { tail -20 "$work/debootstrap.log" >&2; exit 1; }
    # Certificates of this machine: behind a proxy that inspects TLS, the build could not reach crates.io without them.
    install -D -m 0644 /etc/ssl/certs/ca-certificates.crt "$work/slim/etc/ssl/certs/ca-certificates.crt"
    tar -C "$work/slim" -c . | docker import - "$slim" > /dev/null
fi

if [[ $rust == warmbin-base/* ]] && ! made "$rust"; then
    echo "base-images: making $rust from $slim and $(rustc --version)" >&2
    toolchain=$(rustup show active-toolchain | cut -d' ' -f1)
    sysroot=$(realpath "$(rustc --print sysroot)")
    mkdir -p "$work/rust/usr/local/rustup/toolchains" "$work/rust/usr/local/cargo/bin"
    tar -C "$sysroot" --exclude=share -c . |
        { mkdir "$work/rust/usr/local/rustup/toolchains/$toolchain" && tar -C "$work/rust/usr/local/rustup/toolchains/$toolchain" -x; }
    cp -L "$(command -v rustup)" "$work/rust/usr/local/cargo/bin/rustup"
    for name in cargo rustc; do ln -s rustup "$work/rust/usr/local/cargo/bin/$name"; done
    printf 'version = "12"\ndefault_toolchain = "%s"\nprofile = "minimal"\n' "$toolchain" > "$work/rust/usr/local/rustup/settings.toml"
    cat > "$work/rust/Dockerfile" <<DOCKERFILE
FROM $slim
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates gcc git libc6-dev make && rm -rf /var/lib/apt/lists/*
COPY usr /usr
COPY ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
ENV RUSTUP_HOME=/usr/local/rustup CARGO_HOME=/usr/local/cargo PATH=/usr/local/cargo/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
DOCKERFILE
    cp /etc/ssl/certs/ca-certificates.crt "$work/rust/ca-certificates.crt"
    docker build -q -t "$rust" "$work/rust" > /dev/null
fi

[[ -z $rust ]] || echo "WARMBIN_RUST_IMAGE=$rust"
echo "WARMBIN_DEBIAN_IMAGE=$slim"
