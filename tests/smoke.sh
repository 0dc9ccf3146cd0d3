#!/bin/sh
# The shortest walk through the main job, against a host that serves guests/warmbin.toml:
#
#   tests/smoke.sh PROGRAMS_URL ADMIN_URL TOKEN
#
# Needs curl and python3. Prints what it checked; exits 1 at the first thing that is wrong.
set -eu

programs=${1:?usage: tests/smoke.sh PROGRAMS_URL ADMIN_URL TOKEN}
admin=${2:?usage: tests/smoke.sh PROGRAMS_URL ADMIN_URL TOKEN}
token=${3:?usage: tests/smoke.sh PROGRAMS_URL ADMIN_URL TOKEN}
work=$(mktemp -d)
uploaded=

finish() {
    [ -z "$uploaded" ] || api -X DELETE -o "$work/deleted" "$admin/api/v1/programs/smoke-test" || true
    rm -rf "$work"
}
trap finish EXIT

fail() {
    echo "smoke: FAILED: $*" >&2
    exit 1
}

# expect WHAT WANTED GOT
expect() {
    [ "$2" = "$3" ] || fail "$1: wanted '$2', got '$3'"
    echo "smoke: ok: $1"
}

ask() {
    curl -sS --max-time 20 "$@"
}

api() {
    ask -H "Authorization: Bearer $token" "$@"
}

expect "the host is healthy" 200 "$(ask -o /dev/null -w '%{http_code}' "$admin/healthz")"
expect "the host is ready" 200 "$(ask -o /dev/null -w '%{http_code}' "$admin/readyz")"
expect "the API wants a token" 401 "$(ask -o /dev/null -w '%{http_code}' "$admin/api/v1/requests")"

# The token is sent along: on a host that is not reached over loopback, only its holder may pick a mode.
for mode in fork wasm-cold wasm-warm; do
    expect "hello is served in mode $mode" 200 \
        "$(api -D "$work/head" -o "$work/hello" -w '%{http_code}' -H "Warmbin-Mode: $mode" "$programs/cgi-bin/hello")"
    expect "and ran in it" "$mode" "$(tr -d '\r' < "$work/head" | sed -n 's/^[Ww]armbin-[Mm]ode: //p')"
done
for script in hello.sh printenv.py form.pl; do
    expect "the script $script runs" 200 \
        "$(ask -o "$work/script" -w '%{http_code}' "$programs/scripts/$script")"
done

head -c 3000000 /dev/urandom > "$work/sent"
curl -sS --max-time 60 --data-binary @"$work/sent" -H 'Transfer-Encoding: chunked' -o "$work/got" "$programs/cgi-bin/echo"
cmp -s "$work/sent" "$work/got" || fail "echo changed a chunked 3 MB body"
echo "smoke: ok: echo returns a chunked 3 MB body unchanged"

printf '#!/bin/sh\nprintf "Content-Type: text/plain\\r\\n\\r\\nuploaded\\n"\n' > "$work/native"
status=$(api -o "$work/answer" -w '%{http_code}' -F native=@"$work/native" "$admin/api/v1/programs/smoke-test/versions")
uploaded=yes
[ "$status" = 201 ] || fail "the upload answered $status: $(cat "$work/answer")"
expect "an uploaded script runs" uploaded "$(ask "$programs/cgi-bin/smoke-test")"
printf 'not a module' > "$work/broken.wasm"
expect "a broken module is refused" 422 \
    "$(api -o "$work/answer" -w '%{http_code}' -F wasm=@"$work/broken.wasm" "$admin/api/v1/programs/smoke-broken/versions")"

# Records are written in batches: the row is there soon, not at once.
tries=0
until api "$admin/api/v1/requests?program=smoke-test" | python3 -c '
import json, sys
items = json.load(sys.stdin)["items"]
sys.exit(0 if items and items[0]["status"] == 200 and items[0]["outcome"] == "ok" else 1)'; do
    tries=$((tries + 1))
    [ "$tries" -lt 50 ] || fail "no record of the uploaded program's request"
    sleep 0.1
done
echo "smoke: ok: the request was recorded"

api "$admin/api/v1/summary?group_by=mode" | python3 -c '
import json, sys
modes = {item["group"]["mode"]: item["count"] for item in json.load(sys.stdin)["items"]}
sys.exit(0 if modes.get("fork", 0) > 0 and modes.get("wasm-warm", 0) > 0 else f"modes seen: {modes}")' ||
    fail "the summary lacks a mode"
echo "smoke: ok: the summary compares modes"

expect "the dashboard asks for a login" 303 "$(ask -o /dev/null -w '%{http_code}' "$admin/")"
expect "the program is deleted" 204 \
    "$(api -X DELETE -o /dev/null -w '%{http_code}' "$admin/api/v1/programs/smoke-test")"
uploaded=
expect "and is gone" 404 "$(ask -o /dev/null -w '%{http_code}' "$programs/cgi-bin/smoke-test")"
echo "smoke: passed"
