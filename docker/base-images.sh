#!/bin/bash
# Provides the two base images of the Dockerfile where no registry can be reached: Debian's slim image from debootstrap,
# and the Rust image from it plus this machine's toolchain. Images that are there already are left alone.
set -euo pipefail

slim=debian:bookworm-slim
rust=$(sed -n 's/^FROM \(rust:[^ ]*\) .*/\1/p' "$(dirname "$0")/../Dockerfile")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

have() {
    docker image inspect "$1" > /dev/null 2>&1
}

if ! have "$slim" && ! timeout 60 docker pull -q "$slim" 2> /dev/null; then
    echo "base-images: making $slim with debootstrap"
    debootstrap --variant=minbase bookworm "$work/slim" > "$work/debootstrap.log" ||
        { tail -20 "$work/debootstrap.log" >&2; exit 1; }
    # Certificates of this machine: behind a proxy that inspects TLS, the build could not reach crates.io without them.
    install -D -m 0644 /etc/ssl/certs/ca-certificates.crt "$work/slim/etc/ssl/certs/ca-certificates.crt"
    tar -C "$work/slim" -c . | docker import - "$slim" > /dev/null
fi

if ! have "$rust" && ! timeout 60 docker pull -q "$rust" 2> /dev/null; then
    echo "base-images: making $rust from $slim and $(rustc --version)"
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
