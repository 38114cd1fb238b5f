"""Tests models that FSDP2 splits: `cgx_torch.compress` gives torch's results within the codec's error in every setting
of torch, and reports what it leaves to torch."""

import json
import sys
import tempfile
import unittest

import ranks as job_ranks
from launch import needs_torch_and_libraries, run, shared_memory
from ranks import PACKAGE, torch

EXACT = {"weights": "identity", "gradients": "identity", "timeout": 60}


needs_interface = unittest.skipUnless(job_ranks.has_fsdp(), job_ranks.NO_FSDP)


def train(jobs, ranks=2):
    """Returns the output of the ranks for each job."""
    before = shared_memory()
    done = run("sharded", json.dumps(jobs), count=ranks, timeout=200)
    for each in done:
        assert each.code == 0, each.said[-4000:]
    assert shared_memory() - before == set(), "segments are left"
    return list(zip(*([json.loads(line) for line in each.printed.splitlines()] for each in done)))


def assert_exact_is_plain(case, settings, ranks, same_bits=True):
    """Checks that uncompressed codecs change nothing in each setting of torch, and returns the output of the ranks for
    each."""
    done = train([job for each in settings for job in ({**each, "cgx": None}, {**each, "cgx": EXACT})], ranks)
    for each, plain, ours in zip(settings, done[::2], done[1::2]):
        with case.subTest(ranks=ranks, **each):
            case.assertEqual(len({rank["gathered"] for rank in ours}), 1, "ranks hold different parameters")
            if same_bits:
                case.assertEqual(ours[0]["bits"], plain[0]["bits"])
                case.assertEqual(ours[0]["losses"], plain[0]["losses"])
            for mine, theirs in zip(ours[0]["values"], plain[0]["values"]):
                case.assertAlmostEqual(mine, theirs, delta=1e-3 * abs(theirs) + 1e-4)
            case.assertGreater(ours[0]["telemetry"]["raw_bytes"], 0)
            case.assertEqual(ours[0]["compilers"], [], "no compiler is loaded to train")
    return done[1::2]


@needs_torch_and_libraries
@needs_interface
class FsdpTest(unittest.TestCase):
    def test_exact_is_plain_to_the_bit_on_two_ranks(self):
        half = {"param_dtype": "bfloat16"}
        settings = [{}, {"reshard": False}, {"accumulate": 2}, {"accumulate": 2, "no_sync": True},
                    {**half, "reduce_dtype": "float32"}, {**half, "reduce_dtype": "bfloat16"}, {"reduce_dtype": "float16"},
                    {**half, "reduce_dtype": "float32", "mixed": True}, {"frozen": True}, {"frozen": True, "flips": 3},
                    {"model": "branches"}, {"model": "branches", "step_types": True},
                    # The branches have one size, so that torch packs their gradients in another order than the
                    # parameters.
                    {"grad_types": True}, {"model": "branches", "grad_types": True},
                    {"divide": 2.0}, {"divide": 1.0, "sum_only": True}, {"at_once": True}, {"ddp": True}]
        exact = dict(zip(map(str, settings), assert_exact_is_plain(self, settings, 2)))
        said = "\n".join(exact[str(settings[7])][0]["layers"]["left"])
        self.assertRegex(said, "blocks.0: weights are gathered by torch, uncompressed, as it hands out raw bytes")
        self.assertIn("the root: no gradient travels of embed.weight, frozen", exact[str({"frozen": True})][0]["layers"]["left"])

    def test_exact_is_plain_on_three_ranks_whose_shards_have_padding(self):
        assert_exact_is_plain(self, [{}, {"model": "branches", "grad_types": True}], 3, same_bits=False)

    def test_exact_is_plain_with_another_mesh_after_the_forward_pass(self):
        assert_exact_is_plain(self, [{"reshard": 2}], 4, same_bits=False)

    def test_the_factor_of_a_sum_is_that_of_a_sum_without_one(self):
        # Gloo has no PREMUL_SUM, which torch uses where a factor was set. The reference is the plain sum.
        plain, ours = train([{"cgx": None, "divide": 3.0, "sum_only": True}, {"cgx": EXACT, "divide": 3.0}])
        for mine, theirs in zip(ours[0]["values"], plain[0]["values"]):
            self.assertAlmostEqual(mine, theirs, delta=1e-3 * abs(theirs) + 1e-4)

    def test_few_bits_train_alike_on_any_number_of_ranks(self):
        for ranks, more in ((2, {}), (3, {})):
            with self.subTest(ranks=ranks, **more):
                job = {"steps": 40, "rate": 2e-4, **more}
                plain, ours, finer = train([{**job, "cgx": None}, {**job, "cgx": {"timeout": 60}},
                                            {**job, "cgx": {"gradients": "bits=4 bucket=64", "timeout": 60}}], ranks)
                expected = sum(plain[0]["losses"][-8:]) / 8
                for each, share in ((ours, 0.02), (finer, 0.01)):
                    self.assertEqual(len({rank["gathered"] for rank in each}), 1, "ranks hold different parameters")
                    self.assertAlmostEqual(sum(each[0]["losses"][-8:]) / 8, expected, delta=share * expected)
                layers = ours[0]["telemetry"]["layers"]["blocks.0.up.weight"]
                # Each 128 elements have a scale and an offset of 16 bits.
                for direction, ratio in (("weights", 32 / 8.25), ("gradients", 32 / 4.25)):
                    self.assertAlmostEqual(layers[direction]["raw_bytes"] / layers[direction]["wire_bytes"], ratio, delta=0.1)
                norm = ours[0]["telemetry"]["layers"]["blocks.0.norm1.weight"]
                self.assertEqual(norm["weights"]["raw_bytes"], norm["weights"]["wire_bytes"])

    def test_each_layer_has_its_own_codec_in_whatever_order_torch_packs_them(self):
        jobs = [{"steps": 1, **more, "cgx": cgx} for more in ({}, {"grad_types": True}, {"grad_types": True, "model": "branches"})
                for cgx in (None, {**EXACT, "gradients": "bits=1"})]
        done = train(jobs)
        for job, plain, ours in zip(jobs[::2], done[::2], done[1::2]):
            with self.subTest(**job):
                changed = {name for name, mine, theirs in zip(plain[0]["names"], ours[0]["values"], plain[0]["values"]) if mine != theirs}
                self.assertTrue(changed)
                self.assertEqual({name for name in changed if "norm" in name or "bias" in name}, set(), "vectors are exact")

    def test_a_step_that_a_scaler_skips_leaves_nothing_behind(self):
        job = {"scaled": True, "cgx": {"weights": "identity", "gradients": "bits=2 rounding=nearest error-feedback=f32", "timeout": 60}}
        never, once = train([job, {**job, "overflows": 3}])
        self.assertEqual(once[0]["losses"], never[0]["losses"])
        self.assertEqual(once[0]["bits"], never[0]["bits"])

    def test_both_gathers_of_a_step_have_the_same_bits(self):
        # With one gather per step, the backward pass has the weights of the forward pass.
        job = {"cgx": {"weights": "bits=4", "timeout": 60}}
        twice, once = train([job, {**job, "reshard": False}])
        self.assertGreater(twice[0]["telemetry"]["raw_bytes"], once[0]["telemetry"]["raw_bytes"])
        self.assertEqual(twice[0]["losses"], once[0]["losses"])
        self.assertEqual(twice[0]["bits"], once[0]["bits"])

    def test_each_direction_can_be_left_to_torch(self):
        job = {"reduce_dtype": "float32"}
        weights, gradients = train([{**job, "cgx": {"gradients": None}}, {**job, "cgx": {"weights": None}}])
        for done, direction, other in ((weights, "weights", "gradients"), (gradients, "gradients", "weights")):
            counters = done[0]["telemetry"]
            self.assertEqual({each for layer in counters["layers"].values() for each in layer}, {direction})
            self.assertGreater(counters["torch_bytes"], 0)
            self.assertEqual(len([each for each in done[0]["layers"]["left"] if f"as {other}=None says" in each]), 3)

    def test_a_resumed_run_is_the_interrupted_one(self):
        options = {"gradients": "bits=2 error-feedback=f32", "timeout": 60}
        with tempfile.TemporaryDirectory() as folder:
            jobs = [{"model": model, "cgx": options, **more} for model in ("gpt", "branches")
                    for more in ({}, {"resume_at": 3, "folder": f"{folder}/{model}"},
                                 {"resume_at": 3, "folder": f"{folder}/{model}-itself", "stateful": True})]
            done = train(jobs)
        for whole, *others in (done[:3], done[3:]):
            self.assertTrue(whole[0]["owed"])
            for resumed in others:
                self.assertEqual(resumed[0]["losses"], whole[0]["losses"])
                self.assertEqual([each["bits"] for each in resumed], [each["bits"] for each in whole])

    def test_what_ranks_do_not_do_alike_is_an_exception_that_says_where(self):
        cgx = {"timeout": 10}
        for job, who, said in (({"dies": [1, 2]}, [0], r"(gathering the weights|reducing the gradients) of [\w. ]+ \(.*rank 1"),
                               ({"model": "branches", "odd_one": 1}, [0, 1], "ranks have gradients of different parameters")):
            with self.subTest(**job):
                done = run("sharded", json.dumps([{**job, "cgx": cgx}]), timeout=60)
                for rank in who:
                    self.assertNotEqual(done[rank].code, 0)
                    self.assertRegex(done[rank].said, said)


@needs_torch_and_libraries
class RefusalTest(unittest.TestCase):
    """Requests that cannot be met are rejected with a message."""

    def refused(self, what, said, **options):
        sys.path[:0] = [str(PACKAGE)]
        import cgx_torch
        with self.assertRaisesRegex((TypeError, ValueError, cgx_torch.RuntimeFailure), said):
            cgx_torch.compress(what, **options)

    def test_options_of_another_kind(self):
        model = torch.nn.Linear(4, 4)
        for options, said in (({"weights": 8}, 'weights: expected a codec in words, such as "bits=4", or None, got 8'),
                              ({"bits": 4, "gradients": "bits=2"}, "expected bits= or gradients=, got both: bits=4"),
                              ({"codec": "topk"}, 'write weights="bits=8", gradients="topk density=0.01"'),
                              ({"adapt": "lgreco"}, "adapt has no meaning for a sharded model: plans are made of a profile"),
                              ({"plan": "plan.json", "gradients": "bits=2"}, "expected a plan, or codecs of weights and gradients, got both"),
                              ({"plan": "plan.json", "never_slower": True}, "expected a plan, which has chosen for each layer, or never_slower"),
                              ({"error_feedback": "f32"}, "it is of gradients"),
                              ({"weights": "bits=8 error-feedback=f32"}, "weights: expected a codec without error feedback"),
                              ({"replicas": 4}, 'replicas: expected a codec in words, such as "bits=4", or None, got 4'),
                              ({"weights": None, "gradients": None}, "got None for all")):
            with self.subTest(**options):
                self.refused(model, said, **options)

    @needs_interface
    def test_parameters_that_lie_on_the_host(self):
        import torch.distributed as dist
        from torch.distributed.fsdp import CPUOffloadPolicy, fully_shard
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        self.addCleanup(dist.destroy_process_group)
        mesh = dist.device_mesh.init_device_mesh("cpu", (1,))
        self.refused(fully_shard(torch.nn.Linear(4, 4), mesh=mesh, offload_policy=CPUOffloadPolicy(pin_memory=False)),
                     "the root: CPUOffloadPolicy is not supported")
        import cgx_torch
        alone = cgx_torch.compress(fully_shard(torch.nn.Linear(4, 4), mesh=mesh))
        self.assertEqual(alone.report(), "the root: one rank has all of it, and nothing travels\n")

    def test_models_that_nobody_split(self):
        self.refused(torch.nn.Linear(4, 4), "call fully_shard" if job_ranks.has_fsdp() else "as of torch 2.10, and this is torch")


if __name__ == "__main__":
    unittest.main()
