#!/bin/sh
# One daemon, and what taking it apart would cost: docs/one-daemon.md.
# shellcheck source=bench/place
. "$(dirname "$0")/place"
need "$BUILD/bench/hop"
exec python3 "$(dirname "$0")/daemon.py"
