#!/bin/sh
# join_objects.sh LD OBJCOPY NM OUTPUT OBJECT...: makes one object of those of a program, with program_main as its only symbol.
set -eu
ld=$1 objcopy=$2 nm=$3 output=$4
shift 4

# What several files define and none needs of another is each file's own: so nvcc takes functions and variables of the device.
names() { for object in "$@"; do "$nm" --extern-only --format=posix "$object"; done; }
names "$@" >"$output.names"
awk '$2 ~ /^[TDBRSG]$/ && $1 != "main" { print $1 }' "$output.names" | sort | uniq -d >"$output.twice"
awk '$2 == "U" { print $1 }' "$output.names" | sort -u >"$output.needed"
comm -23 "$output.twice" "$output.needed" >"$output.own"
if [ -s "$output.own" ]; then
  number=0
  for object; do
    shift
    "$objcopy" --localize-symbols="$output.own" "$object" "$output.$number"
    set -- "$@" "$output.$number"
    number=$((number + 1))
  done
fi

# Without that option, groups of sections stay apart, and the program cannot be linked.
"$ld" -r --force-group-allocation "$@" -o "$output.global"
"$objcopy" --redefine-sym main=program_main --keep-global-symbol=program_main "$output.global" "$output"
