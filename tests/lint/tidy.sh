#!/bin/bash
# tools/lint/tidy sees what clang-tidy finds, and passes by what has passed it.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"
copy tools/lint .clang-tidy compile_flags.txt src/base/err.c src/base/err.h
cd "$TMP/copy" && mkdir tests || exit 1
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
check 'what it passed with is remembered' tools/lint/tidy
mkdir bin
# shellcheck disable=SC2016 # for the command to expand
printf '#!/bin/bash\n[[ $1 == --version ]] && cat version\n[[ $1 == --quiet ]] && echo "$2" >>looked\ntrue\n' \
    >bin/clang-tidy
chmod +x bin/clang-tidy
clang-tidy --version >version
PATH=$PWD/bin:$PATH

# looked NAME [FILE]: the check looks at this file, or at none.
looked() {
    : >looked
    check "$1" tools/lint/tidy
    [[ $(cat looked) == "${2-}" ]] || failed "$1" "looked at '$(cat looked)', not at '${2-}'"
}

touch src/base/*
looked 'a file that has not changed is passed by'
echo >>src/base/err.c
looked 'one that has is not' src/base/err.c
looked 'once'
echo '#include "base/deep.h"' >>src/base/err.h
echo >src/base/deep.h
looked 'nor one of which a header has' src/base/err.c
echo >>src/base/deep.h
looked 'however deep' src/base/err.c
echo >>.clang-tidy
looked 'nor any when the checks change' src/base/err.c
echo 99 >version
looked 'or the version' src/base/err.c
BUILD=other looked 'a fresh build looks at everything' src/base/err.c
