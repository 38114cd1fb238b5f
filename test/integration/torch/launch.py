"""Runs the cases in cases/ with the package of the tree and the libraries of CGX_LIBRARY_PATH."""

import os
import unittest

import ranks

FOLDER = ranks.FOLDER / "cases"


def needs_torch_and_libraries(test):
    test = unittest.skipIf(ranks.torch is None, ranks.NO_TORCH)(test)
    return unittest.skipUnless(ranks.HAS_LIBRARIES, ranks.NO_LIBRARIES)(test)


def environment():
    return {"PYTHONPATH": str(ranks.PACKAGE)}


def run(case, *arguments, count=2, timeout=300):
    """Returns (output, errors, exit status) of each of `count` ranks of cases/CASE.py."""
    return ranks.run(lambda rank, port: [FOLDER / f"{case}.py", *arguments], count, timeout, environment())


def shared_memory():
    """Returns the shared memory segments of torch jobs."""
    return {each for each in os.listdir("/dev/shm") if "torch-" in each}
