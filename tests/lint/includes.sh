#!/bin/sh
# An #include may only point left: records <- verify <- harness <- replay <- gate <- report <- cli, and
# examples/localdaemon may use records only. Prints every line that points right and fails.
# Checks itself first: a planted wrong include must be found.
set -eu

# layer folder, then the folders it may include from
rules='records:records
verify:records verify
harness:records verify harness
replay:records verify harness replay
gate:records verify harness replay gate
report:records verify harness replay gate report
cli:records verify harness replay gate report cli
examples/localdaemon:records examples/localdaemon'

# Print the offending includes below $1 (a root that holds the layer folders).
offences() {
    root=$1
    printf '%s\n' "$rules" | while IFS=: read -r layer allowed; do
        [ -d "$root/$layer" ] || continue
        pattern=$(printf '%s' "$allowed" | sed 's/ /|/g')
        grep -rHnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$root/$layer" --include='*.[ch]' |
            grep -vE "include[[:space:]]*\"(($pattern)/|plimsoll/v1/sandbox\.pb-c\.h)" || true
    done
    # The reviewer's program is cli/verify*.c and what it shares: nothing of the harness in it.
    for file in cli/verify.c cli/verify_main.c cli/output.c cli/output.h cli/options.c cli/options.h \
        cli/progress.c cli/progress.h cli/trust.c cli/trust.h; do
        [ -f "$root/$file" ] || continue
        grep -HnE '#[[:space:]]*include[[:space:]]*"(harness|replay|gate|report)/' "$root/$file" || true
    done
    # records/ is pure: no I/O, no clock.
    grep -rHnE '#[[:space:]]*include[[:space:]]*<(stdio_ext|fcntl|time|sys/(stat|socket|time|mman)|unistd|curl/.*|sqlite3|sodium)\.h>' \
        "$root/records" --include='*.[ch]' || true
}

planted=$(mktemp -d)
trap 'rm -rf "$planted"' EXIT
mkdir -p "$planted/records" "$planted/examples/localdaemon"
printf '#include "harness/key.h"\n' > "$planted/records/a.c"
printf '#include "verify/pubkey.h"\n' > "$planted/examples/localdaemon/b.c"
if [ "$(offences "$planted" | wc -l)" -ne 2 ]; then
    echo "lint-includes: the check does not find a planted wrong include; it can't be trusted" >&2
    exit 1
fi

found=$(offences .)
if [ -n "$found" ]; then
    printf 'lint-includes: an include points right (see the README, "Layout"):\n%s\n' "$found" >&2
    exit 1
fi
echo "lint-includes: every include points left"
