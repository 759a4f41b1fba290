#!/bin/sh
# clang-tidy over the sources named, one file a run (several at once give false reports about va_list).
# Checks itself first: an error planted in a file that includes the generated messages must be found.
#
#   tidy.sh BUILD FILE...
set -eu
build=$1
shift

planted=$(mktemp -d)
trap 'rm -rf "$planted"' EXIT
cp .clang-tidy "$planted/"
printf '#include "records/message.h"\nint f(const char *p);\nint f(const char *p) {\n    if (p == 0) return *p;\n    return 0;\n}\n' \
    > "$planted/planted.c"
if clang-tidy --quiet --warnings-as-errors='*' "$planted/planted.c" -- -std=c17 -D_GNU_SOURCE -I. "-I$build/gen" \
    > "$planted/out" 2>&1 || ! grep -q NullDereference "$planted/out"; then
    echo "lint-tidy: it does not find a planted error; it can't be trusted:" >&2
    cat "$planted/out" >&2
    exit 1
fi
printf '%s\n' "$@" | xargs -P2 -I{} sh -c '
    clang-tidy --quiet --warnings-as-errors="*" "$1" -- -std=c17 -D_GNU_SOURCE -I. "-I$2/gen" 2> "$3/$(echo "$1" | tr / _)" ||
        { cat "$3/$(echo "$1" | tr / _)" >&2; exit 1; }' tidy {} "$build" "$planted"
echo "lint-tidy: $# files clean"
