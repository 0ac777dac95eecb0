#!/usr/bin/env python3
"""A server to be killed at any moment: takes conductors at a socket and writes
each message that it heard to a file before it asks for the next. Tells a conductor
the number of the newest progress in that file, as a server with a store would.

peer.py SOCKET FILE
"""
import contextlib
import json
import os
import selectors
import socket
import sys


def newest(path, job):
    best = 0
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            for line in f:
                if not line.endswith("\n"):
                    break
                message = json.loads(line)
                if message["of"] == job and message["type"] == "progress":
                    best = max(best, message["seq"])
    return best


def main():
    path, store = sys.argv[1:]
    out = open(store, "ab", buffering=0)  # pylint: disable=consider-using-with
    selector = selectors.DefaultSelector()
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(100)
    selector.register(listener, selectors.EVENT_READ, None)
    while True:
        for key, _ in selector.select():
            if key.data is None:
                selector.register(listener.accept()[0], selectors.EVENT_READ,
                                  {"rest": b"", "job": None})
                continue
            got = key.fileobj.recv(4096)
            if not got:
                selector.unregister(key.fileobj)
                key.fileobj.close()
                continue
            *lines, key.data["rest"] = (key.data["rest"] + got).split(b"\n")
            for line in lines:
                message = json.loads(line)
                reply = None
                if message["type"] == "hello":
                    key.data["job"] = message["job"]
                    reply = {"type": "welcome", "seq": newest(store, message["job"])}
                elif message["type"] == "exit":
                    reply = {"type": "ack", "what": "exit"}
                message["of"] = key.data["job"]
                out.write(json.dumps(message).encode() + b"\n")
                if reply:
                    with contextlib.suppress(OSError):
                        key.fileobj.sendall(json.dumps(reply).encode() + b"\n")


main()
