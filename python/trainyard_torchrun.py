#!/usr/bin/env python3
"""Runs a PyTorch script on as many workers as its job may have at the moment.

    trainyard_torchrun.py -- [PYTHON] train.py ARGUMENTS...

The server starts it for jobs with `resize: torchrun`; by hand, it runs $TRAINYARD_WORKERS
workers (default 1). Each worker has a PyTorch elastic agent, trainyard_agent.py; the script
finds RANK, WORLD_SIZE, MASTER_ADDR and so on, as under torchrun. When the control page
($TRAINYARD_CONTROL) orders another number, agents are started or the newest are ended, and
all workers start again as one group: the script saves when it is asked to exit, and
continues from there (docs/elastic.md). SIGTERM and SIGINT are passed on, and the exit status
is that of the workers.

Owns the agents and the membership of the group. Invariants: there is one change at a time,
and `applied` on the page is the number with which all workers of a group run. A change
begins when the new agents have loaded PyTorch, so the workers pause no longer than their own
start takes. The first agent keeps the store in which they meet and never leaves. An agent
that exits unexpectedly ends the job, unless it was just loading: then the group stays as it
is. No process and no file is left behind.

Standard library only; PyTorch is loaded by the agents.
"""
import math
import os
import re
import selectors
import shutil
import signal
import socket
import sys
import tempfile
import time

from trainyard_member import Member
from trainyard_page import Page, PageError

LOOK_S = 1.0  # between two checks of the page and of agents that hang
GRACE_S = 60  # for a worker to save and exit when the group changes; or $TRAINYARD_GRACE
FAIL_S = 10  # for the others to exit when one has failed
STOP = (signal.SIGTERM, signal.SIGINT)
TOLD = signal.SIGUSR2  # sent by the conductor after an order


def note(text):
    sys.stderr.write("trainyard: %s\n" % text)
    sys.stderr.flush()


def count(number, noun):
    return "%d %s%s" % (number, noun, "" if number == 1 else "s")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Plan:
    """What to run, from the arguments and the environment."""

    def __init__(self, words):
        self.interpreter, self.command = split_command(words)
        self.low, self.size, self.high = read_sizes()
        self.grace = number_of("TRAINYARD_GRACE", GRACE_S, "seconds")
        self.ask = ask_signal()
        # Signals that are handled and reach the workers, as a stop or as they are.
        self.signals = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, self.ask}
        self.page = open_page()


class Launcher:
    def __init__(self, plan):
        self.plan = plan
        self.size = plan.size  # of the group that runs
        self.generation = 0  # of the order that is applied
        self.members = []
        self.leavers = []
        self.round = 0
        self.phase = None  # of a change: loading, gathering or starting
        self.wanted = 0  # size of the group that is being formed
        self.began = 0.0
        self.code = None  # exit status of the job, which ends once there is one
        self.first = None  # the first worker, which decides the exit status of a stopped job
        self.signals = []
        self.selector = selectors.DefaultSelector()
        self.directory = None  # for torch's own files

    # ---- events

    def run(self):
        wake, waker = socket.socketpair()
        waker.setblocking(False)
        signal.set_wakeup_fd(waker.fileno())
        self.selector.register(wake, selectors.EVENT_READ)
        self.directory = tempfile.mkdtemp(prefix="trainyard-")
        try:
            self.begin(self.size)
            before = time.monotonic()
            while self.members or self.leavers:
                for key, _ in self.selector.select(LOOK_S):
                    if key.data:
                        self.hear(key.data)
                    else:
                        wake.recv(4096)
                now = time.monotonic()
                self.pass_time(min(now - before, 2 * LOOK_S))  # a freeze does not count
                before = now
                self.take_signals()
                self.go_on()
        finally:
            signal.set_wakeup_fd(-1)
            for member in self.members + self.leavers:
                member.kill()
                member.reap()
            shutil.rmtree(self.directory, ignore_errors=True)
        return self.first.code() if self.first and self.first.round else self.code

    def hear(self, member):
        member.hear()
        if not member.gone:
            return
        self.selector.unregister(member.link)
        if member in self.leavers:
            self.leavers.remove(member)
            return
        rank = self.members.index(member)
        self.members.remove(member)
        if self.code is not None:
            return
        if self.round and self.phase == "loading" and not member.round:
            self.give_up("an agent exited with %d" % member.code())
            return
        self.code = 0 if member.done else member.code() or 1
        if self.code:
            note("worker %d exited with %d; the job ends" % (rank, self.code))
        for other in self.members:
            other.leave(FAIL_S)

    def pass_time(self, seconds):
        for member in self.members + self.leavers:
            member.left -= seconds
            if member.left <= 0:
                note("the agent of a worker does not exit; killing it")
                member.left = math.inf
                member.kill()

    def take_signals(self):
        while self.signals:
            number = self.signals.pop(0)
            if number in STOP:
                self.stop_by(number)
            elif number in self.plan.signals:
                for member in self.members:
                    member.say("signal", int(number))

    def stop_by(self, number):
        """Without a time limit of ours: the workers may have much to save."""
        if self.code is not None:
            return
        note("%s: stopping %s" % (signal.Signals(number).name, count(len(self.members), "worker")))
        self.code, self.first = 128 + number, self.members[0]
        for member in self.members:
            member.say("stop", int(number))

    # ---- changes

    def go_on(self):
        if self.code is not None:
            return
        if self.phase:
            self.go_on_changing()
        elif all(m.done for m in self.members):
            for member in self.members:
                member.say("end")
        elif self.plan.page and not any(m.done for m in self.members):
            self.obey(self.plan.page)

    def obey(self, page):
        generation, number = page.order()
        if generation == self.generation:
            return
        self.generation = generation
        wanted = min(max(number or self.plan.high, self.plan.low), self.plan.high)
        if wanted == self.size:
            page.apply(generation, wanted)
        else:
            self.begin(wanted)

    def begin(self, wanted):
        self.phase, self.wanted, self.began = "loading", wanted, time.monotonic()
        try:
            while len(self.members) < wanted:
                member = Member(self.plan, self.directory, host=not self.members)
                self.members.append(member)
                self.selector.register(member.link, selectors.EVENT_READ, member)
        except OSError as error:
            if not self.round:
                raise
            self.give_up(error)

    def go_on_changing(self):
        if self.phase == "loading" and any(m.done for m in self.members):
            self.give_up("the work is done")
        if self.phase == "loading" and all(m.ready for m in self.members):
            self.gather()
        if self.phase == "gathering" and not self.leavers and all(m.at_door for m in self.members):
            self.start()
        if self.phase == "starting" and all(m.round == self.round for m in self.members):
            self.finish()

    def give_up(self, why):
        """The group does not grow after all; its workers have not been disturbed."""
        note("staying at %s: %s" % (count(self.size, "worker"), why))
        self.phase = None
        leavers = [m for m in self.members if not m.round]
        self.members = [m for m in self.members if m.round]
        self.send_away(leavers, FAIL_S)
        self.plan.page.apply(self.generation, self.size)

    def gather(self):
        """Agents that stay wait for the next group, surplus ones leave. Those that stay are told
        first, so that the exit of their workers is not taken for a failure."""
        self.phase = "gathering"
        self.members, leavers = self.members[:self.wanted], self.members[self.wanted:]
        for member in self.members:
            if member.round:
                member.say("change", self.plan.grace)
        self.send_away(leavers, self.plan.grace)

    def send_away(self, leavers, seconds):
        self.leavers += leavers
        for member in leavers:
            member.leave(seconds)

    def start(self):
        self.phase = "starting"
        self.round += 1
        port, master = self.members[0].port, free_port()
        for rank, member in enumerate(self.members):
            member.at_door = False
            member.say("group", self.round, rank, self.wanted, port, master)

    def finish(self):
        self.phase = None
        seconds = time.monotonic() - self.began
        before = "%d -> " % self.size if self.round > 1 else ""
        note("%s%s, %.1f s" % (before, count(self.wanted, "worker"), seconds))
        self.size = self.wanted
        if self.plan.page and self.generation:
            self.plan.page.apply(self.generation, self.size)
        self.go_on()


# ---- the start ----------------------------------------------------------------


def number_of(name, default, what="workers"):
    text = os.environ.get(name) or str(default)
    if not re.fullmatch("[0-9]{1,6}", text) or int(text) == 0:
        sys.exit("trainyard: $%s is %r, not a number of %s" % (name, text, what))
    return int(text)


def read_sizes():
    """(minimum, initial, maximum) number of workers."""
    size = number_of("TRAINYARD_WORKERS", 1)
    low, high = number_of("TRAINYARD_WORKERS_MIN", size), number_of("TRAINYARD_WORKERS_MAX", size)
    if not low <= size <= high:
        sys.exit("trainyard: $TRAINYARD_WORKERS is %d, outside %d-%d" % (size, low, high))
    return low, size, high


def split_command(words):
    """(interpreter of the agents, command of a worker)."""
    name = os.path.basename(words[0])
    if name in ("torchrun", "horovodrun"):
        sys.exit("trainyard: remove %s from the command: Trainyard is the launcher" % name)
    if not name.endswith(".py") and not shutil.which(words[0]):
        sys.exit("trainyard: %s: no such program" % words[0])
    if re.fullmatch(r"python[0-9.]*", name):
        if len(words) == 1:
            sys.exit("trainyard: %s: missing the script to run" % name)
        return words[0], [words[0], "-u"] + words[1:]
    if name.endswith(".py"):
        return sys.executable, [sys.executable, "-u"] + words
    return sys.executable, words


def ask_signal():
    """The signal that asks for a checkpoint."""
    name = os.environ.get("TRAINYARD_CHECKPOINT_SIGNAL") or "SIGTERM"
    try:
        if name.isdigit():
            return signal.Signals(int(name))
        return signal.Signals[name if name.startswith("SIG") else "SIG" + name]
    except (KeyError, ValueError):
        return sys.exit("trainyard: $TRAINYARD_CHECKPOINT_SIGNAL is %r, which is not a signal" % name)


def open_page():
    """The page; None if there is none, with a message if there should be one."""
    path = os.environ.get("TRAINYARD_CONTROL")
    if not path:
        return None
    try:
        return Page(path)
    except PageError as error:
        note("%s; the number of workers will not change" % error)
        return None


def main():
    if len(sys.argv) < 3 or sys.argv[1] != "--":
        sys.stderr.write("usage: trainyard_torchrun.py -- [PYTHON] SCRIPT ARGUMENTS...\n")
        return 2
    plan = Plan(sys.argv[2:])
    launcher = Launcher(plan)
    for number in plan.signals | {TOLD}:
        signal.signal(number, lambda got, _: launcher.signals.append(got))
    if plan.page and plan.ask != TOLD:
        plan.page.listen(os.getpid(), TOLD)
    try:
        return launcher.run()
    except OSError as error:
        note("cannot run the job: %s" % error)
        return 1
    finally:
        if plan.page:
            plan.page.listen(0, 0)


if __name__ == "__main__":
    sys.exit(main())
