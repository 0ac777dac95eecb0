#!/bin/sh
# The papers' tables and our figures: docs/papers.md.
# shellcheck source=bench/place
. "$(dirname "$0")/place"
need "$TRAINYARD"
exec "$(dirname "$0")/papers/run.py" "$TRAINYARD" "$@"
