#!/bin/bash
# Large arrays: bench/arrays.py prints the table.
# shellcheck source=bench/place
. "$(dirname "$0")/place"
need "$BUILD/trainyard" "$BUILD/trainyard-conductor"
exec "$(dirname "$0")/arrays.py" "$@"
