#!/bin/sh
# Durable commits compared with the disk and plain SQLite; lists and single jobs among
# 100,000. Arguments: number of jobs, and a directory on the disk to measure.
# shellcheck source=bench/place
. "$(dirname "$0")/place"
need "$BUILD/bench/store"
exec "$BUILD/bench/store" "${1:-100000}" "${2:-$BUILD}"
