#!/bin/bash
# tools/run-tests counts what tests report, and what they fail to.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"
copy tools/run-tests tests/cli/lib.sh
cd "$TMP/copy" && mkdir -p tools/lint build/tests/unit || exit 1
export BUILD=build

# script NAME TEXT: a script of tests/cli with this body.
script() {
    printf '#!/bin/bash\n%s\n' "$2" >"tests/cli/$1.sh"
    chmod +x "tests/cli/$1.sh"
}

# program NAME TEXT: stands for a cmocka program that prints this.
program() {
    printf '#!/bin/bash\n%s\n' "$2" >"build/tests/unit/$1"
    chmod +x "build/tests/unit/$1"
}

# expect NAME STATUS COUNTS TEST...: the run ends with this status and line.
expect() {
    local name=$1 status=$2 counts=$3
    shift 3
    check_error "$name" "$status" '' tools/run-tests "$@"
    [[ $(tail -n 1 "$TMP/output") == "$counts" ]] ||
        failed "$name: $counts" 'is not the last line' "$TMP/output"
}

script good 'echo "ok - one"; echo "ok - two"'
expect 'passes are counted' 0 '2 passed, 0 failed, 0 skipped' cli/good
script bad 'echo "ok - one"; echo "not ok - two"; exit 1'
expect 'failures are counted' 1 '3 passed, 1 failed, 0 skipped' cli/good cli/bad
check_file 'and shown in full' "$TMP/output" '^not ok - two$'
script lie 'echo "not ok - one"; exit 0'
expect 'a failure with exit status 0' 1 '0 passed, 1 failed, 0 skipped' cli/lie
script dies 'echo "ok - one"; exit 3'
expect 'a bad end after good cases' 1 '1 passed, 1 failed, 0 skipped' cli/dies
check_file 'says how it ended' "$TMP/output" '^FAILED cli/dies: 1 failed, exit status 3$'
script crash 'echo "ok - one"; kill -SEGV $$'
expect 'a crash' 1 '1 passed, 1 failed, 0 skipped' cli/crash
check_file 'names the signal' "$TMP/output" 'killed by signal 11$'
script mute 'true'
expect 'a test that says nothing' 1 '0 passed, 1 failed, 0 skipped' cli/mute
script slow 'echo "ok - one"; sleep 60'
TEST_TIMEOUT=1 expect 'a test that hangs' 1 '1 passed, 1 failed, 0 skipped' cli/slow
check_file 'says so' "$TMP/output" 'no end within 1 s$'
expect 'a test that is not there' 1 '0 passed, 1 failed, 0 skipped' cli/none
expect 'no tests' 1 '0 passed, 1 failed, 0 skipped'
script skips 'echo "skip - docker: no daemon"'
expect 'a skip' 0 '2 passed, 0 failed, 1 skipped' cli/skips cli/good
check_file 'with its reason' "$TMP/output" '^  cli/skips: docker: no daemon$'
script alone '# run-tests: alone
echo "ok - one"; touch alone; sleep 0.2; rm alone'
script crowd 'for _ in {1..8}; do [[ -e alone ]] && echo "not ok - one"; sleep 0.05; done; echo "ok - one"'
expect 'a test that runs alone' 0 '2 passed, 0 failed, 0 skipped' cli/alone cli/crowd

script shaky '[[ -e before ]] && echo "ok - one" || echo "not ok - one"; touch before'
expect 'a test that fails next to others is run again' 0 '3 passed, 0 failed, 0 skipped' cli/shaky cli/good
check_file 'its first output is shown' "$TMP/output" '^not ok - one$'
check_file 'and it is named' "$TMP/output" '^  cli/shaky: 1 failed, exit status 0$'
rm before
expect 'one that failed by itself is not' 1 '0 passed, 1 failed, 0 skipped' cli/shaky
for i in {1..6}; do
    script "shaky$i" "[[ -e before$i ]] && echo 'ok - one' || echo 'not ok - one'; touch before$i"
done
expect 'many that fail are not' 1 '0 passed, 6 failed, 0 skipped' cli/shaky{1..6}

# shellcheck disable=SC2016 # the scripts are to expand it
{
    script meets 'touch here; for _ in {1..100}; do [[ -e there ]] && break; sleep 0.05; done
[[ -e there ]] && echo "ok - one"; rm -f there'
    script met 'touch there; for _ in {1..100}; do [[ -e here ]] && break; sleep 0.05; done
[[ -e here ]] && echo "ok - one"; rm -f here'
    printf '#!/bin/bash\nmkdir busy && sleep 0.3 && rmdir busy\n' | tee tools/lint/a >tools/lint/b
}
printf '#!/bin/bash\nsleep 60\n' >tools/lint/slow
chmod +x tools/lint/*
TEST_TIMEOUT=1 expect 'a check may take longer' 1 '0 passed, 1 failed, 0 skipped' check/slow
check_file 'but not for ever' "$TMP/output" 'no end within 3 s$'
JOBS=1 expect 'two that wait run together on one core' 0 '2 passed, 0 failed, 0 skipped' cli/meets cli/met
JOBS=1 expect 'two that compute do not' 0 '2 passed, 0 failed, 0 skipped' check/a check/b

program test_a 'printf "1..2\nok 1 - a\nnot ok 2 - b\n# 0x1 != 0x2\n# not ok - tests\n"; exit 1'
expect 'cmocka' 1 '1 passed, 1 failed, 0 skipped' unit/test_a
program test_a 'printf "1..2\nok 1 - a\nskip: no GPU\nnot ok 2 # SKIP b\n"'
expect 'a skip of cmocka' 0 '1 passed, 0 failed, 1 skipped' unit/test_a
check_file 'with the reason before it' "$TMP/output" '^  unit/test_a: b: no GPU$'
program test_a 'printf "1..3\nok 1 - a\n"'
expect 'fewer cases than planned' 1 '1 passed, 1 failed, 0 skipped' unit/test_a

printf '#!/bin/bash\necho "src/x.c:1: wrong"; exit 1\n' >tools/lint/broken
printf '#!/bin/bash\ntrue\n' >tools/lint/silent
printf '#!/bin/bash\necho "needs clang-format 14"; exit 77\n' >tools/lint/absent
chmod +x tools/lint/*
expect 'checks pass, fail and are skipped by their status' 1 '1 passed, 1 failed, 1 skipped' \
    check/broken check/silent check/absent
check_file 'the reason is what it said' "$TMP/output" '^  check/absent: needs clang-format 14$'

script helped '. tests/cli/lib.sh; check a true; check b false; check_output c "^x$" echo x'
expect 'scripts with lib.sh' 1 '2 passed, 1 failed, 0 skipped' cli/helped
script helped '. tests/cli/lib.sh; sleep 100 & echo $! >pid; check a true; exit 0'
expect 'what a script left running' 0 '1 passed, 0 failed, 0 skipped' cli/helped
check 'is ended' bash -c "! kill -0 $(cat pid) 2>/dev/null"
script helped '. tests/cli/lib.sh; skip "no network"; check a false'
expect 'a script that skips' 0 '0 passed, 0 failed, 1 skipped' cli/helped
script helped '. tests/cli/lib.sh; true'
expect 'a script without checks' 1 '0 passed, 1 failed, 0 skipped' cli/helped
# shellcheck disable=SC2016 # the script is to expand it
script helped '. tests/cli/lib.sh; wait_until 1 false && echo "not ok - x"; check "$(free_port)" true'
expect 'waiting ends' 0 '1 passed, 0 failed, 0 skipped' cli/helped
