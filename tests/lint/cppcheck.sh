#!/bin/sh
# cppcheck over the sources named. Checks itself first: an error planted in a file that includes the
# generated messages must be found, since cppcheck silently skips a file whose headers it can't follow.
#
#   cppcheck.sh BUILD FILE...
set -eu
build=$1
shift

check() {
    # The two numbers are those of protobuf-c 1.4: without them the generated header's own version test
    # is an #error to cppcheck, which does not read system headers.
    cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,performance,portability --inline-suppr \
        --suppress=missingIncludeSystem --suppress=normalCheckLevelMaxBranches -j2 -D_GNU_SOURCE -D__linux__ \
        -DPROTOBUF_C_VERSION_NUMBER=1004001 -DPROTOBUF_C_MIN_COMPILER_VERSION=1000000 \
        -I. "-I$build/gen" "$@"
}

planted=$(mktemp -d)
trap 'rm -rf "$planted"' EXIT
printf '#include "records/message.h"\nint f(void);\nint f(void) {\n    int a[3];\n    a[5] = 1;\n    return a[5];\n}\n' \
    > "$planted/planted.c"
if check "$planted/planted.c" > "$planted/out" 2>&1 || ! grep -q arrayIndexOutOfBounds "$planted/out"; then
    echo "lint-cppcheck: it does not find a planted error; it can't be trusted:" >&2
    cat "$planted/out" >&2
    exit 1
fi
check "$@"
echo "lint-cppcheck: $# files clean"
