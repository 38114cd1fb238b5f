"""A hook of DistributedDataParallel sends compressed gradients: ranks agree to the bit, uncompressed results are DDP's,
DDP's rearrangement of buckets does no harm, and an error is an exception on every rank."""

import json
import unittest

import ranks as job_ranks
from ranks import FOLDER, torch


def start(job, ranks=2, per_host=None):
    """Runs a job and returns how each rank ended. With `per_host`, as many ranks take themselves for a host."""
    return job_ranks.run(lambda rank, port: [FOLDER / "process.py", rank, ranks, port, json.dumps(job)], ranks,
                         of_rank=lambda rank: {"CGX_HOST": str(rank // per_host)} if per_host else {})


@unittest.skipIf(torch is None, job_ranks.NO_TORCH)
@unittest.skipUnless(job_ranks.HAS_LIBRARIES, job_ranks.NO_LIBRARIES)
class HookTest(unittest.TestCase):
    def train(self, job, ranks=2, per_host=None):
        """Returns the output of a job's ranks, after checking that all hold equal bits."""
        done = start(job, ranks, per_host)
        for each in done:
            self.assertTrue(job_ranks.succeeded(each, plain=job["options"] is None), f"{each.code}: {each.said[-3000:]}")
        answers = [each.answer() for each in done]
        self.assertEqual(len({answer["bits"] for answer in answers}), 1, "ranks hold different parameters")
        return answers

    def assert_fails(self, job, *expected, ranks=2, per_host=None):
        """Checks that every remaining rank fails with a message before the deadline of `start`, ten times the longest
        timeout of a job."""
        for rank, (_, said, code) in enumerate(start(job, ranks, per_host)):
            self.assertNotEqual(code, 0)
            if expected[rank] is not None:
                self.assertRegex(said, expected[rank])

    def test_ranks_agree_at_4_bits(self):
        for ranks in (2, 3, 4):
            with self.subTest(ranks=ranks):
                answer = self.train({"options": {"bits": 4}}, ranks)[0]
                self.assertIn("quantize bits=4", answer["report"])
                weight = answer["telemetry"]["layers"]["hidden.weight"]
                self.assertGreater(weight["raw_bytes"], 6 * weight["wire_bytes"])
                self.assertEqual(answer["telemetry"]["steps"], 6)
                self.assertEqual(answer["telemetry"]["layers"]["hidden.bias"]["raw_bytes"],
                                 answer["telemetry"]["layers"]["hidden.bias"]["wire_bytes"])

    def test_hosts_meet_through_the_store_of_torch(self):
        over_shm = self.train({"options": {"bits": 4}}, 4)[0]
        for options, per_host in (({"transport": "tcp"}, None), ({}, 2)):
            with self.subTest(options=options, per_host=per_host):
                answer = self.train({"options": {"bits": 4} | options}, 4, per_host)[0]
                self.assertEqual(answer["transport"], options.get("transport", "shm+tcp"))
                self.assertEqual(answer["bits"], over_shm["bits"])

    def test_exact_is_what_ddp_computes(self):
        plain = self.train({"options": None}, 3)[0]
        for dtype, tolerance in (("float32", 1e-5), ("float64", 1e-5), ("bfloat16", 0.02)):
            with self.subTest(dtype=dtype):
                if dtype == "bfloat16" and torch.__version__.startswith("1."):
                    self.skipTest("DistributedDataParallel of torch 1 takes no bfloat16 over Gloo")
                ours = self.train({"options": {"codec": "identity"}, "dtype": dtype}, 3)[0]
                for left, right in zip(plain["parameters"], ours["parameters"]):
                    for a, b in zip(left, right):
                        self.assertAlmostEqual(a, b, delta=tolerance)

    def test_buckets_travel_whole_once_ddp_keeps_them(self):
        first, last = (self.train({"options": {"bits": 4, "error_feedback": "f32"}, "steps": steps})[0] for steps in (2, 6))
        self.assertEqual({len(group) for group in first["groups"]}, {1})
        self.assertEqual(last["groups"][0][:2], ["output.bias", "output.weight"])
        # A layer's codec does not depend on the other layers of its bucket.
        self.assertEqual(first["state"], last["state"])
        self.assertEqual(last["telemetry"]["steps"], 6)
        self.assertEqual(last["meetings"], 1)

    def test_unused_parameters(self):
        answer = self.train({"options": {"bits": 4}, "unused": True})[0]
        self.assertIn("side.weight", answer["telemetry"]["layers"])

    def test_options_are_the_compilers(self):
        excluded = self.train({"options": {"bits": 2, "exclude": ["output*"]}, "steps": 1})[0]["telemetry"]["layers"]
        self.assertEqual(excluded["output.weight"]["raw_bytes"], excluded["output.weight"]["wire_bytes"])
        self.assertGreater(excluded["hidden.weight"]["raw_bytes"], 10 * excluded["hidden.weight"]["wire_bytes"])
        for codec in ("topk", "sign", "lowrank<rank=2>"):
            with self.subTest(codec=codec):
                answer = self.train({"options": {"codec": codec}, "steps": 4})[0]
                layer = answer["telemetry"]["layers"]["hidden.weight"]
                self.assertGreater(layer["raw_bytes"], 2 * layer["wire_bytes"])

    def test_plan(self):
        def entry(layer, elements, bits):
            return {"layer": layer, "kind": "gradient", "dtype": "f32", "elements": elements,
                    "codec": {"family": "quantize", "bits": bits, "bucket": 128, "rounding": "stochastic", "scale": "bf16"}}

        plan = {"cgx_plan": 1, "program": "", "layers": [
            entry("hidden.weight", 256 * 256, 8), entry("input.weight", 64 * 256, 2), entry("output.weight", 256 * 10, 4)]}
        layers = self.train({"options": {"plan": plan}, "steps": 2})[0]["telemetry"]["layers"]
        saved = {name: layer["raw_bytes"] / layer["wire_bytes"] for name, layer in layers.items()}
        self.assertGreater(saved["input.weight"], 14)
        self.assertLess(saved["hidden.weight"], 4)
        self.assertEqual(saved["hidden.bias"], 1)

    def test_it_adapts(self):
        adapt = {"solver": "lgreco", "warmup": 6, "every": 4, "profile_steps": 2}
        answers = self.train({"options": {"bits": 4}, "steps": 9, "adapt": adapt})
        self.assertEqual(answers[0]["plan"], answers[1]["plan"])
        self.assertEqual(answers[0]["plan"]["solver"], "lgreco")
        self.assertEqual({each["layer"] for each in answers[0]["plan"]["layers"]},
                         {"input.weight", "hidden.weight", "output.weight"})
        # These are the steps before and after buckets are sent whole.
        plan = answers[0]["plan"]
        for layer in plan["layers"]:
            layer["codec"] = {"family": "quantize", "bits": 8, "bucket": 128, "rounding": "stochastic", "scale": "bf16"}
        for step in (1, 5):
            answer = self.train({"options": {"bits": 2}, "adopts": [step, plan]})[0]
            self.assertEqual(answer["plan"], plan)
            layer = answer["telemetry"]["layers"]["hidden.weight"]
            self.assertLess(layer["raw_bytes"], 13 * layer["wire_bytes"])

    def test_resumed_is_what_was_interrupted(self):
        # DDP rearranges the buckets of a new model once, so buckets differ for two steps.
        job = {"options": {"bits": 2, "error_feedback": "f32", "seed": 5}, "steps": 8}
        through, resumed = self.train(job)[0], self.train(dict(job, resume_at=4))[0]
        self.assertTrue(through["state"])
        self.assertEqual(resumed["bits"], through["bits"])

    def test_a_rank_that_is_killed(self):
        jobs = [{"options": {"bits": 4, "timeout": 20}}, {"options": {"bits": 4, "timeout": 20}, "dies_at": 5}]
        self.assert_fails(jobs, r"RuntimeFailure: collective \d+ \(all_reduce of layer '.*rank 1 died", None)

    def test_a_host_that_is_lost(self):
        # The lost host is the one with torch's store.
        jobs = [{"options": {"bits": 4, "timeout": 20}} for _ in range(3)]
        jobs[0]["dies_at"] = 5
        self.assert_fails(jobs, None, *[r"RuntimeFailure: collective \d+ \(all_reduce of layer '.*rank 0 died"] * 2, ranks=3,
                          per_host=1)

    def test_a_rank_without_cgx(self):
        jobs = [{"options": {"bits": 4, "timeout": 5}}, {"options": None}]
        self.assert_fails(jobs, "RuntimeFailure: process 1 compiled no set of gradients number 0 with cgx within 5 s", "Error")

    def test_other_options_on_one_rank(self):
        jobs = [{"options": {"bits": 4}}, {"options": {"bits": 2}}]
        self.assert_fails(jobs, *["RuntimeFailure: processes compiled set of gradients number 0 to different programs: bits is 4 in process 0, "
                                   "2 in process 1: give all of them the same options"] * 2)
        jobs = [{"options": {"bits": 4, "transport": "tcp"}}, {"options": {"bits": 4}}]
        self.assert_fails(jobs, *["RuntimeFailure: processes want different transports for set of gradients number 0"] * 2)

    def test_wrong_options(self):
        self.assert_fails({"options": {"bits": 40}}, *["CompileError: .*bits"] * 2)
        self.assert_fails({"options": {"codec": "nonsense"}}, *["CompileError: .*nonsense"] * 2)
        self.assert_fails({"options": {"overlap": True}}, *["ValueError: overlap has no meaning in a hook"] * 2)


if __name__ == "__main__":
    unittest.main()
