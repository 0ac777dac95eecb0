"""Recorded conversations, see tests/conductor/recorded."""
import json
import pathlib

RECORDED = pathlib.Path(__file__).resolve().parents[1] / "recorded"
RECORDED_AT = "/tmp/trainyard-recording"
CONDUCTOR, SERVER = ">", "<"


def read_talk(path):
    """Of FOLDER/JOB.ATTEMPT: a list of connections, each a list of (who said it, message)."""
    connections = []
    for line in pathlib.Path(f"{path}.talk").read_text(encoding="utf-8").splitlines():
        if line == "= connected":
            connections.append([])
        elif line[0] != "=":
            connections[-1].append((line[0], json.loads(line[2:])))
    return connections


def talks(version):
    """All of a version, by "SCENARIO/JOB.ATTEMPT"."""
    found = sorted((RECORDED / version).glob("*/*.talk"))
    return {f"{p.parent.name}/{p.stem}": p.with_suffix("") for p in found}


def part(path, name):
    """What was recorded besides the conversation: "spec" or "exit"; None when there is none."""
    file = pathlib.Path(f"{path}.{name}.json")
    return file.read_text(encoding="utf-8") if file.exists() else None
