#!/bin/bash
# The cost of the malleable library: nanoseconds for an empty parallel region without it,
# with it but without a page, with a page without a limit, and with a limit. On one
# thread, so that waking others does not hide it; the minimum of five runs each, in turn.
# The goal is less than 50 ns more.
set -u
cd "$(dirname "$0")/.." || exit 1
build=${BUILD:-build}
library=$build/libtrainyard-malleable.so
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# page FILE THREADS: writes a page like a conductor.
page() {
    python3 - "$@" <<'PYTHON'
import struct, sys
page = bytearray(4096)
struct.pack_into("<8sII", page, 0, b"trnyard1", 1, 4096)
struct.pack_into("<II", page, 64, int(sys.argv[2]), 1)
open(sys.argv[1], "wb").write(page)
PYTHON
}

# Prints one number for each case.
measure() {
    local program=$1
    OMP_NUM_THREADS=1 "$program"
    OMP_NUM_THREADS=1 LD_PRELOAD=$library "$program"
    OMP_NUM_THREADS=1 LD_PRELOAD=$library TRAINYARD_CONTROL=$tmp/free "$program"
    OMP_NUM_THREADS=2 LD_PRELOAD=$library TRAINYARD_CONTROL=$tmp/one "$program"
}

programs=(malleable)
command -v clang >/dev/null && programs+=(malleable-clang)
missing=()
for file in "$library" "${programs[@]/#/$build/bench/}"; do
    [[ -e $file ]] || missing+=("$file")
done
if ((${#missing[@]})); then
    echo "bench/malleable.sh: not built: ${missing[*]}; run \`make ${missing[*]}\`" >&2
    exit 2
fi
page "$tmp/free" 0
page "$tmp/one" 1
export OMP_WAIT_POLICY=passive
printf '%-16s %10s %10s %10s %10s %10s\n' 'ns per region' alone 'no page' 'no limit' limited 'max added'
for program in "${programs[@]}"; do
    for _ in 1 2 3 4 5; do
        measure "$build/bench/$program" | paste -s
    done | awk -v name="$([[ $program == malleable ]] && echo libgomp || echo libomp)" '
        { for (i = 1; i <= 4; i++) if (NR == 1 || $i < least[i]) least[i] = $i }
        END {
            for (i = 2; i <= 4; i++) if (least[i] - least[1] > most) most = least[i] - least[1]
            printf "%-16s %10.1f %10.1f %10.1f %10.1f %+10.1f\n", name, least[1], least[2],
                least[3], least[4], most
        }'
done
