#!/bin/sh
# How well the end of a training is known, for 21 programs, in the first run and in the second.
# shellcheck source=bench/place
. "$(dirname "$0")/place"
need "$BUILD/trainyard" "$BUILD/trainyard-conductor"
exec python3 "$(dirname "$0")/ends/ends.py" "$@"
