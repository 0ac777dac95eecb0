#!/usr/bin/env python3
"""The campaigns of `make soak` understand what the tests that they run print.

run-tests: no asan
"""
import importlib.machinery
import importlib.util
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))

from cases import chosen, expect, expect_equal, report  # pylint: disable=wrong-import-position


def load_campaign():
    loader = importlib.machinery.SourceFileLoader("campaign", str(ROOT / "tools/campaign"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("campaign", loader))
    loader.exec_module(module)
    return module


def test_a_simulated_day_is_counted():
    found = load_campaign().simulate(SIMULATION_DAYS=1, SIMULATION_SEED=7)
    expect_equal(found["days"], 1)
    expect(found["jobs"] > 0 and found["turns"] > 0, found)


if __name__ == "__main__":
    sys.exit(not all([report(name, case) for name, case in chosen()]))
