#!/bin/bash
# The programs are built as Debian builds its own: position-independent, with read-only
# relocations, stack protectors and checked library calls.
# run-tests: no asan, which builds them otherwise.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

dir=$(dirname "$TRAINYARD")
for name in trainyard trainyard-conductor libtrainyard-malleable.so libtrainyard-lines.so; do
    readelf --wide --all "$dir/$name" >"$TMP/$name"
    check_file "$name: position-independent" "$TMP/$name" 'Type: +DYN'
    check_file "$name: read-only relocations" "$TMP/$name" 'GNU_RELRO'
    check_file "$name: bound at start" "$TMP/$name" 'BIND_NOW|Flags: NOW'
    check_file "$name: a stack that is not executable" "$TMP/$name" 'GNU_STACK .* RW '
done
# The other library has no function that needs one.
for name in trainyard trainyard-conductor libtrainyard-malleable.so; do
    check_file "$name: stack protectors" "$TMP/$name" '__stack_chk_fail'
done
for name in trainyard trainyard-conductor; do
    check_file "$name: checked library calls" "$TMP/$name" '__(snprintf|memcpy|vsnprintf|fprintf)_chk'
done
check 'the conductor needs no loader' bash -c "! grep -q INTERP '$TMP/trainyard-conductor'"
