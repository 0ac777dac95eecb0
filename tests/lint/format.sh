#!/bin/bash
# tools/lint/format sees code that clang-format would write otherwise.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"
copy tools/lint .clang-format src/base
cd "$TMP/copy" && mkdir tests || exit 1
tools/lint/format >"$TMP/output" 2>&1
(( $? == 77 )) && skip "$(cat "$TMP/output")"

check 'the files are clean' tools/lint/format
printf '/* planted */\nint f(void) {\n  return 0;\n}\n' >src/base/planted.c
check_error 'indented by two, brace on the line' 1 \
    '^src/base/planted.c:2: clang-format writes this otherwise; run: make format' tools/lint/format
mv src/base/planted.c tests
check_error 'tests are looked at too' 1 '^tests/planted.c:2:' tools/lint/format
