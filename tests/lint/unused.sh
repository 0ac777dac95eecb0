#!/bin/bash
# tools/lint/unused sees a function that no other file calls, and a list of exceptions
# that is out of date.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"
copy tools/lint compile_flags.txt
cd "$TMP/copy" || exit 1
mkdir -p build/src/base src/base
export BUILD=build
echo '# nothing' >tools/lint/unused.txt

# plant FILE TEXT: a file of src/base, compiled.
plant() {
    printf '/* planted */\n%s\n' "$2" >"src/base/$1"
    gcc @compile_flags.txt -Wno-missing-prototypes -c -o "build/src/base/${1%.c}.o" "src/base/$1"
}

check_error 'no sources' 1 '^src: no sources found' tools/lint/unused
plant one.c 'int two(int); int one(int x) { return two(x); } static int three(void) { return 3; }
int (*const four)(void) = three;'
plant two.c 'int one(int); int two(int x) { return one(x); }'
check 'functions that call each other' tools/lint/unused
plant more.c 'int more(void); int more(void) { return 1; } int most(void) { return more(); }'
check_error 'one that nobody calls' 1 '^src/base/more.c:1: no other file calls most' tools/lint/unused
check_file 'one that only its own file calls' "$TMP/output" '^src/base/more.c:1: no other file calls more;'
printf 'int more(void);\nint main(void)\n{\n    return more() + most();\n}\n' >src/main.c
check 'a main counts' tools/lint/unused
rm src/main.c
echo 'more most # with a reason' >tools/lint/unused.txt
check 'exceptions' tools/lint/unused
echo 'most gone' >>tools/lint/unused.txt
check_error 'an exception without a function' 1 'there is no function gone' tools/lint/unused
echo 'more most one' >tools/lint/unused.txt
check_error 'one that is called by now' 1 'one is called by now; remove it' tools/lint/unused
plant fakes.c 'int fakes(void) { return 1; }'
echo 'more most fake' >tools/lint/unused.txt
mv src/base/fakes.c src/base/fake_all.c && mv build/src/base/fakes.o build/src/base/fake_all.o
check 'all of a fake' tools/lint/unused
rm build/src/base/one.o
check_error 'a file that was not built' 1 'src/base/one.o: not built' tools/lint/unused
