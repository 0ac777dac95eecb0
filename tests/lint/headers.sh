#!/bin/bash
# tools/lint/headers sees a header that leans on what was included before it.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"
copy tools/lint compile_flags.txt src/base
cd "$TMP/copy" || exit 1

check 'the headers are clean' tools/lint/headers
printf 'struct planted { uint32_t n; };\n' >src/base/planted.h
check_error 'a type that is not declared' 1 '^src/base/planted.h:1: does not compile alone' \
    tools/lint/headers
check_file 'with the words of the compiler' "$TMP/output" "unknown type name .uint32_t"
printf '#include <stdint.h>\nstruct planted { uint32_t n; };\n' >src/base/planted.h
check_error 'a header without a guard' 1 '^src/base/planted.h:1: .*not twice' tools/lint/headers
check_file 'that redefines its type' "$TMP/output" 'redefinition of .struct planted'
rm -r src/base
check_error 'nothing to check' 1 '^src: no headers found' tools/lint/headers
