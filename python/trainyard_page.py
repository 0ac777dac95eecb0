"""The page that a conductor shares with its job: how many workers (or threads) the job may
have, and what the job has applied. $TRAINYARD_CONTROL names the file.

src/malleable/page.h defines the layout. Used here, in bytes, little-endian:

      0  u64  magic, "trnyard1"          128  u32  process to signal after each order
      8  u32  version, 1                 132  u32  the signal
     12  u32  size of the page, 4096     192  u64  applied, laid out like the order
     64  u64  order: workers in the      200  i64  when, by the monotonic clock, in ns
              lower half (0 = no limit),  216  u32  processes that have mapped the page
              generation above

A word is read and written with one 8-byte access to a memoryview, in the byte order of the
machine; a big-endian machine does not find the magic.
"""
import mmap
import os
import time

_BYTES = 4096
_VERSION = 1
_MAGIC = int.from_bytes(b"trnyard1", "little")
_HALF = 0xFFFFFFFF

# Indices into words of 8 and of 4 bytes.
_W_MAGIC, _W_ORDER, _W_APPLIED, _W_APPLIED_NS = 0, 64 // 8, 192 // 8, 200 // 8
_H_VERSION, _H_BYTES, _H_PID, _H_SIGNAL, _H_ATTACHED = 8 // 4, 12 // 4, 128 // 4, 132 // 4, 216 // 4


class PageError(Exception):
    """The file is not a page; the message says why."""


class Page:
    """A mapped page. Raises PageError if there is none at `path`."""

    def __init__(self, path, write=True):
        try:
            fd = os.open(path, (os.O_RDWR if write else os.O_RDONLY) | os.O_CLOEXEC)
        except OSError as error:
            raise PageError("%s: %s" % (path, error.strerror)) from error
        try:
            size = os.fstat(fd).st_size
            if size != _BYTES:
                raise PageError("%s: has %d bytes; a control page has %d" % (path, size, _BYTES))
            access = mmap.ACCESS_WRITE if write else mmap.ACCESS_READ
            view = memoryview(mmap.mmap(fd, _BYTES, access=access))
        except OSError as error:
            raise PageError("%s: %s" % (path, error.strerror)) from error
        finally:
            os.close(fd)
        self._words, self._halves = view.cast("Q"), view.cast("I")
        if self._words[_W_MAGIC] != _MAGIC:
            raise PageError("%s: not a control page" % path)
        if self._halves[_H_VERSION] != _VERSION or self._halves[_H_BYTES] != _BYTES:
            raise PageError("%s: control page of version %d; expected %d"
                            % (path, self._halves[_H_VERSION], _VERSION))

    def order(self):
        """(generation, number) of the newest order; number 0 means no limit."""
        word = self._words[_W_ORDER]
        return word >> 32, word & _HALF

    def listen(self, pid, signum):
        """Requests a signal after each order; pid 0 cancels it."""
        if pid:
            self._halves[_H_SIGNAL] = signum
            self._halves[_H_ATTACHED] = (self._halves[_H_ATTACHED] + 1) & _HALF
        self._halves[_H_PID] = pid

    def apply(self, generation, number):
        """Records that the order of this generation was applied, with this number."""
        self._words[_W_APPLIED_NS] = time.monotonic_ns()
        self._words[_W_APPLIED] = generation << 32 | number
