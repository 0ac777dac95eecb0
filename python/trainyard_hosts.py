#!/usr/bin/env python3
"""Host discovery for elastic Horovod: prints a line "HOST:SLOTS" for each host on which a job
may run workers. Horovod runs it every second.

    horovodrun --min-np 1 --max-np 4 --host-discovery-script "$TRAINYARD_HOST_DISCOVERY" \\
        python3 train.py

The number comes from the first of these that is set:

    $TRAINYARD_CONTROL   the control page: slots on this machine, up to date after each order
    $TRAINYARD_SERVER    the server, a socket path or a URL ($TRAINYARD_TOKEN is its token):
                         hosts of job $TRAINYARD_JOB_ID
    $TRAINYARD_WORKERS   a fixed number of slots on this machine; 1 by default

The output is never empty, which Horovod would take for a host without a name. If the server
does not answer, the exit status is 1 and Horovod keeps the hosts that it knows. Standard
library only.
"""
import os
import re
import sys

from trainyard_page import Page, PageError

MOST = 999999  # slots
SERVER_S = 5  # for an answer


def note(text):
    sys.stderr.write("trainyard: %s\n" % text)


def number_of(name, default):
    text = os.environ.get(name) or str(default)
    if re.fullmatch("[0-9]{1,6}", text) and int(text) > 0:
        return int(text)
    note("$%s is %r, not a number of workers; using %d" % (name, text, default))
    return default


def from_page(path):
    """Slots from the newest order; None, with a message, if there is no page."""
    try:
        _, number = Page(path, write=False).order()
    except PageError as error:
        note(error)
        return None
    low, high = number_of("TRAINYARD_WORKERS_MIN", 1), number_of("TRAINYARD_WORKERS_MAX", MOST)
    if number == 0:  # no limit
        number = high if os.environ.get("TRAINYARD_WORKERS_MAX") else low
    return min(max(number, low), high)


def connect(place):
    # Imported here because they load slowly, and the page does not need them.
    import http.client
    import socket
    import urllib.parse
    if "://" not in place:
        connection = http.client.HTTPConnection("localhost", timeout=SERVER_S)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(SERVER_S)
        connection.sock.connect(place)
        return connection
    url = urllib.parse.urlsplit(place)
    kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    return kind(url.hostname, url.port, timeout=SERVER_S)


def from_server(place):
    """The lines from the server. Raises an exception that says why there are none."""
    token, job = os.environ.get("TRAINYARD_TOKEN"), os.environ.get("TRAINYARD_JOB_ID", "")
    if not re.fullmatch("[0-9]+", job):
        raise ValueError("$TRAINYARD_JOB_ID is %r, not a number" % job)
    connection = connect(place)
    try:
        connection.request("GET", "/api/v1/jobs/%s/hosts" % job,
                           headers={"Authorization": "Bearer " + token} if token else {})
        answer = connection.getresponse()
        lines = answer.read(1 << 20).decode().split("\n")[:-1]
    finally:
        connection.close()
    if answer.status != 200:
        raise ValueError("%d %s" % (answer.status, answer.reason))
    if not lines or not all(re.fullmatch(r"[^:\s]+:[1-9][0-9]{0,5}", line) for line in lines):
        raise ValueError("no hosts in the reply")
    return sorted(lines)


def main():
    page, server = os.environ.get("TRAINYARD_CONTROL"), os.environ.get("TRAINYARD_SERVER")
    slots = from_page(page) if page else None
    if slots is None and server:
        try:
            print("\n".join(from_server(server)))
            return 0
        except Exception as error:  # pylint: disable=broad-except
            note("%s: %s" % (server, error))
            return 1
    print("localhost:%d" % (slots or number_of("TRAINYARD_WORKERS", 1)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
