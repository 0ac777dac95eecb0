#!/bin/bash
# What it costs programs with thread pools of their own to have fewer CPUs than threads, by
# the way in which CPUs are limited. bench/pools/run.py says what the columns mean.
#
#   bench/pools.sh [--rounds N] [--only Eigen,Go] ...
set -u -e
# shellcheck source=bench/place
. "$(dirname "$0")/place"
need "$BUILD/trainyard" "$BUILD/trainyard-conductor"
cd "$(dirname "$0")/.."
build=$BUILD
out=$build/bench/pools
mkdir -p "$out"
gcc -O3 -march=native -o "$out/pool" bench/pools/pool.c -pthread
g++ -O2 -march=native -isystem /usr/include/eigen3 -o "$out/eigen" bench/pools/eigen.cc -pthread
if command -v javac >/dev/null; then
    javac -d "$out" bench/pools/Pool.java
fi
if command -v go >/dev/null; then
    GOCACHE=$(realpath "$out")/cache go build -o "$out/pool-go" bench/pools/pool.go
fi
exec bench/pools/run.py "$out" --library "$build/libtrainyard-malleable.so" "$@"
