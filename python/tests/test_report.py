"""Reports, the file that they are written to, and track()."""
import os

from case import Case


class Report(Case):
    def test_fields_and_metrics(self):
        _, told = self.run_program("""
            import trainyard
            trainyard.report(step=10, total=100, loss=0.5, epoch=1, epochs=3, rate=2.5, acc=0.25)
        """)
        self.assertEqual(told, "")
        self.assertEqual(self.lines(), [{"step": 10, "total": 100, "epoch": 1, "epochs": 3,
                                         "loss": 0.5, "rate": 2.5, "acc": 0.25}])

    def test_odd_values(self):
        _, told = self.run_program("""
            import trainyard
            class Tensor:
                def __init__(self, value): self.value = value
                def __float__(self): return self.value
            class Broken:
                def __float__(self): raise RuntimeError("no")
            trainyard.report(step=Tensor(7.0), loss=float("nan"), a=float("inf"), b=-float("inf"),
                             c=None, d=Tensor(0.5), e=True, f=10**30)
            trainyard.report(bad="text", worse=Broken(), bad2=[1, 2])
            trainyard.report(bad="again", step=-1)
        """)
        self.assertEqual(self.merged(), {"step": 7, "loss": "nan", "a": "inf", "b": "-inf",
                                         "d": 0.5, "e": 1, "f": 1e30})
        self.assertEqual(told.count("bad is not a number"), 1)
        self.assertIn("worse is not a number", told)
        self.assertIn("step is not a number", told)

    def test_outside_a_job_nothing_happens(self):
        out, told = self.run_program("""
            import os, signal, trainyard
            trainyard.report(step=1, loss=object())
            trainyard.flush()
            print(trainyard.should_checkpoint(), signal.getsignal(signal.SIGTERM) == signal.SIG_DFL)
            print(list(trainyard.track(range(3))), trainyard.in_job())
            print(trainyard.cpus() == len(os.sched_getaffinity(0)))
        """, job=False)
        self.assertEqual(out, "False True\n[0, 1, 2] False\nTrue\n")
        self.assertEqual(told, "")
        self.assertFalse(os.path.exists(self.path))

    def test_fast_reports_are_joined_and_the_last_is_written(self):
        self.run_program("""
            import trainyard
            for i in range(20000):
                trainyard.report(step=i, loss=1 / (i + 1))
        """)
        self.assertLess(len(self.lines()), 2000)
        self.assertEqual(self.lines()[-1]["step"], 19999)

    def test_one_write_a_line(self):
        """Threads and forked children share the file; no line is torn."""
        self.run_program("""
            import os, threading, time, trainyard
            def work(who):
                for i in range(200):
                    trainyard.report(step=i, **{"metric_%s" % who: i, "pad": 12345678.5})
                    trainyard.flush()
            children = []
            for c in range(3):
                pid = os.fork()
                if pid == 0:
                    work("child%d" % c)
                    os._exit(0)
                children.append(pid)
            threads = [threading.Thread(target=work, args=("thread%d" % t,)) for t in range(3)]
            for t in threads: t.start()
            for t in threads: t.join()
            for pid in children: assert os.waitpid(pid, 0)[1] == 0
        """)
        names = {name for line in self.lines() for name in line if name.startswith("metric_")}
        self.assertEqual(len(names), 6)

    def test_fork_while_the_lock_is_held(self):
        self.run_program("""
            import os, threading, trainyard
            trainyard.report(step=1)
            held, go = threading.Event(), threading.Event()
            def hold():
                with trainyard._state.lock:
                    held.set(); go.wait()
            t = threading.Thread(target=hold); t.start(); held.wait()
            pid = os.fork()
            if pid == 0:
                trainyard.report(step=2); trainyard.flush()
                os._exit(0)
            assert os.waitpid(pid, 0)[1] == 0
            go.set(); t.join()
        """)
        self.assertEqual(self.lines()[-1]["step"], 2)

    def test_what_cannot_be_written_is_told_once(self):
        for path in ("/proc/nowhere/progress", self.directory.name):
            _, told = self.run_program("""
                import time, trainyard
                for i in range(3):
                    trainyard.report(step=i); trainyard.flush()
            """, TRAINYARD_PROGRESS=path)
            self.assertEqual(told.count("trainyard:"), 1)
            self.assertIn("progress is not reported", told)

    def test_a_full_disk(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        _, told = self.run_program("""
            import trainyard
            for i in range(3):
                trainyard.report(step=i); trainyard.flush()
        """, TRAINYARD_PROGRESS="/dev/full")
        self.assertEqual(told.count("trainyard:"), 1)
        self.assertIn("No space left", told)

    def test_a_torn_line_is_closed(self):
        self.run_program("""
            import os, trainyard
            real = os.write
            os.write = lambda fd, data: real(fd, data[:5])
            trainyard.report(step=1); trainyard.flush()
            os.write = real
            trainyard.report(step=2); trainyard.flush()
        """)
        with open(self.path) as file:
            self.assertEqual(file.read(), '{"ste\n{"step":2}\n')

    def test_closed_standard_error(self):
        self.run_program("""
            import os, sys, trainyard
            os.close(2); sys.stderr = None
            trainyard.report(step=1); trainyard.report(bad="x"); trainyard.flush()
        """, TRAINYARD_PROGRESS="/proc/nowhere/x")

    def test_long_lines_lose_metrics_not_the_step(self):
        self.run_program("""
            import trainyard
            trainyard.report(step=3, **{"m%03d" % i + "x" * 50: i for i in range(500)})
        """)
        with open(self.path) as file:
            self.assertLessEqual(len(file.read()), 4000)
        self.assertEqual(self.lines()[0]["step"], 3)


class Track(Case):
    def test_length_is_found(self):
        out, _ = self.run_program("""
            import trainyard
            t = trainyard.track([1, 2, 3, 4])
            print(len(t), sum(t))
        """)
        self.assertEqual(out, "4 10\n")
        self.assertEqual(self.merged(), {"step": 4, "total": 4})

    def test_every_epochs_and_resumed(self):
        self.run_program("""
            import trainyard
            for epoch in range(2):
                for _ in trainyard.track((x for x in range(10)), total=10, every=5, epoch=epoch,
                                         epochs=2):
                    trainyard.flush()
        """)
        self.assertEqual([line["step"] for line in self.lines() if "step" in line][-1], 20)
        self.assertEqual(self.merged(), {"step": 20, "total": 20, "epoch": 1, "epochs": 2})
        os.unlink(self.path)
        self.run_program("""
            import trainyard
            list(trainyard.track(range(5), start=100))
            list(trainyard.track(iter(range(5)), start=105))
        """)
        self.assertEqual(self.merged(), {"step": 110, "total": 105})

    def test_exceptions_pass(self):
        self.run_program("""
            import trainyard
            def broken():
                yield 1
                raise KeyError("data")
            try:
                for _ in trainyard.track(broken()): pass
            except KeyError:
                raise SystemExit(3)
        """, code=3)
