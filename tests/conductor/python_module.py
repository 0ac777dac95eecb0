#!/usr/bin/env python3
"""The tests of python/trainyard.py, case by case. run-tests: no asan"""
import pathlib
import sys
import unittest

TESTS = pathlib.Path(__file__).resolve().parents[2] / "python" / "tests"


class Report(unittest.TestResult):
    def startTest(self, test):
        super().startTest(test)
        self.name = " ".join(test.id().split(".")[1:]).replace("test_", "").replace("_", " ")

    def addSuccess(self, test):
        print(f"ok - {self.name}", flush=True)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        print(f"skip - {self.name}: {reason}", flush=True)

    def tell(self, errors):
        print(f"not ok - {self.name}")
        print("  | " + errors[-1][1].rstrip().replace("\n", "\n  | "), flush=True)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.tell(self.failures)

    def addError(self, test, err):
        super().addError(test, err)
        self.tell(self.errors)


def main():
    sys.dont_write_bytecode = True
    suite = unittest.TestLoader().discover(str(TESTS))
    sys.exit(0 if suite.countTestCases() and suite.run(Report()).wasSuccessful() else 1)


main()
