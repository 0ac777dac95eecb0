#!/bin/bash
# The commands that talk to a server, where there is none: what they refuse, what they
# say, and what help, manual pages and completion know of each.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$TMP" || exit 1
unset TRAINYARD_SERVER TRAINYARD_TOKEN
export TRAINYARD_STATE=$TMP/none

# ---- no server: each says where it looked, and what to do

verbs=('submit -- true' 'run -- true' 'ps' 'top' 'show 1' 'logs 1' 'logs -f 1' 'explain 1' 'events'
    'events -f' 'wait 1' 'cancel 1' 'cancel --all' 'hold 1' 'release 1' 'resize 1 --cpus 2'
    'requeue 1' 'set 1 --priority 2' 'nodes' 'drain n' 'policy' 'policy fifo' 'ps --watch'
    'ps --json' 'ps --quiet')
for verb in "${verbs[@]}"; do
    # shellcheck disable=SC2086 # words
    check_error "no server: $verb" 3 \
        "no server answers at $TMP/none/trainyard\.sock: .*start one with \`trainyard serve\`" \
        "$TRAINYARD" $verb
done
check_error '--server goes first' 3 "no server answers at $TMP/elsewhere:" \
    env TRAINYARD_SERVER="$TMP/variable" "$TRAINYARD" ps --server "$TMP/elsewhere"
check_error 'then the variable' 3 "no server answers at $TMP/variable:" \
    env TRAINYARD_SERVER="$TMP/variable" "$TRAINYARD" ps
check_error 'an address' 3 'no server answers at http://127\.0\.0\.1:1: ' \
    "$TRAINYARD" ps --server http://127.0.0.1:1
check_error 'a wrong address' 2 "'ftp://x': the address of a server must start with http" \
    "$TRAINYARD" ps --server ftp://x
check_error 'an empty place' 2 '--server needs the path of a socket or a URL' \
    "$TRAINYARD" ps --server ''
for url in http:// https://:8080 http:///api; do
    check_error "no host: $url" 2 "'$url' has no host; expected .* http://127\.0\.0\.1:8080" \
        "$TRAINYARD" ps --server "$url"
done
check_error 'a path that no socket can have' 3 'aaaa' \
    "$TRAINYARD" ps --server "/$(printf 'a%.0s' {1..300})"
touch file
check_error 'a file that is no socket' 3 'no server answers at file:' "$TRAINYARD" ps --server file
"$TRAINYARD" complete JOB >words 2>&1
check_no_line 'completion is silent about it' words ''

# ---- wrong usage: exit 2, and where help is

usage() {
    local name=$1 regex=$2
    shift 2
    check_error "$name" 2 "$regex" "$TRAINYARD" "$@"
}

usage 'nothing to run' 'nothing to run; give a command after --' submit
usage 'nothing behind the dashes' 'nothing to run' submit --
usage 'a command without dashes' "there is no file 'python3'; to run a command, write -- before it" \
    submit python3 train.py
usage 'an unknown option' 'unknown option --cpu; did you mean --cpus\?' submit --cpu 2 -- true
usage 'no value before the dashes' '-c, --cpus needs a value: ' submit -c -- true
usage 'a bad number' "--cpus: 'x' is not a number" submit -c x -- true
usage 'a bad duration' "--time-limit: 'x' is not a duration" submit -t x -- true
usage 'a bad choice' '--resize: .*auto\|none\|live' submit --resize big -- true
usage 'a bad variable' "--env: .*KEY=VALUE" submit -e X -- true
usage 'a contradiction' 'deadline' submit -d 1h --deadline-at 2030-01-31 -- true
usage 'an array in run' 'run takes one job' run --array 0-3 -- true
echo 'cpus: [' >bad.yaml
usage 'a broken job file' '^trainyard submit: bad\.yaml:[0-9]+:[0-9]+: ' submit bad.yaml
echo 'cpuz: 2' >bad.yaml
usage 'an unknown field' "bad\.yaml:1:1: .*did you mean 'cpus'\?" submit bad.yaml
echo 'command: [true]' >job.yaml
usage 'arguments behind a job file' "unexpected argument '-c' after a job file" submit job.yaml -c 2
: >empty.yaml
usage 'an empty job file' 'empty\.yaml' submit empty.yaml
echo 'print("hello")' >train.py
usage 'neither job file nor script' "'train\.py' is neither a job file .* nor a script" submit train.py
check_error 'a directory' 1 '^trainyard submit: \.: Is a directory' "$TRAINYARD" submit .
printf '#!/bin/sh\n#SBATCH --array=x\n' >bad.sh
usage 'a bad line in a script' 'bad\.sh:2:' submit bad.sh
usage 'JOB is missing' 'missing JOB\.\.\.' hold
for verb in show logs explain wait cancel hold release requeue 'resize --cpus 2' 'set -p 1'; do
    # shellcheck disable=SC2086 # words
    usage "an empty JOB: $verb" "JOB must not be empty; expected a job's number, its name" $verb ''
done
usage 'cancel: which' 'missing JOB' cancel
usage 'cancel: both' 'give either JOB or --all, not both' cancel 1 --all
usage 'cancel: grace' "--grace: 'x' is not a duration" cancel 1 --grace x
usage 'resize: to what' 'missing --cpus N or --cpus MIN-MAX' resize 1
usage 'resize: both' 'give either --cpus or --reset, not both' resize 1 --cpus 2 --reset
usage 'set: what' 'nothing to set; give --priority, --deadline, --deadline-at or --time-limit' set 1
usage 'set: priority' "--priority: 'x' is not a whole number" set 1 --priority x
usage 'set: deadline' "--deadline: 'soon' is not a duration" set 1 --deadline soon
usage 'wait: timeout' "--timeout: 'x' is not a duration" wait 1 --timeout x
usage 'logs: tail' '--tail: ' logs 1 --tail -3
usage 'logs: attempt' '--attempt: ' logs 1 --attempt 0
usage 'ps: limit' '--limit: ' ps --limit x
usage 'ps: watch' '--watch 0\.01: must be at least 0\.1 seconds' ps --watch 0.01
usage 'events: after' '--after: ' events --after x
usage 'events: limit and follow' 'give either --limit or --follow, not both' events -f --limit 3
usage 'events: progress' '--progress needs --follow' events --progress
usage 'top: delay' '--delay: ' top --delay x
usage 'top: too often' '--delay 1ms: must be between 100ms and 1h' top --delay 1ms
check_error 'control characters of the user are shown, not sent' 2 "'\\\\x1b\[2J'" \
    "$TRAINYARD" wait 1 --timeout $'\e[2J'

check_output 'the version as JSON' '^\{"version":"[0-9]+\.[0-9]+\.[0-9]+.*"\}$' "$TRAINYARD" version --json

# ---- help, manual page and completion of every command

names=$("$TRAINYARD" man --names)
for name in $names; do
    check_output "help of $name" "^Usage: trainyard $name( |$)" "$TRAINYARD" "$name" --help
    check_no_line "help of $name is narrow" output '^.{101}'
    check_output "help of $name has each option once" '^$' \
        bash -c "\"\$0\" $name --help | grep -oE '^  (-.,|   ) --[a-z-]+' | sort | uniq -d; echo" \
        "$TRAINYARD"
    "$TRAINYARD" man "$name" >page
    check_file "page of $name" page "^\.TH TRAINYARD-$name 1 "
    check_output "$name is in the list" "^  $name +[A-Z]" "$TRAINYARD" --help
done
check_output 'help of a command, asked for the other way' '^Usage: trainyard ps ' "$TRAINYARD" help ps
check_error 'help of none' 2 "unknown command 'pss'; did you mean 'ps'\?" "$TRAINYARD" help pss
check_output 'complete is hidden' '^0$' bash -c "\"\$0\" --help | grep -c '^  complete '; true" \
    "$TRAINYARD"
check_output 'submit takes every field' '--checkpoint-signal SIG ' "$TRAINYARD" submit --help
check_output 'cancel says which signals it sends' 'SIGTERM' "$TRAINYARD" cancel --help
check_output 'a page with a field' 'checkpoint\\-signal' "$TRAINYARD" man submit

# ---- environment variables

"$TRAINYARD" man >page
for name in $(grep -hoE '"TRAINYARD_[A-Z_]+"' "$ROOT"/src/{server,conductor,runtime,malleable,wire}/*.[ch] \
    "$ROOT"/src/{server,runtime}/*/*.[ch] "$ROOT"/python/*.py "$ROOT"/python/*/*.py | tr -d '"' | sort -u); do
    check_file "$name is in the manual page" page "^.fB$name"
    check_file "$name is in the documentation" "$ROOT/docs/jobs.md" "\`$name\`"
done
while read -r name; do
    check_file "$name of the manual page is in the documentation" "$ROOT/docs/jobs.md" "\`$name\`"
done < <(grep -oE '^.fB[A-Z_]+' page | cut -c4-)

export PATH=$TMP/bin:$PATH
mkdir bin
ln -s "$TRAINYARD" bin/trainyard
# offers LINE...: the words that bash offers at the end of the line.
cat >offers <<'END'
eval "$(trainyard completion bash)"
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_trainyard
printf '%s\n' "${COMPREPLY[@]}"
END
check_output 'bash: commands' '^resize$' bash offers trainyard re
check_output 'bash: options' '^--checkpoint-signal$' bash offers trainyard submit --ch
check_output 'bash: values' '^torchrun$' bash offers trainyard submit --resize t
check_output 'bash: policies' '^elastic-fifo$' bash offers trainyard policy ela
check_output 'bash: files' '^job\.yaml$' bash offers trainyard submit job
check_output 'bash: nothing where a number stands' '^$' bash offers trainyard submit --cpus ''
check_output 'bash: no jobs without a server' '^$' bash offers trainyard show ''
for shell in bash zsh fish; do
    if ! command -v $shell >/dev/null; then
        echo "skip - completion for $shell: $shell is not installed"
        continue
    fi
    trainyard completion $shell >script
    check "$shell reads its completion" $shell -n script
    for name in $names; do
        check_file "$shell knows $name" script "(^|[ '])$name([:) ]|$)"
    done
done
if command -v fish >/dev/null; then
    check_output 'fish: options' '^--checkpoint-signal' \
        fish -c 'trainyard completion fish | source; complete -C "trainyard submit --ch"'
    check_output 'fish: values' '^torchrun' \
        fish -c 'trainyard completion fish | source; complete -C "trainyard submit --resize t"'
fi
usage 'completion of another shell' "'tcsh': expected bash, zsh or fish" completion tcsh
