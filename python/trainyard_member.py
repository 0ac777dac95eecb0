"""An agent as its launcher sees it: the process, what it has said (trainyard_agent.py has
the words), and how it is ended.

Invariant: an agent that is buried has left no process, neither its worker nor what that
has started in the same process group.
"""
import math
import os
import signal
import socket
import subprocess
import time

AGENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "trainyard_agent.py")
SLACK_S = 15  # for an agent to end, beyond the time that its worker has


def prepare(signals):
    """In the agent, before it runs. A group of its own, so that it can be ended whole;
    signals are ignored until it has taken them, and do not end it while it loads."""
    os.setpgid(0, 0)
    for number in signals:
        signal.signal(number, signal.SIG_IGN)


def environment():
    """Workers run on this machine, with the threads of their share. The page is not
    theirs: its number is one of workers, where they would look for threads."""
    env = {k: v for k, v in os.environ.items() if k != "TRAINYARD_CONTROL"}
    env.setdefault("GLOO_SOCKET_IFNAME", "lo")
    if "TRAINYARD_CPUS_PER_WORKER" in env:
        env["OMP_NUM_THREADS"] = env["TRAINYARD_CPUS_PER_WORKER"]
    return env


class Member:
    def __init__(self, plan, directory, host):
        """Starts an agent for `plan`; raises OSError. `host`: it keeps the store."""
        self.link, theirs = socket.socketpair()
        words = [plan.interpreter, AGENT, str(theirs.fileno()), directory, str(int(plan.ask))]
        words += ["--host"] if host else []
        with theirs:
            self.process = subprocess.Popen(
                words + ["--"] + plan.command, stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()], env=environment(),
                preexec_fn=lambda: prepare(plan.signals))
        self.rest = b""  # of a line that has not come whole
        self.ready = False  # PyTorch is loaded
        self.at_door = False  # it waits for a group
        self.done = False  # its worker ended with 0
        self.gone = False
        self.port = 0  # of the store, if this agent keeps it
        self.round = 0  # of the group in which its worker was started
        self.worker = None  # its worker, as a pidfd
        self.left = math.inf  # seconds until it is killed

    def say(self, *words):
        try:
            self.link.sendall((" ".join(map(str, words)) + "\n").encode())
        except OSError:
            pass  # it is going: its end will be seen

    def hear(self):
        """Takes what it has said; buries it when it has closed its end."""
        try:
            data = self.link.recv(4096)
        except ConnectionError:  # it went without reading all that was said
            data = b""
        if not data:
            self.bury()
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
            pass  # a short life: the agent will tell how it ended

    def hear_done(self):
        self.done = True

    def leave(self, seconds):
        """Has it end; it is to be killed some time after `seconds`."""
        self.left = seconds + SLACK_S
        self.say("leave", seconds)

    def forget_worker(self):
        if self.worker is not None:
            os.close(self.worker)
        self.worker = None

    def kill(self):
        """Ends agent and worker; newer versions of PyTorch give that a session of its own."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        try:
            if self.worker is not None:
                signal.pidfd_send_signal(self.worker, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def bury(self):
        """It ends by itself. Its group is killed while its number is still taken."""
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
        """Exit status of a buried one, as a shell has it."""
        code = self.process.returncode
        return code if code >= 0 else 128 - code
