#!/usr/bin/env python3
"""Jobs that misbehave, and servers and conductors that die: each job ends as it should,
and nothing is left behind."""
import json
import os
import pathlib
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import live

PYTHON = sys.executable


def test_a_job_that_forks_and_detaches():
    """Its children leave the session and the parent, and are still found."""
    script = ("import os, time\n"
              "if os.fork() == 0:\n"
              "    os.setsid()\n"
              "    if os.fork() == 0:\n"
              "        time.sleep(600)\n"
              "    os._exit(0)\n"
              "os.wait()\n")
    with live.Yard() as place:
        place.start()
        job = place.wait_for(place.submit(PYTHON, "-c", script))
        assert job["state"] == "done", job
        place.expect_nothing_left()


def test_a_job_that_ignores_SIGTERM():
    with live.Yard() as place:
        place.start()
        number = place.submit("trap '' TERM; echo ready; while :; do sleep 1; done",
                              grace="1s")
        place.wait_log(number, "ready")
        place.post(f"/jobs/{number}/cancel")
        job = place.wait_for(number, "cancelled")
        assert job["code"] == 128 + signal.SIGKILL, job
        place.expect_nothing_left()


def test_cancel_reaches_the_whole_tree():
    with live.Yard() as place:
        place.start()
        number = place.submit("/bin/sh", "-c",
                              "sleep 600 & setsid sleep 600 & (sleep 600 &) ; echo ready; wait")
        place.wait_log(number, "ready")
        place.post(f"/jobs/{number}/cancel", {"grace": "5s"})
        place.wait_for(number, "cancelled")
        place.expect_nothing_left()


def test_a_job_that_fills_its_log():
    """The log is rotated: it takes what a few files take, and the newest is there."""
    size = 450 << 20
    script = (f"import sys\nline = b'x' * 1023 + b'\\n'\n"
              f"for _ in range({size >> 10}):\n    sys.stdout.buffer.write(line)\n"
              f"print('the end')\n")
    with live.Yard() as place:
        place.start()
        number = place.submit(PYTHON, "-c", script)
        job = place.wait_for(number, "done", seconds=300)
        directory = os.path.join(place.state, "jobs", str(number), "1")
        files = [name for name in os.listdir(directory) if name.startswith("log")]
        total = sum(os.path.getsize(os.path.join(directory, name)) for name in files)
        assert 1 < len(files) <= 4 and total < size, (files, total)
        tail = place.get(f"/jobs/{number}/logs?tail=1").text
        assert tail == "the end\n", tail
        assert job["attempts"][0]["log_bytes"] == size + len("the end\n"), job["attempts"]


def test_a_job_that_eats_memory():
    with live.Yard() as place:
        place.start()
        if not os.access("/sys/fs/cgroup", os.W_OK):
            raise live.Skip("no memory limits without cgroups")
        script = "x = []\nwhile True:\n    x.append(bytearray(10 << 20))\n"
        job = place.wait_for(place.submit(PYTHON, "-c", script, memory="100m"))
        assert job["state"] == "failed" and "memory" in job["reason"], job
        place.expect_nothing_left()


def test_a_job_that_cannot_start():
    with live.Yard() as place:
        place.start()
        job = place.wait_for(place.submit(["/no/such/program"]))
        assert job["state"] == "failed" and job["code"] == 127, job
        assert "/no/such/program" in job["reason"], job
        job = place.wait_for(place.submit("true", workdir="/no/such/place"))
        assert job["state"] == "failed" and "/no/such/place" in job["reason"], job


def test_a_thousand_short_jobs():
    with live.Yard() as place:
        place.start()
        batch = [{"name": f"j{i}", "command": ["true"], "cpus": "0.5",
                  "env": {"TRAINYARD_TEST_MARK": place.mark, "PATH": os.environ["PATH"]}}
                 for i in range(1000)]
        numbers = [job["id"] for job in place.post("/jobs", {"jobs": batch})["jobs"]]
        assert len(set(numbers)) == 1000
        place.wait_all(300)
        jobs = place.jobs()
        assert len(jobs) == 1000 and all(j["state"] == "done" and j["attempt"] == 1 for j in jobs)
        place.expect_nothing_left()


def test_time_limit_with_a_warning():
    with live.Yard() as place:
        place.start()
        number = place.submit("/bin/sh", "-c",
                              "trap 'echo warned' USR1; echo ready; while :; do sleep 0.1; done",
                              time_limit="2s", signal="USR1@1", grace="1s")
        job = place.wait_for(number, "timeout")
        assert "warned" in place.logs(number), place.logs(number)
        assert "time limit" in job["reason"], job
        place.expect_nothing_left()


def test_retries_with_back_off():
    with live.Yard() as place:
        place.start()
        number = place.submit("exit 7", retries=2, backoff="0.2s")
        job = place.wait_for(number, "failed")
        assert job["attempt"] == 3 and job["failures"] == 3 and job["code"] == 7, job
        gaps = [b["created"] - a["ended"] for a, b in zip(job["attempts"], job["attempts"][1:])]
        assert gaps[0] >= 0.2 and gaps[1] >= 0.4, gaps
        number = place.submit('test "$TRAINYARD_ATTEMPT" = 2', retries=5,
                              backoff="0.1s")
        job = place.wait_for(number, "done")
        assert job["attempt"] == 2, job


def test_the_end_of_a_conductor():
    """kill -9 of conductors: the job ends as failed, or is queued again if it said so."""
    with live.Yard() as place:
        place.start()
        for fields, expected in (({}, "failed"), ({"requeue": True}, "running"),
                                 ({"retries": 1, "backoff": "0.1s"}, "running")):
            number = place.submit("echo ready; exec sleep 600", **fields)
            place.wait_log(number, "ready")
            found = place.conductors()
            assert len(found) == 1, found
            os.kill(found[0], signal.SIGKILL)
            live.wait_until(lambda n=number, e=expected: (
                place.job(n)["attempt"] == (1 if e == "failed" else 2) and
                place.job(n)["state"] == e), "a verdict")
            job = place.job(number)
            if expected == "failed":
                assert "conductor" in job["reason"], job
            else:
                place.post(f"/jobs/{number}/cancel", {"grace": "1s"})
                place.wait_for(number, "cancelled")
            place.expect_nothing_left()


def test_the_end_of_a_conductor_while_no_server_runs():
    with live.Yard() as place:
        place.start()
        numbers = [place.submit("echo ready; exec sleep 600", cpus=0.5, **fields)
                   for fields in ({}, {"requeue": True})]
        for number in numbers:
            place.wait_log(number, "ready")
        place.kill()
        for pid in place.conductors():
            os.kill(pid, signal.SIGKILL)
        place.start()
        place.wait_for(numbers[0], "failed")
        live.wait_until(lambda: (
            place.job(numbers[1])["state"] == "running" and
            place.job(numbers[1])["attempt"] == 2), "a second attempt runs")
        place.post(f"/jobs/{numbers[1]}/cancel", {"grace": "1s"})
        place.wait_for(numbers[1], "cancelled")
        place.expect_nothing_left()


def test_a_server_that_comes_back_has_it_all():
    """No gap in log or progress; ends that nobody saw are known."""
    count = ("i=0; while [ $i -lt 60 ]; do i=$((i + 1)); echo \"step $i/60 loss 0.$i\"; "
             "sleep 0.05; done")
    with live.Yard() as place:
        place.start()
        long = place.submit(count)
        short = place.submit("sleep 0.5; exit 5", cpus=0.5)
        live.wait_until(lambda: all(
            place.job(n)["state"] == "running" for n in (long, short)), "both run")
        place.kill()
        gone = time.time()
        time.sleep(1.5)
        back = time.time()
        place.start()
        assert place.wait_for(short)["code"] == 5
        job = place.wait_for(long, "done")
        assert place.logs(long).splitlines() == [f"step {i}/60 loss 0.{i}" for i in range(1, 61)]
        assert job["progress"]["step"] == 60, job["progress"]
        times = [s["at"] for s in place.get(f"/jobs/{long}/progress")["samples"]]
        assert any(gone < at < back for at in times), (gone, back, times)
        assert job["attempt"] == 1, job


def test_time_without_a_server_counts():
    with live.Yard() as place:
        place.start()
        number = place.submit("sleep 2; echo later; while :; do sleep 1; done", time_limit="1h")
        place.wait_for(number, "running")
        place.kill()
        log = place.state / "jobs" / str(number) / "1" / "log"
        live.wait_until(lambda: "later" in log.read_text(), "it runs on")
        place.start()
        live.expect(place.job(number)["run_s"] >= 2, place.job(number))
        place.cancel(number)
        place.wait_for(number, "cancelled")
        live.expect(place.job(number)["run_s"] >= 2, place.job(number))
        place.finish()


def test_sigterm_leaves_jobs_running():
    with live.Yard() as place:
        place.start()
        number = place.submit("echo ready; sleep 2; echo done")
        place.wait_log(number, "ready")
        assert place.kill(signal.SIGTERM) == 0
        assert place.conductors()
        place.start()
        place.wait_for(number, "done")
        assert place.logs(number) == "ready\ndone\n"


def test_a_second_server_is_refused():
    with live.Yard() as place:
        place.start()
        second = live.Yard(directory=place.dir)
        second.start(wait=False)
        assert second.server.wait(10) == 1
        assert f"pid {place.server.pid}" in second.output()
        assert place.get("/ready")["ready"]


def test_dependencies():
    with live.Yard() as place:
        place.start()
        wait = "while [ ! -e go ]; do sleep 0.05; done; exit "
        good = place.submit(wait + "0", cpus=0.1)
        bad = place.submit(wait + "1", cpus=0.1)
        after = {kind: place.submit("true", cpus=0.1, after=f"{kind}")
                 for kind in (f"after:{good}", f"afterok:{good}", f"afternotok:{bad}",
                              f"afterany:{good},{bad}", f"afterok:{bad}", f"afternotok:{good}")}
        place.wait_for(after[f"after:{good}"], "done")
        assert place.job(after[f"afterok:{good}"])["waits_for"] == [f"afterok:{good}"]
        pathlib.Path(place.dir, "go").touch()
        place.wait_all()
        ends = {kind: place.job(number) for kind, number in after.items()}
        ended = {n: place.job(n)["ended"] for n in (good, bad)}
        for kind, job in ends.items():
            never = kind in (f"afterok:{bad}", f"afternotok:{good}")
            assert job["state"] == ("cancelled" if never else "done"), (kind, job)
            if never:
                assert "can never be met" in job["reason"], job
        assert ends[f"afterok:{good}"]["started"] >= ended[good]
        assert ends[f"afterany:{good},{bad}"]["started"] >= max(ended.values())


def test_singleton():
    with live.Yard() as place:
        place.start()
        numbers = [place.submit("sleep", "0.2", name="one", after="singleton", cpus=0.1)
                   for _ in range(3)]
        place.wait_all()
        jobs = [place.job(n) for n in numbers]
        for first, second in zip(jobs, jobs[1:]):
            assert second["started"] >= first["ended"] - 0.001, (first, second)


def test_arrays():
    """Two of five at once, each with its index."""
    with live.Yard() as place:
        place.start()
        answer = place.post("/jobs", {
            "name": "a", "command": ["/bin/sh", "-c", "echo i=$TRAINYARD_ARRAY_INDEX; sleep 0.3"],
            "array": "1-9:2%2", "cpus": "0.1", "workdir": str(place.dir),
            "env": {"TRAINYARD_TEST_MARK": place.mark}})
        numbers = [job["id"] for job in answer["jobs"]]
        assert len(numbers) == 5
        most = 0
        while place.get("/jobs?active=1&limit=1")["jobs"]:
            running = [j for j in place.jobs("&active=1") if j["state"] in ("starting", "running")]
            most = max(most, len(running))
            time.sleep(0.02)
        assert most == 2, most
        logs = [place.logs(n) for n in numbers]
        assert logs == [f"i={i}\n" for i in (1, 3, 5, 7, 9)], logs


def test_stdin_is_empty():
    with live.Yard() as place:
        place.start()
        number = place.submit("cat")
        assert place.wait_for(number, "done") and place.logs(number) == ""


def test_the_environment():
    with live.Yard() as place:
        place.start()
        number = place.submit(PYTHON, "-c", "import os, json; print(json.dumps(dict(os.environ)))",
                              cpus="1-2", env={"MINE": "ä b"}, checkpoint_dir=str(place.dir))
        place.wait_for(number, "done")
        env = json.loads(place.logs(number))
        assert env["MINE"] == "ä b" and env["TRAINYARD_JOB_ID"] == str(number)
        assert env["TRAINYARD_ATTEMPT"] == "1" and env["TRAINYARD_CHECKPOINT_DIR"] == str(place.dir)
        assert env["OMP_NUM_THREADS"] == "2" and "TRAINYARD_PROGRESS" in env


if __name__ == "__main__":
    live.main()
