#!/bin/bash
# tools/lint/shell finds shell scripts by their first line and what is wrong there.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"
copy tools tests/cli/lib.sh
cd "$TMP/copy" || exit 1

check 'the scripts are clean' tools/lint/shell
# shellcheck disable=SC2016 # the script is to expand it
printf '#!/bin/sh\nrm -rf $1/tmp\n' >planted
check_error 'an unquoted variable in a file without a suffix' 1 'planted:2:.*SC2086' tools/lint/shell
printf '#!/usr/bin/env bash\nx=1\n' >planted
check_error 'a variable that nobody reads' 1 'planted:2:.*SC2034' tools/lint/shell
printf '#!/usr/bin/python3\nx=1\n' >planted
check 'other languages are ignored' tools/lint/shell
rm -r planted tests
find tools -type f ! -path tools/lint/shell -delete
printf 'x\n' >>tools/lint/shell
sed -i 1d tools/lint/shell
check_error 'nothing to check' 1 '^no shell scripts found' bash tools/lint/shell
