#!/bin/bash
# tools/lint/declarations sees a function that is declared where it is not defined.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"
copy tools/lint src/base compile_flags.txt
built=$(cd "$ROOT" && realpath "${BUILD:-build}")
cd "$TMP/copy" || exit 1
mkdir -p build/src/base/deep src/base/deep
cp "$built"/src/base/*.o build/src/base
export BUILD=build

# plant FILE TEXT: a file of src/base; a .c is compiled.
plant() {
    printf '/* planted */\n%s\n' "$2" >"src/base/$1"
    [[ $1 != *.c ]] || gcc @compile_flags.txt -c -o "build/src/base/${1%.c}.o" "src/base/$1"
}

# refused NAME REGEX
refused() {
    check_error "$1" 1 "^src/base/$2" tools/lint/declarations
}

check 'the headers are clean' tools/lint/declarations
plant here.h '#pragma once
int here(int x);
void (*here_handler(int x, void (*f)(int)))(int);
static inline int here_twice(int x) { return 2 * x; }
extern const int here_number;
#define HERE 1'
plant here.c '#include "base/here.h"
int here(int x) { return x; }
void (*here_handler(int x, void (*f)(int)))(int) { return x ? f : 0; }'
check 'a header and its .c' tools/lint/declarations
plant other.h '#pragma once
int
other(void (*f)(int));'
refused 'a function that is not there' 'other.h:4: other is not defined; remove it'
plant deep/other.c '#include "base/other.h"
int other(void (*f)(int)) { return f != 0; }'
refused 'one that another file defines' \
    'other.h:4: other is defined in src/base/deep/other.c; declare it in src/base/deep/other.h'
plant other.c '#include "base/other.h"
int other(void (*f)(int)) { return !f; }'
rm src/base/deep/other.c
check 'what is no longer in the sources does not count' tools/lint/declarations
plant again.h '#pragma once
#include "base/here.h"
int here(int x);
void (*here_handler(int x, void (*f)(int)))(int);'
refused 'a second declaration' 'again.h:4: here is defined in src/base/here.c'
check_file 'of whatever type' "$TMP/output" '^src/base/again.h:5: here_handler is defined in'
rm src/base/again.h

rm src/base/other.c
refused 'what nobody defines' 'other.h:4: other is not defined'
rm src/base/other.h
printf 'unknown_t x;\n' >src/base/deep/broken.h
check_error 'a header that does not compile' 1 '^src/base/deep/broken.h:1:.*unknown_t' tools/lint/declarations
rm src/base/deep/broken.h
BUILD=elsewhere check_error 'no objects' 1 '^elsewhere/src/base/.*: not built; run .make lint' \
    tools/lint/declarations
rm -r src/base
check_error 'nothing to check' 1 '^src: no headers found' tools/lint/declarations
