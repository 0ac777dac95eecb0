#!/bin/sh
# How long one decision takes with 10,000 active jobs on 8,000 GPUs.
# shellcheck source=bench/place
. "$(dirname "$0")/place"
need "$BUILD/bench/decide"
exec "$BUILD/bench/decide" "$@"
