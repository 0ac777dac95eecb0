#!/bin/sh
# The papers' tables beside ours: docs/papers.md.
exec "$(dirname "$0")/papers/run.py" "$TRAINYARD" "$@"
