#!/bin/sh
# Requests per second, latency and memory of the HTTP layer alone.
exec "$BUILD/bench/http" "$@"
