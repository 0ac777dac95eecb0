#!/bin/sh
# What an open page of the dashboard costs, in the browser and in the server, while 200 jobs
# report every second. JOBS and SECONDS set other numbers.
# shellcheck source=bench/place
. "$(dirname "$0")/place"
need "$TRAINYARD"
modules=$("$(dirname "$0")/../tools/browser-modules" "$BUILD") || exit 1
NODE_PATH=$modules exec node "$(dirname "$0")/dashboard/run.js"
