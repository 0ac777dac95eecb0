#!/bin/sh
# Requests per second, latency and memory of the HTTP layer alone.
# shellcheck source=bench/place
. "$(dirname "$0")/place"
need "$BUILD/bench/http"
exec "$BUILD/bench/http" "$@"
