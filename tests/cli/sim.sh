#!/bin/bash
# trainyard sim: what it prints and writes, and what it says of bad input.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$TMP" || exit 1

sim() {
    "$TRAINYARD" sim "$@"
}

# bad NAME REGEX ARGUMENT...: a usage error, told in one line and a hint.
bad() {
    local name=$1 regex=$2
    shift 2
    check_error "$name" 2 "^trainyard sim: $regex" sim "$@"
    [[ $(wc -l <output) -eq 2 ]] || failed "$name: two lines" 'it says more, or less' output
}

# trace FILE LINE...
trace() {
    local file=$1
    shift
    printf '%s\n' "$@" >"$file"
}

# same NAME FILE FILE
same() {
    if cmp -s "$2" "$3"; then
        passed "$1"
    else
        failed "$1" "$2 and $3 differ"
    fi
}

trace ok.csv 'id,submit,work,req' 'a,0,600,1' 'b,30,2h,2' 'c,60,90,1'
ok=(ok.csv --nodes 1x2 --policy fifo)

# ---- what is bad about the command line
bad 'a trace that would be overwritten' '--jobs-csv ok.csv: the command already uses this file' \
    "${ok[@]}" --jobs-csv ok.csv
ln ok.csv also.csv
bad 'by another name, too' '--report also.csv: the command already uses this file' "${ok[@]}" --report also.csv
bad 'two outputs in one file' '--report out: the command already uses this file' "${ok[@]}" \
    --jobs-csv out --report out
bad 'no policy' "missing --policy; \`trainyard policies\` lists them" ok.csv -n 1x2
bad 'no nodes' 'missing --nodes; write 16x4' ok.csv -p fifo
bad 'no trace' 'missing TRACE; give a file or --generate SPEC' -n 1x2 -p fifo
bad 'a trace and a generator' 'give either TRACE or --generate, not both' "${ok[@]}" -g poisson
bad 'two traces' "unexpected argument 'ok.csv'" ok.csv "${ok[@]}"
bad 'an unknown option' 'unknown option --jsn; did you mean --json\?' "${ok[@]}" --jsn
bad 'an unknown letter' 'unknown option -x' "${ok[@]}" -x
bad 'a report without a name' '--report needs the name of a file to write' "${ok[@]}" --report ''
bad 'an option without its value' '--seed needs a value: N' "${ok[@]}" --seed
bad 'a flag with a value' '--json takes no value' "${ok[@]}" --json=yes
bad 'an option twice' '--nodes is given more than once' "${ok[@]}" -n 1x4
bad 'an unknown policy' "unknown policy 'fifi'; did you mean 'fifo'\?" ok.csv -n 1x2 -p fifi
bad 'nothing like any policy' "unknown policy 'xyzzyx'; \`trainyard policies\`" \
    ok.csv -n 1x2 -p xyzzyx
bad 'an unknown parameter' "las has no parameter 'treshold'; did you mean 'thresholds'\?" \
    ok.csv -n 1x2 -p las:treshold=9
bad 'a parameter out of range' 'policy las: thresholds: 0 is not between 1 and' \
    ok.csv -n 1x2 -p las:thresholds=0
bad 'a parameter that is no choice' 'policy fifo: order=fast: expected one of strict' \
    ok.csv -n 1x2 -p fifo:order=fast
bad 'a policy on the wrong axis' 'flowcon is not for allocate=; write share=flowcon' \
    ok.csv -n 1x2 -p allocate=flowcon
bad 'one bad policy of two' "unknown policy 'lass'; did you mean 'las'" "${ok[@]}" -p lass
bad 'unknown rules' '--rules slurm: expected own, tiresias, elasticflow, pollux, gavel, muri or sia' "${ok[@]}" --rules slurm
bad "rules that need goodput" "--rules pollux and sia need a trace in the pollux format" "${ok[@]}" --rules pollux
bad "an unknown batch" "--batch x: expected fixed or adaptive" "${ok[@]}" --batch x
bad "learned without its rules" "--learned needs --rules pollux or sia" "${ok[@]}" --learned
bad "too much interference" "--interference: " "${ok[@]}" --rules pollux --interference 200%
bad "no length of a round" "--resched-min: a round takes at least 1 s" "${ok[@]}" --rules pollux --resched-min 0
bad 'a seed that is no number' "--seed: 'x' is not a whole number" "${ok[@]}" --seed x
bad 'a negative seed' '--seed: -1 is not between 0 and' "${ok[@]}" --seed -1
for option in resched-min min-run restart-cost resize-cost move-cost checkpoint-every mtbf repair; do
    bad "--$option that is no duration" "--$option: 'soon' is not a duration" \
        "${ok[@]}" --$option soon
    bad "--$option below 0" "--$option: '-5' is not a duration" "${ok[@]}" --$option=-5
    bad "--$option beyond all bounds" "--$option: duration '1e30' is above 290 years" \
        "${ok[@]}" --$option 1e30
done
bad 'profiles that the format does not take' 'ok.csv: the trainyard format takes no --profiles' \
    "${ok[@]}" --profiles x

# ---- what is bad about the cluster
for spec in 0x4 4x0 0x0c; do
    bad "nodes $spec" "nodes '$spec': expected a whole number of " ok.csv -n $spec -p fifo
done
bad 'nodes 4x99999999' "nodes '4x99999999': .*number of GPUs or cores from 1 to" ok.csv -n 4x99999999 -p fifo
bad 'nodes 999999999x4' "nodes '999999999x4': .*number of nodes from 1 to" ok.csv -n 999999999x4 -p fifo
bad 'nodes 4' "nodes '4'" ok.csv -n 4 -p fifo
bad 'no nodes at all' 'no nodes; expected a specification like 16x4, or a file' ok.csv -n '' -p fifo
bad 'nodes from a file that is missing' 'none.csv: No such file' ok.csv -n none.csv -p fifo
bad 'nodes below 0' "nodes '-3x4': expected a whole number of nodes from 1 to 100000 at '-3x4'" \
    ok.csv -n -3x4 -p fifo

# ---- what is bad about the trace
: >empty.csv
bad 'an empty file' 'empty.csv: the file is empty; expected a header line' empty.csv -n 1x2 -p fifo
trace header.csv 'id,submit,work'
bad 'a header and no jobs' 'header.csv: it has a header but no jobs' header.csv -n 1x2 -p fifo
trace other.csv 'name,colour' 'x,red'
bad 'a file that is no trace' 'other.csv:1:' other.csv -n 1x2 -p fifo
bad 'a program' "$TRAINYARD:1:.*not a text file" "$TRAINYARD" -n 1x2 -p fifo
bad 'a file that is missing' 'none.csv: No such file or directory' none.csv -n 1x2 -p fifo
bad 'a directory' '/: a directory where a file was expected' / -n 1x2 -p fifo
# A bad line each: NAME, LINE, what is said of it.
while IFS='|' read -r name line message; do
    trace bad.csv 'id,submit,work,req' 'a,0,600,1' "$line"
    bad "$name" "bad.csv:3:$message" bad.csv -n 1x2 -p fifo
done <<'END'
an id twice|a,30,600,1|1: id 'a': this id is on line 2 already
too few fields|b,30|.*
too many fields|b,30,600,1,9|.*
an empty id|,30,600,1|1: id
a submission that is no number|b,soon,600,1|3: submit 'soon': expected
a submission below 0|b,-1,600,1|3: submit '-1': expected
work below 0|b,30,-600,1|6: work '-600': expected
absurd work|b,30,1e30,1|6: work '1e30': expected
work that is no number|b,30,nan,1|6: work 'nan': expected
no units|b,30,600,0|10: req '0': expected
absurdly many units|b,30,600,99999999|10: req '99999999': expected
half a GPU|b,30,600,0.5|10: req '0.5'
END
trace order.csv 'id,submit,work' 'a,5,1' 'b,1,1'
bad 'times out of order' "order.csv:3:3: submit '1': before the job above it" \
    order.csv -n 1x2 -p fifo

# ---- a generator
bad 'no such arrivals' "generate 'posson:jobs=3': expected poisson or bursty" \
    -g posson:jobs=3 -n 1x2 -p fifo
bad 'no such parameter' "generate: no parameter 'jbs'; did you mean 'jobs'\?" \
    -g poisson:jbs=3 -n 1x2 -p fifo
bad 'no jobs' 'generate: jobs: 0 is not between 1 and' -g poisson:jobs=0 -n 1x2 -p fifo
bad 'absurdly many jobs' 'generate: jobs: .* is not between' \
    -g poisson:jobs=99999999999 -n 1x2 -p fifo
check_output 'a generated workload' '^fifo ' sim -g poisson:jobs=50,load=0.9 -n 4x4 -p fifo

# ---- what is wrong with a job is said where it stands
pollux=(-n 2x4 -p fifo --profiles "$ROOT/data/pollux/profiles")
trace app.csv 'name,time,application,num_replicas,batch_size' 'a,0,cifar11,1,128'
bad 'an unknown application' "app.csv:2:5: application 'cifar11': .*did you mean 'cifar10'\?" \
    app.csv "${pollux[@]}"
trace batch.csv 'name,time,application,num_replicas,batch_size' 'a,0,cifar10,1,7'
bad 'a batch size without a profile' "batch.csv:2:15: batch_size '7': .* of at most 7" \
    batch.csv "${pollux[@]}"
trace late.csv 'id,submit,work' 'a,0,1e11'
bad 'work for ages' "late.csv:2:5: work '1e11': expected seconds from 0 to 9.2e9" \
    late.csv -n 1x2 -p fifo

bad 'profiles that nothing refers to' 'give either --generate or --profiles, not both' -g poisson:jobs=3 -n 1x2 \
    -p fifo --profiles x

# ---- GPUs of several types are all used by jobs that take any
trace any.csv 'id,submit,work,min,max' 'a,0,100,1,4' 'b,0,100,1,4' 'c,0,100,1,4' 'd,0,100,1,4'
for policy in elastic-fifo elastic-srjf elastic-las afs-l optimus equal deadline ffdl; do
    check_output "two types under $policy" '"makespan_s":50,.*"utilization":1,' \
        sim any.csv -n 1x4:t4,1x4:a100 -p $policy --json
done


# ---- jobs that can never run, and runs that never end
trace big.csv 'id,submit,duration,req' 'huge,0,10,9' 'b,1,10,1'
check_output 'a job larger than the cluster is reported' \
    '^1 job can never run on this cluster: huge; it needs 9 GPUs, but the cluster has at most 2$' sim big.csv -n 1x2 -p fifo:order=strict
check_output 'the others run' '^fifo:order=strict +10\.00 ' sim big.csv -n 1x2 -p fifo:order=strict
check_output 'it is counted' '"finished":1,.*"never_runnable":1,' sim big.csv -n 1x2 -p fifo --json
trace all.csv 'id,submit,duration,req' 'x,0,10,9' 'y,1,10,8'
check_output 'no job can run' '^2 jobs can never run on this cluster: x, y; the first needs 9 GPUs' \
    sim all.csv -n 1x2 -p fifo
check_output 'figures that do not exist are null' '"finished":0,"makespan_s":null,' \
    sim all.csv -n 1x2 -p fifo --json
check_output 'nodes that fail too often' '^fifo: 3 jobs unfinished: a, b, c; nodes failed too often for any of them to end$' \
    timeout 60 "$TRAINYARD" sim "${ok[@]}" --mtbf 1 --repair 1 --checkpoint-every 10h

# ---- figures
check_output 'a table' '^policy +mean JCT +median +p95 +p99 +wait +makespan' sim "${ok[@]}"
check_output 'one line for each policy' '^srtf ' sim "${ok[@]}" -p srtf
check_output 'long names stay different' '^elastic-las,best-fit,hard ' sim "${ok[@]}" \
    -p allocate=elastic-fifo,place=best-fit,share=hard -p allocate=elastic-las,place=best-fit,share=hard
check_output 'what became of unfinished jobs is counted' '"starts":[1-9].*"failures":[1-9]' \
    timeout 60 "$TRAINYARD" sim "${ok[@]}" --mtbf 1 --repair 1 --checkpoint-every 10h --json
check_output 'the best is marked' '[0-9]\*' sim "${ok[@]}" -p fifo:order=strict
sim "${ok[@]}" -p srtf -p flowcon:alpha=3% --json >json
cat >fields.py <<'END'
import json
import sys

FIELDS = """policy jobs finished makespan_s mean_jct_s median_jct_s p95_jct_s p99_jct_s mean_wait_s
deadline_jobs deadline_met utilization starts preemptions migrations resizes choices decisions
decision_p50_us decision_p99_us decision_max_us wall_s never_runnable unfinished failures
allocated_used energy_wh bound_jct_s worst_fairness unfair bound_makespan_s""".split()
rows = [json.loads(line) for line in open(sys.argv[1])]
assert [r["policy"] for r in rows] == sys.argv[2:], [r["policy"] for r in rows]
for row in rows:
    assert list(row) == FIELDS, list(row)
    assert row["jobs"] == 3 and row["finished"] == 3
    assert row["wall_s"] >= 0 and row["decision_max_us"] >= row["decision_p50_us"]
END
check 'JSON: these fields in this order' python3 fields.py json fifo srtf flowcon:alpha=3%
# a runs alone; b needs both units: at 600, as c is gone by then; 7200 / 2 = 3600 s.
check_output 'JSON: the figures' \
    '"makespan_s":4200,"mean_jct_s":1620,"median_jct_s":600,.*"mean_wait_s":190,' \
    sim "${ok[@]}" --json

# ---- the same input, the same bytes
generated=(-g 'poisson:jobs=80,kind=malleable,load=1.2,deadlines=0.5' -n 4x4)
for policy in fifo las gittins afs-l qos 'allocate=equal,place=spread:by=usage,share=target'; do
    sim "${generated[@]}" -p "$policy" --mtbf 10h --resize-cost 20 --json --no-timing >one
    sim "${generated[@]}" -p "$policy" --mtbf 10h --resize-cost 20 --json --no-timing >two
    same "$policy: same seed, same bytes" one two
done
check_file 'without timing these are null' one '"decision_p50_us":null,.*"wall_s":null,'
sim "${generated[@]}" -p fifo --seed 2 --json --no-timing >two
sim "${generated[@]}" -p fifo --seed 1 --json --no-timing >one
if cmp -s one two; then
    failed 'another seed, other jobs' 'the figures are the same'
else
    passed 'another seed, other jobs'
fi
check_output 'nodes fail' '"failures":[1-9]' sim "${ok[@]}" --mtbf 10m --json

# ---- files
both=("${generated[@]}" -p fifo -p las --no-timing)
sim "${both[@]}" --report one.html --jobs-csv one.csv --save-trace saved.csv >table
sim "${both[@]}" --report two.html --jobs-csv two.csv --save-trace saved2.csv >table2
same 'the report is the same' one.html two.html
same 'the jobs are the same' one.csv two.csv
same 'the trace is the same' saved.csv saved2.csv
same 'the table is the same' table table2
check_file 'the report is a page' one.html '^<!doctype html>'
if grep -Eo '(src|href)="[^"#]*' one.html | grep -q '//'; then
    failed 'the report needs no network' 'it refers to another file'
else
    passed 'the report needs no network'
fi
check_output 'the jobs: a header' '^policy,id,name,group,units,submit_s,start_s,' head -1 one.csv
check_output 'the jobs: a line for each policy and job' '^161 ' wc -l one.csv
sim saved.csv -n 4x4 -p fifo --json --no-timing >one
sim "${generated[@]}" -p fifo --json --no-timing >two
same 'a trace that was saved is read back the same' one two
sim saved.csv -n 4x4 -p fifo --save-trace saved3.csv >/dev/null
same 'and saved again the same' saved.csv saved3.csv
for option in --jobs-csv --report --save-trace; do
    check_error "$option where nothing can be written" 1 'sim: cannot write none/x: No such' \
        sim "${ok[@]}" $option none/x
done
check_error 'a full disk' 1 'cannot write /dev/full' sim "${ok[@]}" --jobs-csv /dev/full
sim_to_full() {
    sim "${ok[@]}" "$@" >/dev/full
}
check_error 'a full disk behind the output' 1 'cannot write the output: No space left' sim_to_full
check_error 'and behind JSON' 1 'cannot write the output: No space left' sim_to_full --json

bad 'power that is not spelt so' "--power: 'watts=3': expected idle=WATTS" "${ok[@]}" --power watts=3
check_output 'energy in the table' '^policy .* Wh +preempt' sim "${ok[@]}" --power default
check_output 'energy in JSON' '"energy_wh":[1-9]' sim "${ok[@]}" --power idle=10 --json
sim "${ok[@]}" --power idle=0,cpu=3600,gpu=3600 --jobs-csv energy.csv >/dev/null
check_file 'energy of a job' energy.csv ',done,[1-9]'
bad 'interference that is no number' "--interference: 'x' is not a number" "${ok[@]}" --interference x
bad 'interference below 0' '--interference: -1 is' "${ok[@]}" --interference -1
printf 'id,submit,work,unit,req,devices\na,0,5,cpu,1,tpu=3\nb,0,5,cpu,1,TPU=1\n' >devices.csv
check_output 'devices that no node has' '1 job can never run .* it needs 1 CPU and 3 tpu on one node' \
    sim devices.csv -n 2x4c/tpu=1 -p fifo --save-trace devices2.csv
check_file 'devices are saved' devices2.csv '^b,0,5,cpu,1,tpu=1$'
bad 'a device that the cluster does not name' "devices.csv:2:13: devices 'tpu=3': 'tpu': no node has" \
    devices.csv -n 2x4c/npu=1 -p fifo
# Each node: with the example of SpeCon, whose moves are known.
nodes=("$ROOT/docs/policies/examples/specon.csv" -n 2x1c --seed 4 --move-cost 5 -p specon --by-node)
check_output 'nodes in the table' '^specon  n1 +59\.6% +- +0\.62 +2 +3 +0$' sim "${nodes[@]}"
check_output 'a node that jobs leave' '^specon  n2 +96\.1% +- +3\.10 +4 +0 +3$' sim "${nodes[@]}"
sim "${nodes[@]}" --json >nodes.json
check_file 'moves in JSON' nodes.json '"moves":\[\{"at_s":210,"job":"b","from":"n2","to":"n1","list":"settled"\},'
check_file 'a node over time' nodes.json '"name":"n1",.*"series":\[\[0,1,1,0\],\[90,0,0,0\],\[210,1,1,0\],'
bad 'a chart beside JSON' 'give either --gantt or --json, not both' "${ok[@]}" --json --gantt
check_output 'a chart' '^b +\.+2+$' sim "${ok[@]}" --gantt
sim "${ok[@]}" --gantt >chart
check_output 'the chart comes first' '^fifo \(a column is' head -1 chart
check_output 'then the table' '^fifo +[0-9]' tail -3 chart

# ---- a terminal: progress and colour
# on_terminal COMMAND...: what it prints on one, both streams.
on_terminal() {
    script -qec "$(printf '%q ' "$@")" /dev/null </dev/null
}
if command -v script >/dev/null; then
    long=(-g 'poisson:jobs=20000,load=3' -n 32x8 -p las)
    check_output 'a progress bar on a terminal' '\[#*  *\] +[0-9]+%' \
        on_terminal "$TRAINYARD" sim "${long[@]}"
    check_output 'colour on a terminal' $'\e\\[' on_terminal "$TRAINYARD" sim "${ok[@]}" -p srtf
    NO_COLOR=1 on_terminal "$TRAINYARD" sim "${ok[@]}" -p srtf >output
    if grep -q $'\e\\[' output; then
        failed 'none with NO_COLOR' 'there is colour' output
    else
        passed 'none with NO_COLOR'
    fi
else
    echo 'skip - a terminal: script is not installed'
fi
sim -g poisson:jobs=2000 -n 4x4 -p fifo >out 2>err
check_status 'no progress bar elsewhere' 1 test -s err
if grep -q $'\e' out; then
    failed 'no colour elsewhere' 'there is colour' out
else
    passed 'no colour elsewhere'
fi

# ---- help
check_output 'help' '^Usage: trainyard sim \[TRACE\] \[options\]$' sim --help
check_output 'help names every option' '^ +--checkpoint-every T' sim -h
check_output 'help comes before all complaints' '^Usage:' sim --help --policy fifi a b c
check_output 'what commands there are' '^  sim +' "$TRAINYARD" --help
check_error 'nothing at all' 2 '^Usage: trainyard COMMAND' "$TRAINYARD"
check_error 'an unknown command' 2 "unknown command 'simm'; did you mean 'sim'\?" "$TRAINYARD" simm
check_output 'the version' '^trainyard [0-9]+\.[0-9]+\.[0-9]+$' "$TRAINYARD" --version
