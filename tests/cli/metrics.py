#!/usr/bin/env python3
# run-tests: no asan
"""Metrics: what they count, and that promtool accepts them, the dashboard and the rules."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import live
from live import Skip, expect, expect_equal, wait_until

PACKAGING = pathlib.Path(__file__).resolve().parents[2] / "packaging" / "monitoring"


def read(yard, accept=None):
    """{'name{labels}': value} and the text."""
    answer = yard.ask("GET", "/metrics", headers={"Accept": accept} if accept else {}, checked=False)
    expect_equal(answer.status, 200)
    values = {}
    for line in answer.text.splitlines():
        if not line.startswith("#"):
            key, value = line.rsplit(" ", 1)
            expect(key not in values, f"{key} twice")
            values[key] = float(value)
    return values, answer


def promtool(*arguments, **more):
    if not shutil.which("promtool"):
        raise Skip("no promtool; tools/setup test installs it")
    got = subprocess.run(["promtool", *arguments], capture_output=True, text=True, check=False, **more)
    expect_equal((got.returncode, got.stdout + got.stderr if got.returncode else ""), (0, ""))
    return got.stdout


def test_jobs_are_counted(yard):
    before, _ = read(yard)
    done = yard.submit("true", deadline="1h")
    failed = yard.submit("false")
    late = yard.submit("sleep 0.3", deadline="0.01s")
    for job in (done, failed, late):
        yard.wait_for(job)
    held = yard.submit("true", hold=True)
    after, _ = read(yard)

    def grown(name):
        return after[name] - before[name]

    expect_equal(grown("trainyard_jobs_submitted_total"), 4)
    expect_equal(grown("trainyard_job_starts_total"), 3)
    expect_equal(grown('trainyard_jobs_ended_total{state="done"}'), 2)
    expect_equal(grown('trainyard_jobs_ended_total{state="failed"}'), 1)
    expect_equal(grown('trainyard_deadlines_total{outcome="met"}'), 1)
    expect_equal(grown('trainyard_deadlines_total{outcome="missed"}'), 1)
    expect_equal(grown("trainyard_job_completion_seconds_count"), 3)
    expect_equal(grown("trainyard_job_wait_seconds_count"), 3)
    expect_equal(after['trainyard_jobs{state="held"}'], 1)
    expect(grown("trainyard_store_commit_duration_seconds_count") >= 4, "commits")
    expect(grown("trainyard_decision_duration_seconds_count") >= 3, "decisions")
    expect(grown("trainyard_loop_busy_seconds_count") > 0, "turns")
    yard.post(f"/jobs/{held}/cancel")


def test_resizes_are_counted(yard):
    before, _ = read(yard)
    first = yard.submit("sleep 60", cpus="1-2")
    second = yard.submit("sleep 60", cpus="1-2")
    wait_until(lambda: yard.job(second)["state"] == "running")
    after, _ = read(yard)
    name = "trainyard_job_resizes_total"
    expect(after[name] > before[name], "no resize is counted")
    held = next(v for k, v in after.items() if k.startswith("trainyard_node_cpus_held{"))
    expect_equal(held, 2)
    for job in (first, second):
        yard.post(f"/jobs/{job}/cancel", {"grace": "0s"}, 202)
        yard.wait_for(job)


def test_requests_are_counted(yard):
    name = 'trainyard_http_requests_total{route="version",code="2xx"}'
    before, _ = read(yard)
    yard.get("/version")
    yard.ask("GET", "/nothing", checked=False)
    after, _ = read(yard)
    expect_equal(after[name] - before.get(name, 0), 1)
    expect(after['trainyard_http_requests_total{route="",code="4xx"}'] >= 1, "unknown addresses")


def test_the_process(yard):
    values, _ = read(yard)
    expect(0 <= time.time() - values["process_start_time_seconds"] < 600, "start")
    expect(1e6 < values["process_max_resident_memory_bytes"] < 1e9, "memory")
    expect(0 < values["process_cpu_seconds_total"] < 600, "CPU time")


def test_buckets_are_cumulative(yard):
    _, answer = read(yard)
    for name in re.findall(r"# TYPE (\S+) histogram", answer.text):
        counts = [float(v) for v in re.findall(rf'^{name}_bucket{{le="[^"]+"}} (\S+)$', answer.text, re.M)]
        expect(len(counts) > 10 and counts == sorted(counts), name)
        expect_equal(counts[-1], float(re.search(rf"^{name}_count (\S+)$", answer.text, re.M).group(1)))


def test_promtool_accepts_them(yard):
    _, answer = read(yard)
    expect("version=0.0.4" in answer.headers["Content-Type"], answer.headers["Content-Type"])
    promtool("check", "metrics", input=answer.text)


def test_openmetrics(yard):
    _, answer = read(yard, "application/openmetrics-text; version=1.0.0")
    expect(answer.headers["Content-Type"].startswith("application/openmetrics-text"), "type")
    expect(answer.text.endswith("# EOF\n"), answer.text[-80:])
    expect("# TYPE trainyard_jobs_submitted counter\n" in answer.text, "counters without _total")
    expect(not re.search(r'le="\d+"', answer.text), "bounds are floats")


def test_labels_are_bounded(yard):
    job = yard.submit("true", name="secret-name")
    yard.wait_for(job)
    _, answer = read(yard)
    expect("secret-name" not in answer.text, "names of jobs are no labels")
    labels = set(re.findall(r'[{,](\w+)="', answer.text))
    expect_equal(labels, {"state", "outcome", "le", "node", "route", "code", "version"})


def test_rules():
    promtool("check", "rules", str(PACKAGING / "alerts.yml"))
    promtool("test", "rules", "alerts-test.yml", cwd=PACKAGING)


def test_names_in_rules_and_dashboard_exist(yard):
    _, answer = read(yard)
    known = set(re.findall(r"^# TYPE (\S+)", answer.text, re.M))
    histograms = set(re.findall(r"# TYPE (\S+) histogram", answer.text))
    known |= {h + end for h in histograms for end in ("_bucket", "_sum", "_count")}
    dashboard = json.loads((PACKAGING / "grafana.json").read_text())
    panels = [p for p in dashboard["panels"] if p["type"] != "row"]
    expect(len(panels) >= 8 and all(t["expr"] for p in panels for t in p["targets"]), "panels")
    expressions = [t["expr"] for p in panels for t in p["targets"]]
    text = "\n".join(expressions) + (PACKAGING / "alerts.yml").read_text()
    used = set(re.findall(r"\b(?:trainyard|process)_\w+", text))
    expect_equal(used - known, set(), "unknown metrics")
    rules = {"groups": [{"name": "panels", "rules": [
        {"record": f"panel:{i}", "expr": e.replace("$__rate_interval", "5m")}
        for i, e in enumerate(expressions)]}]}
    path = yard.dir / "panels.yml"  # JSON is YAML
    path.write_text(json.dumps(rules))
    promtool("check", "rules", str(path))


if __name__ == "__main__":
    live.main()
