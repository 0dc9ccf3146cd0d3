#!/bin/bash
# Builds the image, starts it as docker-compose.yml says, and runs the smoke test against it; then looks at what only a
# container shows: who it runs as, what it may write, orphans, health, an orderly end, and what a restart keeps.
#
#   docker/test.sh                     builds everything in the image, as users do: half an hour on two cores
#   docker/test.sh --prebuilt BINARY   takes this host binary, and the sample programs of guests/bin and guests/wasm, in
#                                      the place of the image's build stage; the rest of the Dockerfile as it is
#
# Exits with 77 where no engine runs or can be started, or containers have no way to Debian's packages.
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1-} in
    '') prebuilt= ;;
    --prebuilt) prebuilt=${2:?usage: docker/test.sh --prebuilt BINARY} ;;
    *) echo "test-docker: unknown argument $1" >&2; exit 1 ;;
esac

log=$(mktemp -d)
daemon=
project=warmbin-test-$$
compose=(docker compose)
docker compose version > /dev/null 2>&1 || compose=(docker-compose)
compose+=(-p "$project")
# Empty ports: the engine chooses free ones, so that a host may be running beside this.
export WARMBIN_ADMIN_TOKEN= WARMBIN_HOST_PORT= WARMBIN_HOST_ADMIN_PORT=

finish() {
    status=$?
    [ "$status" = 0 ] || "${compose[@]}" logs --tail 50 2> /dev/null || true
    "${compose[@]}" down -v --remove-orphans > /dev/null 2>&1 || true
    [ -z "$prebuilt" ] || docker rmi "$WARMBIN_IMAGE" > /dev/null 2>&1 || true
    if [ -n "$daemon" ]; then kill "$daemon" 2> /dev/null && wait "$daemon" 2> /dev/null || true; fi
    rm -rf "$log"
    exit "$status"
}
trap finish EXIT

fail() {
    echo "test-docker: FAILED: $*" >&2
    exit 1
}

cannot() {
    echo "test-docker: not to be tested here: $*" >&2
    exit 77
}

answers() { timeout 10 docker info > /dev/null 2>&1; }
if ! answers; then
    [ "$(id -u)" = 0 ] || cannot "no Docker engine answers: start one, or join the group that may use it; root could start one here"
    dockerd > "$log/dockerd.log" 2>&1 &
    daemon=$!
    for _ in $(seq 60); do
        answers && break
        kill -0 "$daemon" 2> /dev/null || break
        sleep 0.5
    done
    answers || { tail -40 "$log/dockerd.log" >&2; cannot "dockerd does not start"; }
fi

# Read first: `export $(…)` would hide a failure.
images=$(docker/base-images.sh ${prebuilt:+--debian-only}) || cannot "there are no base images"
while read -r image; do export "${image?}"; done <<< "$images"
docker run --rm "$WARMBIN_DEBIAN_IMAGE" timeout 120 apt-get update > "$log/apt.log" 2>&1 ||
    { tail -5 "$log/apt.log" >&2; cannot "containers do not reach Debian's packages"; }
if [ -n "$prebuilt" ]; then
    export WARMBIN_IMAGE=$project
    mkdir -p "$log/image/src/target/release" "$log/image/src/guests"
    cp "$prebuilt" "$log/image/src/target/release/warmbin"
    strip --strip-debug "$log/image/src/target/release/warmbin" 2> /dev/null || true
    cp -r guests/bin guests/wasm "$log/image/src/guests/"
    cp -r guests "$log/image/"
    { echo 'ARG DEBIAN_IMAGE'; echo 'FROM scratch AS build'; echo 'COPY src /src'; sed -n '/^FROM ${DEBIAN_IMAGE}/,$p' Dockerfile; } \
        > "$log/image/Dockerfile"
    docker build -q --build-arg "DEBIAN_IMAGE=$WARMBIN_DEBIAN_IMAGE" -t "$WARMBIN_IMAGE" "$log/image"
else
    "${compose[@]}" build
fi
"${compose[@]}" up -d --no-build
container=$("${compose[@]}" ps -q warmbin)

# until_true SECONDS COMMAND…
until_true() {
    local tries=$(($1 * 5))
    shift
    until "$@" > /dev/null 2>&1; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || return 1
        sleep 0.2
    done
}
# Where a port of the container is reached; another one after each start.
address() { "${compose[@]}" port warmbin "$1"; }
healthy() { [ "$(docker inspect -f '{{.State.Health.Status}}' "$container")" = healthy ]; }

until_true 60 healthy || fail "the container did not become healthy"
echo "test-docker: ok: healthy by its own health check"
token=$(docker exec "$container" cat /data/admin-token)
# Into a variable: a grep that stops reading at its match can fail the pipe.
said=$(docker logs "$container" 2>&1)
[[ $said == *"login?token=$token"* ]] || fail "the first start did not print the login link"

tests/smoke.sh "http://$(address 8080)" "http://$(address 8081)" "$token"

[ "$(docker exec "$container" id -u)" = 10001 ] || fail "it does not run as uid 10001"
docker exec "$container" sh -c '! touch /usr/local/probe 2> /dev/null' || fail "the root file system is writable"
echo "test-docker: ok: uid 10001, read-only root"

# A program that leaves orphans behind: the container's first process is their parent now, and has to reap them.
orphans=$(docker exec "$container" sh -c '
    (sleep 0.2 > /dev/null 2>&1 & echo $!)
    (sleep 0.3 > /dev/null 2>&1 & echo $!)')
[ "$(wc -w <<< "$orphans")" = 2 ] || fail "no orphans were made: $orphans"
# A zombie has its folder in /proc, too.
gone() {
    # shellcheck disable=SC2086
    docker exec "$container" sh -c 'for pid; do [ ! -e "/proc/$pid" ] || exit 1; done' sh $orphans
}
until_true 10 gone || fail "orphans stay, running or as zombies"
echo "test-docker: ok: orphans are reaped"

records() {
    curl -sS --max-time 20 -H "Authorization: Bearer $token" "http://$(address 8081)/api/v1/summary" |
        python3 -c 'import json, sys; print(sum(i["count"] for i in json.load(sys.stdin)["items"]))'
}
before=$(records)
seconds=$SECONDS
docker stop -t 30 "$container" > /dev/null
[ $((SECONDS - seconds)) -lt 15 ] || fail "it took $((SECONDS - seconds)) s to stop"
[ "$(docker inspect -f '{{.State.ExitCode}}' "$container")" = 0 ] || fail "it did not exit with 0 at SIGTERM"
docker start "$container" > /dev/null
until_true 60 healthy || fail "it did not become healthy again"
[ "$(records)" = "$before" ] || fail "records before the restart: $before, after: $(records)"
echo "test-docker: ok: an orderly end, and a restart keeps $before records"
echo "test-docker: passed"
