#!/bin/bash
# The definition of TrainingJob that is installed is the one that the program makes from its table
# of fields; and the chart installs the same file, with the same rights.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
kubernetes=$ROOT/packaging/kubernetes

# If not, run: build/trainyard crd >packaging/kubernetes/base/crd.yaml
"$TRAINYARD" crd >"$TMP/crd.yaml"
check 'the definition follows the fields' diff "$TMP/crd.yaml" "$kubernetes/base/crd.yaml"
check 'the chart has the definition' cmp "$kubernetes/base/crd.yaml" "$kubernetes/chart/crds/crd.yaml"

# Names are the release's in the chart; all rules are equal.
rules() {
    sed -n '/^rules:/,/^---/p' "$1"
}
rules "$kubernetes/base/role.yaml" >"$TMP/base"
rules "$kubernetes/chart/templates/role.yaml" >"$TMP/chart"
check 'there are rules' grep -q trainingjobs/status "$TMP/base"
check 'the chart has the same rules' diff "$TMP/base" "$TMP/chart"
