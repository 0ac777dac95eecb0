#!/bin/bash
# Large arrays: bench/arrays.py prints the table.
exec "$(dirname "$0")/arrays.py" "$@"
