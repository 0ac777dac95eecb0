#!/bin/bash
# trainyard top on a real terminal, with a real server: what it shows, its keys, other
# sizes, and that it gives the terminal back however it ends.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$TMP" || exit 1
command -v script >/dev/null || skip 'script is not installed'
unset COLUMNS
export NO_COLOR=1 TERM=xterm
server_start
# shellcheck disable=SC2016 # for the shell of the job
"$TRAINYARD" submit -qn train -c 1 --total 10 -- \
    sh -c 'i=0; while :; do i=$((i + 1)); echo "step $((i < 9 ? i : 9))/10 loss=0.5"; sleep 0.2; done' \
    >/dev/null
"$TRAINYARD" submit -qn waits --hold -- sleep 100 >/dev/null

# What the terminal runs: top, and the state of the terminal before and after.
cat >session <<END
stty rows 20 cols 100
tty >tty
stty -g >before
sh -c 'echo \$\$ >pid; exec "\$0" top --delay 0.2s' "$TRAINYARD"
echo \$? >code
stty -g >after
END

top_start() {
    rm -f keys pid code after
    mkfifo keys
    : >screen
    script -qfec 'sh session' /dev/null <keys >>screen 2>&1 &
    session=$!
    exec 3>keys
    wait_until 30 grep -q 'train ' screen
}

# top_end NAME CODE: it ends with this code, and the terminal is as before.
top_end() {
    check "$1: it ends" wait_until 30 test -e after
    exec 3>&-
    wait "$session"
    check_file "$1: its exit code" code "^$2$"
    check "$1: the terminal is as before" cmp before after
    check_file "$1: the screen is, too" screen $'\e\\[\\?25h\e\\[\\?1049l'
}

press() {
    : >screen
    printf '%b' "$1" >&3
}

shows() {
    if wait_until 30 grep -Eq -e "$2" screen; then
        passed "$1"
    else
        failed "$1" "the screen never had '$2'" screen
    fi
}

job_in() {
    wait_until 30 bash -c "'$TRAINYARD' show $1 | head -n 1 | grep -q ': $2'"
}

check 'it starts' top_start
check_file 'another screen' screen $'\e\\[\\?1049h\e\\[\\?25l'
shows 'the policy and the jobs' 'trainyard  policy elastic-fifo  CPUs 1 of [0-9.]+  1 running, 0 queued, 1 held'
shows 'the node' 'up +█'
shows 'a bar' '█████████░░|██████████▊░'
shows 'the selection' $'\e\\[7m *[0-9]+  train '
press j
shows 'down' $'\e\\[7m *[0-9]+  waits '
press h
shows 'released, and so it starts' 'Job [0-9]+ \(waits\): (queued|starting|running)'
check 'it is' job_in waits '\(queued\|running\)'
press '\e[A'
shows 'up' $'\e\\[7m *[0-9]+  train '
press '\r'
shows 'all about it' 'Job [0-9]+ \(train\) of .*: running'
press q
shows 'back' $'\e\\[7m *[0-9]+  train '
press c
shows 'it asks' 'Cancel job [0-9]+ \(train\)\?'
press n
shows 'no' 'q quit  enter show'
check 'it still runs' job_in train running
press '+'
shows 'what cannot be is said' 'is rigid: it requested exactly 1 CPU;'
press p
shows 'paused' 'PAUSED'
press p
press '?'
shows 'help' 'more or fewer CPUs'
press ' '
press G
shows 'the last one' $'\e\\[7m *[0-9]+  waits '
press c
shows 'it asks again' 'Cancel job [0-9]+ \(waits\)\?'
press y
check 'yes' job_in waits cancelled
press a
shows 'also what is over' '  waits +cancelled'
: >screen
stty -F "$(cat tty)" rows 12 cols 50
shows 'another size' $'^q quit  enter show  c cancel  h hold  \\+ - resize …'
: >screen
shows 'picture after picture' 'resize …'
check_no_line 'nothing is too long' <(tr -d '\r' <screen | sed 's/\x1b\[[0-9;?]*[A-Za-z]//g') '^.{51}'
check 'stopped' kill -TSTP "$(cat pid)"
shows 'leaves the screen' $'\e\\[\\?1049l'
check_output 'the terminal is as before meanwhile' "$(cat before)" stty -F "$(cat tty)" -g
: >screen
check 'continued' kill -CONT "$(cat pid)"
shows 'takes it again' $'\e\\[\\?1049h'
shows 'and goes on' 'train +running'
press q
top_end 'q' 0

for end in TERM:143 INT:130 HUP:129 SEGV:139; do
    check "again, for ${end%:*}" top_start
    kill -s "${end%:*}" "$(cat pid)"
    top_end "${end%:*}" "${end#*:}"
done

check 'and once more' top_start
server_kill
shows 'a server that is gone' 'no server answers at'
check 'is waited for' kill -0 "$(cat pid)"
server_start
: >screen
shows 'until it is back' 'train +running'
press q
top_end 'after a restart' 0

"$TRAINYARD" top >picture 2>said </dev/null
check_file 'no terminal: it says so' said 'stdout is not a terminal; printing one snapshot'
check_file 'the picture' picture '^ *[0-9]+  train +running  1 of 1 '
check_no_line 'in plain text' picture $'\e'
