"""Progress, checkpoints and cores for training programs that run under Trainyard.

    import trainyard

    for epoch in range(10):
        for batch in trainyard.track(loader, epoch=epoch, epochs=10):
            loss = train(batch)
            trainyard.report(loss=loss)
            if trainyard.should_checkpoint():
                save(); raise SystemExit(0)

    model.fit(..., callbacks=[trainyard.KerasCallback()])
    Trainer(..., callbacks=[trainyard.HuggingFaceCallback()])

Programs can import it in every job; no installation is needed. Standard library only, Python 3.7
or later. Outside a job these calls do nothing. No call raises an exception into the training:
problems are reported once on standard error.

A report is one JSON object per line, appended with one write to the file named by
$TRAINYARD_PROGRESS; docs/progress.md describes the format.

Outside jobs, trainyard.Client submits jobs and follows them (docs/python.md).
"""
import atexit
import json
import math
import os
import signal
import sys
import threading
import time

# Without the callbacks: "import *" would import their packages.
__all__ = ["report", "flush", "track", "should_checkpoint", "cpus", "in_job"]

# Reports that follow each other faster are merged.
_INTERVAL = 0.05
# The conductor skips longer lines.
_LINE_BYTES = 4000


class _State:
    """The state of the module in this process; a forked child has its own."""

    def __init__(self):
        self.lock = threading.RLock()  # a signal handler may report as well
        self.fd = -1
        self.path = None
        self.pending = {}
        self.written = -math.inf  # time of the last write
        self.torn = False  # the last line was written only in part
        self.warned = set()
        self.signal = None  # the checkpoint signal, once its handler is installed
        self.asked = False


_state = _State()


def _after_fork():
    """The child has its own lock, and leaves pending reports to the parent."""
    global _state
    old, _state = _state, _State()
    _state.fd, _state.path = old.fd, old.path
    _state.warned = set(old.warned)
    _state.signal, _state.asked = old.signal, old.asked


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _warn(kind, text):
    """Prints a warning, once for each kind. It does not use warnings.warn, which
    -W error would turn into an exception."""
    if kind in _state.warned:
        return
    _state.warned.add(kind)
    try:
        sys.stderr.write("trainyard: %s\n" % text)
        sys.stderr.flush()
    except Exception:  # standard error is closed
        pass


def in_job():
    """Whether this process belongs to a Trainyard job."""
    return bool(os.environ.get("TRAINYARD_PROGRESS") or os.environ.get("TRAINYARD_JOB_ID"))


# ---- reports -----------------------------------------------------------------


def _number(value):
    """The value as a plain number; it may be a tensor or an array of one element.
    NaN and infinity become strings, as in the file."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return value if -2**63 <= value < 2**63 else float(value)
    value = float(value)
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value


def _fields(values):
    """The values that are numbers. Others are left out, with one warning."""
    fields = {}
    for name, value in values.items():
        if value is None:
            continue
        try:
            number = _number(value)
            if name in ("step", "total", "epochs"):
                number = int(float(number)) if not isinstance(number, int) else number
                if number < 0:
                    raise ValueError("negative")
        except Exception:
            _warn("value " + str(name), "%s is not a number and is not reported: %.80r"
                  % (name, value))
            continue
        fields[str(name)[:64]] = number
    return fields


def _encode(fields):
    """The line, without its last metrics if it would be too long."""
    names = list(fields)
    while True:
        line = json.dumps({name: fields[name] for name in names}, separators=(",", ":"),
                          ensure_ascii=True, allow_nan=False).encode() + b"\n"
        if len(line) <= _LINE_BYTES or not names:
            return line
        names.pop()


def _open(path):
    """The descriptor of the file, which is opened once; raises OSError."""
    if _state.fd >= 0 and _state.path == path:
        return _state.fd
    if _state.fd >= 0:
        os.close(_state.fd)
        _state.fd = -1
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
    _state.fd = os.open(path, flags, 0o600)
    _state.path = path
    return _state.fd


def _write(path, line):
    try:
        if _state.torn:
            line = b"\n" + line
        _state.torn = os.write(_open(path), line) < len(line)
        if _state.torn:
            _warn("write", "%s: written only in part; is the disk full?" % path)
    except OSError as error:
        _warn("write", "%s: %s; progress is not reported" % (path, error.strerror))


def _flush_locked():
    path = os.environ.get("TRAINYARD_PROGRESS")
    fields, _state.pending = _state.pending, {}
    if path and fields:
        _write(path, _encode(fields))
        _state.written = time.monotonic()


def flush():
    """Writes pending reports, which are held back for up to 0.05 s."""
    try:
        with _state.lock:
            _flush_locked()
    except Exception as error:
        _warn("flush", "%s; progress is not reported" % error)


atexit.register(flush)


def report(step=None, total=None, loss=None, epoch=None, epochs=None, rate=None, **metrics):
    """Reports progress. `step` counts from the beginning of the job up to `total`;
    `rate` is steps per second; any other name is a metric. Values that are left out
    do not change."""
    if not os.environ.get("TRAINYARD_PROGRESS"):
        return
    try:
        fields = _fields(dict(step=step, total=total, epoch=epoch, epochs=epochs, loss=loss,
                              rate=rate, **metrics))
        with _state.lock:
            _state.pending.update(fields)
            if time.monotonic() - _state.written >= _INTERVAL:
                _flush_locked()
    except Exception as error:
        _warn("report", "%s; progress is not reported" % error)


class track:
    """Iterates and reports: for batch in trainyard.track(loader).

    total   items of the whole job; len(iterable) by default, if it has a length
    every   items between two reports; by default every item, with reports merged
    start   items that were done before, if the job was resumed
    epoch, epochs   with these, total is for one epoch (the first one is 0): steps
            continue from epoch * total, and the job has epochs * total of them
    """

    def __init__(self, iterable, total=None, every=None, start=0, epoch=None, epochs=None):
        self._iterable = iterable
        if total is None:
            try:
                total = len(iterable) + (start if epoch is None else 0)
            except Exception:  # it has no length, or one that fails
                pass
        self._every = every
        self._epoch, self._epochs = epoch, epochs
        self.step, self.total = start, total
        if epoch is not None and total:
            self.step = start + epoch * total
            self.total = epochs * total if epochs else None

    def __len__(self):
        return len(self._iterable)

    def __iter__(self):
        first = self.step
        for item in self._iterable:
            yield item
            self.step += 1
            if not self._every or (self.step - first) % self._every == 0:
                self._report()
        if self.step > first:
            self._report()
            flush()

    def _report(self):
        report(step=self.step, total=self.total, epoch=self._epoch, epochs=self._epochs)


# ---- checkpoints -------------------------------------------------------------


def _signal_number():
    name = os.environ.get("TRAINYARD_CHECKPOINT_SIGNAL", "") or "SIGTERM"
    try:
        if name.isdigit():
            return int(name)
        if not name.startswith("SIG"):
            name = "SIG" + name
        return int(getattr(signal, name))
    except (AttributeError, ValueError):
        _warn("signal", "$TRAINYARD_CHECKPOINT_SIGNAL is %r, which is not a signal; using SIGTERM"
              % name)
        return int(signal.SIGTERM)


def _install():
    """Installs the handler; it calls an existing handler afterwards."""
    number = _signal_number()
    before = signal.getsignal(number)
    if before is None:
        _warn("handler", "signal %d has a handler that was not installed by Python: "
              "should_checkpoint() does not see the signal" % number)
        _state.signal = number
        return

    def handler(signum, frame):
        _state.asked = True
        if callable(before):
            before(signum, frame)

    signal.signal(number, handler)
    _state.signal = number
    path = os.environ.get("TRAINYARD_PROGRESS")
    if path:  # such a job may be stopped to make room for others
        with _state.lock:
            _write(path, b'{"checkpoint":true}\n')


def should_checkpoint():
    """True once Trainyard has asked for a checkpoint (with SIGTERM, or the signal named
    by $TRAINYARD_CHECKPOINT_SIGNAL). Save and exit: the job is killed when its grace
    period is over. The first call installs the signal handler and must be made in the
    main thread; call it once before the loop. An existing handler is called as well.
    Trainyard learns from it that the job can be stopped to make room for others, and
    continues from its checkpoint later."""
    if not in_job():
        return False
    try:
        if _state.signal is None:
            if threading.current_thread() is threading.main_thread():
                _install()
            else:
                _warn("thread", "call should_checkpoint() in the main thread first: signal "
                      "handlers can only be installed there")
        return _state.asked
    except Exception as error:
        _warn("checkpoint", "%s; checkpoint requests are not seen" % error)
        return False


# ---- cores -------------------------------------------------------------------


def _read(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


def _quota(text):
    """CPUs from "quota period" (cpu.max), or from quota and period (v1)."""
    words = text.split()
    try:
        return int(words[0]) / int(words[1]) if int(words[0]) > 0 else None
    except (IndexError, ValueError, ZeroDivisionError):
        return None


def _cgroup_quota():
    """The smallest CPU quota from this process's cgroup upwards; None = none."""
    smallest = None
    for line in _read("/proc/self/cgroup").splitlines():
        fields = line.split(":", 2)
        if len(fields) != 3 or not (fields[1] == "" or "cpu" in fields[1].split(",")):
            continue
        root = "/sys/fs/cgroup" + ("/cpu" if fields[1] else "")
        path = fields[2].rstrip("/")
        while True:
            quota = _quota(_read(root + path + "/cpu.max")) if not fields[1] else _quota(
                _read(root + path + "/cpu.cfs_quota_us") + " " +
                _read(root + path + "/cpu.cfs_period_us"))
            if quota:
                smallest = quota if smallest is None else min(smallest, quota)
            if not path:
                break
            path = path.rpartition("/")[0]
    return smallest


def cpus():
    """The number of CPUs that the job may use now, at least 1: those it is bound to,
    or its quota, rounded down. Outside a job, those it may run on. It changes while
    the job runs: ask again before you create a thread pool."""
    try:
        count = len(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        count = os.cpu_count() or 1
    if not in_job():
        return count
    try:
        quota = _cgroup_quota()
        if quota is None:
            quota = float(os.environ.get("TRAINYARD_CPUS", "") or count)
        return max(1, min(count, int(quota)))
    except Exception as error:
        _warn("cpus", "%s; assuming all CPUs of the affinity mask" % error)
        return count


# ---- callbacks ---------------------------------------------------------------
# Their base classes belong to packages that may not be installed: each class is
# created when its name is first used (PEP 562).


def _make_keras(base):
    class KerasCallback(base):
        """For model.fit(callbacks=[...]). Reports batches and epochs. When Trainyard asks
        for a checkpoint, it calls `save` with the model, if given, and stops the
        training after the batch."""

        def __init__(self, save=None):
            super().__init__()
            self._save = save
            self._epoch = 0

        def on_train_begin(self, logs=None):
            should_checkpoint()  # installs the handler

        def on_epoch_begin(self, epoch, logs=None):
            self._epoch = epoch

        def _report(self, logs, place):
            """`place` overrides logs of the same name."""
            values = dict(logs or {})
            values.update(place)
            report(**values)

        def _sizes(self):
            params = getattr(self, "params", None) or {}
            return params.get("steps"), params.get("epochs")

        def on_train_batch_end(self, batch, logs=None):
            steps, epochs = self._sizes()
            place = {"epoch": self._epoch + 1, "epochs": epochs, "step": None, "total": None}
            if steps:
                place["step"] = self._epoch * steps + batch + 1
                place["total"] = epochs * steps if epochs else None
            self._report(logs, place)
            if should_checkpoint():
                self._stop()

        def on_epoch_end(self, epoch, logs=None):
            steps, epochs = self._sizes()
            place = {"epoch": epoch + 1, "epochs": epochs, "step": None, "total": None}
            if not steps:  # the length of an epoch is not known: count epochs
                place.update(step=epoch + 1, total=epochs)
            self._report(logs, place)
            flush()

        def _stop(self):
            if getattr(self.model, "stop_training", False):
                return
            if self._save is not None:
                self._save(self.model)
            self.model.stop_training = True

    return KerasCallback


def _make_huggingface(base):
    class HuggingFaceCallback(base):
        """For transformers.Trainer(callbacks=[...]). Reports steps and logged values.
        When Trainyard asks for a checkpoint, the trainer saves and stops."""

        def on_train_begin(self, args, state, control, **kwargs):
            should_checkpoint()  # installs the handler

        def _report(self, args, state, **values):
            if not getattr(state, "is_world_process_zero", True):
                return
            total = getattr(state, "max_steps", 0)
            epochs = getattr(args, "num_train_epochs", None)
            report(step=getattr(state, "global_step", None), total=total if total > 0 else None,
                   epoch=getattr(state, "epoch", None), epochs=epochs if epochs and epochs > 0
                   else None, **values)

        def on_step_end(self, args, state, control, **kwargs):
            self._report(args, state)
            if should_checkpoint():
                control.should_save = True
                control.should_training_stop = True
            return control

        def on_log(self, args, state, control, logs=None, **kwargs):
            values = {name: value for name, value in (logs or {}).items()
                      if isinstance(value, (int, float)) and name not in
                      ("epoch", "step", "total", "epochs", "rate", "total_flos")}
            self._report(args, state, **values)

        def on_train_end(self, args, state, control, **kwargs):
            self._report(args, state)
            flush()

    return HuggingFaceCallback


def _keras_base():
    try:
        from keras.callbacks import Callback
    except ImportError:
        from tensorflow.keras.callbacks import Callback
    return Callback


def __getattr__(name):
    if name == "KerasCallback":
        made = _make_keras(_keras_base())
    elif name == "HuggingFaceCallback":
        from transformers import TrainerCallback
        made = _make_huggingface(TrainerCallback)
    elif name in ("Client", "Job", "Metric", "Problem"):
        from . import client
        made = getattr(client, name)
    else:
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    globals()[name] = made
    return made
