#!/bin/bash
# tools/lint/text sees what a reader trips over.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"
copy tools layers.txt src tests/unit
cd "$TMP/copy" || exit 1

# plant FILE TEXT NAME REGEX: a file with this text is refused.
plant() {
    # shellcheck disable=SC2059 # the text is a format, for its escapes
    printf "$2" >"$1"
    check_error "$3" 1 "^$1:$4" tools/lint/text
    rm "$1"
}

check 'the tree is clean' tools/lint/text
plant src/base/planted.c '/* planted */\n\tint x;\n' 'a tab' '2: a tab; indent with four blanks'
plant src/base/planted.h 'int x; \n' 'blanks at the end of a line' '1: trailing blanks; remove them'
plant planted.md 'text\n\nmore\t\n' 'in any text' '3: trailing blanks'
plant src/base/planted.c '#include <stdio.h>\n' 'a file that does not say what it owns' \
    '1: begin with a comment'
plant src/sim/planted.c '/* planted */\nvoid *f(void)\n{\n    return dlopen("x", 1);\n}\n' 'dlopen' \
    '4: dlopen; plug-ins are const structs'

mkdir -p src/runtime
printf '/* planted */\nvoid *f(void)\n{\n    return dlopen("x", 1);\n}\n' >src/runtime/local/gpu.c
check 'dlopen where NVML is loaded' tools/lint/text
{
    printf '/* planted */\nvoid f(void)\n{\n'
    printf '    f();\n%.0s' {1..61}
    printf '}\n'
} >src/base/planted.c
check_output 'a long function is warned about' \
    '^warning: src/base/planted.c:3: a function of 61 lines; 60 are enough' tools/lint/text
printf '/* planted */\n' >src/base/planted.c
printf 'int x;\n%.0s' {1..600} >>src/base/planted.c
check_output 'a long file is warned about' '^warning: src/base/planted.c: more than 600 lines' \
    tools/lint/text
printf '/* planted */\n\0 \n' >src/base/planted.bin
check 'what is not text is left alone' tools/lint/text
