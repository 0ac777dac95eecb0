"""An agent from the launcher's point of view: the process, its messages (described in
trainyard_agent.py), and how it is ended.

Invariant: once an agent is reaped, no process of it is left, neither its worker nor what the
worker has started in the same process group.
"""
import math
import os
import signal
import socket
import subprocess
import time

AGENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "trainyard_agent.py")
SLACK_S = 15  # for an agent to exit, in addition to the time that its worker has


def prepare(signals):
    """Runs in the agent before its program. It gets its own process group, so that it can be
    killed as a whole. Signals are ignored until it has installed its handlers, so that they
    do not end it while it loads."""
    os.setpgid(0, 0)
    for number in signals:
        signal.signal(number, signal.SIG_IGN)


def environment():
    """Workers run on this machine, with the threads of their share. They do not get the page:
    its number is one of workers, and they would take it for threads."""
    env = {k: v for k, v in os.environ.items() if k != "TRAINYARD_CONTROL"}
    env.setdefault("GLOO_SOCKET_IFNAME", "lo")
    if "TRAINYARD_CPUS_PER_WORKER" in env:
        env["OMP_NUM_THREADS"] = env["TRAINYARD_CPUS_PER_WORKER"]
    return env


class Member:
    def __init__(self, plan, directory, host):
        """Starts an agent for `plan`; raises OSError. With `host` it keeps the store."""
        self.link, theirs = socket.socketpair()
        words = [plan.interpreter, AGENT, str(theirs.fileno()), directory, str(int(plan.ask))]
        words += ["--host"] if host else []
        with theirs:
            self.process = subprocess.Popen(
                words + ["--"] + plan.command, stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()], env=environment(),
                preexec_fn=lambda: prepare(plan.signals))
        self.rest = b""  # an incomplete line
        self.ready = False  # PyTorch is loaded
        self.at_door = False  # it waits for a group
        self.done = False  # its worker exited with 0
        self.gone = False
        self.port = 0  # of the store, if this agent keeps it
        self.round = 0  # of the group in which its worker was started
        self.worker = None  # its worker, as a pidfd
        self.left = math.inf  # seconds until it is killed

    def say(self, *words):
        try:
            self.link.sendall((" ".join(map(str, words)) + "\n").encode())
        except OSError:
            pass  # it is exiting, which will be noticed

    def hear(self):
        """Reads its messages; reaps it when it has closed the connection."""
        try:
            data = self.link.recv(4096)
        except ConnectionError:  # it exited without reading everything
            data = b""
        if not data:
            self.reap()
            return
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            name, *numbers = line.decode().split()
            getattr(self, "hear_" + name)(*map(int, numbers))

    def hear_ready(self, port=0):
        self.ready, self.port = True, port

    def hear_door(self):
        self.at_door = True

    def hear_started(self, number, pid):
        self.round, self.done = number, False
        self.forget_worker()
        try:
            self.worker = os.pidfd_open(pid)
        except ProcessLookupError:
            pass  # already gone: the agent will say how it exited

    def hear_done(self):
        self.done = True

    def leave(self, seconds):
        """Asks it to exit; it is killed some time after `seconds`."""
        self.left = seconds + SLACK_S
        self.say("leave", seconds)

    def forget_worker(self):
        if self.worker is not None:
            os.close(self.worker)
        self.worker = None

    def kill(self):
        """Kills agent and worker; newer versions of PyTorch give the worker its own session."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        try:
            if self.worker is not None:
                signal.pidfd_send_signal(self.worker, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def reap(self):
        """Waits for it to exit, then kills its group while the group's id is still in use."""
        end = time.monotonic() + SLACK_S
        look = os.WEXITED | os.WNOHANG | os.WNOWAIT
        while os.waitid(os.P_PID, self.process.pid, look) is None and time.monotonic() < end:
            time.sleep(0.01)
        self.kill()
        self.process.wait()
        self.forget_worker()
        self.link.close()
        self.gone = True

    def code(self):
        """Its exit status after it was reaped, as in a shell."""
        code = self.process.returncode
        return code if code >= 0 else 128 - code
