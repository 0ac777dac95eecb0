"""A private Slurm with one node on this machine, for the time of a measurement: its own key,
sockets, ports and directory, on loopback only."""
import contextlib
import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import tempfile
import time



def where(name):
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def free_ports(count):
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in sockets]


def write_conf(home, cores):
    user = pwd.getpwuid(os.getuid()).pw_name
    here = socket.gethostname().split(".")[0]
    control, node = free_ports(2)
    for name in ("state", "spool"):
        (home / name).mkdir()
    conf = home / "slurm.conf"
    conf.write_text("\n".join((
        "ClusterName=bench",
        f"SlurmctldHost={here}(127.0.0.1)",
        f"SlurmUser={user}", f"SlurmdUser={user}",
        f"SlurmctldPort={control}", f"SlurmdPort={node}",
        "CommunicationParameters=NoCtldInAddrAny,NoInAddrAny",
        "AuthType=auth/munge", f"AuthInfo=socket={home}/munge.socket",
        "CredType=cred/munge",
        f"StateSaveLocation={home}/state", f"SlurmdSpoolDir={home}/spool",
        f"SlurmctldPidFile={home}/slurmctld.pid", f"SlurmdPidFile={home}/slurmd.pid",
        f"SlurmctldLogFile={home}/slurmctld.log", f"SlurmdLogFile={home}/slurmd.log",
        "ProctrackType=proctrack/pgid", "TaskPlugin=task/none", "MpiDefault=none",
        "SelectType=select/cons_tres", "SelectTypeParameters=CR_CPU",
        "SchedulerType=sched/backfill", "SlurmdParameters=config_overrides",
        "SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,default_queue_depth=1000",
        "JobAcctGatherType=jobacct_gather/none", "ReturnToService=2", "MaxArraySize=10001",
        f"NodeName=n1 NodeHostname={here} NodeAddr=127.0.0.1 CPUs={cores} State=UNKNOWN",
        "PartitionName=all Nodes=n1 Default=YES MaxTime=INFINITE State=UP", "")))
    return conf


@contextlib.contextmanager
def cluster(cores):
    """Yields the environment for its commands, or None if Slurm is not installed."""
    if not all(map(where, ("munged", "slurmctld", "slurmd", "sbatch", "sinfo", "squeue"))):
        yield None
        return
    home = pathlib.Path(tempfile.mkdtemp(prefix="trainyard-slurm-"))
    home.chmod(0o755)
    key = home / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o600)
    env = dict(os.environ, SLURM_CONF=str(write_conf(home, cores)))
    parts = []

    def start(*words):
        parts.append(subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL))

    try:
        start(where("munged"), "-F", f"--key-file={key}", f"--socket={home}/munge.socket",
              f"--pid-file={home}/munged.pid", f"--log-file={home}/munged.log",
              f"--seed-file={home}/munged.seed")
        wait_for(home, (home / "munge.socket").exists)
        start(where("slurmctld"), "-D")
        start(where("slurmd"), "-D", "-N", "n1")
        wait_for(home, lambda: "idle" in subprocess.run(
            [where("sinfo"), "-h", "-o", "%T"], env=env, check=False, capture_output=True,
            text=True).stdout)
        yield env
    finally:
        for part in reversed(parts):
            part.terminate()
        for part in parts:
            try:
                part.wait(10)
            except subprocess.TimeoutExpired:
                part.kill()
                part.wait()
        shutil.rmtree(home, ignore_errors=True)


def wait_for(home, there, seconds=30):
    end = time.monotonic() + seconds
    while not there():
        if time.monotonic() > end:
            logs = "\n".join(f.read_text(errors="replace")[-1000:] for f in home.glob("*.log"))
            raise SystemExit(f"Slurm did not start within {seconds} s:\n{logs}")
        time.sleep(0.1)


def jobs_per_second(count, cores):
    """An array of `true`, from the submission to the end of the last job; None without Slurm."""
    with cluster(cores) as env:
        if not env:
            return None
        start = time.perf_counter()
        subprocess.run([where("sbatch"), f"--array=1-{count}", "-o", "/dev/null", "--wrap",
                        "true"], env=env, check=True, stdout=subprocess.DEVNULL)
        while subprocess.run([where("squeue"), "-h"], env=env, check=True,
                             capture_output=True).stdout.strip():
            time.sleep(0.05)
        return count / (time.perf_counter() - start)
