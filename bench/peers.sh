#!/bin/sh
# Figures and speed of other simulators and ours: docs/peers.md.
# shellcheck source=bench/place
. "$(dirname "$0")/place"
need "$TRAINYARD"
exec "$(dirname "$0")/peers/run.py" "$TRAINYARD" "$@"
