#!/bin/bash
# What earlier runs of a program tell about the next one, with a real server: steps and time of
# the same command, scaled where only its length differs.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$TMP" || exit 1
unset COLUMNS NO_COLOR
server_start

submit() {
    "$TRAINYARD" submit --quiet -c 1 "$@" >"$TMP/id"
}
shows() {
    wait_until 30 bash -c "'$TRAINYARD' show $1 | grep -Eq '$2'"
}
done_soon() {
    check "$1 is done" "$TRAINYARD" wait "$1" --timeout 60
}

# Tells its steps and not its end, as solvers do that stop when they converge.
cat >solve.py <<'END'
import sys, time
n = int(sys.argv[sys.argv.index("--size") + 1])
for i in range(n):
    print("Iteration %d, loss = %.4f" % (i + 1, 1 / (i + 1)))
    time.sleep(0.1)
END
submit -n first -- python3 solve.py --size 30
check 'the first run has no total' shows first '^  progress +step [0-9]+$'
done_soon first
submit -n second -- python3 solve.py --size 30
check 'the second has' shows second '^  progress +[0-9]+%, step [0-9]+ of 30$'
check_output 'and says from where' '^  total +from earlier runs$' "$TRAINYARD" show second
check 'it knows its time' shows second '^  time left +[0-9]'
done_soon second
submit -n larger -- python3 solve.py --size 60
check 'another size cannot be compared' shows larger '^  progress +step 3[1-9]$'
check_no_line 'it has no total' <("$TRAINYARD" show larger) '^  total '
"$TRAINYARD" cancel larger --grace 0s >/dev/null

# Says nothing of its progress.
cat >quiet.sh <<'END'
#!/bin/sh
sleep "$2"
END
chmod +x quiet.sh
submit -n quiet -- ./quiet.sh --epochs 4
check 'by time: nothing yet' shows quiet '^  output +no output yet$'
check_no_line 'no progress' <("$TRAINYARD" show quiet) '^  progress '
done_soon quiet
submit -n again -- ./quiet.sh --epochs 4
check 'by time: the second run' shows again '^  progress +[1-9][0-9]%$'
check_output 'named' '^  total +from earlier runs, by time$' "$TRAINYARD" show again
check_output 'in ps' ' again +running +1 of 1 +[0-9]+% +- ' "$TRAINYARD" ps
done_soon again
submit -n twice -- ./quiet.sh --epochs 8
check 'scaled' shows twice '^  time left +[5-7](\.[0-9]+)?s'
submit -n swept --sweep e=3,4 -- ./quiet.sh --epochs '{e}'
done_soon 'swept[1]'
submit -n swept2 --sweep e=4,3 -- ./quiet.sh --epochs '{e}'
check 'members of a sweep teach' shows 'swept2[1]' '^  total +from earlier runs, by time$'
submit -n twice -- ./quiet.sh --epochs 8
server_kill
server_start
check 'also after the server was killed' shows twice '^  time left +[0-6](\.[0-9]+)?s'
done_soon twice
