"""One worker of an elastic PyTorch job: an elastic agent (torch.distributed.elastic) that
is controlled by its parent, trainyard_torchrun.py.

    trainyard_agent.py FD DIRECTORY SIGNAL [--host] -- COMMAND...

FD is a socket to the launcher. DIRECTORY is for torch's own files. SIGNAL asks a worker to
save and exit. --host makes this agent keep the store in which all agents meet. Messages are
lines of words:

    ready [PORT]     torch is loaded; the host adds the store's port    -> launcher
    door             waits for a group                                  -> launcher
    started ROUND PID   its worker runs                                 -> launcher
    done             its worker has exited with 0                       -> launcher
    group ROUND RANK SIZE PORT MASTER   start a worker in this group    <- launcher
    change SECONDS   end the worker, then wait for a group              <- launcher
    leave SECONDS    end the worker, then exit                          <- launcher
    stop NUMBER      the same without a limit: the job got this signal  <- launcher
    end              all workers are done                               <- launcher
    signal NUMBER    pass this signal to the worker                     <- launcher

A worker that takes longer than SECONDS to exit is killed.

Invariants: an agent never decides by itself that the group changes. During a change, the
exit of a worker does not count, because the workers of a group end together. A worker is
told to exit only once: if the signal went to all processes of the job, this process got it
too and does not send it again. The exit status is that of the worker.

Why our own rendezvous? The launcher knows its agents, so a group is complete when all of
them wait for it. The heartbeat-based one (c10d) waits seconds for agents that might still
come, and 15 s for agents that left; and because it uses the wall clock, it considers an
agent dead that was only frozen.
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
LOOK_S = 0.1  # between two checks of the worker and the launcher
STORE_S = 60  # timeout of the store
TOLD_S = 1.0  # for a signal to all processes to arrive here
ORPHAN_S = 30  # for a worker to exit if there is no launcher


class Ended(Exception):
    """The agent is to exit."""


class Link:
    """The connection to the launcher, and what it has said."""

    def __init__(self, fd):
        self.socket = socket.socket(fileno=fd)
        self.rest = b""
        self.orphan = False  # the launcher is gone
        self.group = None  # to join next: round, rank, size, port of the store, port of the master
        self.changing = False
        self.finished = False
        self.bound = math.inf  # seconds for the worker to exit
        self.stop = None  # the signal that ends the job
        self.signals = []

    def say(self, *words):
        try:
            self.socket.sendall((" ".join(map(str, words)) + "\n").encode())
        except OSError as error:
            raise Ended("the launcher is gone") from error

    def look(self, wait=False):
        """Reads what the launcher has said; with `wait`, waits for it. Raises Ended if the
        agent must leave or the launcher is gone."""
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
        self.spec = None  # of the worker; it holds the port of the workers' own store

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
        self.told = set()  # signals that the worker has received
        self.done = False
        self.code = 0  # of the last worker that exited

    def take_signals(self):
        """Signals sent to all processes of the job reach the worker and the launcher as well."""
        for number in TAKEN | {self.ask}:
            signal.signal(number, lambda got, _: self.told.add(got))

    def _start_workers(self, worker_group):
        handler = worker_group.spec.rdzv_handler
        self.told.clear()
        self.done = False
        ids = super()._start_workers(worker_group)
        self.take_signals()  # torch has installed its own handlers
        self.link.say("started", handler.round, next(iter(ids.values())))
        return ids

    def _monitor_workers(self, worker_group):
        result = super()._monitor_workers(worker_group)
        self.link.look()  # after the result: the launcher announces what ends a worker
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
        """Whether it still runs; its exit status is left for torch to collect."""
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
        """Asks the worker to save and exit, and waits. torch would kill it after 30 s, which
        may not be enough to save."""
        for pid in self.pids():
            if self.link.stop:
                self.wait(TOLD_S, lambda p=pid: self.running(p) and not self.told_to_end())
            if self.running(pid) and not self.told_to_end():
                os.kill(pid, self.ask)
            self.wait(self.link.bound, lambda p=pid: self.running(p))
            if self.running(pid):
                note("worker %d has not exited within %g s; killing it" % (pid, self.link.bound))
                os.kill(pid, signal.SIGKILL)
        super()._shutdown(*args, **kwargs)

    def told_to_end(self):
        return bool(self.told & {self.ask, self.link.stop})

    @staticmethod
    def wait(seconds, condition):
        """Waits while the condition holds; time in which the job was frozen does not count."""
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
    # torch replaces ${local_rank} and similar in arguments, and $$ by $.
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
    if "LOGLEVEL" not in os.environ:  # torch logs every change
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
    os._exit(code)  # others wait for this exit, and PyTorch's own cleanup is slow
