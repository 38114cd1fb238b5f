"""The updates that were applied and the residuals of codecs add up to the gradients, over any history of steps."""

import json
import unittest

from launch import needs_torch_and_libraries, run

CODECS = ({"bits": 2, "error_feedback": "f32"}, {"codec": "topk", "error_feedback": "f32"})


@needs_torch_and_libraries
class ErrorFeedbackTest(unittest.TestCase):
    def assert_nothing_is_missing(self, history):
        for options in CODECS:
            with self.subTest(history=history, options=options):
                done = run("conservation", history, json.dumps(options | {"min_elements": 0}))
                for _, said, code in done:
                    self.assertEqual(code, 0, said[-3000:])
                answer = json.loads(done[0][0].splitlines()[-1])
                self.assertEqual(len(answer["missing"]), 3)
                self.assertLess(max(answer["missing"].values()), 1e-5, answer)

    def test_every_step_is_applied(self):
        self.assert_nothing_is_missing("always")

    def test_branches_that_ranks_skip(self):
        self.assert_nothing_is_missing("branch_that_all_ranks_skip")
        self.assert_nothing_is_missing("branch_that_one_rank_takes")

    def test_a_scale_of_the_loss_that_changes(self):
        self.assert_nothing_is_missing("scaled")

    def test_steps_that_a_scaler_skips(self):
        self.assert_nothing_is_missing("skipped")

    def test_steps_that_the_user_drops(self):
        self.assert_nothing_is_missing("undone")

    def test_ranks_that_have_joined(self):
        self.assert_nothing_is_missing("joined")


if __name__ == "__main__":
    unittest.main()
