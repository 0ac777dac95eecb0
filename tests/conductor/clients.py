#!/usr/bin/env python3
"""Programs that tell their progress themselves: the examples of docs/progress.md,
in C, C++ and Python, as jobs of the real conductor."""
import os
import pathlib
import re
import shutil
import signal
import subprocess

import lib
from lib import ROOT, expect, expect_equal

STRICT = ["-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror", "-pedantic", f"-I{ROOT}/include"]


def example(language):
    """The first block of the language in the document."""
    text = (ROOT / "docs" / "progress.md").read_text()
    return re.search(rf"^```{language}\n(.*?)^```$", text, re.M | re.S).group(1)


def compiled(bench, compiler, standard, text, name="trainer"):
    if not shutil.which(compiler):
        raise lib.Skip(f"no {compiler}")
    source = bench.tmp / (name + (".cc" if "++" in compiler else ".c"))
    source.write_text(text)
    subprocess.run([compiler, f"-std={standard}", *STRICT, "-o", str(bench.tmp / name), str(source)],
                   check=True)
    return str(bench.tmp / name)


def check_example(bench, command, env=None):
    """It reports to its end; and when it is asked to, it saves itself."""
    server = bench.server()
    a = bench.attempt([*command, "50"], server=server, env=env)
    expect_equal(a.wait()["code"], 0, f"code, with the output {a.log()!r}")
    last = a.messages("progress")[-1]
    expect_equal((last["step"], last["total"], last["source"]), (50, 50, "file"), "the last")
    expect(0 < last["loss"] < 9, last)
    for number in (signal.SIGTERM, signal.SIGUSR2):
        a = bench.attempt([*command, "1000000000"], server=server, env=env, grace_s=600,
                          checkpoint_signal=int(number))
        a.expect_message("progress", lambda m: m.get("step", 0) > 1)
        a.send("stop", reason="preempt")
        expect_equal(a.wait()["code"], 0, f"code after {number.name}, output {a.log()!r}")
        expect(int(a.file("checkpoint").split()[0]) > 1, "checkpoint")
        expect_equal(a.log(), b"[trainyard: stopped: preempt]\n", "output")


def test_example_in_python(bench):
    script = bench.program("train.py", example("python"))
    check_example(bench, ["/usr/bin/python3", script], {"PYTHONPATH": str(ROOT / "python"),
                                                       "PYTHONDONTWRITEBYTECODE": "1"})


def test_example_in_c(bench):
    for compiler in ("gcc", "clang"):
        for standard in ("c11", "gnu17"):
            program = compiled(bench, compiler, standard, example("c"))
    check_example(bench, [program])


def test_example_in_cpp(bench):
    for standard in ("c++11", "c++20"):
        program = compiled(bench, "g++", standard, example("c"))
    check_example(bench, [program])


def test_two_files_share_one_state(bench):
    if not shutil.which("gcc"):
        raise lib.Skip("no gcc")
    (bench.tmp / "a.c").write_text('#include "trainyard.h"\nvoid other(void);\n'
                                   "int main(void)\n{\n    trainyard_report_step(1, 9);\n"
                                   "    other();\n    return 0;\n}\n")
    (bench.tmp / "b.c").write_text('#include "trainyard.h"\nvoid other(void);\n'
                                   'void other(void)\n{\n    trainyard_report_metric("acc", 0.5);\n}\n')
    subprocess.run(["gcc", "-std=c11", *STRICT, "-o", "both", "a.c", "b.c"], cwd=bench.tmp, check=True)
    a = bench.attempt([str(bench.tmp / "both")], server=bench.server())
    a.wait()
    last = a.messages("progress")[-1]
    expect_equal((last["step"], last["total"], last["metrics"]), (1, 9, {"acc": 0.5}), "the last")
    expect_equal((last["metric"], last["value"]), ("acc", 0.5), "judged by")


ODD = """
#include "trainyard.h"
int main(void)
{
    trainyard_report(3, 0, 0.0 / 0.0);
    trainyard_report_metric("up", 1.0 / 0.0);
    trainyard_report_metric("down", -1.0 / 0.0);
    trainyard_report_metric("no \\"name\\"", 1);
    trainyard_report_metric("", 1);
    trainyard_report_metric("a_name_that_is_longer_than_a_name_may_be", 1);
    trainyard_flush();
    trainyard_report(-5, -5, 1);
    printf("%d\\n", trainyard_cpus());
    return 0;
}
"""


def test_odd_values_and_no_job(bench):
    program = compiled(bench, "gcc", "gnu11", ODD)
    a = bench.attempt([program], server=bench.server(), env={"TRAINYARD_CPUS": "1"})
    a.wait()
    lines = (a.dir / "progress").read_text().splitlines()
    expect('"loss":"nan"' in lines[0] and '"step":3' in lines[0], lines)
    expect('"up":"inf"' in "".join(lines) and '"down":"-inf"' in "".join(lines), lines)
    expect("name" not in "".join(lines) and "-5" not in "".join(lines), lines)
    told = [l for l in a.log().decode().splitlines() if l.startswith("trainyard:")]
    expect(len(told) == 1 and "invalid name" in told[0], a.log())
    expect(a.log().endswith(b"\n1\n"), a.log())
    outside = {k: v for k, v in os.environ.items() if not k.startswith("TRAINYARD_")}
    done = subprocess.run([program], env=outside, capture_output=True, text=True, check=True)
    expect_equal(done.stderr, "", "outside a job")
    expect_equal(int(done.stdout), len(os.sched_getaffinity(0)), "cpus outside a job")


def test_place_that_cannot_be_written(bench):
    program = compiled(bench, "gcc", "gnu11", ODD.replace("return 0", "return trainyard_cpus() > 0"))
    for place in ("/no/such/place", "/dev/full"):
        a = bench.attempt([program], env={"TRAINYARD_PROGRESS": place})
        expect_equal(a.wait()["code"], 1, "code")
        expect_equal(a.log().count(b"trainyard:"), 1, "told once")


def test_quota_of_the_cgroup(bench):
    groups = bench.cgroup_v1("cpu")
    group = pathlib.Path(groups[0]["path"])
    (group / "cpu.cfs_period_us").write_text("100000")
    (group / "cpu.cfs_quota_us").write_text("150000")
    program = compiled(bench, "gcc", "gnu11", '#include "trainyard.h"\nint main(void)\n{\n'
                       '    printf("%d\\n", trainyard_cpus());\n    return 0;\n}\n')
    script = "import trainyard; print(trainyard.cpus())"
    for command in ([program], ["/usr/bin/python3", "-c", script]):
        a = bench.attempt(command, cgroup=groups, env={
            "TRAINYARD_JOB_ID": "1", "TRAINYARD_CPUS": "7", "PYTHONPATH": str(ROOT / "python"),
            "PYTHONDONTWRITEBYTECODE": "1"})
        a.wait()
        expect_equal(a.log(), b"1\n", command[0])


lib.main()
