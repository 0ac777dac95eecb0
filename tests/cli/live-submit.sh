#!/bin/bash
# trainyard submit, with a real server: every form of a request, and what the job gets
# to see of it.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$TMP" || exit 1
server_start

# submitted NAME REGEX WORDS...: submits, waits for the last job, its log has such a line.
submitted() {
    local name=$1 regex=$2
    shift 2
    check "$name: submitted" "$TRAINYARD" submit --quiet "$@"
    id=$(tail -n 1 output)
    check "$name: done" "$TRAINYARD" wait "$id" --timeout 60
    check_output "$name: what it printed" "$regex" "$TRAINYARD" logs "$id"
}

field() {
    "$TRAINYARD" show "$1" --json | python3 -c 'import json, sys
job = json.load(sys.stdin)
print(eval(sys.argv[1], {"job": job, "spec": job["spec"]}))' "$2"
}

# ---- a command behind the options

check_output 'what it says' '^Submitted job 1 \(true\)$' "$TRAINYARD" submit -- true
check_output 'just the id' '^2$' "$TRAINYARD" submit -q -- true
check_output 'JSON' '^\{"id":3,"name":"true","state":"(queued|starting|running)"\}$' \
    "$TRAINYARD" submit --json -- true
submitted 'words with blanks' '^<a b><>$' -- printf '<%s>' 'a b' ''
submitted 'options of the command' '^-c 3$' -- echo -c 3
mkdir sub
submitted 'here' "^$TMP$" -- pwd
submitted 'elsewhere' "^$TMP/sub$" --workdir sub -- pwd
# shellcheck disable=SC2016 # for the shell of the job
where='echo "$TRAINYARD_CHECKPOINT_DIR"'
submitted 'checkpoints here' "^$TMP/ckpt$" --checkpoint-dir ckpt -- sh -c "$where"
submitted 'checkpoints here, run elsewhere' "^$TMP/ckpt$" --workdir sub --checkpoint-dir ckpt -- \
    sh -c "$where"
submitted 'checkpoints anywhere' "^$TMP/any$" --checkpoint-dir "$TMP/any" -- sh -c "$where"
printf 'command: %s\nworkdir: sub\ncheckpoint_dir: ckpt\n' "$where" >ckpt.yaml
submitted 'checkpoints by a job file' "^$TMP/sub/ckpt$" ckpt.yaml
submitted 'the option goes before it' "^$TMP/other$" --checkpoint-dir other ckpt.yaml
printf '#!/bin/sh\n#TRAINYARD --checkpoint-dir ckpt\n%s\n' "$where" >ckpt.sh
submitted 'checkpoints by a script' "^$TMP/ckpt$" ckpt.sh
check_error 'no directory for checkpoints' 2 '--checkpoint-dir: must not be empty' \
    "$TRAINYARD" submit --checkpoint-dir '' -- true
export CLIENT_VARIABLE='a "b" ü' TRAINYARD_TOKEN=secret
submitted 'the environment' '^CLIENT_VARIABLE=a "b" ü$' -- env
check_no_line 'but not the token' output 'secret'
submitted 'a variable of its own' '^CLIENT_VARIABLE=other$' -e CLIENT_VARIABLE=other -e X=1 -- env
submitted 'no environment' '^PATH=' --export none -- env
check_no_line 'no variable of the session' output '^CLIENT_VARIABLE'
unset TRAINYARD_TOKEN
BAD=$'\xff' check_output 'a variable that is no text' \
    '^1 environment variables are not valid UTF-8 and were left out' "$TRAINYARD" submit -- true
# shellcheck disable=SC2016 # for the shell of the job
submitted 'its size and number' '^[0-9]+ 1 1$' -c 1 -- \
    sh -c 'echo "$TRAINYARD_JOB_ID $TRAINYARD_ATTEMPT $TRAINYARD_CPUS"'

id=$("$TRAINYARD" submit -qH -n named -c 0.5-1 -p 7 -t 1h --signal USR1@30s --retries 2 -m 64m \
    --user somebody --comment 'for people' -- sleep 100)
check_output 'fields arrive: name' '^named$' field "$id" 'job["name"]'
check_output 'fields arrive: state' '^held$' field "$id" 'job["state"]'
check_output 'fields arrive: CPUs' '^\[0\.5, 1\.0\]$' field "$id" '[job["cpus_min"], job["cpus_max"]]'
check_output 'fields arrive: priority' '^7$' field "$id" 'job["priority"]'
check_output 'fields arrive: time limit' '^3600' field "$id" 'job["time_limit_s"]'
check_output 'fields arrive: memory' '^64' field "$id" 'job["memory_mb"]'
check_output 'fields arrive: user' '^somebody$' field "$id" 'job["user"]'
check_output 'fields arrive: retries' '^2$' field "$id" 'spec["retries"]'

if [[ -e /dev/full ]]; then
    check_error 'accepted, but nobody was told' 1 \
        '^trainyard submit: the server has accepted jobs [0-9]+, [0-9]+$' \
        bash -c "'$TRAINYARD' submit --array 0-1 -- true >/dev/full"
    check_file 'and why' output 'cannot write the output'
fi

# ---- a job file

cat >job.yaml <<'END'
name: from-file
command: [sh, -c, 'echo "$MODE on $TRAINYARD_CPUS"']
cpus: 1
env: {MODE: file, CLIENT_VARIABLE: file}
END
submitted 'a job file' '^file on 1$' job.yaml
check_output 'its name' '^from-file$' field "$id" 'job["name"]'
check_output 'it goes before the session' '^True$' field "$id" '"CLIENT_VARIABLE" in spec["env"]'
check_output 'and its value is told when asked' '"CLIENT_VARIABLE": ?"file"' \
    "$TRAINYARD" show --json --env "$id"
submitted 'options go before it' '^option on 1$' -e MODE=option -n other job.yaml
check_output 'the name as well' '^other$' field "$id" 'job["name"]'
submitted 'a job file on standard input' '^input$' - <<'END'
command: [echo, input]
END
cat >jobs.yaml <<'END'
cpus: 1
jobs:
  - {name: first, command: [echo, one]}
  - {name: second, command: [echo, two]}
END
submitted 'several in one file' '^two$' jobs.yaml
"$TRAINYARD" submit -q jobs.yaml >ids
check_output 'one id a line' '^2 ids$' wc -l ids
cat >half.yaml <<'END'
jobs:
  - {name: good, command: [echo, one]}
  - {name: bad, command: [echo, two], after: ['afterok:99999']}
END
check_error 'all or nothing' 1 '99999' "$TRAINYARD" submit half.yaml
check_output 'nothing' '^0$' bash -c "\"\$1\" ps --all --limit 0 --name good -q | wc -l" - "$TRAINYARD"

# ---- a script

cat >script.sh <<'END'
#!/bin/bash
#SBATCH --job-name=slurmish
#SBATCH --cpus-per-task=1
#SBATCH --qos=high
#TRAINYARD --priority 3
echo "arguments: $*"
END
submitted 'a script' '^arguments: --lr 0\.1 a b$' script.sh --lr 0.1 'a b'
check_output 'its name' '^slurmish$' field "$id" 'job["name"]'
check_output 'its own lines' '^3$' field "$id" 'job["priority"]'
check_output 'what has no effect is named' '^script\.sh:4: .*qos.* is ignored$' \
    "$TRAINYARD" submit script.sh
cat >slurm.sh <<'END'
#!/bin/bash
#SBATCH --cpus-per-task=1
srun ./train
END
check_output 'a call of srun is warned about' \
    "^slurm\.sh:3: warning: 'srun' is a command of Slurm and is not installed here; call the program" \
    "$TRAINYARD" submit -H slurm.sh
mkdir -p slurm
printf '#!/bin/sh\nexec "$@"\n' >slurm/srun
chmod +x slurm/srun
PATH=$PATH:$PWD/slurm check 'srun is installed' "$TRAINYARD" submit -H slurm.sh
check_no_line 'then there is no warning' "$TMP/output" 'srun'
submitted 'a script on standard input' '^arguments: x y$' - x y <script.sh
id=$("$TRAINYARD" submit -qH script.sh 2>/dev/null)
sed -i 's/arguments/changed/' script.sh
check 'released' "$TRAINYARD" release "$id"
check 'done' "$TRAINYARD" wait "$id" --timeout 60
check_output 'its text is that of the submission' '^arguments: $' "$TRAINYARD" logs "$id"

# ---- arrays and dependencies

# shellcheck disable=SC2016
"$TRAINYARD" submit -qn many --array 1-5:2 -- sh -c 'echo index $TRAINYARD_ARRAY_INDEX' >ids
check_output 'one id for each index' '^3 ids$' wc -l ids
# shellcheck disable=SC2046 # ids
check 'all of them end' "$TRAINYARD" wait $(cat ids) --timeout 60
check_output 'the last one' '^index 5$' "$TRAINYARD" logs "$(tail -n 1 ids)"
first=$("$TRAINYARD" submit -qn dep-first -- sh -c 'exit 1')
id=$("$TRAINYARD" submit -q -a "afternotok:$first" -- echo after)
check 'after one that fails' "$TRAINYARD" wait "$id" --timeout 60
check_error 'after one that is not there' 1 '99999' "$TRAINYARD" submit -a afterok:99999 -- true
check_error 'more than there is' 1 'needs 4000 CPUs' "$TRAINYARD" submit -c 4000 -- true
