#!/bin/sh
# Run fuzz targets, a line for each. Ends at the first one that fails, with the path of the input.
#
#   run.sh FOLDER SECONDS JOBS TARGET...
#
# Checks itself first: a planted bug must be found, as what it is, and its input kept.
set -eu
folder=$1
seconds=$2
jobs=$3
shift 3
limits='-rss_limit_mb=2048 -timeout=10 -print_final_stats=1'
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=print_stacktrace=1

# The bug that is planted can only be found with coverage, and only be seen with the sanitizer.
rm -rf "$folder/self-check"
mkdir -p "$folder/self-check"
# shellcheck disable=SC2086
if "$folder/planted" $limits -max_total_time=60 -artifact_prefix="$folder/self-check/" > "$folder/self-check/log" 2>&1 ||
    ! grep -q heap-buffer-overflow "$folder/self-check/log" || ! ls "$folder"/self-check/crash-* > /dev/null 2>&1; then
    echo "fuzz: a planted bug is not found; the set-up can't be trusted:" >&2
    tail -n 20 "$folder/self-check/log" >&2
    exit 1
fi
echo "fuzz: the planted bug is found"

cat > "$folder/one.sh" <<'ONE'
folder=$1
seconds=$2
limits=$3
name=$4
mkdir -p "$folder/corpus/$name" "$folder/found/$name"
log=$folder/$name.log
number() { sed -n "s/.*$1 *\([0-9][0-9]*\).*/\1/p" "$log" | tail -n 1; }
# shellcheck disable=SC2086
if ! "$folder/fuzz_$name" $limits -max_total_time="$seconds" -dict=tests/fuzz/words.dict \
    -artifact_prefix="$folder/found/$name/" "$folder/corpus/$name" "$folder/seed/$name" > "$log" 2>&1; then
    input=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
    { echo "fuzz: $name FAILED; the input: $input"
      # Where this ran, files may not outlive it.
      if [ -f "$input" ]; then echo "fuzz: its first 4096 bytes in base64: $(head -c 4096 "$input" | base64 -w 0)"; fi
      grep -nE 'this must hold|ERROR:|runtime error|SUMMARY' "$log" | head -n 5
      echo "fuzz: all of it is in $log"; } >&2
    exit 255 # which ends xargs
fi
runs=$(number stat::number_of_executed_units:)
seeds=$(find "$folder/seed/$name" -type f | wc -l)
if [ "$seeds" -eq 0 ] || [ "${runs:-0}" -lt "$seeds" ]; then
    echo "fuzz: $name ran ${runs:-0} times with $seeds seeds: it did nothing" >&2
    exit 255
fi
printf 'fuzz: %-14s %9s runs, coverage %5s, %4s seeds, %5s inputs kept\n' "$name" "$runs" "$(number cov:)" "$seeds" \
    "$(find "$folder/corpus/$name" -type f | wc -l)"
ONE
printf '%s\n' "$@" | xargs -P "$jobs" -I{} sh "$folder/one.sh" "$folder" "$seconds" "$limits" {}
echo "fuzz: $# targets, nothing found"
