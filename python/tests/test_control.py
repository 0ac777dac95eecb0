"""Checkpoint requests and the number of CPUs."""
import signal

from case import Case


class Checkpoint(Case):
    def test_signal_is_seen(self):
        out, _ = self.run_program("""
            import os, signal, trainyard
            print(trainyard.should_checkpoint())
            os.kill(os.getpid(), signal.SIGTERM)
            print(trainyard.should_checkpoint(), trainyard.should_checkpoint())
        """)
        self.assertEqual(out, "False\nTrue True\n")

    def test_other_signals(self):
        for name in ("SIGUSR1", "USR1", str(int(signal.SIGUSR1))):
            out, _ = self.run_program("""
                import os, signal, trainyard
                trainyard.should_checkpoint()
                os.kill(os.getpid(), signal.SIGUSR1)
                print(trainyard.should_checkpoint())
                print(signal.getsignal(signal.SIGTERM) == signal.SIG_DFL)
            """, TRAINYARD_CHECKPOINT_SIGNAL=name)
            self.assertEqual(out, "True\nTrue\n")

    def test_a_signal_that_is_none(self):
        out, told = self.run_program("""
            import os, signal, trainyard
            trainyard.should_checkpoint()
            os.kill(os.getpid(), signal.SIGTERM)
            print(trainyard.should_checkpoint())
        """, TRAINYARD_CHECKPOINT_SIGNAL="SIGNONSENSE")
        self.assertEqual(out, "True\n")
        self.assertIn("which is not a signal", told)

    def test_the_programs_own_handler_is_called(self):
        out, _ = self.run_program("""
            import os, signal, trainyard
            signal.signal(signal.SIGTERM, lambda number, frame: print("mine", number))
            trainyard.should_checkpoint()
            os.kill(os.getpid(), signal.SIGTERM)
            print(trainyard.should_checkpoint())
        """)
        self.assertEqual(out, "mine 15\nTrue\n")

    def test_only_the_main_thread_can_take_it(self):
        out, told = self.run_program("""
            import os, signal, threading, trainyard
            def ask(): print(trainyard.should_checkpoint())
            t = threading.Thread(target=ask); t.start(); t.join()
            print(trainyard.should_checkpoint())
            os.kill(os.getpid(), signal.SIGTERM)
            t = threading.Thread(target=ask); t.start(); t.join()
        """)
        self.assertEqual(out, "False\nFalse\nTrue\n")
        self.assertIn("main thread", told)

    def test_forked_children_see_it_too(self):
        self.run_program("""
            import os, signal, trainyard
            trainyard.should_checkpoint()
            pid = os.fork()
            if pid == 0:
                os.kill(os.getpid(), signal.SIGTERM)
                os._exit(0 if trainyard.should_checkpoint() else 1)
            assert os.waitpid(pid, 0)[1] == 0
            assert not trainyard.should_checkpoint()
        """)

    def test_a_report_in_a_handler(self):
        self.run_program("""
            import os, signal, trainyard
            signal.signal(signal.SIGALRM, lambda *_: trainyard.report(step=2))
            with trainyard._state.lock:
                os.kill(os.getpid(), signal.SIGALRM)
        """)
        self.assertEqual(self.merged(), {"step": 2})


class Cpus(Case):
    def test_environment_and_affinity(self):
        out, _ = self.run_program("""
            import trainyard
            trainyard._cgroup_quota = lambda: None
            print(trainyard.cpus())
        """, TRAINYARD_CPUS="1.0")
        self.assertEqual(out, "1\n")

    def test_quota(self):
        out, _ = self.run_program("""
            import os, trainyard
            os.sched_getaffinity = lambda pid: set(range(8))
            for text in ("150000 100000", "50000 100000", "400000 100000", "max 100000", "-1\\n 5",
                         "", "x y", "1 0"):
                trainyard._cgroup_quota = lambda: trainyard._quota(text)
                print(trainyard.cpus(), end=" ")
        """, TRAINYARD_CPUS="8")
        self.assertEqual(out, "1 1 4 8 8 8 8 8 ")

    def test_cgroup_files(self):
        out, _ = self.run_program("""
            import trainyard
            files = {"/proc/self/cgroup": "3:cpu,cpuacct:/job/1\\n2:memory:/job/1\\n0::/job/1\\n",
                     "/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us": "300000\\n",
                     "/sys/fs/cgroup/cpu/job/cpu.cfs_period_us": "100000\\n",
                     "/sys/fs/cgroup/job/1/cpu.max": "250000 100000\\n"}
            trainyard._read = lambda path: files.get(path, "")
            print(trainyard._cgroup_quota())
        """)
        self.assertEqual(out, "2.5\n")

    def test_nonsense_in_the_environment(self):
        out, told = self.run_program("""
            import os, trainyard
            trainyard._cgroup_quota = lambda: None
            print(trainyard.cpus() == len(os.sched_getaffinity(0)))
        """, TRAINYARD_CPUS="many")
        self.assertEqual(out, "True\n")
        self.assertIn("assuming", told)
