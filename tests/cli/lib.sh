# shellcheck shell=bash
# Helpers for test scripts. A script sources this file first, makes its checks,
# and just ends: how it went is in its output and its exit status.
#
#   check NAME COMMAND...                  succeeds
#   check_status NAME STATUS COMMAND...    ends with this exit status
#   check_output NAME REGEX COMMAND...     succeeds, and prints a line that matches
#   check_error NAME STATUS REGEX COMMAND...   ends with this status and such a line
#   check_file NAME FILE REGEX             the file has such a line
#   check_no_line NAME FILE REGEX          the file has no such line
#   wait_until SECONDS COMMAND...          tries until it succeeds or the time is up
#   free_port                              prints a TCP port that nobody listens on
#   skip REASON                            ends the script: what it needs is not there
#   copy PATH...                           copies files of the project to $TMP/copy
#   server_start [OPTION...]               a server of this run, which commands then find
#   server_stop                            ends it, and what it runs
#   server_kill                            kills it; what it runs goes on
#
# $TRAINYARD is the program, $ROOT the project, $TMP a directory of this run that
# goes away with it, and what the script started in the background does too. The
# last command's output (both streams) is in $TMP/output.
set -u
export LC_ALL=C.UTF-8 # patterns count characters, not bytes

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
TRAINYARD=${TRAINYARD:-$ROOT/build/trainyard}
TMP=$(mktemp -d "${TMPDIR:-/tmp}/trainyard-test.XXXXXX")
test_name=$(basename "$0" .sh)
checks=0
failures=0

finish() {
    local status=$? started
    trap - EXIT
    # A child that is ended before it has become its command comes here, too.
    ((BASHPID == $$)) || exit $status
    [[ -d $TMP/state ]] && server_stop >"$TMP/stop.log" 2>&1
    started=$(jobs -p)
    # shellcheck disable=SC2086 # one word for each process
    [[ -n $started ]] && kill $started 2>/dev/null
    wait 2>/dev/null
    rm -rf "$TMP"
    ((status == 0 && failures > 0)) && status=1
    if ((checks == 0)); then
        echo "not ok - $test_name: no checks were made"
        status=1
    fi
    exit $status
}
trap finish EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

passed() {
    checks=$((checks + 1))
    echo "ok - $1"
}

# failed NAME WHY [OUTPUT-FILE]
failed() {
    checks=$((checks + 1))
    failures=$((failures + 1))
    echo "not ok - $1"
    echo "  $2"
    if [[ -n ${3-} ]]; then
        sed 's/^/  | /' "$3"
    fi
    return 1
}

check() {
    local name=$1
    shift
    check_error "$name" 0 '' "$@"
}

check_status() {
    local name=$1 status=$2
    shift 2
    check_error "$name" "$status" '' "$@"
}

check_output() {
    local name=$1 regex=$2
    shift 2
    check_error "$name" 0 "$regex" "$@"
}

check_error() {
    local name=$1 want=$2 regex=$3 status=0
    shift 3
    "$@" >"$TMP/output" 2>&1 || status=$?
    if ((status != want)); then
        failed "$name" "exit status $status instead of $want: $*" "$TMP/output"
    elif [[ -n $regex ]] && ! grep -Eq -e "$regex" "$TMP/output"; then
        failed "$name" "no line of the output matches '$regex': $*" "$TMP/output"
    else
        passed "$name"
    fi
}

check_file() {
    if grep -Eqs -e "$3" "$2"; then
        passed "$1"
    elif [[ -e $2 ]]; then
        failed "$1" "no line of $2 matches '$3'" "$2"
    else
        failed "$1" "$2 is not there"
    fi
}

check_no_line() {
    if [[ ! -e $2 ]]; then
        failed "$1" "$2 is not there"
    elif grep -Eq -e "$3" "$2"; then
        failed "$1" "a line of $2 matches '$3'" "$2"
    else
        passed "$1"
    fi
}

wait_until() {
    local deadline=$((SECONDS + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        ((SECONDS < deadline)) || return 1
        sleep 0.05
    done
}

free_port() {
    python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

skip() {
    checks=$((checks + 1))
    echo "skip - $test_name: $1"
    exit 0
}

copy() {
    mkdir -p "$TMP/copy"
    (cd "$ROOT" && cp -a --parents "$@" "$TMP/copy")
}

server_pid=

# shellcheck disable=SC2120 # its options come from the scripts
server_start() {
    unset TRAINYARD_SERVER TRAINYARD_TOKEN
    export TRAINYARD_STATE=$TMP/state
    "$TRAINYARD" serve --state "$TMP/state" "$@" >>"$TMP/serve.log" 2>&1 &
    server_pid=$!
    if ! wait_until 20 "$TRAINYARD" ps; then
        failed 'the server starts' 'it does not answer' "$TMP/serve.log"
        exit 1
    fi
}

server_stop() {
    # One that was killed left its jobs running: another one ends them.
    # shellcheck disable=SC2119
    [[ -n $server_pid ]] || server_start
    "$TRAINYARD" cancel --all --grace 0s --quiet
    wait_until 20 no_active_jobs
    kill "$server_pid"
    wait "$server_pid"
    server_pid=
    rm -rf "$TMP/state"
}

no_active_jobs() {
    [[ -z $("$TRAINYARD" ps --quiet) ]]
}

server_kill() {
    kill -KILL "$server_pid"
    wait "$server_pid" 2>/dev/null
    server_pid=
}
