#!/usr/bin/env python3
"""Images from a registry, which are pulled when they are missing.

run-tests: alone
"""
import base64
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import urllib.error
import urllib.request

import engines
import lib
from live import Skip, expect, expect_equal, wait_until


class Registry:
    """A registry on loopback, which engines reach without TLS; it may ask who one is."""

    def __init__(self, user=None, password=None):
        program = shutil.which("docker-registry")
        if not program:
            raise Skip("docker-registry is not installed")
        self.dir = tempfile.mkdtemp(prefix="trainyard-registry-")
        self.port = engines.free_port()
        self.host = f"127.0.0.1:{self.port}"
        config = {"version": 0.1, "http": {"addr": self.host},
                  "storage": {"filesystem": {"rootdirectory": f"{self.dir}/data"}}}
        if user:
            line = subprocess.run(["htpasswd", "-Bbn", user, password], capture_output=True,
                                  text=True, check=True).stdout
            pathlib.Path(self.dir, "users").write_text(line)
            config["auth"] = {"htpasswd": {"realm": "team", "path": f"{self.dir}/users"}}
        path = pathlib.Path(self.dir, "config.json")
        path.write_text(json.dumps(config))
        self.daemon = subprocess.Popen([program, "serve", str(path)], stdin=subprocess.DEVNULL,
                                       stdout=open(f"{self.dir}/log", "wb"),
                                       stderr=subprocess.STDOUT)
        wait_until(self.answers, "the registry answers", 30)

    def answers(self):
        try:
            urllib.request.urlopen(f"http://{self.host}/v2/").close()
        except urllib.error.HTTPError:
            return True
        except OSError:
            return False
        return True

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.daemon.terminate()
        self.daemon.wait()
        shutil.rmtree(self.dir, ignore_errors=True)


def test_a_missing_image_is_pulled():
    engine = lib.engine()
    with Registry() as registry:
        name = f"{registry.host}/team/busy:7"
        engine.docker("tag", "busy:latest", name)
        engine.docker("push", name)
        engine.docker("rmi", name)
        with lib.yard_on(engine) as yard:
            expect_equal(yard.printed(name, "echo pulled"), "pulled\n")
            expect(name in engine.docker("images", "--format", "{{.Repository}}:{{.Tag}}").stdout,
                   "it is there now")
            job = yard.wait_for(yard.put(f"{registry.host}/team/busy:8", "true"), "failed")
            expect("manifest unknown" in job["reason"], job["reason"])
        engine.docker("rmi", name)


def test_a_pull_is_shown():
    """A registry that hangs: the job says what it waits for, until the registry goes on."""
    engine = lib.engine()
    with Registry() as registry:
        name = f"{registry.host}/team/busy:9"
        engine.docker("tag", "busy:latest", name)
        engine.docker("push", name)
        engine.docker("rmi", name)
        with lib.yard_on(engine) as yard:
            registry.daemon.send_signal(signal.SIGSTOP)
            try:
                job = yard.put(name, "echo pulled")
                text = f"pulling the image {name}"
                for read in (lambda: yard.run("show", str(job)).stdout,
                             lambda: yard.run("explain", str(job)).stdout):
                    wait_until(lambda read=read: text in " ".join(read().split()), read)
                expect_equal(yard.job(job)["state"], "starting")
            finally:
                registry.daemon.send_signal(signal.SIGCONT)
            yard.wait_for(job, "done")
            expect_equal(yard.whole_log(job), "pulled\n")
        engine.docker("rmi", name)


def push_with_password(engine, registry, name):
    """Through a configuration of its own, because a docker client keeps passwords."""
    with tempfile.TemporaryDirectory() as directory:
        engine.docker("tag", "busy:latest", name)
        engine.docker("--config", directory, "login", "-u", "ann", "-p", "secret", registry.host)
        engine.docker("--config", directory, "push", name)
        engine.docker("rmi", name)


def write_helper(directory, registry):
    """A credential helper that knows one registry, as docker-credential-pass would be."""
    helper = pathlib.Path(directory, "docker-credential-ours")
    helper.write_text(f"""#!/bin/sh
read -r server
[ "$1 $server" = "get {registry.host}" ] || {{ echo "credentials not found"; exit 1; }}
echo '{{"ServerURL":"{registry.host}","Username":"ann","Secret":"secret"}}'
""")
    helper.chmod(0o755)


def test_credentials_are_those_of_the_docker_client():
    """From its file, and from the program that the file names."""
    if not shutil.which("htpasswd"):
        raise Skip("htpasswd (apache2-utils) is not installed")
    engine = lib.engine()
    auth = base64.b64encode(b"ann:secret").decode()
    with Registry("ann", "secret") as registry, tempfile.TemporaryDirectory() as directory:
        name = f"{registry.host}/team/busy:7"
        push_with_password(engine, registry, name)
        write_helper(directory, registry)
        config = pathlib.Path(directory, "config.json")
        config.write_text("{}")
        environment = {"DOCKER_CONFIG": directory,
                       "PATH": f"{directory}:{os.environ['PATH']}"}
        with lib.Yard(environment=environment) as yard:
            yard.start()
            yard.attach(engine)
            refused = yard.wait_for(yard.put(name, "true"), "failed")
            expect("no basic auth credentials" in refused["reason"], refused["reason"])
            for known in ({"auths": {registry.host: {"auth": auth}}},
                          {"auths": {registry.host: {}}, "credsStore": "ours"},
                          {"credHelpers": {registry.host: "ours"}}):
                config.write_text(json.dumps(known))
                expect_equal(yard.printed(name, "echo pulled"), "pulled\n", known)
                wait_until(lambda: not engine.containers(), "it is gone")
                engine.docker("rmi", name)
            config.write_text(json.dumps({"credsStore": "missing"}))
            refused = yard.wait_for(yard.put(name, "true"), "failed")
            expect("docker-credential-missing" in refused["reason"], refused["reason"])


if __name__ == "__main__":
    lib.main()
