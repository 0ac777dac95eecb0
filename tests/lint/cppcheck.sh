#!/bin/bash
# tools/lint/cppcheck sees what cppcheck finds.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"
copy tools/lint src/base
cd "$TMP/copy" && mkdir tests || exit 1
export BUILD=build

check 'the files are clean' tools/lint/cppcheck
printf '/* planted */\nint f(void)\n{\n    int a[3] = {0};\n    return a[3];\n}\n' >src/base/planted.c
check_error 'an index out of bounds' 1 '^src/base/planted.c:5: cppcheck arrayIndexOutOfBounds:' \
    tools/lint/cppcheck
printf '/* planted */\nint f(void)\n{\n    int a[3] = {0};
    /* cppcheck-suppress arrayIndexOutOfBounds ; to show how */\n    return a[3];\n}\n' >src/base/planted.c
check 'a finding that is silenced' tools/lint/cppcheck
