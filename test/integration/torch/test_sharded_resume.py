"""Tests codec state of a model that FSDP2 splits, with another number of ranks."""

import json
import tempfile
import unittest

from launch import needs_torch_and_libraries, run
from test_fsdp import needs_interface


@needs_torch_and_libraries
@needs_interface
class ShardedResumeTest(unittest.TestCase):
    def run_case(self, ranks, options, *folders, replicas=1):
        done = run("sharded_conservation", replicas, json.dumps(options | {"timeout": 60}), *folders, count=ranks)
        for each in done:
            self.assertEqual(each.code, 0, each.said[-3000:])
        return done[0]

    def test_what_was_applied_and_what_is_owed_is_what_was_handed_in_over_all_runs(self):
        options = {"gradients": "bits=2 rounding=nearest error-feedback=f32"}
        with tempfile.TemporaryDirectory() as folder:
            folders = [f"{folder}/{number}" for number in range(4)]
            self.run_case(4, options, folders[0])
            for ranks, to, from_ in ((2, folders[1], folders[0]), (3, folders[2], folders[1]), (3, folders[3], folders[2])):
                with self.subTest(ranks=ranks):
                    ended = self.run_case(ranks, options, to, from_)
                    answer = ended.answer()
                    self.assertLess(max(answer["missing"].values()), 1e-6, answer)
                    self.assertGreater(min(answer["owed"].values()), 1e-5, answer)
                    self.assertNotIn("is lost", ended.said)

    def test_what_is_dropped_is_named_once(self):
        options = {"gradients": "bits=2 error-feedback=int8"}
        with tempfile.TemporaryDirectory() as folder:
            self.run_case(2, options, f"{folder}/0")
            ended = self.run_case(3, options, f"{folder}/1", f"{folder}/0")
            self.assertEqual(ended.said.count("what codecs of 2 ranks remembered is lost on another number of ranks: "), 1, ended.said)
            self.assertIn("shards residual[side.weight]", ended.said)


if __name__ == "__main__":
    unittest.main()
