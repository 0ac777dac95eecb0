#!/bin/sh
# What a job's output costs it: through the conductor, compared with a file.
# shellcheck source=bench/place
. "$(dirname "$0")/place"
need "$BUILD/trainyard-conductor"
exec python3 "$(dirname "$0")/output.py" "$@"
