#!/bin/sh
# The division of GPU types by prices, compared with integer programming: docs/frontier.md. Rounds of sia on
# ElasticFlow's jobs, on A100 and T4 GPUs, are recorded and solved again by cbc and by glpsol.
# shellcheck source=bench/place
. "$(dirname "$0")/place"
need "$BUILD/bench/gap"
if ! command -v cbc >/dev/null || ! command -v glpsol >/dev/null; then
    echo "gap: cbc and glpsol are needed: apt-get install coinor-cbc glpk-utils" >&2
    exit 1
fi
exec "$(dirname "$0")/gap.py" "$BUILD/bench/gap" "$@"
