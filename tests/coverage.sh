#!/bin/sh
# Line coverage of the sources named, from a build with gcc's --coverage in which the tests have run.
#
#   coverage.sh BUILD LEAST FILE...      a line a file, and the total; the lines not reached go to BUILD/uncovered.txt
#
# A folder of which less than LEAST percent is reached fails. Checks itself first: where no test process wrote its
# counts, there is nothing to sum.
set -eu
build=$1
least=$2
shift 2
if ! find "$build/obj" -name '*.gcda' | grep -q .; then
    echo "coverage: no counts below $build/obj: did the tests run, with this build?" >&2
    exit 1
fi
: > "$build/uncovered.txt"
status=0
for file in "$@"; do
    object=$build/obj/${file%.c}
    # Annotated source: "count:line:text", where ##### is a line with code that was never reached.
    gcov --stdout --object-file "$object.gcda" "$file" 2> /dev/null | awk -F: -v file="$file" -v list="$build/uncovered.txt" '
        /Source:/ { mine = ($4 == file) }
        mine && $2 + 0 > 0 {
            count = $1; gsub(/[ *]/, "", count)
            if (count ~ /^[0-9]+$/) { lines++; reached++ }
            if (count == "#####") { lines++; print file ":" $2 + 0 ":" substr($0, index($0, $3)) >> list }
        }
        END { if (lines == 0) exit 1; print reached + 0, lines, file }' || echo "0 0 $file"
done | awk -v least="$least" '
    { if ($2 == 0) { printf "coverage: nothing known of %s\n", $3; bad = 1; next }
      printf "%6.1f %% %5d of %5d lines  %s\n", 100 * $1 / $2, $1, $2, $3
      split($3, part, "/"); reached[part[1]] += $1; lines[part[1]] += $2; all += $2; hit += $1 }
    END { for (folder in lines) {
              share = 100 * reached[folder] / lines[folder]
              printf "%6.1f %% %5d of %5d lines  %s/\n", share, reached[folder], lines[folder], folder
              if (share >= least) continue
              printf "coverage: %s/ is below the %d %% that it must have\n", folder, least
              bad = 1
          }
          if (all > 0) printf "%6.1f %% %5d of %5d lines  in all\n", 100 * hit / all, hit, all
          exit bad || all == 0 }' || status=1
echo "coverage: the lines that no test reaches are in $build/uncovered.txt"
exit "$status"
