#!/bin/sh
# The cost of the conductor: at the start of a job, and per byte of its output.
# shellcheck source=bench/place
. "$(dirname "$0")/place"
need "$BUILD/trainyard-conductor"
exec python3 "$(dirname "$0")/conductor.py"
