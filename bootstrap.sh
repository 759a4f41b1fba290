#!/bin/sh
# Installs what is missing (Debian packages), builds, and does one job:
#
#   sh bootstrap.sh demo    the cart-pole through every provider: run, verify, replay, and a failing control
#   sh bootstrap.sh test    all tests
#   sh bootstrap.sh bench   measurements, each beside its limit
#   sh bootstrap.sh ci      lint, tests with and without sanitizers, fuzzing, demo, memory check, exchange with peers that
#                           others wrote (from the Python package registry), install and packages; a skipped test fails
#   sh bootstrap.sh deps    only install what the other jobs need
#
# Run it as root, or as a user who may use sudo. Safe to run again; with everything there it installs
# nothing and needs no network. BUILD, JOBS (make -j) and FUZZ_SECONDS may be set.
set -eu
cd "$(dirname "$0")"

BUILD=${BUILD:-build}
JOBS=${JOBS:-$(nproc)}
NODE_MAJOR=18 # what the runner of the example needs
FUZZ_SECONDS=${FUZZ_SECONDS:-10} # of each target, in job ci
# What job ci's pass with sanitizers leaves out of the tests that take long, for gVisor, for machines on a processor that
# software emulates, or for probes that want to be seen: there is little in them that the sanitizers could look at and that
# others don't show them. Of kernel and vm these have: a time-out, a stop and a death of gVisor with a session; the vm's
# channel, image and agent; monitors that are none.
UNSANITIZED='localdaemon_kernel/statements_walls_and_sessions localdaemon_runs/kernel localdaemon_smoke/planted_kernels_are_found
    localdaemon_vm/runs_and_sessions localdaemon_vm_image/is_the_same_each_time
    localdaemon_vm_smoke/a_machine_that_leaks_is_found tiers_command/a_container_that_claims_vm_is_refuted_from_the_host
    tiers_command/an_honest_container_stands tiers_command/less_than_is_there_is_refuted_too
    tiers_command/the_table_names_rules_and_what_could_fool_them run_cross_check_live/an_honest_claim_stands_at_every_depth
    replay_cross_check_live/a_lie_is_refuted_from_the_host localdaemon_without_slow/kernel_does_not_serve
    localdaemon_without_slow/vm_is_without_them_in_runs_and_sessions tiers_fake_vm/it_is_refuted_from_the_host
    tiers_without/network tiers_without/network_and_sockets tiers_without/system_call_filter
    tiers_guards/a_promise_of_memory_is_kept_or_broken tiers_baseline/a_refuted_daemon_gives_none tiers_baseline/a_broken_guard_gives_none'

FOR_BUILD='gcc libc6-dev make pkg-config protobuf-c-compiler libprotobuf-c-dev libsodium-dev libssl-dev
    libjansson-dev libsqlite3-dev libcurl4-openssl-dev libmicrohttpd-dev libseccomp-dev libgit2-dev libexpat1-dev clang lld wasi-libc'
FOR_DAEMON='bubblewrap runsc qemu-system-x86 squashfs-tools cpio lz4'
FOR_TEST='libcriterion-dev openssl sqlite3 procps git ca-certificates python3-jsonschema python3-yaml chromium'
# The last three: zsh runs its completion script, mandoc looks for mistakes in the man pages, dpkg-dev tells what the Debian
# packages depend on.
FOR_CI='clang-tidy cppcheck valgrind libc6-dbg python3-venv zsh mandoc dpkg-dev'

say() {
    printf 'bootstrap: %s\n' "$*" >&2
}

die() {
    say "$*"
    exit 1
}

# ---- packages ------------------------------------------------------------------------------------

# The daemon's sandboxes show the system's folders only, so a node in somebody's home does not count.
system_node() {
    node=$(PATH=/usr/local/bin:/usr/bin:/bin command -v node) || return 1
    case $(readlink -f "$node") in
        /usr/*) ;;
        *) return 1 ;;
    esac
    major=$("$node" -p 'process.versions.node.split(".")[0]') || return 1
    [ "$major" -ge "$NODE_MAJOR" ]
}

# The packages among the arguments that are not installed, one a line.
missing_packages() {
    dpkg-query --show --showformat='${Package} ${db:Status-Status}\n' "$@" 2>/dev/null |
        awk -v wanted="$*" '$2 == "installed" { have[$1] = 1 }
            END { n = split(wanted, name, /[ \n]+/); for (i = 1; i <= n; i++) if (!(name[i] in have)) print name[i] }'
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

apt() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 "$@" < /dev/null >&2
}

install_packages() {
    # shellcheck disable=SC2048,SC2086 # lists of names become names
    set -- $*
    if ! command -v dpkg-query > /dev/null || ! command -v apt-get > /dev/null; then
        die "this is no Debian-like system (no dpkg and apt-get here); install what corresponds to: $* nodejs
(node $NODE_MAJOR or later), then use make"
    fi
    wanted=$(missing_packages "$@" | tr '\n' ' ')
    system_node || wanted="${wanted}nodejs"
    if [ -z "$wanted" ]; then
        say 'every package is there'
        return
    fi
    if [ "$(id -u)" -ne 0 ] && ! command -v sudo > /dev/null; then
        die "not root, and no sudo here; as root: apt-get install --no-install-recommends $wanted"
    fi
    say "installing: $wanted"
    apt update || say 'apt-get update reported an error; going on with the package lists that are there'
    # shellcheck disable=SC2086
    apt install --no-install-recommends $wanted || die "apt-get could not install: $wanted"
    system_node || die "node $NODE_MAJOR or later is needed below /usr, and this system's package nodejs is older"
}

# ---- jobs ----------------------------------------------------------------------------------------

# Without /proc the test runner finds no test, and valgrind does not start.
need_proc() {
    [ -r /proc/self/status ] || die "no /proc is mounted here; job $job needs it: mount -t proc proc /proc"
}

# Say what runs and how long it took; everything it prints goes to stderr.
phase() {
    name=$1
    shift
    say "$name ..."
    began=$(date +%s)
    "$@" >&2 || die "$name failed after $(($(date +%s) - began)) s"
    say "$name: $(($(date +%s) - began)) s"
}

build() {
    phase build make --silent -j"$JOBS" BUILD="$BUILD" "$@" all
}

# What virtual machines boot, from packages of this system; kept below /var/cache, or ~/.cache. Where it can't be had the
# provider vm will say so.
vm_image() {
    make --silent BUILD="$BUILD" vm-image || { apt update && make --silent BUILD="$BUILD" vm-image; } ||
        say 'no image for virtual machines: the provider vm will be listed as not available'
}

demo() {
    [ -r /proc/self/status ] || say 'no /proc is mounted here; a provider that needs it will be listed as not available'
    sh examples/demo.sh "$BUILD"
}

# Run tests and keep the long listing, which must be there: the closing line does not tell what was skipped.
listed_tests() { # log make-arguments
    log=$1
    shift
    { make -j"$JOBS" "$@" TEST_ARGS=--verbose test 2>&1 && echo passed > "$log.verdict"; } | tee "$log"
    [ -f "$log.verdict" ] && grep -q '^\[PASS\]' "$log"
}

# The tests of such a listing that ended so, as suite/test, one a line.
tests_that() { # PASS|SKIP log
    sed -n "/^\\[$1\\]/ { s/^\\[$1\\] //; s/::/\\//; s/: .*//; p; }" "$2" | sort
}

# Of the listing of a pass that failed, once more, for who reads only the end: every failed test with the last lines that it
# printed, which are what it asserted and what a sanitizer found; the closing line; and what stands below that, which are
# the other sanitizers' reports. Without any of these it broke off: its end.
name_failures() { # log
    say 'what failed:'
    awk 'function tell(end,  i) {
            for (i = n > 60 ? n - 60 : 0; i < n; i++) print said[i]
            print end
            n = 0; running = ""; told = 1
        }
        closed { if (++below <= 200) print; told = 1; next }
        /^\[RUN \]/ { n = 0; running = $0; next }
        /^\[(PASS|SKIP)\]/ { n = 0; running = ""; next }
        /\[FAIL\] [a-z0-9_]+::/ { tell($0); next }
        /^\[====\] Synthesis/ { closed = 1; running = ""; print; next }
        running != "" { said[n++] = $0 }
        END { if (running != "") tell(running " and did not come to its end"); exit !told }' "$1" >&2 ||
        tail -n 40 "$1" >&2
}

# Two lists of tests, or what stands in one only.
same_tests() { # name list name list
    only=$(diff "$2" "$4") && return
    printf '%s\n' "$only" | sed -n "s/^</$1 and not $3:/p; s/^>/$3 and not $1:/p" >&2
    return 1
}

sanitized_build() {
    make --silent -j"$JOBS" SANITIZE=1 WERROR=1 BUILD="$BUILD-asan" TEST_ARGS=--list test > /dev/null
}

# What was skipped must be just what is named; Criterion says so of what it was told to leave out, too.
sanitized_tests() {
    if ! listed_tests "$logs/asan" SANITIZE=1 WERROR=1 BUILD="$BUILD-asan" LEAVE_OUT="$UNSANITIZED"; then
        name_failures "$logs/asan"
        return 1
    fi
    tests_that SKIP "$logs/asan" > "$logs/skipped"
    printf '%s\n' "$UNSANITIZED" | xargs -n1 | sort > "$logs/unsanitized"
    same_tests 'to be left out' "$logs/unsanitized" 'skipped' "$logs/skipped"
}

# Every test, and none skipped. What it prints comes when all else has passed, so that the closing line of the test runner
# is the last.
all_tests() {
    status=0
    listed_tests "$logs/plain" WERROR=1 BUILD="$BUILD" > /dev/null || status=$?
    tests_that SKIP "$logs/plain" > "$logs/not-run"
    [ ! -s "$logs/not-run" ] || say "skipped: $(tr '\n' ' ' < "$logs/not-run")"
    [ "$status" -eq 0 ] || name_failures "$logs/plain"
    [ "$status" -eq 0 ] && [ ! -s "$logs/not-run" ]
}

# Run the tests as a person wants to see them; what was skipped is named, since the closing line does not.
tests_naming_skips() {
    logs=$(mktemp -d)
    trap 'rm -rf "$logs"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    trap 'exit 129' HUP
    { make -j"$JOBS" BUILD="$BUILD" TEST_ARGS=--verbose test 2>&1 && echo passed > "$logs/verdict"; } |
        tee "$logs/log" | grep -v '^\[\(RUN \|PASS\)'
    skipped=$(grep -c '^\[SKIP\]' "$logs/log" || true)
    [ "$skipped" -eq 0 ] || say "$skipped tests were SKIPPED, which is not passing: what they need is missing here"
    [ -f "$logs/verdict" ] && grep -q '^\[PASS\]' "$logs/log" && return
    name_failures "$logs/log"
    return 1
}

# There are two cores, and what starts daemons must not go on beside its like: some of it looks at all that this machine
# runs. So compiling, linting and fuzzing go on beside it. They have sessions of their own, so that they can be ended with
# all that they started; what they print is shown when they have come to their end.
beside() {
    phase lint make BUILD="$BUILD" lint
    phase 'build with sanitizers' sanitized_build
}

begin_beside() {
    say 'lint, and the build with sanitizers, beside what follows ...'
    LOGS=$logs BUILD=$BUILD setsid nice sh bootstrap.sh beside > "$logs/beside" 2>&1 &
    beside=$!
}

end_beside() {
    beside_status=0
    wait "$beside" || beside_status=$?
    beside=
    cat "$logs/beside" >&2
    [ "$beside_status" -eq 0 ] || die 'lint, or the build with sanitizers, failed'
}

begin_fuzz() {
    say "fuzz: $FUZZ_SECONDS s for each target, beside what follows ..."
    fuzz_began=$(date +%s)
    setsid nice make WERROR=1 BUILD="$BUILD" SECONDS="$FUZZ_SECONDS" FUZZ_JOBS=1 fuzz > "$logs/fuzz" 2>&1 &
    fuzz=$!
}

end_fuzz() {
    fuzz_status=0
    wait "$fuzz" || fuzz_status=$?
    fuzz=
    cat "$logs/fuzz" >&2
    [ "$fuzz_status" -eq 0 ] || die "fuzzing failed after $(($(date +%s) - fuzz_began)) s"
    say "fuzz: $(($(date +%s) - fuzz_began)) s"
}

stop_beside() {
    [ -z "$fuzz" ] || kill -- "-$fuzz" 2> /dev/null || true
    [ -z "$beside" ] || kill -- "-$beside" 2> /dev/null || true
}

ci() {
    CI=true
    COUNTERSIGN_REQUIRE_ALL=1
    export CI COUNTERSIGN_REQUIRE_ALL
    logs=$(mktemp -d)
    fuzz=
    beside=
    trap 'stop_beside; rm -rf "$logs"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    trap 'exit 129' HUP
    build WERROR=1
    phase 'vm image' vm_image
    begin_beside
    phase tests all_tests
    phase demo demo
    phase memcheck make BUILD="$BUILD" memcheck
    phase interop make --silent BUILD="$BUILD" interop
    phase packaging make --silent BUILD="$BUILD" packaging
    end_beside
    begin_fuzz
    phase 'tests with sanitizers' sanitized_tests
    end_fuzz
    cat "$logs/plain"
}

job=${1:-}
[ $# -eq 1 ] || job=
case $job in
    demo)
        install_packages "$FOR_BUILD" "$FOR_DAEMON"
        build
        phase 'vm image' vm_image
        demo
        ;;
    test)
        need_proc
        install_packages "$FOR_BUILD" "$FOR_DAEMON" "$FOR_TEST"
        build
        phase 'vm image' vm_image
        tests_naming_skips
        ;;
    bench)
        install_packages "$FOR_BUILD" "$FOR_DAEMON"
        build
        make BUILD="$BUILD" bench
        ;;
    ci)
        need_proc
        install_packages "$FOR_BUILD" "$FOR_DAEMON" "$FOR_TEST" "$FOR_CI"
        ci
        ;;
    beside) # a part of ci, which starts it
        logs=${LOGS:?}
        beside
        ;;
    deps)
        install_packages "$FOR_BUILD" "$FOR_DAEMON" "$FOR_TEST" "$FOR_CI"
        ;;
    *)
        say 'usage: sh bootstrap.sh demo|test|bench|ci|deps'
        exit 2
        ;;
esac
