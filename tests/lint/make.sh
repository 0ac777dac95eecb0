#!/bin/bash
# The Makefile rebuilds what has changed and nothing else, treats warnings as errors
# where it should, installs and uninstalls.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"
copy Makefile tests/tests.mk compile_flags.txt tools/setup tools/embed tools/pack src/base src/web \
    src/http/asset.h src/malleable src/preload LICENSE packaging include python
cd "$TMP/copy" || exit 1
# What the make that runs this test has set is not for this one.
unset BUILD CI CFLAGS CPPFLAGS WERROR MAKEFLAGS MFLAGS MAKELEVEL
export CC=gcc
printf '/* planted */\n#include "base/err.h"\nint main(void)\n{\n    return err_exit(ERR_OK);\n}\n' \
    >src/main.c
mkdir -p src/conductor
cp src/main.c src/conductor/main.c

# rebuilt: what this make compiles, in one line.
rebuilt() {
    make "$@" | awk '$1 == "CC" { sub(/.*\//, "", $2); list = list $2 " " } END { print list }'
}

check_output 'it builds and says so' '^  LINK  build/trainyard$' make -j2
check 'what it built runs' build/trainyard
check_output 'nothing has changed' '^$' rebuilt
touch src/base/heap.h
check_output 'a header has' '^heap.o $' rebuilt
check_output 'the flags have' 'err.o .*heap.o .*time.o ' rebuilt CFLAGS=-O0
check_output 'and are kept' '^$' rebuilt CFLAGS=-O0
check_output 'the commands can be seen' '^gcc @compile_flags.txt .*-O1' make V=1 CFLAGS=-O1

printf '/* planted */\nint planted(void);\nint planted(void)\n{\n    int unused;\n    return 0;\n}\n' \
    >src/base/planted.c
check_output 'a warning' 'planted.c:5:.*unused variable' make
touch src/base/planted.c
check_error 'is an error in CI' 2 'planted.c:5:.*error: unused variable' make CI=true
check_error 'or when asked for' 2 'planted.c:5:.*error: unused variable' make WERROR=1
rm src/base/planted.c

mkdir -p docs/policies
echo x | tee README.md docs/policies/fifo.md >/dev/null
check 'install' make install DESTDIR="$TMP/root" PREFIX=/usr
check 'puts everything' test -x "$TMP/root/usr/bin/trainyard" \
    -a -x "$TMP/root/usr/bin/trainyard-conductor" \
    -a -f "$TMP/root/usr/lib/systemd/system/trainyard.service" \
    -a -f "$TMP/root/usr/include/trainyard.h" \
    -a -f "$TMP/root/usr/share/man/man1/trainyard.1" \
    -a -f "$TMP/root/usr/share/doc/trainyard/LICENSE" \
    -a -f "$TMP/root/usr/share/doc/trainyard/docs/policies/fifo.md"
check 'uninstall' make uninstall DESTDIR="$TMP/root" PREFIX=/usr
check_output 'leaves nothing' '^0$' bash -c "find '$TMP/root' -type f | wc -l"
check_output 'help' '^  test  *install what is missing' make help
check 'clean' make clean
check 'leaves nothing either' test ! -e build

mkdir bin
printf '#!/bin/bash\nexit 1\n' >bin/gcc
chmod +x bin/gcc
PATH=$PWD/bin:$PATH check_error 'a missing library is named' 2 \
    "^tools/setup: missing, by Debian's package names: .*libjansson-dev" make
check_file 'with what to do' "$TMP/output" "^tools/setup: run 'tools/setup build' to install them"
check_no_line 'before anything is compiled' "$TMP/output" '^  CC'
