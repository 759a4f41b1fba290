#!/bin/sh
# The cart-pole from end to end on this machine: a daemon for each provider, with different walls, signed runs,
# verification, a replay across the daemons, and a control that must fail.
#
#   demo.sh BUILD     (after `make BUILD=...`; `sh bootstrap.sh demo` does both)
#
# Everything that is shown is also expected: whatever differs ends the demo with exit 1. A provider
# that can't work here is listed with its reason; with COUNTERSIGN_REQUIRE_ALL set, it is a failure.
set -eu

build=$1
published=63cfd676924a3896127d60c97333677f3b3c804dd764dba001121f6c234a937f
work=$(mktemp -d) || { echo 'demo: no temporary folder; is TMPDIR a folder that you may write?' >&2; exit 1; }
ledger=$work/ledger.db
pids=

cleanup() {
    for pid in $pids; do
        kill "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

fail() {
    printf '\ndemo: FAILED: %s\n' "$1" >&2
    for file in "$work/out" "$work/err"; do
        [ ! -s "$file" ] || head -c 4000 "$file" >&2
    done
    exit 1
}

# Run a program of countersign; keep what it prints; fail the demo when the exit code is not $1.
expect_exit() {
    want=$1
    shift
    got=0
    "$@" > "$work/out" 2> "$work/err" || got=$?
    [ "$got" -eq "$want" ] || fail "exit $got instead of $want: $*"
}

# A value of the JSON that was printed last, by an expression on it.
json() {
    node -p "const it = JSON.parse(fs.readFileSync('$work/out', 'utf8')); $1"
}

# Several start at once, since some of them try their walls for seconds before they serve.
start_daemon() {
    "$build/localdaemon" --provider "$1" --listen 127.0.0.1:0 --clients "$work/clients.json" \
        > "$work/$1.url" 2> "$work/$1.err" &
    pid=$!
    pids="$pids $pid" # at once, so that an interrupt meanwhile ends it too
    echo "$pid" > "$work/$1.pid"
}

await_daemon() {
    tries=0
    until [ -s "$work/$1.url" ]; do
        tries=$((tries + 1))
        [ "$tries" -le 1800 ] && kill -0 "$(cat "$work/$1.pid")" 2>/dev/null || return 1
        sleep 0.1
    done
}

# What the cross-check of a provider's claim came to, for the matrix; contradicted, it ends the demo.
note_claim() { # provider
    json 'const check = it.cross_check;
        const count = (verdict) => check.rules.filter((rule) => rule.verdict === verdict).length;
        [check.claim.padEnd(9), ((check.contradictions ? "CONTRADICTED" : count("consistent") + " rules consistent") +
            ", " + count("silent") + " silent" + (check.emulated ? "; no hardware virtualisation" : "")).padEnd(60)].join("  ")' \
        > "$work/$1.claim"
}

# One signed run. What is shown is read from the ledger, whose every digest `show` checks again.
run() { # provider url controller depth-of-the-cross-check
    expect_exit 0 "$build/countersign" run --json --require-success --cross-check "$4" -d "$2" -k "$work/demo.key" -l "$ledger" \
        "$build/cartpole/$3.json"
    entry=$(json 'it.entry')
    [ "$4" != host ] || note_claim "$1"
    expect_exit 0 "$build/countersign" show --json -p "$work/demo.pub" "$ledger" "$entry"
    tier=$(json 'it.shown.record.isolation')
    ms=$(json 'it.shown.record.endedUnixMs - it.shown.record.startedUnixMs')
    json 'it.shown.outputs.find((output) => output.field === "steps[0].stdout").text' > "$work/report"
    mv "$work/report" "$work/out"
    fingerprint=$(json 'it.fingerprint')
    fell=$(json 'it.fell_at === null ? "never" : it.fell_at + " s"')
    [ "$4" != host ] || printf '%-9s  %s  %8s ms' "$tier" "$(printf %.8s "$fingerprint")" "$ms" > "$work/$1.reported"
    verdict='another'
    [ "$fingerprint" != "$published" ] || verdict='the published one'
    printf '%5s  %-9s  %-9s  %-10s  %s  %-7s  %s\n' "$entry" "$1" "$tier" "$3" "$fingerprint" "$fell" "$verdict"

    case $3:$fell:$verdict in
        'accepted:never:the published one') ;;
        'draft:5.96 s:another') ;;
        *) fail "the $3 controller on $1: fingerprint $fingerprint, fell: $fell" ;;
    esac
}

# Change one byte of the ledger file: a digit of a fingerprint in a stored response. A window of
# 8 digits is searched, and the next one when the page of the database ends within it.
flip_a_digit() { # file
    node -e '
        const bytes = fs.readFileSync(process.argv[1]);
        for (let at = 0; at < 64; at += 8) {
            const found = bytes.indexOf(process.argv[2].slice(at, at + 8));
            if (found < 0) continue;
            bytes[found] ^= 1;
            fs.writeFileSync(process.argv[1], bytes);
            process.exit(0);
        }
        process.exit(1);' "$1" "$2" || fail "no fingerprint found in $1"
}

# ---- daemons -------------------------------------------------------------------------------------

PLIMSOLL_CALLER_TOKEN=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
export PLIMSOLL_CALLER_TOKEN
digest=$(printf %s "$PLIMSOLL_CALLER_TOKEN" | sha256sum | cut -d' ' -f1)
printf '{"clients":[{"id":"demo","token_sha256":"%s","scopes":["code:run"]}]}\n' "$digest" > "$work/clients.json"
expect_exit 0 "$build/countersign" keygen -o "$work/demo"

echo 'Daemons on this machine'
providers=
urls=
missing=
emulated=
for provider in process container kernel vm; do
    start_daemon "$provider"
done
for provider in process container kernel vm; do
    printf '  %-9s  ' "$provider"
    if await_daemon "$provider"; then
        providers="$providers $provider"
        urls="$urls -d $(head -n 1 "$work/$provider.url")"
        if grep -q 'emulated by software' "$work/$provider.err"; then
            emulated=$provider
            printf 'ready, and slow: its processor is emulated by software\n'
        else
            printf 'ready\n'
        fi
    else
        reason=$(grep "can't serve" "$work/$provider.err" | tail -n 1)
        printf 'NOT AVAILABLE HERE: %s\n' "${reason:-$(tail -n 1 "$work/$provider.err")}"
        missing="$missing $provider"
        [ -z "${COUNTERSIGN_REQUIRE_ALL:-}" ] || fail "every provider is required here"
    fi
done
[ -n "$providers" ] || fail 'no provider works on this machine'

# ---- runs ----------------------------------------------------------------------------------------

printf '\nEvery run: sent, recomputed, signed, kept, read back from the ledger\n'
printf '%5s  %-9s  %-9s  %-10s  %-64s  %-7s  %s\n' entry provider tier controller fingerprint fell 'which is'
for provider in $providers; do
    url=$(head -n 1 "$work/$provider.url")
    run "$provider" "$url" accepted host
    [ "$provider" != "$emulated" ] || continue # one run there takes as long as all others together
    run "$provider" "$url" accepted statements
    run "$provider" "$url" draft statements
done

printf '\nEach claim, cross-examined: what the daemon says, what two probes see inside, what this machine shows of them\n'
printf '  %-9s  %-9s  %-60s  %-9s  %-8s  %8s\n' provider claims evidence recorded result took
for provider in $providers; do
    printf '  %-9s  %s  %s\n' "$provider" "$(cat "$work/$provider.claim")" "$(cat "$work/$provider.reported")"
done
for provider in $missing; do
    printf '  %-9s  not available here (see above)\n' "$provider"
done
echo '  Consistent is not proven: countersign tiers says what could fool each rule.'

expect_exit 0 "$build/countersign" verify --json -p "$work/demo.pub" "$ledger"
printf '\nVerify the ledger: %s runs verified, %s failures (exit 0)\n' \
    "$(json 'it.inputs[0].runs')" "$(json 'it.inputs[0].failures')"

echo 'Replay entry 1 (accepted):'
# shellcheck disable=SC2086 # -d URL for each daemon
expect_exit 0 "$build/countersign" replay --json -p "$work/demo.pub" $urls --entry 1 "$ledger"
[ "$(json 'it.rows.map((row) => row.verdict).join()')" = reproduced ] || fail 'the replay reproduced nothing'
json 'it.rows[0].daemons.map((d) => "  on " + d.provider.padEnd(9) + "  " + d.verdict +
    ", " + d.matched + " of " + d.runs + " runs").join("\n")'

# ---- and can it fail? ----------------------------------------------------------------------------

cp "$ledger" "$work/forged.db"
flip_a_digit "$work/forged.db" "$published"
echo 'Control: one byte changed in a stored response, in a copy of the ledger'
expect_exit 1 "$build/countersign" verify --json -p "$work/demo.pub" "$work/forged.db"
[ "$(json 'it.code')" = result-digest ] || fail 'the changed byte was refused for another reason than its digest'
printf '  verify: %s at entry %s (exit 1), as it must\n' "$(json 'it.code')" "$(json 'it.entry')"

if [ -n "$missing" ]; then
    printf '\ndemo: what could run here came out as expected; NOT SHOWN: anything on%s, and so no comparison across providers\n' \
        "$missing"
else
    printf '\ndemo: everything came out as expected\n'
fi
