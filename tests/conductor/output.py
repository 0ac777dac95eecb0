#!/usr/bin/env python3
"""Output as it is printed: line by line through a pipe, or on a terminal."""
import os
import pathlib
import shutil
import signal
import subprocess

import lib
from lib import expect, expect_equal, wait_until

LINES = pathlib.Path(os.environ.get("TRAINYARD_LINES") or
                     pathlib.Path(os.environ.get("BUILD", "build"), "libtrainyard-lines.so"))
# Prints a line without flushing it and waits; 'f' or 'l' tells how stdout is buffered.
SOURCE = r"""
#include <stdio.h>
#include <stdio_ext.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    (void)argv;
    putchar('>'); /* now it has decided */
    char how = __flbf(stdout) ? 'l' : 'f';
    printf("%c tty=%d %d\n", how, isatty(1), isatty(0));
    if (argc > 1)
        pause();
    return 0;
}
"""


def program(bench, *options):
    path = bench.tmp / f"prints{len(options)}"
    source = bench.tmp / "prints.c"
    if not shutil.which("gcc"):
        raise lib.Skip("no gcc")
    source.write_text(SOURCE)
    subprocess.run(["gcc", "-o", str(path), str(source), *options], check=True)
    return str(path)


def test_lines_come_at_once(bench):
    a = bench.attempt([program(bench), "wait"], lines=str(LINES.resolve()))
    wait_until(lambda: a.log() == b">l tty=0 0\n", what="the line")
    os.kill(a.leader(), signal.SIGKILL)
    a.wait()


def test_only_the_jobs_own_pipe(bench):
    path = program(bench)
    a = bench.attempt(f"{path} | cat; {path} >file; cat file", lines=str(LINES.resolve()))
    a.wait()
    expect_equal(a.log(), b">f tty=0 0\n" * 2, "log")


def test_the_job_may_object(bench):
    a = bench.attempt([program(bench)], lines=str(LINES.resolve()), env={"TRAINYARD_STDOUT": ""})
    a.wait()
    expect_equal(a.log(), b">f tty=0 0\n", "log")


def test_what_the_job_preloads_stays(bench):
    a = bench.attempt("echo $LD_PRELOAD", lines=str(LINES.resolve()),
                      env={"LD_PRELOAD": "libc.so.6", "PATH": os.environ["PATH"]})
    a.wait()
    expect_equal(a.log().decode(), f"{LINES.resolve()} libc.so.6\n", "LD_PRELOAD")


def test_a_program_with_address_sanitizer(bench):
    sanitized = program(bench, "-fsanitize=address", "-g")
    for own, options in (({}, ""), ({"ASAN_OPTIONS": "detect_leaks=0"}, "detect_leaks=0:")):
        a = bench.attempt(f"echo $ASAN_OPTIONS; {sanitized}", lines=str(LINES.resolve()),
                          env={"PATH": os.environ["PATH"], **own})
        a.wait()
        expect_equal(a.log().decode(), f"{options}verify_asan_link_order=0\n>l tty=0 0\n", "log")


def test_a_library_that_is_not_there(bench):
    a = bench.attempt("echo x$LD_PRELOAD", lines="/no/such/library.so")
    expect_equal((a.wait()["code"], a.log()), (0, b"x\n"), "it runs without")


def test_terminal(bench):
    a = bench.attempt([program(bench), "wait"], pty="yes")
    wait_until(lambda: a.log() == b">l tty=1 1\n", what="the line")
    os.kill(a.leader(), signal.SIGKILL)
    a.wait()


def test_a_terminal_changes_nothing(bench):
    text = bytes(range(256)) * 100 + b"a\nb\r\nc"
    (bench.tmp / "text").write_bytes(text)
    a = bench.attempt(f"cat {bench.tmp}/text; echo err >&2", pty="yes")
    record = a.wait()
    expect(a.log() == text + b"err\n", "every byte")
    expect_equal(record["code"], 0, "code")


def test_much_on_a_terminal(bench):
    a = bench.attempt("yes 0123456789abcdef | head -c 20000000; exit 7", pty="yes")
    record = a.wait()
    expect_equal((record["code"], record["log_bytes"], record["log_dropped"]), (7, 20000000, 0),
                 "record")


def test_auto(bench):
    for options, want in (((), b">f tty=0 0\n"), (("-static",), b">l tty=1 0\n")):
        a = bench.attempt([program(bench, *options)], pty="auto")
        a.wait()
        expect_equal(a.log(), want, f"log with {options}")


lib.main()
