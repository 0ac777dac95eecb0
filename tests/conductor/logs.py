#!/usr/bin/env python3
"""The log: every byte that the job writes, in order, in files of bounded size."""
import hashlib
import os
import random

import lib
from lib import expect, expect_equal, wait_until

# Writes pieces of random sizes to both streams in turn; argument: seed, bytes.
WRITER = """#!/usr/bin/python3
import os, random, sys
r = random.Random(int(sys.argv[1]))
left = int(sys.argv[2])
while left:
    n = min(left, r.choice([1, 10, 100, 4095, 4096, 4097, 65536, 200000]))
    piece = r.randbytes(n)
    stream = r.choice([1, 2])
    while piece:
        piece = piece[os.write(stream, piece):]
    left -= n
"""


def written(seed, size):
    """What WRITER writes."""
    r = random.Random(seed)
    out = b""
    while len(out) < size:
        n = min(size - len(out), r.choice([1, 10, 100, 4095, 4096, 4097, 65536, 200000]))
        piece = r.randbytes(n)
        r.choice([1, 2])
        out += piece
    return out


def writer(bench, size, seed=1, **options):
    return bench.attempt([bench.program("writer.py", WRITER), str(seed), str(size)], **options)


def test_random_bytes_in_one_file(bench):
    a = writer(bench, 3_000_000)
    record = a.wait()
    expect_equal(record["log_bytes"], 3_000_000, "log_bytes")
    expect(a.log() == written(1, 3_000_000), "the bytes differ")


def test_rotation_loses_no_byte(bench):
    for limit in (100_000, 65_536, 4_096):
        a = writer(bench, 1_000_000, log_max_bytes=limit, log_keep=1000)
        expect_equal(a.wait()["log_bytes"], 1_000_000, "log_bytes")
        expect(a.log() == written(1, 1_000_000), f"the bytes differ at {limit}")
        sizes = [p.stat().st_size for p in a.log_files()]
        expect(all(s == limit for s in sizes[:-1]) and sizes[-1] <= limit, sizes)


def test_rotation_keeps_the_newest(bench):
    a = writer(bench, 1_000_000, log_max_bytes=10_000, log_keep=2)
    expect_equal(a.wait()["log_bytes"], 1_000_000, "log_bytes")
    names = [p.name for p in a.log_files()]
    expect_equal(names, ["log.98", "log.99", "log"], "files")
    expect(a.log() == written(1, 1_000_000)[970_000:], "the bytes differ")


def test_output_without_newline(bench):
    a = bench.attempt(["printf", "no end"])
    a.wait()
    expect_equal(a.log(), b"no end", "log")


def test_no_output(bench):
    a = bench.attempt("true")
    expect_equal(a.wait()["log_bytes"], 0, "log_bytes")
    expect_equal(a.log(), b"", "log")


def test_very_long_line(bench):
    a = bench.attempt("head -c 5000000 /dev/zero | tr '\\0' x; echo")
    expect_equal(a.wait()["log_bytes"], 5_000_001, "log_bytes")
    expect(a.log() == b"x" * 5_000_000 + b"\n", "the bytes differ")


def test_binary_output(bench):
    data = bytes(range(256)) * 1000
    (bench.tmp / "data").write_bytes(data)
    a = bench.attempt(["cat", str(bench.tmp / "data")])
    a.wait()
    expect(a.log() == data, "the bytes differ")


def test_streams_keep_their_order(bench):
    a = bench.attempt("for i in $(seq 500); do echo out $i; echo err $i >&2; done")
    a.wait()
    want = "".join(f"out {i}\nerr {i}\n" for i in range(1, 501)).encode()
    expect(a.log() == want, "the order differs")


def test_output_is_there_while_the_job_runs(bench):
    a = bench.attempt("echo now; while ! [ -e go ]; do sleep 0.01; done; echo then")
    wait_until(lambda: a.log() == b"now\n", what="the first line")
    (a.dir / "go").touch()
    a.wait()
    expect_equal(a.log(), b"now\nthen\n", "log")


def test_last_words_of_killed_processes(bench):
    a = bench.attempt("(echo child; echo up >up; sleep 100) & while ! [ -e up ]; do sleep 0.01;"
                      " done; head -c 60000 /dev/zero; exit 1")
    a.wait()
    written, note = a.log()[:len(b"child\n") + 60000], a.log()[len(b"child\n") + 60000:]
    expect(written == b"child\n" + bytes(60000), "all bytes")
    expect(b"left running: " in note and b"sleep 100" in note, f"what was ended: {note}")


def test_much_output(bench):
    size = 200_000_000
    a = bench.attempt(f"head -c {size} /dev/zero", log_max_bytes=50_000_000, log_keep=10)
    expect_equal(a.wait()["log_bytes"], size, "log_bytes")


def test_full_disk_does_not_stop_the_job(bench):
    a = bench.attempt("head -c 300000 /dev/zero | tr '\\0' a; echo over >&2; echo done >../done;"
                      "while ! [ -e ../go ]; do sleep 0.01; done; echo; echo after", start=False)
    (a.dir / "spec.json").rename(bench.tmp / "spec")
    bench.mount_tmpfs(a.dir, "128k")
    (a.dir / "spec.json").write_bytes((bench.tmp / "spec").read_bytes())
    a.start()
    wait_until(lambda: (bench.tmp / "done").exists(), what="the job to go on")
    wait_until(lambda: os.statvfs(a.dir).f_bavail == 0, what="the disk to be full")
    # Room again: the log goes on, and tells what is missing.
    os.system(f"mount -o remount,size=1m {a.dir}")
    (bench.tmp / "go").touch()
    record = a.wait()
    expect_equal(record["code"], 0, "code")
    log = a.log()
    dropped = record["log_dropped"]
    expect(dropped > 100_000, f"dropped {dropped}")
    marker = f"[trainyard: {dropped} bytes of output were dropped here: No space left".encode()
    expect_equal(log.count(b"[trainyard:"), 1, "markers")
    expect(marker in log, log.replace(b"a", b""))
    expect(log.endswith(b"\nafter\n"), "the end is there")
    told = log[log.index(b"\n[trainyard:"):]
    told = told[:told.index(b"]\n") + 2]
    expect_equal(len(log) - len(told) + dropped, 300000 + len("over\n") + len("\nafter\n"), "sum")
    expect_equal(record["log_bytes"], len(log), "log_bytes")


def test_full_disk_at_the_end(bench):
    # The record has its room from the beginning; the server hears of the drop.
    server = bench.server()
    a = bench.attempt("head -c 300000 /dev/zero; exit 4", start=False, server=server)
    (a.dir / "spec.json").rename(bench.tmp / "spec")
    bench.mount_tmpfs(a.dir, "64k")
    (a.dir / "spec.json").write_bytes((bench.tmp / "spec").read_bytes())
    a.start()
    record = a.wait()
    expect_equal(record["code"], 4, "code")
    expect_equal(record["log_bytes"] + record["log_dropped"], 300000, "bytes")
    expect(record["log_dropped"] > 200_000, record["log_dropped"])
    expect_equal(a.messages("exit"), [record], "message")


def test_same_bytes_however_they_come(bench):
    sums = set()
    for limit in (1000, 7919, 10 ** 9):
        a = bench.attempt("seq 30000", log_max_bytes=limit, log_keep=1000)
        a.wait()
        sums.add(hashlib.sha256(a.log()).hexdigest())
    expect_equal(len(sums), 1, "different contents")


lib.main()
