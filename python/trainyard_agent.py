"""One worker of an elastic PyTorch job: an elastic agent (torch.distributed.elastic) that
does as trainyard_torchrun.py, its parent, says.

    trainyard_agent.py FD DIRECTORY SIGNAL [--host] -- COMMAND...

FD is a socket to the launcher, DIRECTORY is for torch's own files, SIGNAL asks a worker
to save and end, --host makes this agent keep the store in which all agents meet. Words on
a line each way:

    ready [PORT]     torch is there; the store's port, by the host    -> launcher
    door             waits for a group                                -> launcher
    started ROUND PID   its worker runs                               -> launcher
    done             its worker has ended with 0                      -> launcher
    group ROUND RANK SIZE PORT MASTER   the group to start a worker in  <- launcher
    change SECONDS   end the worker, come to the door                 <- launcher
    leave SECONDS    end the worker, then yourself                    <- launcher
    stop NUMBER      the same with no bound: the job got this signal  <- launcher
    end              all are done                                     <- launcher
    signal NUMBER    for the worker                                   <- launcher

SECONDS bound how long a worker may take to end before it is killed.

Invariants: an agent never decides by itself that the group changes. While a change is
under way no end of a worker counts, since the workers of a group end with each other.
A worker hears of its end once: not from here when the signal went to all processes of the
job, as this one knows when it got it too. The exit status is the worker's.

Why a rendezvous of our own: the launcher knows its agents, so a group is complete when
they are at the door. The one by heartbeats (c10d) waits seconds for those that might come,
and 15 s for those that went; and by the wall clock it takes for dead who was frozen.
"""
import logging
import math
import os
import shutil
import signal
import socket
import sys
import time
from datetime import timedelta

try:
    from torch.distributed import PrefixStore, TCPStore
    from torch.distributed.elastic import rendezvous
    from torch.distributed.elastic.agent.server import RunResult, WorkerSpec, WorkerState
    from torch.distributed.elastic.agent.server.local_elastic_agent import LocalElasticAgent
    from torch.distributed.elastic.multiprocessing import SignalException
    from torch.distributed.elastic import multiprocessing
except ImportError as missing:
    sys.exit("trainyard: %s: %s; name the interpreter that has PyTorch, as in "
             "-- /usr/bin/python3 train.py" % (sys.executable, missing))

TAKEN = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1}
LOOPBACK = "127.0.0.1"
LOOK_S = 0.1  # between two looks at the worker and the launcher
STORE_S = 60  # for an answer of the store
TOLD_S = 1.0  # for a signal that goes to all to be here
ORPHAN_S = 30  # for a worker to end, when there is no launcher to say


class Ended(Exception):
    """The agent's work is over."""


class Link:
    """What the launcher says, as far as it was read."""

    def __init__(self, fd):
        self.socket = socket.socket(fileno=fd)
        self.rest = b""
        self.orphan = False  # the launcher is gone
        self.group = None  # to be joined next: round, rank, size, store's port, master's port
        self.changing = False
        self.finished = False
        self.bound = math.inf  # seconds for the worker to end
        self.stop = None  # the signal that ends the job
        self.signals = []

    def say(self, *words):
        try:
            self.socket.sendall((" ".join(map(str, words)) + "\n").encode())
        except OSError as error:
            raise Ended("the launcher is gone") from error

    def look(self, wait=False):
        """Takes what the launcher has said; `wait` for something. Ended when it wants
        the agent to leave, or is gone."""
        try:
            data = self.socket.recv(4096, 0 if wait else socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        if not data:
            self.orphan, self.bound = True, min(self.bound, ORPHAN_S)
            raise Ended("the launcher is gone")
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            self.obey(line.decode().split())

    def obey(self, words):
        name, numbers = words[0], [float(w) for w in words[1:]]
        if name == "group":
            self.group = [int(n) for n in numbers]
            self.changing = False
        elif name == "change":
            self.changing, self.bound = True, numbers[0]
        elif name == "signal":
            self.signals.append(int(numbers[0]))
        elif name == "end":
            self.finished = True
        elif name == "leave":
            self.bound = numbers[0]
            raise Ended("asked to leave")
        elif name == "stop":
            self.bound, self.stop = math.inf, int(numbers[0])
            raise Ended("asked to stop")


class Rendezvous(rendezvous.RendezvousHandler):
    """Groups as the launcher forms them."""

    def __init__(self, link, store):
        self.link, self.store = link, store
        self.round = 0
        self.spec = None  # of the worker, which has the port for the workers' own store

    def next_rendezvous(self):
        self.link.say("door")
        while self.link.group is None:
            self.link.look(wait=True)
        self.round, rank, size, port, self.spec.master_port = self.link.group
        self.link.group = None
        if self.store is None:
            self.store = TCPStore(LOOPBACK, port, is_master=False,
                                  timeout=timedelta(seconds=STORE_S))
        store = PrefixStore(str(self.round), self.store)
        if hasattr(rendezvous.api, "RendezvousInfo"):  # since PyTorch 2.4
            where = rendezvous.api.RendezvousStoreInfo(LOOPBACK, self.spec.master_port)
            return rendezvous.api.RendezvousInfo(store, rank, size, where)
        return store, rank, size

    def num_nodes_waiting(self):
        self.link.look()
        return int(self.link.changing)

    def get_backend(self):
        return "trainyard"

    def get_run_id(self):
        return os.environ.get("TRAINYARD_JOB_ID", "0")

    def is_closed(self):
        return False

    def set_closed(self):
        pass

    def shutdown(self):
        return True


class Agent(LocalElasticAgent):
    def __init__(self, link, ask, spec, **more):
        super().__init__(spec, **more)
        self.link, self.ask = link, ask
        self.told = set()  # signals that the worker has got, from whoever
        self.done = False
        self.code = 0  # of the last worker that ended

    def take_signals(self):
        """Signals to all processes of the job reach the worker and the launcher too."""
        for number in TAKEN | {self.ask}:
            signal.signal(number, lambda got, _: self.told.add(got))

    def _start_workers(self, worker_group):
        handler = worker_group.spec.rdzv_handler
        self.told.clear()
        self.done = False
        ids = super()._start_workers(worker_group)
        self.take_signals()  # torch has put its own handlers there
        self.link.say("started", handler.round, next(iter(ids.values())))
        return ids

    def _monitor_workers(self, worker_group):
        result = super()._monitor_workers(worker_group)
        self.link.look()  # after the result: whoever ended a worker has said so before
        self.pass_signals()
        if result.state == WorkerState.HEALTHY or self.link.changing:
            return RunResult(state=WorkerState.HEALTHY)
        if result.state != WorkerState.SUCCEEDED:
            self.code = next((status(f.exitcode) for f in result.failures.values()), 1)
            raise Ended("its worker failed")
        if not self.done:
            self.link.say("done")
            self.done = True
        if self.link.finished:
            raise Ended("all are done")
        return RunResult(state=WorkerState.HEALTHY)

    def pids(self):
        return list(self._pcontext.pids().values()) if self._pcontext else []

    def pass_signals(self):
        while self.link.signals:
            number = self.link.signals.pop()
            for pid in self.pids():
                if number not in self.told and self.running(pid):
                    os.kill(pid, number)
            self.told.discard(number)

    def running(self, pid):
        """Whether it runs; its status is left for torch to read."""
        try:
            end = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return False
        if end is None:
            return True
        exited = end.si_code == os.CLD_EXITED
        self.code = end.si_status if exited else 128 + end.si_status
        return False

    def _shutdown(self, *args, **kwargs):
        """Asks the worker to save and end, and waits; torch kills after 30 s, which may
        not be enough to save."""
        for pid in self.pids():
            if self.link.stop:
                self.wait(TOLD_S, lambda p=pid: self.running(p) and not self.told_to_end())
            if self.running(pid) and not self.told_to_end():
                os.kill(pid, self.ask)
            self.wait(self.link.bound, lambda p=pid: self.running(p))
            if self.running(pid):
                note("worker %d has not ended within %g s: killed" % (pid, self.link.bound))
                os.kill(pid, signal.SIGKILL)
        super()._shutdown(*args, **kwargs)

    def told_to_end(self):
        return bool(self.told & {self.ask, self.link.stop})

    @staticmethod
    def wait(seconds, condition):
        """While the condition holds; time in which the job was frozen does not count."""
        left, before = seconds, time.monotonic()
        while condition() and left > 0:
            time.sleep(0.02)
            now = time.monotonic()
            left -= min(now - before, 1)
            before = now


def note(text):
    sys.stderr.write("trainyard: %s\n" % text)
    sys.stderr.flush()


def status(exitcode):
    return exitcode if exitcode >= 0 else 128 - exitcode


def make_agent(link, ask, store, directory, command):
    """The agent of one worker, which runs `command`."""
    # torch replaces ${local_rank} and the like in arguments, and takes $$ for $.
    words = [word.replace("$", "$$") for word in command[1:]]
    handler = Rendezvous(link, store)
    spec = WorkerSpec(role="worker", local_world_size=1, entrypoint=command[0],
                      args=tuple(words), rdzv_handler=handler, max_restarts=0,
                      monitor_interval=LOOK_S, master_addr=LOOPBACK)
    handler.spec = spec
    if hasattr(multiprocessing, "DefaultLogsSpecs"):  # since PyTorch 2.3
        logs = multiprocessing.DefaultLogsSpecs(log_dir=directory)
        return Agent(link, ask, spec, logs_specs=logs)
    return Agent(link, ask, spec, log_dir=directory)


def main():
    split = sys.argv.index("--")
    fd, directory, ask, *flags = sys.argv[1:split]
    if "LOGLEVEL" not in os.environ:  # what torch says of every change
        logging.disable(logging.ERROR)
    link = Link(int(fd))
    store = TCPStore(LOOPBACK, 0, is_master=True, wait_for_workers=False,
                     timeout=timedelta(seconds=STORE_S)) if flags else None
    agent = make_agent(link, int(ask), store, directory, sys.argv[split + 1:])
    agent.take_signals()
    try:
        link.say("ready", *([store.port] if store else []))
        agent.run()
    except (Ended, SignalException):
        pass
    if link.orphan:
        shutil.rmtree(directory, ignore_errors=True)
    return agent.code


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    os._exit(code)  # others wait for this end, and PyTorch's own takes long
