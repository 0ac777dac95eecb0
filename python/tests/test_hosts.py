"""Host discovery for elastic Horovod, and the control page."""
import http.server
import os
import socketserver
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

MODULE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCRIPT = os.path.join(MODULE, "trainyard_hosts.py")
sys.path.insert(0, MODULE)

from trainyard_page import Page, PageError  # noqa: E402


def make_page(path, order, version=1):
    content = bytearray(struct.pack("<8sII", b"trnyard1", version, 4096).ljust(4096, b"\0"))
    struct.pack_into("<II", content, 64, order, 1)
    with open(path, "wb") as file:
        file.write(content)


class Case(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name
        self.page = os.path.join(self.directory, "control")

    def ask(self, **env):
        """(exit status, lines, standard error)"""
        base = {k: v for k, v in os.environ.items() if not k.startswith("TRAINYARD_")}
        # A pipe to a shell, as Horovod runs it.
        done = subprocess.run(["/bin/sh", "-c", SCRIPT], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=60, text=True,
                              env=dict(base, PYTHONDONTWRITEBYTECODE="1", **env))
        return done.returncode, done.stdout, done.stderr


class PageTest(Case):
    def test_order_and_answer(self):
        make_page(self.page, 3)
        page = Page(self.page)
        self.assertEqual(page.order(), (1, 3))
        page.listen(77, 12)
        page.apply(1, 3)
        with open(self.page, "rb") as file:
            content = file.read()
        self.assertEqual(struct.unpack_from("<II", content, 128), (77, 12))
        self.assertEqual(struct.unpack_from("<II", content, 192), (3, 1))
        self.assertGreater(struct.unpack_from("<q", content, 200)[0], 0)
        self.assertEqual(struct.unpack_from("<I", content, 216), (1,))
        page.listen(0, 0)
        with open(self.page, "rb") as file:
            self.assertEqual(struct.unpack_from("<I", file.read(), 128), (0,))

    def test_an_order_is_seen_at_once(self):
        make_page(self.page, 1)
        page = Page(self.page, write=False)
        with open(self.page, "r+b") as file:
            file.seek(64)
            file.write(struct.pack("<II", 0xFFFFFFFF, 0xFFFFFFFE))
        self.assertEqual(page.order(), (0xFFFFFFFE, 0xFFFFFFFF))

    def test_what_is_no_page(self):
        make_page(self.page, 1, version=9)
        with self.assertRaisesRegex(PageError, "version 9; expected 1"):
            Page(self.page)
        for content, text in ((b"", "0 bytes"), (b"x" * 4096, "not a control page")):
            with open(self.page, "wb") as file:
                file.write(content)
            with self.assertRaisesRegex(PageError, text):
                Page(self.page)
        for path in (self.directory, self.page + ".none"):
            with self.assertRaises(PageError):
                Page(path)


class Hosts(Case):
    def test_without_anything(self):
        self.assertEqual(self.ask(), (0, "localhost:1\n", ""))
        self.assertEqual(self.ask(TRAINYARD_WORKERS="3"), (0, "localhost:3\n", ""))

    def test_slots_follow_the_page(self):
        for order in (1, 4, 4, 2):
            make_page(self.page, order)
            self.assertEqual(self.ask(TRAINYARD_CONTROL=self.page, TRAINYARD_WORKERS="9"),
                             (0, "localhost:%d\n" % order, ""))

    def test_bounds(self):
        bounds = dict(TRAINYARD_CONTROL=self.page, TRAINYARD_WORKERS_MIN="2",
                      TRAINYARD_WORKERS_MAX="4")
        for order, slots in ((1, 2), (3, 3), (50, 4), (0, 4)):
            make_page(self.page, order)
            self.assertEqual(self.ask(**bounds), (0, "localhost:%d\n" % slots, ""))

    def test_no_page_and_no_number(self):
        code, out, told = self.ask(TRAINYARD_CONTROL=self.page, TRAINYARD_WORKERS="2")
        self.assertEqual((code, out), (0, "localhost:2\n"))
        self.assertIn("No such file", told)
        code, out, told = self.ask(TRAINYARD_WORKERS="two")
        self.assertEqual((code, out), (0, "localhost:1\n"))
        self.assertIn("not a number of workers", told)


class Answer(http.server.BaseHTTPRequestHandler):
    status, text, seen = 200, "", None

    def do_GET(self):  # pylint: disable=invalid-name
        Answer.seen = self.path, self.headers.get("Authorization")
        self.send_response(Answer.status)
        self.end_headers()
        self.wfile.write(Answer.text.encode())

    def address_string(self):
        return "test"

    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass


class Server(Case):
    def serve(self, server, place, status=200, text="", **env):
        Answer.status, Answer.text = status, text
        with server:
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            try:
                return self.ask(TRAINYARD_SERVER=place, TRAINYARD_JOB_ID="12", **env)
            finally:
                server.shutdown()
                thread.join()

    def by_socket(self, **more):
        path = os.path.join(self.directory, "socket")
        if os.path.exists(path):
            os.unlink(path)
        return self.serve(socketserver.ThreadingUnixStreamServer(path, Answer), path, **more)

    def test_by_a_socket(self):
        self.assertEqual(self.by_socket(text="b:2\na:1\n"), (0, "a:1\nb:2\n", ""))
        self.assertEqual(Answer.seen, ("/api/v1/jobs/12/hosts", None))

    def test_by_tcp_with_a_token(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        place = "http://127.0.0.1:%d/" % server.server_port
        got = self.serve(server, place, text="localhost:2\n", TRAINYARD_TOKEN="secret")
        self.assertEqual(got, (0, "localhost:2\n", ""))
        self.assertEqual(Answer.seen[1], "Bearer secret")

    def test_the_page_comes_first(self):
        make_page(self.page, 3)
        self.assertEqual(self.ask(TRAINYARD_CONTROL=self.page, TRAINYARD_SERVER="/none"),
                         (0, "localhost:3\n", ""))

    def test_answers_that_are_none(self):
        for status, text in ((404, "a:1\n"), (200, ""), (200, "a:1"), (200, "a:0\n"),
                             (200, "a:1:2\n"), (200, "<html>\n"), (200, "a:1\n\n")):
            code, out, told = self.by_socket(status=status, text=text)
            self.assertEqual((code, out), (1, ""), text)
            self.assertIn("trainyard: ", told)

    def test_nobody_answers(self):
        code, out, told = self.ask(TRAINYARD_SERVER="/no/socket", TRAINYARD_JOB_ID="1")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("/no/socket", told)
        code, out, told = self.ask(TRAINYARD_SERVER="/no/socket")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("TRAINYARD_JOB_ID", told)


if __name__ == "__main__":
    unittest.main()
