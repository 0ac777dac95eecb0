#!/bin/bash
# tools/lint/purity sees calls and variables that pure code may not have, in the
# objects of this build and a planted one.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"
read -r -a folders < <(sed -n "s/^folders='\(.*\)'/base \1/p" "$ROOT/tools/lint/purity")
copy tools/lint "${folders[@]/#/src/}" compile_flags.txt
built=$(cd "$ROOT" && realpath "${BUILD:-build}")
cd "$TMP/copy" || exit 1
mkdir build
(cd "$built" && find "${folders[@]/#/src/}" -name '*.o' -exec cp --parents -t "$TMP/copy/build" {} +)
export BUILD=build

# planted SOURCE FILE [FLAG...]: compiles the text as a file of the tree.
planted() {
    local text=$1 file=$2
    shift 2
    printf '/* planted */\n%s\n' "$text" >"$file"
    ${CC:-gcc} @compile_flags.txt -Wno-missing-prototypes -O2 "$@" -c -o "build/${file%.c}.o" "$file"
}

# plant_in FOLDER SOURCE NAME REGEX: a file with this text is refused.
plant_in() {
    planted "$2" "src/$1/planted.c"
    check_error "$3" 1 "^src/$1/planted.c:$4" tools/lint/purity
    rm "src/$1/planted.c" "build/src/$1/planted.o"
}

# plant SOURCE NAME REGEX: a policy with this text is refused.
plant() {
    plant_in policy "$@"
}

check 'the tree is pure' tools/lint/purity
plant 'long time(long *); long f(void) { return time(0); }' 'asking for the time' \
    '2: calls time, which is not pure'
plant '#include <stdlib.h>
int f(void) { return rand(); }' 'randomness' '3: calls rand,'
plant '#include <stdio.h>
void f(void) { puts("x"); }' 'output' '3: calls puts,'
plant '#include <pthread.h>
int f(pthread_mutex_t *m) { return pthread_mutex_lock(m); }' 'a lock' \
    '3: calls pthread_mutex_lock,'
plant '#include <stdlib.h>
void *f(size_t n) { return malloc(n); }' 'memory that is not from base' '3: calls malloc,'
plant '#include "base/mem.h"
int f(int *fd) { AUTO_CLOSE int g = *fd; return g; }' 'the impure function of a pure object of base' \
    '1: calls auto_close,'
plant 'int f(void) { static int calls; return ++calls; }' 'a counter' \
    '1: 4 bytes of variables in .bss; make them const'
plant 'int planted_level = 3;' 'a global' '1: 4 bytes of variables in .data'
plant '_Thread_local int planted_level;' 'a thread-local variable' '1: 4 bytes of variables in .tbss'
plant 'extern const char planted_name[]; const char *planted_names[] = {planted_name};' \
    'an array of const strings that is not const itself' '1: 8 bytes of variables in .data.rel'

clock='long time(long *); long f(void) { return time(0); }'
plant_in policy/allocate "$clock" 'in a subfolder' '2: calls time,'
for folder in "${folders[@]:1}"; do
    plant_in "$folder" "$clock" "in $folder" '2: calls time,'
done
json='void *json_loadb(void); void *f(void) { return json_loadb(); }'
plant "$json" 'what another folder may call' '2: calls json_loadb,'
planted "$json" src/progress/planted.c
check 'is fine there' tools/lint/purity
rm src/progress/planted.c build/src/progress/planted.o

planted 'extern const char planted_name[]; const char planted_name[] = "x";
const char *const planted_names[] = {planted_name};
double exp(double); double f(double x) { return exp(x); }' src/policy/planted.c
check 'const data and mathematics are fine' tools/lint/purity
planted 'void log_line(void); void f(void) { log_line(); }' src/policy/planted.c
planted '#include <unistd.h>
void log_line(void); void log_line(void) { write(2, "x", 1) ? (void)0 : (void)0; }' src/base/log.c
check_error 'an object of base that is impure' 1 '^src/policy/planted.c:2: calls log_line,' \
    tools/lint/purity

planted 'int f(int *p) { return *p; }' src/policy/planted.c -fsanitize=address
check_error 'objects of a sanitizer build' 1 '^build: instrumented; check the objects of a normal' \
    tools/lint/purity
planted 'int f(int *p) { return *p; }' src/policy/planted.c --coverage
check_error 'objects of a coverage build' 1 '^build: instrumented' tools/lint/purity
rm build/src/policy/planted.o
check_error 'a source without its object' 1 '^src/policy/planted.c: no object below build' \
    tools/lint/purity
BUILD=elsewhere check_error 'no objects at all' 1 'no object below elsewhere' tools/lint/purity
