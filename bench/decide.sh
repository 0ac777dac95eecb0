#!/bin/sh
# How long one decision takes with 10,000 active jobs on 8,000 GPUs.
exec "$BUILD/bench/decide" "$@"
