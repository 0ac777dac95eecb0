#!/bin/sh
# Other simulators' published figures, and their speed, beside ours: docs/peers.md.
# shellcheck source=bench/place
. "$(dirname "$0")/place"
need "$TRAINYARD"
exec "$(dirname "$0")/peers/run.py" "$TRAINYARD" "$@"
