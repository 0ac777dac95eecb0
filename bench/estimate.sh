#!/bin/sh
# How long the estimator takes: docs/estimator.md.
exec "$BUILD/bench/estimate" "$@"
