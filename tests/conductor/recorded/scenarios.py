"""What is recorded: scenarios of a server and its jobs, each on a server of its own.

The same functions run when conversations are recorded, with real conductors, and when
they are replayed, with recorded conductors that speak to a new server. So they look only
at what the server says, never at the processes, logs or files of a job. And each job ends
by itself or by what the server says, so that its specification can be replayed alone.
"""
import signal

from live import wait_until

# Says how far it is, four times a second.
COUNTER = """
i=0
while [ $i -lt {steps} ]; do
    i=$((i + 1))
    echo "step $i/{steps} loss=0.$((90 - i)) accuracy=0.$((10 + i))"
    sleep 0.25
done
"""
# Runs until it is asked to end.
SAVER = """
trap 'exit 143' TERM
i=0
while :; do
    i=$((i + 1))
    echo "step $i/1000 loss=0.5"
    sleep 0.25
done
"""
# Takes no notice of signals, and begins no parallel region after some.
STUBBORN = """
trap '' TERM USR1
"{trainer}" --steps 3
while :; do sleep 0.05; done
"""
# Tells its progress itself, and badly.
MUMBLER = """
echo '{"step": 1, "total": 4, "loss": NaN}' >>$TRAINYARD_PROGRESS
sleep 0.3
echo 'half done, more or less' >>$TRAINYARD_PROGRESS
echo '{"step": 2, "total": 4, "epoch": 0.5, "epochs": 2, "rate": 3.25, "f1": 0.1}' \
    >>$TRAINYARD_PROGRESS
sleep 0.3
echo '{"step": 4, "total": 4, "loss": 1e400}' >>$TRAINYARD_PROGRESS
"""


def counter(yard, steps, **fields):
    return yard.submit(COUNTER.format(steps=steps), **{"name": "counter", "cpus": 1, **fields})


def trainer(yard):
    return str(yard.dir / "bin" / "trainer")


def wait_step(yard, job, step):
    return wait_until(lambda: (p := yard.job(job)["progress"]) and (p["step"] or 0) >= step,
                      f"step {step} of job {job}")


def resize(yard, job, cpus):
    yard.post(f"/jobs/{job}/resize", {"cpus": cpus}, 200)
    wait_until(lambda: yard.job(job)["cpus"] == cpus, f"{cpus} CPUs for job {job}")


def wait_heard(yard, job, event, count):
    wait_until(lambda: len(yard.events(job, event)) >= count, f"{count} times {event}")


def plain(yard):
    """From hello to acknowledgement: progress, usage, exit."""
    yard.start()
    job = counter(yard, 8, env={"GREETING": "gr\u00fc\u00df \"dich\"", "EMPTY": ""})
    wait_step(yard, job, 3)
    wait_until(lambda: yard.job(job)["usage"], "its usage")
    yard.wait_for(job, "done")


def ends(yard):
    """Ends of several kinds, and what else a specification may hold."""
    yard.start()
    yard.wait_for(yard.submit("exit 3"), "failed")
    yard.wait_for(yard.submit("kill -SEGV $$", memory="64m", priority=3), "failed")
    yard.wait_for(yard.submit(["/nonexistent/program", "--flag"]), "failed")
    array = {"script": "#!/bin/sh\nexit $TRAINYARD_ARRAY_INDEX\n", "array": "0-1", "retries": 1,
             "backoff": "0s", "workdir": str(yard.dir), "cpus": 1}
    for job in yard.post("/jobs", array, 201)["jobs"]:
        yard.wait_for(job["id"], "done", "failed")


def mumbled(yard):
    """Progress with every member, and a warning."""
    yard.start()
    job = yard.submit(MUMBLER, pattern=r"step (?<step>\d+)", total=4)
    yard.wait_for(job, "done")


def threads(yard):
    """A size that threads follow: up, down, and the end by a user."""
    yard.start()
    job = yard.submit(trainer(yard), "--steps", "1000000", cpus="1-2")
    wait_step(yard, job, 1)
    for cpus in (1, 2, 1):
        resize(yard, job, cpus)
        step = yard.job(job)["progress"]["step"]
        wait_step(yard, job, step + 1)
    yard.cancel(job, grace=30)
    yard.wait_for(job, "cancelled")


def late(yard):
    """A size that threads do not follow."""
    yard.start()
    job = yard.submit(STUBBORN.format(trainer=trainer(yard)), cpus="1-2",
                      checkpoint_signal="USR2")
    wait_step(yard, job, 3)
    resize(yard, job, 1)
    wait_heard(yard, job, "job.late", 1)
    yard.cancel(job, grace=0.5)
    yard.wait_for(job, "cancelled")


def restart(yard):
    """Sizes for which the command starts again, and an end for another attempt."""
    yard.start()
    job = yard.submit(SAVER, cpus="1-2", resize="restart", grace="30s")
    wait_step(yard, job, 1)
    resize(yard, job, 1)
    wait_heard(yard, job, "job.restarted", 1)
    resize(yard, job, 2)
    wait_heard(yard, job, "job.restarted", 2)
    yard.post(f"/jobs/{job}/requeue")
    wait_until(lambda: (seen := yard.job(job))["attempt"] == 2 and seen["state"] == "running",
               "its second attempt")
    yard.cancel(job, grace=30)
    yard.wait_for(job, "cancelled")


def pause(yard):
    """Frozen for another that is in a hurry, and thawed."""
    yard.start("--policy", "edf")
    job = yard.submit(SAVER, cpus=2, preempt="pause")
    wait_step(yard, job, 1)
    other = counter(yard, 2, cpus=2, deadline="1h")
    yard.wait_for(other, "done")
    wait_heard(yard, job, "job.resumed", 1)
    yard.cancel(job, grace=30)
    yard.wait_for(job, "cancelled")


def limit(yard):
    """A time limit that is taken away, then comes sooner: a warning, a stop, a kill."""
    yard.start()
    job = yard.submit(STUBBORN.format(trainer=trainer(yard)), time_limit="1h", signal="USR1@1",
                      grace="1s", cpus=1)
    wait_step(yard, job, 3)
    yard.request("PATCH", f"/jobs/{job}", {"time_limit": None}, 200)
    yard.request("PATCH", f"/jobs/{job}", {"time_limit": 2}, 200)
    yard.wait_for(job, "timeout")


def workers(yard):
    """Workers that a launcher starts and stops."""
    yard.start()
    job = yard.submit(SAVER, cpus=1, workers="1-2", resize="horovod", grace="30s")
    wait_step(yard, job, 1)
    resize(yard, job, 1)
    yard.cancel(job, grace=30)
    yard.wait_for(job, "cancelled")


def reconnect(yard):
    """The server is killed, twice: while the job runs, and while it ends."""
    yard.start()
    job = counter(yard, 12)
    wait_step(yard, job, 2)
    yard.kill(signal.SIGKILL)
    yard.start()
    wait_step(yard, job, 4)
    yard.kill(signal.SIGKILL)
    yard.away()
    yard.start()
    yard.wait_for(job, "done")


ALL = (plain, ends, mumbled, threads, late, restart, pause, limit, workers, reconnect)
