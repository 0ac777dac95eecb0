#!/bin/sh
# How long a what-if over ten policies takes with 1,000 active jobs.
# shellcheck source=bench/place
. "$(dirname "$0")/place"
need "$BUILD/bench/whatif"
exec "$BUILD/bench/whatif" "$@"
