#!/bin/sh
# What moving a job between two hosts costs, by the size of its checkpoint. Needs root and Docker:
# the hosts are network namespaces with an engine in each.
# shellcheck source=bench/place
. "$(dirname "$0")/place"
need "$BUILD/trainyard" "$BUILD/trainyard-conductor"
exec python3 "$(dirname "$0")/moves.py" "$BUILD"
