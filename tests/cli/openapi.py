#!/usr/bin/env python3
# run-tests: no asan
"""The OpenAPI document, checked by a public linter (Redocly's, with its recommended rules). npm
installs it once, into the build directory."""
import json
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import live
from live import Skip, expect, expect_equal

LINTER = "@redocly/openapi-core@1.34.5"
SCRIPT = """
const core = require("@redocly/openapi-core");
(async () => {
    const config = await core.createConfig({ extends: ["recommended"] });
    const problems = await core.lint({ ref: process.argv[1], config });
    console.log(JSON.stringify(problems.map(p =>
        [p.severity, p.ruleId, p.message, p.location[0].pointer])));
})();
"""


def install():
    """The directory that has the linter."""
    if not shutil.which("npm") or not shutil.which("node"):
        raise Skip("no npm; tools/setup test installs it")
    home = live.BUILD / "openapi-linter"
    done = home / LINTER.replace("/", "+")
    if not done.exists():
        home.mkdir(parents=True, exist_ok=True)
        (home / "package.json").write_text("{}")
        got = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts",
                              "--no-save", LINTER], cwd=home, capture_output=True, text=True,
                             check=False)
        if got.returncode:
            raise Skip(f"npm cannot install the linter: {got.stderr.strip().splitlines()[-1:]}")
        done.touch()
    return home


def lint(home, document):
    """What the linter finds: [severity, rule, message, place]."""
    path = home / "openapi.json"
    path.write_text(json.dumps(document))
    got = subprocess.run(["node", "-e", SCRIPT, str(path)], cwd=home, capture_output=True,
                         text=True, check=False)
    expect_equal(got.returncode, 0, got.stderr)
    return json.loads(got.stdout)


def test_linter_has_nothing_to_say(yard):
    expect_equal(lint(install(), yard.document.document), [], "findings")


def test_linter_finds_what_is_missing(yard):
    document = json.loads(json.dumps(yard.document.document))
    del document["servers"]
    del document["paths"]["/jobs"]["get"]["responses"]["400"]
    document["paths"]["/jobs"]["post"]["operationId"] = "jobs_list"
    found = {rule for _, rule, _, _ in lint(install(), document)}
    expect({"no-empty-servers", "operation-operationId-unique"} <= found, found)


if __name__ == "__main__":
    live.main()
