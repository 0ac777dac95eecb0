"""Measures moves of a job between two hosts: for how long it does not train, and how much of that
is ours. The job notes the time of each step on a directory that both hosts share. It takes no time
to save itself or to start, so the whole pause is ours, except for the stop and start of a bare
container, which is measured with the same engine."""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
os.environ.setdefault("BUILD", sys.argv[1] if len(sys.argv) > 1 else "build")
sys.path[:0] = [str(ROOT / "tests/docker"), str(ROOT / "tests/support")]
import lib_hosts as hosts  # noqa: E402
from live import Skip, wait_until  # noqa: E402

SIZES = [1, 10, 50, 200]
TIMES = 3
STEP = ("cd $TRAINYARD_CHECKPOINT_DIR; trap 'exit 0' TERM; "
        "[ -f big ] || dd if=/dev/urandom of=big bs=1M count={} 2>/dev/null; "
        "while :; do echo $TRAINYARD_ATTEMPT >>/steps/log; sleep 0.02; done")


def read(log):
    return log.read_text().split() if log.exists() else []


def pause(yard, log, job):
    """Seconds between the last step of one attempt and the first of the next."""
    attempt = yard.job(job)["attempt"]
    wait_until(lambda: read(log)[-1:] == [str(attempt)], "it trains")
    yard.post(f"/jobs/{job}/migrate", {}, 202)
    last = time.monotonic()
    seen = len(read(log))
    while True:
        lines = read(log)
        now = time.monotonic()
        if lines[-1] != str(attempt):
            return now - last
        if len(lines) > seen:
            last, seen = now, len(lines)
        time.sleep(0.002)


def bare(host):
    """Seconds for the start and the end of a container, by the engine's own client."""
    began = time.monotonic()
    host.docker("run", "--rm", "--network", "none", "busy", "true")
    return time.monotonic() - began


def bare_copy(source, target, size):
    """Seconds to copy such a checkpoint with two clients and a pipe."""
    run = ("run", "-d", "--network", "none", "-v", "/data", "busy", "sh", "-c")
    names = [host.docker(*run, f"dd if=/dev/urandom of=/data/big bs=1M count={size}; sleep 600")
             .stdout.strip() for host in (source, target)]
    wait_until(lambda: source.docker("exec", names[0], "stat", "-c", "%s", "/data/big",
                                     check=False).stdout.strip() == str(size << 20), "it is there")
    began = time.monotonic()
    subprocess.run(f"docker -H {source.remote} cp {names[0]}:/data/. - | "
                   f"docker -H {target.remote} cp - {names[1]}:/data", shell=True, check=True)
    took = time.monotonic() - began
    for host, name in zip((source, target), names):
        host.docker("rm", "-fv", name)
    return took


def main():
    try:
        made = hosts.shared(2, "busy")
    except Skip as why:
        print(f"skipped: {why}")
        return
    print(f"a bare container starts and ends in "
          f"{statistics.median(bare(made[0]) for _ in range(TIMES)):.2f} s")
    print("checkpoint  `docker cp` to `docker cp`  pause of the job (median, least to most)")
    for size in SIZES:
        with tempfile.TemporaryDirectory(prefix="trainyard-moves-") as steps, \
                hosts.Yard("--allow-mount", steps) as yard:
            os.chmod(steps, 0o777)
            yard.start()
            yard.attach(*made, cpus=2)
            job = yard.put("busy", STEP.format(size), cpus=1, checkpoint_signal="TERM",
                           mounts=[f"{steps}:/steps"])
            log = pathlib.Path(steps, "log")
            wait_until(lambda log=log: read(log), "it trains")
            took = sorted(pause(yard, log, job) for _ in range(TIMES))
            copy = bare_copy(*made, size)
            print(f"{size:6} MB   {copy:21.2f} s  {statistics.median(took):.2f} s ({took[0]:.2f} to {took[-1]:.2f})",
                  flush=True)
            yard.cancel(job)
            yard.wait_for(job, "cancelled")


if __name__ == "__main__":
    with hosts.SHARED:
        main()
