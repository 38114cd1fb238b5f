"""A model that FSDP2 splits communicates while it computes, and no reader sees a gradient too early or too late."""

import json
import unittest

from launch import needs_torch_and_libraries, run
from test_fsdp import needs_interface, train


@needs_torch_and_libraries
@needs_interface
class ShardedOverlapTest(unittest.TestCase):
    def answers(self, how, ranks=2):
        done = run("sharded_overlap", how, count=ranks, timeout=120)
        for each in done:
            self.assertEqual(each.code, 0, each.said[-3000:])
        return [each.answer() for each in done]

    def test_the_training_thread_computes_while_an_exchange_lasts(self):
        for each in self.answers("waits"):
            self.assertEqual(list(each["awaited"].values()), [True, True], each)
            self.assertTrue(all(each["gradients"]), "the backward pass ends with all gradients")

    def test_who_waits_for_a_gather_does_not_wait_for_what_is_run_next(self):
        for each in self.answers("hands_over"):
            self.assertTrue(all(each["went_on"]), each)

    def test_a_backward_pass_that_fails_leaves_no_gradient_to_come_later(self):
        for each in self.answers("fails"):
            self.assertEqual(each["said"], "a user's own")
            self.assertTrue(any(each["there"]) and not all(each["there"]), each)
            self.assertFalse(any(each["late"]), each)
            self.assertTrue(all(each["again"]), each)

    def test_what_fails_on_the_thread_is_an_exception_of_the_backward_pass(self):
        for each in self.answers("breaks"):
            self.assertRegex(each["said"], r"reducing the gradients of blocks.2 \(blocks.2.weight, blocks.2.bias\)")

    def test_inference_mode_gathers_what_other_forward_passes_do(self):
        for each in self.answers("infers"):
            self.assertTrue(each["same"])

    def test_hooks_of_users_see_gradients_on_their_own_thread(self):
        for each in self.answers("watched"):
            self.assertEqual(len(each["seen"]), 8)
            self.assertEqual([seen[1:] for seen in each["seen"]], [[True, True]] * 8)

    def test_how_long_exchanges_last_changes_no_bit(self):
        job = {"steps": 4, "cgx": {"weights": "bits=4", "gradients": "bits=2 error-feedback=f32", "timeout": 60}}
        jobs = [{**job, **more} for more in ({}, {"accumulate": 2}, {"model": "branches"})]
        # Other exchanges are late in each run, because that depends on the clock.
        for once, again in zip(train(jobs), train([{**each, "late": 0.01} for each in jobs])):
            self.assertEqual(again[0]["losses"], once[0]["losses"])
            self.assertEqual([each["bits"] for each in again], [each["bits"] for each in once])

    def test_the_report_says_what_is_in_flight(self):
        ours, = train([{"cgx": {"timeout": 60}}])
        flight = ours[0]["layers"]["in_flight"]
        self.assertEqual(flight["reductions"], 2)
        self.assertGreater(flight["bytes"], 0)


if __name__ == "__main__":
    unittest.main()
