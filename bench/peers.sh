#!/bin/sh
# Other simulators' published figures, and their speed, beside ours: docs/peers.md.
exec "$(dirname "$0")/peers/run.py" "$TRAINYARD" "$@"
