#!/bin/bash
# Builds the image, starts it as docker-compose.yml says, and runs the smoke test against it; then looks at what only a
# container shows: who it runs as, what it may write, orphans, health, an orderly end, and what a restart keeps.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${1:-}" = --if-possible ] && ! { command -v dockerd && command -v docker && command -v debootstrap; } > /dev/null; then
    echo "test-docker: skipped: no Docker engine here"
    exit 0
fi

log=$(mktemp -d)
daemon=
project=warmbin-test-$$
compose=(docker compose)
docker compose version > /dev/null 2>&1 || compose=(docker-compose)
compose+=(-p "$project")
export WARMBIN_ADMIN_TOKEN=

finish() {
    status=$?
    [ "$status" = 0 ] || "${compose[@]}" logs --tail 50 2> /dev/null || true
    "${compose[@]}" down -v --remove-orphans > /dev/null 2>&1 || true
    if [ -n "$daemon" ]; then kill "$daemon" 2> /dev/null && wait "$daemon" 2> /dev/null || true; fi
    rm -rf "$log"
    exit "$status"
}
trap finish EXIT

fail() {
    echo "test-docker: FAILED: $*" >&2
    exit 1
}

if ! docker info > /dev/null 2>&1; then
    dockerd > "$log/dockerd.log" 2>&1 &
    daemon=$!
    for _ in $(seq 60); do
        docker info > /dev/null 2>&1 && break
        if ! kill -0 "$daemon" 2> /dev/null; then
            daemon=
            [ "${1:-}" = --if-possible ] || { cat "$log/dockerd.log" >&2; fail "dockerd does not start"; }
            echo "test-docker: skipped: dockerd does not start here: $(tail -1 "$log/dockerd.log")"
            exit 0
        fi
        sleep 0.5
    done
fi

docker/base-images.sh
"${compose[@]}" build
"${compose[@]}" up -d
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
healthy() { [ "$(docker inspect -f '{{.State.Health.Status}}' "$container")" = healthy ]; }

until_true 60 healthy || fail "the container did not become healthy"
echo "test-docker: ok: healthy by its own health check"
token=$(docker exec "$container" cat /data/admin-token)
docker logs "$container" 2>&1 | grep -q "login?token=$token" || fail "the first start did not print the login link"

tests/smoke.sh http://127.0.0.1:8080 http://127.0.0.1:8081 "$token"

[ "$(docker exec "$container" id -u)" = 10001 ] || fail "it does not run as uid 10001"
docker exec "$container" sh -c '! touch /usr/local/probe 2> /dev/null' || fail "the root file system is writable"
echo "test-docker: ok: uid 10001, read-only root"

# A program that leaves orphans behind: the container's first process is their parent now, and has to reap them.
docker exec "$container" sh -c '(sleep 0.2 &) ; (sleep 0.3 &) ; exit 0'
no_zombies() { ! docker exec "$container" sh -c 'cat /proc/[0-9]*/stat 2> /dev/null' | grep -q ') Z '; }
sleep 1
until_true 10 no_zombies || fail "orphans stay zombies"
echo "test-docker: ok: orphans are reaped"

records() {
    curl -sS -H "Authorization: Bearer $token" http://127.0.0.1:8081/api/v1/summary |
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
