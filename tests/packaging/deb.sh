#!/bin/sh
# The Debian packages: what is in them, what they depend on, and that the programs in them run.
#
#   deb.sh BUILD
set -eu
build=$(realpath "$1")
version=$(cat VERSION)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

die() {
    printf 'deb: %s\n' "$*" >&2
    exit 1
}

if ! command -v dpkg-deb > /dev/null || ! command -v dpkg-shlibdeps > /dev/null; then
    [ -z "${CI:-}${COUNTERSIGN_REQUIRE_ALL:-}" ] || die 'dpkg-deb or dpkg-shlibdeps is missing'
    echo 'deb: NO dpkg-deb AND dpkg-shlibdeps HERE: NO PACKAGE IS BUILT' >&2
    exit 0
fi
arch=$(dpkg --print-architecture)
programs=countersign_${version}_$arch.deb
library=libcountersign-verify-dev_${version}_$arch.deb
SOURCE_DATE_EPOCH=1790000000
export SOURCE_DATE_EPOCH
make --silent BUILD="$build" deb > /dev/null
cp "$build/$programs" "$build/$library" "$work/"
sleep 1
make --silent BUILD="$build" deb > /dev/null
cmp "$work/$programs" "$build/$programs"
cmp "$work/$library" "$build/$library"

has() { # file text...
    file=$1
    shift
    for text in "$@"; do
        grep -q -F -- "$text" "$file" || die "no '$text' in: $(cat "$file")"
    done
}
dpkg-deb -I "$build/$programs" > "$work/info"
dpkg-deb -c "$build/$programs" > "$work/content"
has "$work/info" "Package: countersign" "Version: $version" "Architecture: $arch" libc6 libsodium libsqlite3 libjansson libcurl \
    libgit2 libmicrohttpd libseccomp libprotobuf-c
has "$work/content" ./usr/bin/countersign-verify ./usr/libexec/countersign/localdaemon ./usr/share/man/man1/countersign-run.1.gz \
    ./usr/share/countersign/schema/run.schema.json ./usr/share/bash-completion/completions/countersign \
    ./usr/share/zsh/site-functions/_countersign ./usr/share/doc/countersign/FORMAT.md ./usr/share/doc/countersign/copyright \
    ./usr/share/doc/countersign/changelog.gz
! grep -v '^[^ ]* root/root ' "$work/content" || die 'not everything belongs to root'
! grep '^[^ ]*w[^ ]* .* \./usr/local' "$work/content" || die 'something lies in /usr/local'
! awk '{ print $1 }' "$work/content" | grep -v '^l' | grep '^.\{5\}w\|^.\{8\}w' || die 'something can be written by others'

dpkg-deb -I "$build/$library" > "$work/info"
dpkg-deb -c "$build/$library" > "$work/content"
has "$work/info" "Package: libcountersign-verify-dev" "Version: $version" libsodium-dev libprotobuf-c-dev
has "$work/content" /libcountersign-verify.a /pkgconfig/countersign-verify.pc ./usr/include/countersign/verify/verify.h \
    ./usr/include/countersign/plimsoll/v1/sandbox.pb-c.h
! grep -q ' \./usr/bin' "$work/content" || die 'programs are in the library package'

# It was built against what is installed here, so no other package may be asked for.
for package in $(dpkg-deb -f "$build/$programs" Depends | sed 's/([^)]*)//g; s/|[^,]*//g; s/,/ /g'); do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null)" = installed ] || die "it depends on $package, which is not here"
done

dpkg-deb -x "$build/$programs" "$work/root"
(cd "$work/root" && dpkg-deb --ctrl-tarfile "$build/$programs" | tar -xO ./md5sums | md5sum --quiet -c -)
for program in countersign countersign-verify; do
    [ "$("$work/root/usr/bin/$program" --version)" = "countersign $version" ] || die "$program does not run"
done
"$work/root/usr/libexec/countersign/localdaemon" --help > /dev/null || die 'localdaemon does not run'
echo "deb: $programs and $library, twice the same bytes"
