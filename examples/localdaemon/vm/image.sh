#!/bin/sh
# Builds what localdaemon's provider vm boots: Debian's cloud kernel, an initramfs with the agent, and a read-only
# system with this machine's own node (so that every provider runs the same one). Nothing to do when it is there.
#
#   image.sh AGENT [CACHE]    AGENT: the agent's program (make: $BUILD/vm/agent)
#                             CACHE: $LOCALDAEMON_CACHE, or /var/cache/localdaemon for root, otherwise
#                                    ${XDG_CACHE_HOME:-~/.cache}/localdaemon
#
# Prints the image's digest: the SHA-256 of its manifest, which names every part by its own. The same packages give the
# same digest. The image is in CACHE/vm/DIGEST, and CACHE/vm/current points to the one that was made last.
# Needs apt-get, dpkg-deb, mksquashfs, cpio, lz4. LOCALDAEMON_VM_KERNEL may name a kernel's .deb, so that nothing has to
# be downloaded.
set -eu
LC_ALL=C
TZ=UTC
export LC_ALL TZ
umask 022

die() {
    printf 'image.sh: %s\n' "$1" >&2
    exit 1
}

[ $# -eq 1 ] || [ $# -eq 2 ] || die 'usage: image.sh AGENT [CACHE]'
agent=$1
if [ $# -eq 2 ]; then
    cache=$2
elif [ -n "${LOCALDAEMON_CACHE:-}" ]; then
    cache=$LOCALDAEMON_CACHE
elif [ "$(id -u)" -eq 0 ]; then
    cache=/var/cache/localdaemon
else
    cache=${XDG_CACHE_HOME:-$HOME/.cache}/localdaemon
fi
[ -x "$agent" ] || die "no agent at $agent; make builds it"

need() { # program package
    command -v "$1" > /dev/null || die "no $1 here; install it (Debian: $2)"
}
need apt-get apt
need apt-cache apt
need dpkg-deb dpkg
need dpkg-query dpkg
need mksquashfs squashfs-tools
need cpio cpio

# ---- what goes in --------------------------------------------------------------------------------

node=$(PATH=/usr/local/bin:/usr/bin:/bin command -v node) || die 'no node in the standard folders; install it (Debian: nodejs)'
node=$(readlink -f "$node")

# The package that a file is of; nothing when it is of none.
owner() {
    dpkg-query --search "$1" 2> /dev/null | sed -n '1s/:.*//p'
}

# What a shell script expects, and python where it is installed. Then all that these depend on and that is here.
wanted() {
    printf '%s\n' dash coreutils sed grep findutils mawk tar gzip diffutils python3-minimal libpython3-stdlib "$(owner "$node")"
}
closure() {
    dpkg-query --show --showformat='${Package}\t${db:Status-Status}\t${Pre-Depends}, ${Depends}\t${Provides}\n' |
        awk -F '\t' -v wanted="$(wanted | tr '\n' ' ')" '
            function names(list, into,    n, i, part, alternatives, m, j) {
                n = split(list, part, /, */)
                m = 0
                for (i = 1; i <= n; i++) {
                    alternatives = part[i]
                    while (match(alternatives, /^[ |]*[a-z0-9][a-z0-9+.-]*/)) {
                        j = substr(alternatives, RSTART, RLENGTH)
                        gsub(/[ |]/, "", j)
                        into[++m] = j
                        if (!match(alternatives, /\|/)) break
                        alternatives = substr(alternatives, RSTART + 1)
                    }
                }
                return m
            }
            $2 == "installed" {
                depends[$1] = $3
                n = names($4, provided)
                for (i = 1; i <= n; i++) by[provided[i]] = by[provided[i]] " " $1
            }
            END {
                n = split(wanted, queue, " ")
                for (at = 1; at <= n; at++) {
                    name = queue[at]
                    if (name in seen) continue
                    seen[name] = 1
                    if (!(name in depends)) {
                        m = split(by[name], providers, " ")
                        for (i = 1; i <= m; i++) queue[++n] = providers[i]
                        continue
                    }
                    print name
                    m = names(depends[name], next_ones)
                    for (i = 1; i <= m; i++) queue[++n] = next_ones[i]
                }
            }' | sort -u
}

kernel_package() {
    apt-cache depends linux-image-cloud-amd64 2> /dev/null | sed -n 's/^ *Depends: \(linux-image-[^ ]*\)$/\1/p' | head -n 1
}

kernel_deb=${LOCALDAEMON_VM_KERNEL:-}
if [ -n "$kernel_deb" ]; then
    [ -r "$kernel_deb" ] || die "$kernel_deb can't be read"
    kernel=$(dpkg-deb --show --showformat='${Package} ${Version}' "$kernel_deb")
else
    kernel=$(kernel_package)
    [ -n "$kernel" ] || die 'no package linux-image-cloud-amd64 in the package lists; run apt-get update (Debian, amd64)'
    version=$(apt-cache policy "$kernel" | sed -n 's/^ *Candidate: //p')
    kernel="$kernel $version"
fi

hash_of() {
    sha256sum "$1" | cut -d' ' -f1
}

packages=$(closure)
# shellcheck disable=SC2086 # names become names
list=$(dpkg-query --show --showformat='package ${Package} ${Version} ${Architecture}\n' $packages | sort -u)
list=$(printf '%s\npackage %s amd64\n' "$list" "$kernel")
input=$({
    printf '%s\n' "$list"
    hash_of "$0"
    hash_of "$agent"
    printf '%s %s %s\n' "$node" "$(stat -c '%s %Y' "$node")" "$(mksquashfs -version | head -n 1)"
    for file in /etc/localtime /etc/ssl/openssl.cnf; do
        [ ! -e "$file" ] || hash_of "$file"
    done
    find /etc/alternatives -type l -printf '%p %l\n' | sort
} | sha256sum | cut -d' ' -f1)

# ---- is it there? --------------------------------------------------------------------------------

images=$cache/vm
mkdir -p "$images/inputs"

# Point `current` at an image, in one step.
point() { # digest
    ln -s "$1" "$images/current.$$"
    mv -T "$images/current.$$" "$images/current"
}

if digest=$(cat "$images/inputs/$input" 2> /dev/null) && [ -n "$digest" ] && [ -s "$images/$digest/manifest" ]; then
    [ "$(readlink "$images/current" || true)" = "$digest" ] || point "$digest"
    printf '%s\n' "$digest"
    exit 0
fi

# ---- build ---------------------------------------------------------------------------------------

build=$(mktemp -d "$images/build.XXXXXX")
trap 'rm -rf "$build"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP
made=$build/made
root=$build/root
mkdir "$made" "$root" "$build/kernel"

if [ -z "$kernel_deb" ]; then
    kernel_deb=$images/kernels/$(printf %s "$kernel" | tr ' /:' '_').deb
    if [ ! -s "$kernel_deb" ]; then
        (cd "$build" && apt-get -q download "$(printf %s "$kernel" | tr ' ' '=')" > apt.log 2>&1) ||
            die "the kernel ($kernel) can't be downloaded; run apt-get update: $(grep '^E' "$build/apt.log" | tail -n 1)"
        mkdir -p "$images/kernels"
        mv "$build"/linux-image-*.deb "$kernel_deb"
    fi
fi
dpkg-deb --extract "$kernel_deb" "$build/kernel"

# The kernel proper out of the bzImage (Documentation/x86/boot.rst): the monitor starts it directly, without the
# decompressor, which would be the slowest part of a boot without hardware support.
vmlinuz=$(echo "$build"/kernel/boot/vmlinuz-*)
number() { # offset bytes
    od -A n -t "u$2" -j "$1" -N "$2" "$vmlinuz" | tr -d ' '
}
payload=$((($(number 497 1) + 1) * 512 + $(number 584 4)))
length=$(($(number 588 4)))
tail -c +$((payload + 1)) "$vmlinuz" | head -c "$length" > "$build/payload"
case $(od -A n -t x1 -N 4 "$build/payload" | tr -d ' ') in
    02214c18) unpack=lz4 ;;
    28b52ffd) unpack=zstd ;;
    fd377a58) unpack=xz ;;
    1f8b*) unpack=gzip ;;
    *) die "the payload of $vmlinuz is compressed in a way that is not known here" ;;
esac
need "$unpack" "$unpack"
# Its last four bytes are its length, which the unpackers don't expect.
head -c -4 "$build/payload" | "$unpack" -d -c > "$made/vmlinux" 2> "$build/unpack.log" ||
    die "the kernel can't be unpacked: $(tail -n 1 "$build/unpack.log")"

# The initramfs: the agent and the modules it loads.
mkdir -p "$build/init/modules" "$build/init/proc" "$build/init/sys" "$build/init/dev" "$build/init/system"
cp "$agent" "$build/init/init"
modules=$(echo "$build"/kernel/lib/modules/*)
for module in virtio_ring virtio virtio_mmio virtio_blk squashfs virtio_console failover net_failover virtio_net; do
    file=$(find "$modules" -name "$module.ko*")
    case $file in
        '') grep -q "/$module.ko\$" "$modules/modules.builtin" || die "the kernel has no module $module" ;;
        *.xz) xz -d -c "$file" > "$build/init/modules/$module.ko" ;;
        *) cp "$file" "$build/init/modules/$module.ko" ;;
    esac
done
find "$build/init" -exec touch -h -d @0 {} +
(cd "$build/init" && find . | sort | cpio --quiet --create --format=newc --reproducible --owner=0:0 > "$made/initramfs")

# The system: what the packages have installed, without what no program reads; merged into /usr as Debian does it.
# shellcheck disable=SC2086
dpkg-query --listfiles $packages | sed 's,^/\(bin\|sbin\|lib\|lib64\)/,/usr/\1/,' | grep '^/usr/' |
    grep -v -e '^/usr/share/\(doc\|man\|info\|locale\|lintian\|bug\|doc-base\|bash-completion\|applications\|pixmaps\|i18n\|perl5\|debconf\|ca-certificates\)' \
        -e '^/usr/include/' -e '^/usr/lib/node_modules/' -e '^/usr/lib/x86_64-linux-gnu/gconv/' -e '^/usr/lib/systemd/' |
    sort -u > "$build/files"
echo "$node" >> "$build/files"
# The libraries that programs name themselves, whoever brought them.
ldd "$node" | sed -n 's/.* \(\/[^ ]*\) (0x.*/\1/p' | while read -r library; do
    readlink -f "$(dirname "$library")" | tr '\n' '/'
    basename "$library"
done >> "$build/files"
ldd "$node" | sed -n 's/.* \(\/[^ ]*\) (0x.*/\1/p' | xargs -r readlink -f >> "$build/files"
sort -u "$build/files" | while IFS= read -r path; do
    if [ -h "$path" ] || [ -f "$path" ]; then printf '%s\0' "${path#/}"; fi
done > "$build/list"
tar -C / --null --no-recursion -T "$build/list" -cf - | tar -C "$root" --no-same-owner -xf -
for folder in bin sbin lib lib64; do
    [ ! -d "$root/usr/$folder" ] || ln -s "usr/$folder" "$root/$folder"
done
mkdir -p "$root/proc" "$root/dev" "$root/tmp" "$root/etc/alternatives" "$root/usr/lib/localdaemon"
cp "$agent" "$root/usr/lib/localdaemon/agent"
# What update-alternatives has made: `awk`, say.
for link in /etc/alternatives/*; do
    target=$(readlink -f "$link") || continue
    if [ -e "$root$target" ]; then ln -s "$target" "$root$link"; fi
done
for path in /usr/bin/*; do
    link=$(readlink "$path") || continue
    case $link in
        /etc/alternatives/*) [ ! -h "$root$link" ] || ln -sf "$link" "$root$path" ;;
    esac
done
[ ! -e /etc/localtime ] || cp -L /etc/localtime "$root/etc/localtime"
[ ! -e /etc/ssl/openssl.cnf ] || { mkdir -p "$root/etc/ssl" && cp -L /etc/ssl/openssl.cnf "$root/etc/ssl/"; }
find "$root" -type f -exec chmod u=rwX,go=rX {} +
find "$root" -type d -exec chmod 755 {} +
mksquashfs "$root" "$made/system.squashfs" -comp lz4 -noappend -all-root -mkfs-time 0 -all-time 0 -no-xattrs \
    -no-exports -no-progress -quiet > "$build/squash.log" 2>&1 || die "mksquashfs: $(tail -n 1 "$build/squash.log")"

{
    echo 'localdaemon vm image 1'
    echo 'agent-protocol 1'
    for part in initramfs system.squashfs vmlinux; do
        printf 'part %s %s %s\n' "$part" "$(hash_of "$made/$part")" "$(stat -c %s "$made/$part")"
    done
    printf 'node %s %s\n' "$node" "$(hash_of "$root$node")"
    printf '%s\n' "$list"
} > "$made/manifest"
chmod 644 "$made"/*
chmod 755 "$made"
digest=$(hash_of "$made/manifest")

# Whoever comes second finds the same image there already.
mv -T "$made" "$images/$digest" 2> /dev/null || [ -s "$images/$digest/manifest" ] || die "$images/$digest can't be made"
printf '%s\n' "$digest" > "$build/input"
mv -T "$build/input" "$images/inputs/$input"
point "$digest"
printf '%s\n' "$digest"
