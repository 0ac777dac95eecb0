#!/bin/sh
# Long traces: the whole Philly trace, and up to a million generated jobs.
# shellcheck source=bench/place
. "$(dirname "$0")/place"
need "$TRAINYARD"
exec "$(dirname "$0")/scale/run.py" "$TRAINYARD" "$@"
