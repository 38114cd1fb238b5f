"""Ranks that torchrun has restarted find each other, and not entries that an earlier life left in the store."""

import os
import subprocess
import sys
import threading
import time
import unittest

from launch import FOLDER, environment, needs_torch_and_libraries, shared_memory
from ranks import PACKAGE

sys.path[:0] = [str(PACKAGE)]
from cgx_core import rendezvous
from cgx_core.context import RuntimeFailure


class Dict:
    """A store that outlives the processes, which are threads here."""

    def __init__(self):
        self.texts = {}

    def set(self, key, text):
        self.texts[key] = text

    def get(self, key, seconds):
        deadline = time.monotonic() + seconds
        while key not in self.texts:
            if time.monotonic() > deadline:
                raise TimeoutError(f"there is no {key}")
            time.sleep(0.002)
        return self.texts[key]


def life(store, hashes, timeout=10.0, late=()):
    """Returns the result or the error of `agree` for each process; hashes has None for one that does not come."""
    found = {}

    def agree(process):
        time.sleep(0.2 * (process in late))
        try:
            found[process] = rendezvous.agree(process, range(len(hashes)), "step number 0", hashes[process], store, "cgx/step",
                                              timeout=timeout)[:2]
        except RuntimeFailure as failure:
            found[process] = str(failure)
    threads = [threading.Thread(target=agree, args=(process,)) for process, each in enumerate(hashes) if each is not None]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return found


class LivesTest(unittest.TestCase):
    def test_each_life_has_a_name_of_its_own(self):
        store, names = Dict(), set()
        for late in ((), (0,), (1, 2), (0, 2)):
            with self.subTest(late=late):
                found = life(store, ["a"] * 3, late=late)
                self.assertEqual(len(set(found.values())), 1, found)
                names.add(found[0][0])
        self.assertEqual(len(names), 4)

    def test_a_program_of_an_earlier_life_is_compared_with_no_other(self):
        store = Dict()
        life(store, ["a", "b", "a"])
        for late in ((), (0,), (1,)):
            found = life(store, ["c"] * 3, late=late)
            self.assertEqual(len(set(found.values())), 1, found)

    def test_a_life_that_ended_while_it_met_leaves_nothing_that_counts(self):
        store = Dict()
        life(store, [None, "a", "a"], timeout=0.3)
        life(store, ["a", None, "a"], timeout=0.3)
        self.assertEqual(len(set(life(store, ["b"] * 3, late=(0,)).values())), 1)

    def test_all_are_told_who_is_missing_or_differs(self):
        for hashes, expected in ((["a", None, "a"], "process 1 compiled no step number 0"), ([None, "a", "a"], "process 0 compiled no"),
                                 (["a", "b", "a"], "processes compiled step number 0 to different programs")):
            for before in ([], ["a"] * 3):
                with self.subTest(hashes=hashes, before=before):
                    store = Dict()
                    if before:
                        life(store, before)
                    for process, said in life(store, hashes, timeout=0.5).items():
                        if hashes[0] is None and before:
                            expected = "process 0 has answered other processes"
                        self.assertIn(expected, said)


@needs_torch_and_libraries
class RestartsTest(unittest.TestCase):
    def test_ranks_that_torchrun_starts_again(self):
        for how in ("killed", "raises", "changed"):
            with self.subTest(how=how):
                before = shared_memory()
                done = subprocess.run([sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--max-restarts=1",
                                       "--standalone", str(FOLDER / "restarted.py"), how], env=os.environ | environment(),
                                      capture_output=True, text=True, timeout=300, check=False)
                self.assertEqual(done.returncode, 0, done.stderr[-3000:])
                self.assertEqual(done.stdout.count("trained in life"), 2, done.stdout)
                self.assertNotRegex(done.stderr, "RuntimeFailure: process(es)? .*compiled")
                self.assertEqual(shared_memory() - before, set())


if __name__ == "__main__":
    unittest.main()
