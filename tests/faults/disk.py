#!/usr/bin/env python3
"""A disk that is full, a directory that cannot be written, a database that is damaged,
a clock that jumps."""
import ctypes.util
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import live


def mount_small(directory, size):
    """A tmpfs; False when it cannot be had."""
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "trainyard-test",
                           directory], capture_output=True, check=False)
    return done.returncode == 0


def test_a_full_disk():
    """What cannot be written is refused, what was accepted stays, and when there is room
    again all goes on."""
    directory = tempfile.mkdtemp(prefix="trainyard-test-")
    if not mount_small(directory, "4m"):
        os.rmdir(directory)
        raise live.Skip("a tmpfs cannot be mounted")
    try:
        with live.Yard(directory=directory) as place:
            place.start()
            running = place.submit("echo ready; while [ ! -e go ]; do sleep 0.1; done")
            place.wait_log(running, "ready")
            filler = os.path.join(directory, "filler")
            accepted, refused = [], None
            subprocess.run(["dd", "if=/dev/zero", f"of={filler}", "bs=64k"], check=False,
                           capture_output=True)
            for _ in range(200):
                try:
                    accepted.append(place.submit("true", hold=True, comment="x" * 2000))
                except live.Refused as error:
                    refused = error
                    break
            assert refused and refused.status in (500, 507), (refused, len(accepted))
            assert "full" in str(refused) or "space" in str(refused), refused
            live.wait_until(lambda: fails(place), "health says so")
            live.wait_until(lambda: runs(place, running), "its conductor is back")
            os.unlink(filler)
            extra = live.wait_until(lambda: try_submit(place), "there is room again")
            known = {job["id"] for job in place.jobs()}
            assert {running, extra, *accepted} <= known, (known, accepted)
            pathlib.Path(directory, "go").touch()
            place.wait_for(running, "done")
            assert place.job(running)["attempt"] == 1
    finally:
        subprocess.run(["umount", "-l", directory], check=False)
        os.rmdir(directory)


def runs(place, number):
    """A request is refused when it came with a change that could not be written."""
    try:
        return place.job(number)["state"] == "running"
    except live.Refused:
        return False


def fails(place):
    try:
        place.get("/health")
    except live.Refused as refused:
        return refused.status == 503
    return False


def try_submit(place):
    try:
        return place.submit("true", hold=True)
    except live.Refused:
        return None


def refusal(place):
    """What a server that will not start says."""
    place.start(wait=False)
    code = place.server.wait(20)
    assert code == 1, code
    return place.output()


def test_a_directory_that_cannot_be_written():
    directory = tempfile.mkdtemp(prefix="trainyard-test-")
    if not mount_small(directory, "1m"):
        os.rmdir(directory)
        raise live.Skip("a tmpfs cannot be mounted")
    try:
        subprocess.run(["mount", "-o", "remount,ro", directory], check=True)
        with live.Yard() as place:
            place.state = pathlib.Path(directory, "state")
            said = refusal(place)
            assert directory in said and "--state" in said, said
    finally:
        subprocess.run(["umount", "-l", directory], check=False)
        os.rmdir(directory)


def test_a_damaged_database():
    """It is refused, with what to do about it; nothing in it is changed."""
    with live.Yard() as place:
        place.start()
        for _ in range(50):
            place.submit("true", hold=True, comment="x" * 500)
        place.kill(signal.SIGTERM)
        path = pathlib.Path(place.state, "trainyard.db")
        data = bytearray(path.read_bytes())
        for at in range(4096, len(data), 1000):
            data[at:at + 200] = b"\xff" * min(200, len(data) - at)
        path.write_bytes(data)
        for suffix in ("-wal", "-shm"):
            pathlib.Path(str(path) + suffix).unlink(missing_ok=True)
        said = refusal(place)
        assert "trainyard.db" in said and "backup" in said, said
        assert path.read_bytes() == bytes(data), "it was written to"


def test_a_request_that_cannot_be_read():
    """Where the disk has lost a part of a request its job is not ended: the server is refused."""
    page = 4096
    with live.Yard() as place:
        place.start()
        number = place.submit("true", hold=True, env={"LARGE": "Z" * 10 * page})
        place.kill(signal.SIGTERM)
        path = pathlib.Path(place.state, "trainyard.db")
        good = path.read_bytes()
        lost = next(at for at in range(0, len(good), page)
                    if good[at + 4:at + page] == b"Z" * (page - 4))
        # Such a page begins with the number of the next one.
        path.write_bytes(good[:lost] + b"\x7f" * 4 + good[lost + 4:])
        said = refusal(place)
        assert "trainyard.db" in said and "backup" in said, said
        assert "cannot run here" not in said, said
        path.write_bytes(good)
        place.start()
        assert place.job(number)["state"] == "held"


def test_a_file_that_is_no_database():
    with live.Yard() as place:
        os.makedirs(place.state)
        pathlib.Path(place.state, "trainyard.db").write_bytes(b"not a database at all\n" * 500)
        said = refusal(place)
        assert "trainyard.db" in said, said


def test_backup_and_restore():
    with live.Yard() as place:
        place.start()
        number = place.submit("true", hold=True)
        copy = str(place.dir / "copy.db")
        subprocess.run([live.PROGRAM, "db", "backup", copy, "--state", str(place.state)], check=True,
                       stdout=subprocess.DEVNULL)
        lost = place.submit("true", hold=True)
        place.kill(signal.SIGTERM)
        for name in os.listdir(place.state):
            if name.startswith("trainyard.db"):
                os.unlink(os.path.join(place.state, name))
        shutil.copy(copy, os.path.join(place.state, "trainyard.db"))
        place.start()
        assert place.job(number)["state"] == "held"
        assert lost not in {job["id"] for job in place.jobs()}


def faketime():
    for path in pathlib.Path("/usr/lib").glob("*/faketime/libfaketime.so.1"):
        return str(path)
    return ctypes.util.find_library("faketime")


def test_a_clock_that_jumps():
    """Running jobs, back-off and deadlines survive a wall clock that is set by a day."""
    library = faketime()
    if not library:
        raise live.Skip("no libfaketime")
    directory = tempfile.mkdtemp(prefix="trainyard-test-")
    offset = pathlib.Path(directory, "offset")
    offset.write_text("+0\n")
    environment = {"LD_PRELOAD": library, "FAKETIME_TIMESTAMP_FILE": str(offset),
                   "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1",
                   "DONT_FAKE_MONOTONIC": "1",
                   "ASAN_OPTIONS": "verify_asan_link_order=0"}
    try:
        with live.Yard(directory=directory, environment=environment) as place:
            place.start()
            number = place.submit("echo ready; sleep 3", deadline="1h", cpus="1-2")
            place.wait_log(number, "ready")
            for jump in ("+86400\n", "-86400\n", "+0\n"):
                offset.write_text(jump)
                other = place.submit("true", cpus=0.1)
                place.wait_for(other, "done")
                assert place.job(number)["state"] == "running"
                time.sleep(0.1)
            job = place.wait_for(number, "done")
            assert 2 < job["run_s"] < 60, job
    finally:
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    live.main()
