#!/bin/sh
# Debian packages of what `make install` installs: the programs, and the verify library for others.
#
#   deb.sh BUILD      BUILD/countersign_VERSION_ARCH.deb, BUILD/libcountersign-verify-dev_VERSION_ARCH.deb
#
# DEB_MAINTAINER is who is named in them. What the programs depend on is computed from the programs; without the tools for that
# (package dpkg-dev) no package is made, since one without dependencies would install and not run.
set -eu
build=$(realpath "$1")
version=$(cat VERSION)
arch=$(dpkg --print-architecture)
multiarch=$(gcc -print-multiarch)
maintainer=${DEB_MAINTAINER:-countersign maintainers <maintainers@countersign.invalid>}
# All files get one time, so that the same sources give the same packages.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || stat -c %Y VERSION)}
export SOURCE_DATE_EPOCH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

if ! command -v dpkg-shlibdeps > /dev/null; then
    echo "deb: there is no dpkg-shlibdeps here; install the package dpkg-dev" >&2
    exit 1
fi

install_part() { # make-target stage
    make --silent BUILD="$build" DESTDIR="$2" PREFIX=/usr LIBDIR="/usr/lib/$multiarch" "$1" > /dev/null
}

# What Debian wants to have in every package: licence and changes, pages and changes compressed, checksums.
finish() { # stage package
    doc=$1/usr/share/doc/$2
    mkdir -p "$doc" "$1/DEBIAN"
    cat > "$doc/copyright" << EOF
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: countersign

Files: *
Copyright: $(date -u -d "@$SOURCE_DATE_EPOCH" +%Y) the countersign authors
License: Apache-2.0
 On Debian systems the full text of the Apache License 2.0 is in
 /usr/share/common-licenses/Apache-2.0.
EOF
    printf 'countersign (%s) unstable; urgency=medium\n\n  * Version %s.\n\n -- %s  %s\n' "$version" "$version" "$maintainer" \
        "$(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")" | gzip -9n > "$doc/changelog.gz"
    find "$1/usr" -path '*/man/*' -name '*.1' -exec gzip -9n {} +
    (cd "$1" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum > DEBIAN/md5sums)
    {
        printf 'Package: %s\nSource: countersign\nVersion: %s\nArchitecture: %s\nMaintainer: %s\nInstalled-Size: %s\n' "$2" "$version" \
            "$arch" "$maintainer" "$(du -k -s --exclude=DEBIAN "$1" | cut -f1)"
        cat
    } > "$1/DEBIAN/control"
    find "$1" -newermt "@$SOURCE_DATE_EPOCH" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb --root-owner-group --build "$1" "$build/$2_${version}_$arch.deb" > /dev/null
    echo "deb: $build/$2_${version}_$arch.deb"
}

# dpkg-shlibdeps wants a source package's control file below the folder it is called in.
dependencies() { # program...
    mkdir -p "$work/debian"
    printf 'Source: countersign\n\nPackage: countersign\nArchitecture: any\n' > "$work/debian/control"
    (cd "$work" && dpkg-shlibdeps -O "$@" 2> shlibdeps.err) > "$work/substvars" || { cat "$work/shlibdeps.err" >&2; exit 1; }
    sed -n 's/^shlibs:Depends=//p' "$work/substvars"
}

umask 022
stage=$work/countersign
install_part install-programs "$stage"
strip --strip-unneeded --remove-section=.comment "$stage/usr/bin/countersign" "$stage/usr/bin/countersign-verify" \
    "$stage/usr/libexec/countersign/localdaemon"
depends=$(dependencies "$stage/usr/bin/countersign" "$stage/usr/bin/countersign-verify" \
    "$stage/usr/libexec/countersign/localdaemon")
[ -n "$depends" ] || { echo "deb: dpkg-shlibdeps found no dependency, which can't be" >&2; exit 1; }
finish "$stage" countersign << EOF
Depends: $depends
Recommends: ca-certificates
Suggests: bubblewrap, nodejs (>= 18), qemu-system-x86
Section: devel
Priority: optional
Description: check, sign and keep what a sandbox daemon says it ran
 A daemon of the plimsoll.v1 interface runs code in a sandbox and hands back a
 record of the run. countersign stands outside: it recomputes the digests from
 its own copies, signs what agrees into a ledger, verifies ledgers and bundles,
 runs work again elsewhere to compare, tries to refute the isolation tier that
 a daemon claims, and decides whether a commit has the runs that a policy asks
 for. countersign-verify is the reviewer's part alone.
 .
 A daemon for one machine is in /usr/libexec/countersign/localdaemon.
EOF

stage=$work/library
install_part install-library "$stage"
strip --strip-debug --enable-deterministic-archives "$stage/usr/lib/$multiarch/libcountersign-verify.a"
finish "$stage" libcountersign-verify-dev << EOF
Depends: libprotobuf-c-dev, libssl-dev, libjansson-dev, libsodium-dev, libsqlite3-dev
Section: libdevel
Priority: optional
Description: verify signed run records (static library and headers)
 What countersign-verify is made of, for other programs: bundles and ledgers of
 signed run records, link chains, session chains, trust files. No network code
 and nothing that signs.
EOF
