#!/usr/bin/env python3
"""Images from a registry, which are pulled when they are missing.

run-tests: alone
"""
import json
import pathlib
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request

import engines
import lib
from live import Skip, expect, expect_equal, wait_until


class Registry:
    """A registry on loopback, which engines reach without TLS."""

    def __init__(self):
        program = shutil.which("docker-registry")
        if not program:
            raise Skip("docker-registry is not installed")
        self.dir = tempfile.mkdtemp(prefix="trainyard-registry-")
        self.port = engines.free_port()
        self.host = f"127.0.0.1:{self.port}"
        config = {"version": 0.1, "http": {"addr": self.host},
                  "storage": {"filesystem": {"rootdirectory": f"{self.dir}/data"}}}
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


if __name__ == "__main__":
    lib.main()
