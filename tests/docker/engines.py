#!/usr/bin/env python3
"""Engines that are stopped, killed, far away or not engines at all, and servers that die.

run-tests: alone
"""
import contextlib
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

import lib
from lib import live
from live import Skip, expect, expect_equal, wait_until

STEPS = "i=0; while [ $i -lt {} ]; do i=$((i+1)); echo $i; sleep 0.05; done"


def numbers(n):
    return "".join(f"{i}\n" for i in range(1, n + 1))


def test_a_server_that_is_killed():
    """The next one takes over what runs; no line of the log is missing or there twice."""
    with lib.yard_on(lib.engine()) as yard:
        job = yard.put("busy", STEPS.format(100))
        yard.wait_log(job, "5\n")
        for _ in range(4):
            yard.kill()
            time.sleep(random.uniform(0, 0.5))
            yard.start()
            wait_until(lambda: yard.get("/nodes/d1")["state"] == "up", "the node is known")
        yard.wait_for(job, "done")
        expect_equal(yard.whole_log(job), numbers(100))
        expect_equal(yard.job(job)["attempt"], 1)


def test_a_job_that_ends_without_a_server():
    with lib.yard_on(lib.engine()) as yard:
        job = yard.put("busy", "echo ready; sleep 1; echo end; exit 5")
        yard.wait_log(job, "ready")
        yard.kill()
        time.sleep(1.5)
        yard.start()
        expect_equal(yard.wait_for(job, "failed")["code"], 5)
        expect_equal(yard.whole_log(job), "ready\nend\n")


def test_kills_while_jobs_start():
    """Each job runs once, whenever the server dies: what one did is on the engine's disk."""
    engine = lib.engine()
    with tempfile.TemporaryDirectory(prefix="trainyard-once-") as directory:
        os.chmod(directory, 0o777)
        with lib.yard_on(engine, options=("--allow-mount", directory), cpus=8) as yard:
            jobs = []
            for _ in range(6):
                with contextlib.suppress(OSError, live.Refused):
                    jobs.append(yard.put(
                        "busy", "echo x >>/once/$TRAINYARD_JOB_ID", cpus=1,
                        mounts=[f"{directory}:/once"]))
                time.sleep(random.uniform(0, 0.4))
                yard.kill()
                yard.start()
            for job in jobs:
                yard.wait_for(job, "done")
                ran = pathlib.Path(directory, str(job)).read_text()
                expect_equal(ran, "x\n", f"job {job}")


def test_a_container_that_is_killed_or_removed():
    engine = lib.engine()
    with lib.yard_on(engine) as yard:
        killed, removed = (yard.put("busy", "echo ready; sleep 600", cpus=1) for _ in range(2))
        for job in (killed, removed):
            yard.wait_log(job, "ready")
        engine.docker("kill", yard.container(engine, killed)["Id"])
        engine.docker("rm", "-f", yard.container(engine, removed)["Id"])
        job = yard.wait_for(killed, "failed")
        expect_equal((job["code"], job["reason"], job["attempts"][0]["state"]),
                     (137, "its conductor died", "lost"))
        expect_equal(yard.whole_log(killed), "ready\n")
        job = yard.wait_for(removed, "failed")
        expect_equal(job["attempts"][0]["state"], "lost")


def test_an_engine_that_is_stopped():
    """Its jobs were asked to end; the server hears of it when the engine is back."""
    with lib.Engine() as engine:
        engine.load("busy")
        with lib.yard_on(engine) as yard:
            job = yard.put("busy", "trap 'echo saved; exit 3' TERM; echo ready; "
                                   "while :; do sleep 0.1; done")
            yard.wait_log(job, "ready")
            engine.stop()
            wait_until(lambda: "cannot be reached" in yard.get("/nodes/d1")["notice"],
                       "it is noticed")
            engine.start()
            expect_equal(yard.wait_for(job, "failed")["code"], 3)
            expect("saved\n" in yard.whole_log(job), yard.logs(job))
            expect_equal(yard.printed("busy", "echo again"), "again\n")


def test_a_node_is_kept_and_removed():
    engine = lib.engine()
    with lib.yard_on(engine, cpus=1.5, memory_mb=2000, gpus=2, gpu_type="t4") as yard:
        yard.kill()
        yard.start()
        yard.wait_nodes("d1")
        node = yard.get("/nodes/d1")
        expect_equal((node["cpus"], node["memory_mb"], node["gpus"], node["gpu_type"]),
                     (1.5, 2000, 2, "t4"))
        job = yard.put("busy", "sleep 600")
        yard.wait_for(job, "running")
        answer = yard.ask("DELETE", "/nodes/d1")
        expect_equal(answer.status, 409)
        yard.cancel(job)
        yard.wait_for(job, "cancelled")
        wait_until(lambda: yard.ask("DELETE", "/nodes/d1").status == 200, "it can be removed")
        expect_equal(len(yard.get("/nodes")["nodes"]), 1)
        yard.attach(engine)
        expect_equal(yard.printed("busy", "echo back"), "back\n")


def test_two_engines():
    """Engines that report the same id are told apart by name; jobs use both."""
    with lib.Engine() as other:
        other.load("busy")
        with lib.yard_on(lib.engine(), other, cpus=1) as yard:
            jobs = [yard.put("busy", "sleep 600") for _ in range(2)]
            for job in jobs:
                yard.wait_for(job, "running")
            expect_equal({yard.job(job)["node"] for job in jobs}, {"d1", "d2"})
            for job in jobs:
                yard.cancel(job)
            yard.wait_all()


# ---- far away


def make_certificates(directory):
    """A certificate authority, a server and a client of it, and a client of another."""
    def run(*words):
        subprocess.run(["openssl", *words], check=True, capture_output=True, cwd=directory)

    for authority in ("ca", "other"):
        run("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={authority}", "-keyout",
            f"{authority}.key", "-out", f"{authority}.crt", "-days", "2")
    pathlib.Path(directory, "server.ext").write_text("subjectAltName=IP:127.0.0.1\n")
    pathlib.Path(directory, "client.ext").write_text("extendedKeyUsage=clientAuth\n")
    for name, authority, extension in (("server", "ca", "server"), ("client", "ca", "client"),
                                       ("stranger", "other", "client")):
        run("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", "-keyout",
            f"{name}.key", "-out", f"{name}.csr")
        run("x509", "-req", "-in", f"{name}.csr", "-CA", f"{authority}.crt", "-CAkey",
            f"{authority}.key", "-CAcreateserial", "-days", "2", "-extfile", f"{extension}.ext",
            "-out", f"{name}.crt")
    for name in ("client", "stranger"):
        folder = pathlib.Path(directory, name)
        folder.mkdir()
        shutil.copy(f"{directory}/ca.crt", folder / "ca.pem")
        shutil.copy(f"{directory}/{name}.crt", folder / "cert.pem")
        shutil.copy(f"{directory}/{name}.key", folder / "key.pem")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def test_tls():
    """Certificates on both sides; a stranger's is refused, and the node says why."""
    with tempfile.TemporaryDirectory(prefix="trainyard-tls-") as directory:
        make_certificates(directory)
        port = free_port()
        with lib.Engine("-H", f"tcp://127.0.0.1:{port}", "--tlsverify", "--tlscacert",
                        f"{directory}/ca.crt", "--tlscert", f"{directory}/server.crt", "--tlskey",
                        f"{directory}/server.key") as engine:
            engine.load("busy")
            address = f"tcp://127.0.0.1:{port}"
            with lib.yard_on() as yard:
                yard.post("/nodes", {"name": "d1", "docker": address, "tls": f"{directory}/client"},
                          201)
                yard.wait_nodes("d1")
                expect_equal(yard.printed("busy", STEPS.format(20)), numbers(20))
                yard.post("/nodes", {"name": "d2", "docker": address,
                                     "tls": f"{directory}/stranger"}, 201)
                wait_until(lambda: "certificate" in yard.get("/nodes/d2")["notice"].lower(),
                           lambda: yard.get("/nodes/d2"))
                expect_equal(yard.get("/nodes/d2")["state"], "lost")
                wait_until(lambda: not engine.containers(), "nothing is left")


def start_sshd(directory, engine, *lines):
    """A server for one key, on loopback; gives the program to connect with. The lines are added to
    its configuration."""
    sshd = shutil.which("sshd") or "/usr/sbin/sshd"
    if not os.path.exists(sshd):
        raise Skip("sshd is not installed")
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{directory}/{name}"],
                       check=True)
    os.makedirs("/run/sshd", exist_ok=True)
    port = free_port()
    pathlib.Path(directory, "config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {directory}/host\nPidFile none\n"
        f"AuthorizedKeysFile {directory}/user.pub\nStrictModes no\nUsePAM no\n"
        f"PasswordAuthentication no\nSetEnv DOCKER_HOST={engine.address}\n"
        + "".join(f"{line}\n" for line in lines))
    daemon = subprocess.Popen([sshd, "-D", "-e", "-f", f"{directory}/config"],
                              stdin=subprocess.DEVNULL, stderr=open(f"{directory}/log", "wb"))
    program = pathlib.Path(directory, "ssh")
    program.write_text(f"#!/bin/sh\nexec ssh -i {directory}/user -o StrictHostKeyChecking=no "
                       f"-o UserKnownHostsFile=/dev/null -o LogLevel=ERROR \"$@\"\n")
    program.chmod(0o755)
    return daemon, port, str(program)


@contextlib.contextmanager
def ssh_yard(engine, *lines):
    """A server that reaches the engine through ssh, as d1."""
    with tempfile.TemporaryDirectory(prefix="trainyard-ssh-") as directory:
        daemon, port, program = start_sshd(directory, engine, *lines)
        try:
            with lib.Yard(environment={"TRAINYARD_SSH": program}) as yard:
                yard.start()
                yard.post("/nodes", {"name": "d1", "docker": f"ssh://root@127.0.0.1:{port}",
                                     "cpus": 64}, 201)
                yard.wait_nodes("d1")
                yield yard
                wait_until(lambda: not engine.containers(), "nothing is left")
        finally:
            daemon.terminate()
            daemon.wait()


def processes_of_ssh(yard):
    """The processes of ssh that the server has."""
    words = ["ps", "--ppid", str(yard.server.pid), "-o", "pid=,comm="]
    lines = subprocess.run(words, capture_output=True, text=True).stdout.splitlines()
    return [int(line.split()[0]) for line in lines if line.split()[1] == "ssh"]


def test_ssh():
    """Through ssh alone: nothing of ours listens, and the far side needs only docker."""
    with ssh_yard(lib.engine()) as yard:
        yard.post("/nodes", {"name": "d2", "docker": "ssh://root@127.0.0.1:1"}, 201)
        job = yard.put("busy", STEPS.format(60))
        yard.wait_log(job, "5\n")
        yard.kill()
        yard.start()
        yard.wait_for(job, "done")
        expect_equal(yard.whole_log(job), numbers(60))
        wait_until(lambda: "refused" in yard.get("/nodes/d2")["notice"],
                   lambda: yard.get("/nodes/d2"))


def test_many_jobs_share_one_process_of_ssh():
    """Also after that process was killed: the node is reached again, and no line is lost."""
    with ssh_yard(lib.engine()) as yard:
        jobs = [yard.put("busy", STEPS.format(100), cpus=1) for _ in range(12)]
        for job in jobs:
            yard.wait_log(job, "3\n")
        processes = processes_of_ssh(yard)
        expect_equal(len(processes), 1)
        os.kill(processes[0], signal.SIGKILL)
        for job in jobs:
            yard.wait_for(job, "done")
            expect_equal(yard.whole_log(job), numbers(100))
            expect_equal(yard.job(job)["attempt"], 1)
        expect(not yard.get("/nodes/d1")["notice"], yard.get("/nodes/d1"))


def test_ssh_that_does_not_forward():
    """Each connection is a process then, and the node says so."""
    with ssh_yard(lib.engine(), "AllowStreamLocalForwarding no") as yard:
        expect("each running job needs an ssh process of its own" in yard.get("/nodes/d1")["notice"],
               yard.get("/nodes/d1"))
        job = yard.put("busy", STEPS.format(60))
        yard.wait_log(job, "5\n")
        expect(len(processes_of_ssh(yard)) > 1, "processes of ssh")
        yard.wait_for(job, "done")
        expect_equal(yard.whole_log(job), numbers(60))


# ---- no engines


class Nonsense:
    """Listens, and answers every request with these bytes; none = never."""

    def __init__(self, path, answer):
        self.answer = answer
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(path)
        self.socket.listen()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        kept = []
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.socket.accept()
                kept.append(connection)
                connection.recv(65536)
                if self.answer is not None:
                    connection.sendall(self.answer)
                    connection.close()


def response(body, status="200 OK"):
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()


def test_hosts_that_answer_nonsense():
    """They are lost, with a reason, and the server works on."""
    hosts = {
        "bytes": (b"\x00\xff" * 100, ""),
        "text": (response("hello"), "not JSON"),
        "list": (response("[17]"), "API version"),
        "old": (response('{"ApiVersion":"1.24","MinAPIVersion":"1.12"}'), "1.12 to 1.24"),
        "new": (response('{"ApiVersion":"9.1","MinAPIVersion":"8.0"}'), "8.0 to 9.1"),
        "error": (response('{"message":"not today"}', "500 X"), "not today"),
        "silent": (None, "does not answer"),
    }
    with tempfile.TemporaryDirectory(prefix="trainyard-nonsense-") as directory, live.Yard() as yard:
        yard.start()
        for name, (answer, _) in hosts.items():
            Nonsense(f"{directory}/{name}", answer)
            yard.post("/nodes", {"name": name, "docker": f"unix://{directory}/{name}"}, 201)
        for name, (_, words) in hosts.items():
            node = wait_until(lambda name=name, words=words: (
                lambda n: n if words in n["notice"].split(";", 1)[-1] and ";" in n["notice"] else 0)(
                    yard.get(f"/nodes/{name}")), lambda name=name: yard.get(f"/nodes/{name}"))
            expect_equal(node["state"], "lost", name)
        job = yard.submit("echo fine")
        yard.wait_for(job, "done")


def test_as_the_docker_client_finds_it():
    """`default` is $DOCKER_HOST, or the client's current context; context:NAME is another one."""
    engine = lib.engine()
    with tempfile.TemporaryDirectory(prefix="trainyard-client-") as config:
        words = ("docker", "context", "create", "lab", "--docker", f"host={engine.address}")
        subprocess.run(words, env={**os.environ, "DOCKER_CONFIG": config}, check=True,
                       capture_output=True)
        for environment, address in (({"DOCKER_HOST": engine.address}, "default"),
                                     ({"DOCKER_CONTEXT": "lab"}, "default"), ({}, "context:lab")):
            with lib.Yard() as yard:
                yard.start(**{"DOCKER_CONFIG": config, **environment})
                yard.post("/nodes", {"name": "d1", "docker": address}, 201)
                yard.wait_nodes("d1")
                expect_equal(yard.printed("busy", "echo here"), "here\n")


if __name__ == "__main__":
    lib.main()
