#!/bin/sh
# The policy auto against each single policy, on the traces in data/: docs/policies/auto.md.
# shellcheck source=bench/place
. "$(dirname "$0")/place"
need "$TRAINYARD"
exec "$(dirname "$0")/auto/run.py" "$TRAINYARD" "$@"
