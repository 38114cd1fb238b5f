"""Ranks identify collectives by the names in the user's program, never by which of their threads comes first."""

import os
import unittest

from launch import needs_torch_and_libraries, run, shared_memory

ROUNDS = int(os.environ.get("CGX_TEST_ROUNDS", "6"))  # 200 take a few minutes


@needs_torch_and_libraries
class IdentityTest(unittest.TestCase):
    def assert_as_plain(self, ranks, seed, *more):
        before = shared_memory()
        for printed, said, code in run("side_by_side", seed, ROUNDS, *more, count=ranks, timeout=120 + 10 * ROUNDS):
            self.assertEqual(code, 0, said[-3000:])
            self.assertLess(float(printed.splitlines()[-1]), 1e-5, f"seed {seed}: gradients of models were mixed up")
        self.assertEqual(shared_memory() - before, set())

    def test_models_side_by_side_are_averaged_each_with_itself(self):
        for ranks, seed in ((2, 1), (4, 2)):
            with self.subTest(ranks=ranks, seed=seed):
                self.assert_as_plain(ranks, seed)

    def test_so_are_models_that_are_trained_on_threads(self):
        for ranks, seed in ((2, 3), (3, 4)):
            with self.subTest(ranks=ranks, seed=seed):
                self.assert_as_plain(ranks, seed, "threads")


if __name__ == "__main__":
    unittest.main()
