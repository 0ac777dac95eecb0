#!/bin/bash
# The yard as a whole, with a real server: nodes, drain, policy, events, completion, and
# a server on TCP.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$TMP" || exit 1
unset COLUMNS NO_COLOR
server_start
node=$("$TRAINYARD" nodes --quiet)

# ---- nodes and drain

check_output 'heads' '^NODE +STATE +CPUS +GPUS +MEMORY +JOBS +RUNTIME +NOTICE' "$TRAINYARD" nodes
check_file 'the node' output "^$node +up +0 of [0-9.]+ "
check_output 'by name' "^$node +up " "$TRAINYARD" nodes "$node"
check_output 'JSON' '^\{"name":"'"$node"'","state":"up"' "$TRAINYARD" nodes --json
check_error 'no such node' 1 "'nowhere'" "$TRAINYARD" nodes nowhere
check_output 'drained' "^Node $node: draining, 0 jobs$" "$TRAINYARD" drain "$node"
id=$("$TRAINYARD" submit -q -- true)
check_output 'nothing starts there' "^ *$id +true +queued " "$TRAINYARD" ps
check_output 'and back' "^Node $node: up, [01] jobs?$" "$TRAINYARD" drain "$node" --undo
check 'then it starts' "$TRAINYARD" wait "$id" --timeout 60
check_error 'no such node' 1 "'nowhere'" "$TRAINYARD" drain nowhere
check_output 'JSON' '^\{"name":"'"$node"'","state":"draining"' "$TRAINYARD" drain "$node" --json
check 'quietly' "$TRAINYARD" drain "$node" -uq
check_no_line 'nothing is said' output .

# ---- policy

check_output 'the policy' '^elastic-fifo$' "$TRAINYARD" policy
check_file 'its parts' output '^  allocate +elastic-fifo'
check_output 'another one' '^las:thresholds=3250$' "$TRAINYARD" policy las:thresholds=3250
check_file 'its parameters' output '^  allocate +las .*thresholds='
check_output 'it stays' '^las:thresholds=3250$' "$TRAINYARD" policy --quiet
check_output 'JSON' '^\{"policy":"las:thresholds=3250","allocate":"las"' "$TRAINYARD" policy --json
check_error 'an unknown one' 2 "unknown policy 'lass'; did you mean 'las'\?" "$TRAINYARD" policy lass
check_error 'bytes that are no text' 2 'is not valid UTF-8' "$TRAINYARD" policy $'\xff'
check 'and back' "$TRAINYARD" policy elastic-fifo

# ---- events

check_output 'the past' ' 1  server\.started' "$TRAINYARD" events
check_file 'with what happened' output '  policy\.changed +policy=las'
check_file 'to whom' output "  job\.ended +job $id +state=done  code=0$"
check_output 'of a job' "  job\.submitted +job $id " "$TRAINYARD" events --job "$id"
check_no_line 'only' output 'policy'
check_output 'after one' '^[0-9 :-]+ +2  ' "$TRAINYARD" events --after 1 --limit 1
check_output 'just one' '^1$' bash -c "'$TRAINYARD' events --limit 1 | wc -l"
check_output 'JSON' '^\{"seq":1,"at":[0-9.]+,"kind":"server\.started"' "$TRAINYARD" events --json
check_error 'of no job' 1 "no job 'nothing'" "$TRAINYARD" events --job nothing
"$TRAINYARD" events -fp >followed 2>&1 &
check 'the follower is there' wait_until 30 bash -c "
    '$TRAINYARD' submit -qn seen -- sh -c 'echo step 1/2; sleep 0.3; echo step 2/2' >id &&
    '$TRAINYARD' wait \$(cat id) -q --timeout 60 && grep -q job.progress followed &&
    grep -q job.started followed"
check_file 'what happens' followed "  job\.started +job [0-9]+ "
check_file 'progress' followed ' -  job\.progress +job [0-9]+ .*step=[12]'
check_no_line 'nothing from before' followed 'server\.started'
"$TRAINYARD" events -f --after 0 >replayed 2>&1 &
check 'from the beginning on' wait_until 30 grep -q 'job.ended' replayed
check_file 'from the beginning' replayed ' 1  server\.started'
before=$(wc -l <followed)
server_kill
server_start
check 'it outlives a restart' wait_until 40 bash -c "tail -n +$((before + 1)) followed | grep -q server.started"
check_output 'nothing comes twice' '^0$' bash -c "grep -v ' -  ' followed | uniq -d | wc -l"

# ---- completion asks the server

export PATH=$TMP/bin:$PATH
mkdir bin
ln -s "$TRAINYARD" bin/trainyard
trainyard submit -qHn plain_name -- true >id
# shellcheck disable=SC2016 # it must stay as it is
trainyard submit -qHn 'evil$(touch pwned)' -- true >/dev/null
cat >offers <<'END'
eval "$(trainyard completion bash)"
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_trainyard
printf '%s\n' "${COMPREPLY[@]}"
END
check_output 'ids' "^$(cat id)$" bash offers trainyard cancel ''
check_file 'names' output '^plain_name$'
check_no_line 'but no name that a shell would obey' output 'evil'
check_no_line 'and it did not' <(ls) '^pwned$'
check_output 'by its beginning' '^plain_name$' bash offers trainyard show pl
check_output 'nodes' "^$node$" bash offers trainyard drain ''
if command -v fish >/dev/null; then
    check_output 'fish: jobs' '^plain_name' \
        fish -c 'trainyard completion fish | source; complete -C "trainyard show pl"'
fi
check 'cancelled' trainyard cancel --all

# ---- TCP, with a token

server_stop
port=$(free_port)
export TRAINYARD_TOKEN=open-sesame-open-sesame-open-sesame
"$TRAINYARD" serve --state "$TMP/tcp" --listen "127.0.0.1:$port" >tcp.log 2>&1 &
tcp=$!
url=http://127.0.0.1:$port
check 'a server on TCP' wait_until 30 "$TRAINYARD" ps --server "$url"
check_output 'by the variable' "^$node$" env TRAINYARD_SERVER="$url/" "$TRAINYARD" nodes -q
check_status 'a job' 5 "$TRAINYARD" run -q --server "$url" -- sh -c 'exit 5'
check_error 'no token' 1 'token|not permitted|authori' \
    env -u TRAINYARD_TOKEN "$TRAINYARD" ps --server "$url"
check_error 'a wrong token' 1 'token|not permitted|authori' \
    env TRAINYARD_TOKEN=wrong "$TRAINYARD" ps --server "$url"
kill $tcp
wait $tcp
