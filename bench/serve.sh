#!/bin/bash
# The server under load: bench/serve/run.py prints the tables.
exec "$(dirname "$0")/serve/run.py" "$@"
