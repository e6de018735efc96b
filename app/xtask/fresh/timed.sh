#!/bin/sh
# timed.sh COMMAND …: the command, and how long processors worked for it, which other work on the computer hardly changes.
set -eu

code=0
"$@" || code=$?
# Not in a pipe: what stands in one has children of its own. Minutes and seconds, of programs and of the system for them.
taken=$(mktemp)
times >"$taken"
awk '{ for (i = 1; i <= 2; i++) { split($i, part, "m"); sum += part[1] * 60 + part[2] } } END { printf "processor minutes: %.1f\n", sum / 60 }' "$taken"
exit "$code"
