#!/usr/bin/env python3
"""Files that a job logs its training to, in its working directory, with the real conductor."""
import textwrap
import time

import lib
from lib import expect, expect_equal, wait_until

# What jobs begin with: `log(path, bytes)` appends, and the file is closed again.
BEGIN = """
import os, struct, sys, time
def log(path, data):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "ab") as out:
        out.write(data if isinstance(data, bytes) else data.encode())
def stay():
    open("ready", "w").close()
    time.sleep(1000)
"""
# A TensorBoard event with one scalar, framed as their writer does it.
TENSORBOARD = """
def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])
def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data
def event(step, tag, value):
    scalar = field(1, tag.encode()) + varint(2 << 3 | 5) + struct.pack("<f", value)
    data = varint(1 << 3 | 1) + struct.pack("<d", 1.0) + varint(2 << 3) + varint(step)
    data += field(5, field(1, scalar))
    return struct.pack("<Q", len(data)) + b"crc4" + data + b"crc4"
"""


def run(bench, script, server=None, arguments=(), **spec):
    text = BEGIN + TENSORBOARD + textwrap.dedent(script)
    return bench.attempt(["/usr/bin/python3", "-c", text, *arguments], server=server, **spec)


def told(a):
    reports = a.messages("progress")
    return reports[-1] if reports else {}


def expect_told(a, **want):
    wait_until(lambda: all(told(a).get(k) == v for k, v in want.items()),
               what=f"{want}; the last report was {told(a)}")


def end(a):
    a.send("stop", grace_s=0)
    a.wait()


def test_csv_of_lightning(bench):
    a = run(bench, """
        log("lightning_logs/version_0/metrics.csv", "epoch,step,train_loss,val_loss\\n"
            "0,49,0.5,\\n0,49,,0.25\\n1,99,0.375,\\n")
        stay()""", server=bench.server(), arguments=["--max_steps", "400"])
    expect_told(a, step=99, total=400, loss=0.375, source="csv", total_from="--max_steps 400")
    end(a)


def test_csv_of_keras_grows(bench):
    a = run(bench, """
        log("training.log", "epoch,accuracy,loss,val_loss\\n0,0.5,1.5,1.25\\n")
        while not os.path.exists("go"): time.sleep(0.05)
        log("training.log", "1,0.75,0.5,0.25\\n")
        stay()""", server=bench.server(), arguments=["--epochs", "8"])
    expect_told(a, epoch=0, loss=1.5, source="csv")
    (a.dir / "go").touch()
    expect_told(a, epoch=1, loss=0.5, step=2, total=8)
    end(a)


def test_tensorboard(bench):
    a = run(bench, """
        log("runs/Nov17_host/events.out.tfevents.1.host.2.0",
            event(100, "train/loss", 0.5) + event(200, "train/loss", 0.25)
            + event(200, "val/loss", 4.0))
        stay()""", server=bench.server(), arguments=["--max-steps=800"])
    expect_told(a, step=200, total=800, loss=0.25, source="tensorboard")
    end(a)


def test_mlflow(bench):
    a = run(bench, """
        log("mlruns/0/8f3a/params/epochs", "10")
        log("mlruns/0/8f3a/metrics/train_loss", "1715000000000 0.5 1\\n1715000001000 0.25 2\\n")
        stay()""", server=bench.server())
    expect_told(a, step=2, loss=0.25, source="mlflow")
    end(a)


def test_output_goes_first(bench):
    a = run(bench, """
        print("step 5/10 loss 0.5", flush=True)
        log("metrics.csv", "step,train_loss\\n900,0.125\\n")
        stay()""", server=bench.server())
    expect_told(a, step=5, total=10, loss=0.5)
    wait_until((a.dir / "ready").exists)
    end(a)
    expect_equal((told(a)["step"], told(a)["total"], told(a)["loss"]), (5, 10, 0.5), "in the end")


def test_what_is_not_looked_at(bench):
    outside = bench.tmp / "outside"
    outside.mkdir()
    text = "step,train_loss\n7,0.5\n"
    (outside / "metrics.csv").write_text(text)
    a = run(bench, f"""
        os.symlink("{outside}", "runs")                       # a folder elsewhere
        os.symlink("{outside}/metrics.csv", "linked.csv")     # a file elsewhere
        os.mkfifo("pipe.csv")                                  # would block who opens it
        os.makedirs("src"); log("src/metrics.csv", {text!r})   # no folder for logs
        log("old.csv", {text!r}); os.utime("old.csv", (1, 1))  # of another run
        log("data.csv", "x,y\\n1,2\\n")                        # no log
        print("begun", flush=True)
        time.sleep(5)
        """, server=bench.server())
    record = a.wait()
    expect_equal((record["code"], told(a)), (0, {}), "nothing is told")


def test_logs_of_another_job(bench):
    """Two jobs in one directory: only files that a job has open are its own."""
    server, shared = bench.server(), bench.tmp / "shared"
    shared.mkdir()
    other = run(bench, "stay()", server=server, workdir=str(shared))
    wait_until((shared / "ready").exists)
    a = run(bench, """
        log("closed.csv", "step,train_loss\\n900,0.125\\n")
        out = open("open.csv", "w")
        out.write("step,train_loss\\n3,0.5\\n"); out.flush()
        stay()""", server=server, workdir=str(shared))
    expect_told(a, step=3, loss=0.5, source="csv")
    end(a)
    expect_equal(other.messages("progress"), [], "what the other is told")
    end(other)


def test_hostile_files(bench):
    """Any bytes, huge and many files: the job and its conductor go on."""
    a = run(bench, """
        for i in range(300):
            log(f"runs/r{i}/events.out.tfevents.{i}", os.urandom(2000))
            log(f"logs/r{i}.csv", os.urandom(2000))
        with open("wandb.csv", "wb") as out:
            out.truncate(1 << 40)
        log("metrics.jsonl", b"{" * 100000)
        print("done", flush=True)
        time.sleep(5)
        """, server=bench.server())
    wait_until(lambda: b"done" in a.log(), what="the files")
    most = 0
    while not (a.dir / "exit.json").exists():
        most = max(most, lib.resident(a.pid))
        time.sleep(0.1)
    expect_equal(a.wait()["code"], 0, "code")
    expect(lib.instrumented() or 0 < most < 20000, f"{most} KB of memory")


lib.main()
