"""Tests models that FSDP2 splits and replicates: the second hop, a sum over replicas, equals torch's except for its
codec."""

import json
import unittest

from launch import needs_torch_and_libraries, run
from test_fsdp import EXACT, assert_exact_is_plain, needs_interface, train


@needs_torch_and_libraries
@needs_interface
class HsdpTest(unittest.TestCase):
    def assert_exact_is_plain(self, settings, ranks, same_bits=True):
        done = assert_exact_is_plain(self, settings, ranks, same_bits)
        for ours in done:
            self.assertEqual(ours[0]["telemetry"]["torch_bytes"], 0, "torch sent something")
        return done

    def test_an_exact_second_hop_is_plain_to_the_bit_on_two_by_two(self):
        # Each sum has two addends, so its order does not matter.
        late = {"accumulate": 2, "gathers_late": True}
        half = {"param_dtype": "bfloat16", "reduce_dtype": "float32"}
        settings = [{"replicas": 2, **more} for more in ({}, half, late, {"hooks": True}, {"frozen": True, "flips": 3},
                                                         {"model": "branches", "grad_types": True}, {"divide": 1.0, "sum_only": True},
                                                         {"accumulate": 2, "no_sync": True})]
        first = self.assert_exact_is_plain(settings, 4)[0][0]
        layers = first["layers"]["layers"]
        by_hop = {hop: {each["layer"] for each in layers if each["between"] == hop and each["kind"] == "gradient"}
                  for hop in ("shards", "replicas")}
        self.assertEqual(by_hop["shards"], by_hop["replicas"])
        self.assertIn("blocks.0.up.weight", by_hop["replicas"])
        self.assertEqual(first["layers"]["left"], [])

    def test_replicas_of_what_is_not_split_are_plain_to_the_bit(self):
        settings = [{"replicate": "fsdp"}, {"replicate": "ddp"}, {"replicas": 2}, {"replicate": "fsdp", "model": "branches"},
                    {"replicate": "fsdp", "accumulate": 2, "gathers_late": True}]
        done = train([job for each in settings for job in ({**each, "cgx": None}, {**each, "cgx": EXACT})], 2)
        for each, plain, ours in zip(settings, done[::2], done[1::2]):
            with self.subTest(**each):
                self.assertEqual(ours[0]["losses"], plain[0]["losses"])
                self.assertEqual(ours[0]["bits"], plain[0]["bits"])

    def test_the_second_hop_has_a_codec_of_its_own(self):
        job = {"replicas": 2, "steps": 40, "rate": 2e-4}
        plain, left, ours, coarse = train([{**job, "cgx": None}, {**job, "cgx": {"replicas": None, "timeout": 60}},
                                           {**job, "cgx": {"timeout": 60}}, {**job, "cgx": {"replicas": "bits=4", "timeout": 60}}], 4)
        self.assertRegex("\n".join(left[0]["layers"]["left"]), "blocks.0: gradients are summed over replicas by torch, as replicas=None says")
        self.assertGreater(left[0]["telemetry"]["torch_bytes"], 0)
        expected, reached = (sum(each[0]["losses"][-8:]) / 8 for each in (plain, ours))
        self.assertAlmostEqual(reached, expected, delta=0.02 * expected)
        for done, ratio in ((ours, 32 / 8.25), (coarse, 32 / 4.25)):
            self.assertEqual(len({rank["gathered"] for rank in done}), 1, "ranks hold different parameters")
            layer = done[0]["telemetry"]["layers"]["blocks.0.up.weight"]
            self.assertAlmostEqual(layer["replicas"]["raw_bytes"] / layer["replicas"]["wire_bytes"], ratio, delta=0.1)
            self.assertAlmostEqual(layer["gradients"]["raw_bytes"] / layer["gradients"]["wire_bytes"], 32 / 4.25, delta=0.1)

    def test_a_replicated_model_travels_as_its_gradients_say(self):
        for kind in ("fsdp", "ddp"):
            with self.subTest(kind):
                ours, = train([{"replicate": kind, "cgx": {"gradients": "bits=8", "timeout": 60}}])
                self.assertLess(ours[0]["telemetry"]["wire_bytes"], ours[0]["telemetry"]["raw_bytes"] / 2)

    def test_what_was_applied_and_what_is_owed_is_what_was_handed_in(self):
        for ranks, replicas, options in ((4, 2, {"gradients": "bits=2 error-feedback=f32"}),
                                         (4, 2, {"gradients": "topk density=0.1 error-feedback=f32"}),
                                         (4, 2, {"gradients": None, "replicas": "bits=2 error-feedback=f32"}),
                                         (3, 1, {"gradients": "bits=2 error-feedback=f32"}),
                                         (2, 2, {"gradients": "bits=2 error-feedback=f32"})):
            with self.subTest(ranks=ranks, copies=replicas, **options):
                done = run("sharded_conservation", replicas, json.dumps(options | {"timeout": 60}), count=ranks)
                for each in done:
                    self.assertEqual(each.code, 0, each.said[-3000:])
                answer = done[0].answer()
                self.assertLess(max(answer["missing"].values()), 1e-5, answer)
                self.assertGreater(min(answer["owed"].values()), 1e-5, answer)

    def test_a_killed_rank_is_an_exception_of_all_others_that_says_where(self):
        done = run("sharded", json.dumps([{"replicas": 2, "dies": [3, 2], "cgx": {"timeout": 10}}]), count=4, timeout=100)
        # Ranks that do not communicate with the killed one learn of it from those that it stopped.
        for rank, between in ((2, "ranks 2, 3"), (1, "ranks 1, 3"), (0, r"ranks 0, [12]")):
            self.assertNotEqual(done[rank].code, 0)
            self.assertRegex(done[rank].said, rf"(gathering the weights|\w+ing (over replicas )?the gradients) of [\w. ]+ \([\w., ]+\) between {between} of the "
                                              "job, which are ranks 0 to 1 here: .*rank [01]")


if __name__ == "__main__":
    unittest.main()
