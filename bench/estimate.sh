#!/bin/sh
# How long the estimator takes: docs/estimator.md.
# shellcheck source=bench/place
. "$(dirname "$0")/place"
need "$BUILD/bench/estimate"
exec "$BUILD/bench/estimate" "$@"
