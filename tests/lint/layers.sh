#!/bin/bash
# tools/lint/layers sees every kind of include that breaks the layers, and layers that
# nothing needs.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"
copy layers.txt tools/lint src
cd "$TMP/copy" || exit 1

# plant FILE LINE NAME REGEX: a file with this line is refused.
plant() {
    mkdir -p "$(dirname "$1")"
    printf '/* planted */\n%s\n' "$2" >"$1"
    check_error "$3" 1 "^$1:2: $4" tools/lint/layers
    rm "$1"
}

check 'the tree is clean' tools/lint/layers
plant src/policy/planted.c '#include "sim/trace/trace.h"' 'a policy that includes the simulator' \
    'policy may not include sim/; layers.txt allows it: base model'
plant src/engine/planted.h '  #  include "server/api.h"' 'however the include is spaced' \
    'engine may not include server/'
plant src/base/planted.h '#include "model/job.h"' 'base includes nothing' \
    'base may not include model/; layers.txt allows it: nothing'
plant src/sim/planted.c '#include "../base/err.h"' 'a path that goes up' \
    '"../base/err.h" is not written from src/'
plant src/sim/planted.c '#include "trace.h"' 'a bare file name' \
    '"trace.h" is not written from src/; write "folder/file.h"'
plant src/sim/deep/planted.c '#include "cli/cmd.h"' 'a file farther down' \
    'sim may not include cli/'

printf '#include <time.h>\n#include "base/err.h"\n' >src/sim/planted.c
check 'system headers and lower layers are fine' tools/lint/layers
printf '#include "cli/x.h"\n#include "sim/x.h"\n' >src/main.c
check 'main.c joins all' tools/lint/layers
cp layers.txt saved
sed -i 's/^http: .*/& store/' layers.txt
check_error 'more than what is included' 1 \
    '^layers.txt:[0-9]*: http does not include store/; remove it from the line' tools/lint/layers
printf '#include "store/store.h"\n' >src/http/planted.c
check 'is fine once it is' tools/lint/layers
rm src/http/planted.c
cp saved layers.txt
echo 'gone:' >>layers.txt
check_error 'a line for a folder that is gone' 1 \
    '^layers.txt:[0-9]*: there is no src/gone; remove the line' tools/lint/layers
mv saved layers.txt
mkdir src/utils
check_error 'a folder that is not in layers.txt' 1 '^src/utils: not in layers.txt; add a line' \
    tools/lint/layers
rm -r src
mkdir src
check_error 'nothing to check' 1 '^src: no sources found' tools/lint/layers
