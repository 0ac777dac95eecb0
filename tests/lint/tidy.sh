#!/bin/bash
# tools/lint/tidy sees what clang-tidy finds, and what has passed it passes by.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"
copy tools/lint .clang-tidy compile_flags.txt src/base/err.c src/base/err.h
cd "$TMP/copy" && mkdir -p tests build/src/base || exit 1
export BUILD=build

check 'the file is clean' tools/lint/tidy
printf '/* planted */\n#include <string.h>\nvoid f(char *p);\nvoid f(char *p)\n{
    memset(p, 8, sizeof p);\n}\n' >src/base/planted.c
check_error 'the size of a pointer' 1 '^src/base/planted.c:6:.*sizeof-pointer' tools/lint/tidy
printf '/* planted */\nint f(int *p);\nint f(int *p)\n{\n    return p ? 0 : *p;\n}\n' >src/base/planted.c
check_error 'a null pointer' 1 '^src/base/planted.c:5:.*NullDereference' tools/lint/tidy
printf '/* planted */\n#include "base/planted.h"\nint g(void) { return f(2); }\n' >src/base/planted.c
printf 'static inline int f(int x)\n{\n    return x = x;\n}\nint g(void);\n' >src/base/planted.h
check_error 'a header' 1 '^src/base/planted.h:3:.*self-assign' tools/lint/tidy

rm src/base/planted.*
touch build/src/base/err.o
check 'a file that has changed is looked at again' tools/lint/tidy
mkdir bin
printf '#!/bin/bash\necho looked >>"%s/looked"\n' "$TMP" >bin/clang-tidy
chmod +x bin/clang-tidy
PATH=$PWD/bin:$PATH check 'a file that has not changed' tools/lint/tidy
check 'is not' test ! -e "$TMP/looked"
