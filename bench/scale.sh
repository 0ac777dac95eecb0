#!/bin/sh
# Long traces: the whole Philly trace, and up to a million generated jobs.
exec "$(dirname "$0")/scale/run.py" "$TRAINYARD" "$@"
