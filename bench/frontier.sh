#!/bin/sh
# Published schedulers and ours under their own rules: docs/frontier.md.
# shellcheck source=bench/place
. "$(dirname "$0")/place"
need "$TRAINYARD"
exec "$(dirname "$0")/frontier/run.py" "$TRAINYARD" "$@"
