#!/bin/sh
# valgrind memcheck on `run` and `verify`, with a real daemon, a real ledger and a failing input.
#
#   memcheck.sh BUILD
#
# Any error or definite or possible leak fails. The exit codes of countersign itself are checked too, so
# that a program that stopped early can't pass for a clean one; and a planted leak must be found first.
set -eu
build=$1
fixtures=${COUNTERSIGN_FIXTURES:-../shared/fixtures}
work=$(mktemp -d)
daemon=
cleanup() {
    [ -z "$daemon" ] || kill "$daemon" 2>/dev/null || true
    [ -z "$daemon" ] || wait "$daemon" 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

check() { # expected exit code, then the command
    want=$1
    shift
    got=0
    valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,possible \
        --trace-children=no "$@" > "$work/out" 2> "$work/err" || got=$?
    if [ "$got" -ne "$want" ]; then
        echo "memcheck: exit $got instead of $want: $*" >&2
        cat "$work/out" "$work/err" >&2
        exit 1
    fi
    echo "memcheck: clean, exit $got: $2"
}

printf '#include <stdlib.h>\nint main(void) { char *volatile p = malloc(7); p = 0; return p != 0; }\n' > "$work/leak.c"
cc -O0 -o "$work/leak" "$work/leak.c"
check 99 "$work/leak" planted-leak

token=memcheck-$(od -An -N8 -tx1 /dev/urandom | tr -d ' \n')
sum=$(printf %s "$token" | sha256sum | cut -d' ' -f1)
printf '{"clients":[{"id":"memcheck","token_sha256":"%s","scopes":["code:run"]}]}\n' "$sum" > "$work/clients.json"
"$build/localdaemon" --provider process --listen 127.0.0.1:0 --clients "$work/clients.json" \
    > "$work/url" 2> "$work/daemon.err" &
daemon=$!
tries=0
until [ -s "$work/url" ]; do
    tries=$((tries + 1))
    if [ "$tries" -gt 100 ] || ! kill -0 "$daemon" 2>/dev/null; then
        echo "memcheck: localdaemon does not start:" >&2
        cat "$work/daemon.err" >&2
        exit 1
    fi
    sleep 0.1
done
url=$(head -n 1 "$work/url")
PLIMSOLL_CALLER_TOKEN=$token
export PLIMSOLL_CALLER_TOKEN

"$build/countersign" keygen -o "$work/k" > /dev/null
printf '%s' '{"javascript":{"code":"console.log(6*7)"}}' > "$work/good.json"
printf '%s' '{"javascript":{"code":""}}' > "$work/bad.json"
printf '%s' '{"minimumIsolation":"vm","javascript":{"code":"1"}}' > "$work/floor.json"
run="$build/countersign run -d $url -k $work/k.key -l $work/ledger.db"
# shellcheck disable=SC2086
check 0 $run "$work/good.json"
# shellcheck disable=SC2086
check 0 $run --codec json --json "$work/good.json"
# shellcheck disable=SC2086
check 3 $run "$work/bad.json"
# shellcheck disable=SC2086
check 3 $run "$work/floor.json"
check 0 "$build/countersign" verify -p "$work/k.pub" "$work/ledger.db"
check 0 "$build/countersign" show -p "$work/k.pub" "$work/ledger.db" 1
check 0 "$build/countersign-verify" -p "$fixtures/published-session/linked.pub" "$fixtures/published-session/linked.jsonl"
sed 's/"sig":"A*/&A/' "$fixtures/published-session/unlinked.jsonl" > "$work/broken.jsonl"
check 1 "$build/countersign" verify --json -p "$fixtures/published-session/unlinked.pub" "$work/broken.jsonl"
