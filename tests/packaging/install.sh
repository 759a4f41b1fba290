#!/bin/sh
# `make install` into a folder, everything there used, `make uninstall`.
#
#   install.sh BUILD
#
# The installed library is linked into a program of somebody else's, which verifies a good bundle and refuses a bad one.
set -eu
build=$(realpath "$1")
fixtures=$(realpath "${COUNTERSIGN_FIXTURES:-../shared/fixtures}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
# A blank must do no harm. What goes round DESTDIR would be seen in $work/prefix.
stage="$work/the stage"
prefix=$work/prefix
root=$stage$prefix
mkdir "$stage"

die() {
    printf 'install: %s\n' "$*" >&2
    exit 1
}

need() { # what is missing
    [ -z "${CI:-}${COUNTERSIGN_REQUIRE_ALL:-}" ] || die "$* is missing"
    echo "install: $* IS MISSING: NOT TRIED" >&2
}

exits() { # expected exit code, then the command
    want=$1
    shift
    got=0
    "$@" > "$work/out" 2>&1 || got=$?
    [ "$got" -eq "$want" ] || die "exit $got instead of $want: $*
$(cat "$work/out")"
}

# ---- install, and nothing outside of the stage -------------------------------------------------------

make_in() { # everything but the stage and the build folder is read-only, where that can be had
    if [ "$walled" = yes ]; then
        bwrap --ro-bind / / --dev /dev --bind "$stage" "$stage" --bind "$build" "$build" -- \
            make --silent BUILD="$build" DESTDIR="$stage" PREFIX="$prefix" "$@"
    else
        make --silent BUILD="$build" DESTDIR="$stage" PREFIX="$prefix" "$@"
    fi
}
walled=no
if bwrap --ro-bind / / --dev /dev -- true 2> /dev/null; then
    walled=yes
    ! bwrap --ro-bind / / --dev /dev -- touch "$work/escaped" 2> /dev/null || die 'the read-only view can be written'
else
    need 'a working bubblewrap'
fi
make_in install > /dev/null
[ ! -e "$prefix" ] || die "files went round DESTDIR: $(find "$prefix" | head)"
[ "$(ls "$work")" = 'the stage' ] || die "files went beside DESTDIR: $(ls "$work")"

# What is staged is used where it belongs, since its paths are those.
cp -a "$root" "$prefix"

# ---- programs, pages, schemas ---------------------------------------------------------------------------

countersign=$prefix/bin/countersign
exits 0 "$countersign" --version
[ "$(cat "$work/out")" = "countersign $(cat VERSION)" ] || die "--version says: $(cat "$work/out")"
[ -x "$prefix/libexec/countersign/localdaemon" ] || die 'localdaemon is not there'
exits 0 "$countersign" --help
commands=$(sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p' "$work/out")
[ "$(printf '%s\n' "$commands" | wc -l)" -gt 10 ] || die "--help names only: $commands"
for command in $commands; do
    [ -f "$prefix/share/man/man1/countersign-$command.1" ] || die "no man page of $command"
    [ -f "$prefix/share/countersign/schema/$command.schema.json" ] || die "no schema of $command"
done
[ -f "$prefix/share/man/man1/countersign.1" ] || die 'no man page countersign.1'
if command -v mandoc > /dev/null; then
    printf '.TH T 1 "2026-01-01"\n.SH NAME\nt \\- t\n.no-such-macro\n' > "$work/wrong.1"
    ! mandoc -T lint -W warning "$work/wrong.1" > "$work/lint" || die 'mandoc does not find a wrong page'
    mandoc -T lint -W warning "$prefix"/share/man/man1/*.1 || die 'a man page has mistakes'
else
    need mandoc
fi
"$countersign" completion bash | cmp - "$prefix/share/bash-completion/completions/countersign"
"$countersign" completion bash | cmp - "$prefix/share/bash-completion/completions/countersign-verify"
"$countersign" completion zsh | cmp - "$prefix/share/zsh/site-functions/_countersign"

# ---- the library ------------------------------------------------------------------------------------------

pc=$prefix/lib/pkgconfig/countersign-verify.pc
! grep -F -e "$stage" -e "$build" -e '@' "$pc" || die "$pc has paths of this build in it"
package() {
    PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --static "$@" countersign-verify
}
[ "$(package --modversion)" = "$(cat VERSION)" ] || die "pkg-config says version $(package --modversion)"
# shellcheck disable=SC2046 # flags become words
gcc -std=c17 -O1 -Wall -Wextra -Wpedantic -Werror $(package --cflags) -o "$work/verify" tests/packaging/verify_bundle.c \
    $(package --libs)
(cd "$prefix/include/countersign" && find . -name '*.h') | while read -r header; do
    printf '#include <%s>\nint here;\n' "${header#./}" > "$work/header.c"
    # shellcheck disable=SC2046
    gcc -std=c17 -Wall -Wextra -Werror -fsyntax-only $(package --cflags) "$work/header.c" || die "$header does not stand alone"
done
foreign=$(nm --defined-only --extern-only "$prefix/lib/libcountersign-verify.a" | awk 'NF == 3 && $3 !~ /^(cs_|plimsoll__)/ { print $3 }')
[ -z "$foreign" ] || die "the library defines names that are not its own: $foreign"
for header in verify/internal.h records/message_impl.h; do
    [ ! -e "$prefix/include/countersign/$header" ] || die "$header is internal and installed"
done

good=$fixtures/published-session/linked.jsonl
key=$fixtures/published-session/linked.pub
if [ -f "$good" ]; then
    exits 0 "$work/verify" "$key" "$good"
    exits 0 "$prefix/bin/countersign-verify" -p "$key" "$good"
    # The twin: one character of the first line's payload is another.
    sed '1 s/"payload":"\(.\{40\}\)./"payload":"\1-/' "$good" > "$work/bad.jsonl"
    ! cmp -s "$good" "$work/bad.jsonl" || die 'the bad twin is the good one'
    exits 1 "$work/verify" "$key" "$work/bad.jsonl"
    exits 1 "$prefix/bin/countersign-verify" -p "$key" "$work/bad.jsonl"
    exits 5 "$work/verify" "$key" "$work/nothing-there"
else
    need "the fixture $good"
fi

# ---- uninstall ----------------------------------------------------------------------------------------------

left() { # files, and folders of ours
    find "$stage" \( ! -type d -o -name '*countersign*' \) ! -path "$stage" -printf '%P\n'
}
cp -a "$prefix" "$work/used"
echo mine > "$root/share/countersign/mine"
make_in uninstall > /dev/null
[ "$(left | sed 's|.*/prefix/||' | sort | xargs)" = 'share/countersign share/countersign/mine' ] ||
    die "uninstall left this, or took too much: $(left)"
rm "$root/share/countersign/mine"
make_in uninstall > /dev/null
[ -z "$(left)" ] || die "uninstall left: $(left)"
diff -r "$work/used" "$prefix" || die 'uninstall went round DESTDIR'
echo "install: installed, used and taken away again$([ "$walled" = yes ] && echo ', with everything else read-only')"
