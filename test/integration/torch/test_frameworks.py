"""Scripts of frameworks that wrap models by themselves are compressed with CGX in the environment, and train as without
it."""

import importlib.util
import json
import pathlib
import tempfile
import unittest

import ranks as job_ranks
from installed import python_path
from launch import needs_torch_and_libraries
from ranks import torch


def needs(package):
    """Skips a test where a package is missing."""
    is_there = importlib.util.find_spec(package) is not None
    return unittest.skipUnless(is_there, f"this Python has no {package}")


@needs_torch_and_libraries
@unittest.skipUnless(torch and hasattr(torch, "_import_device_backends"), "this torch loads no backends, as of 2.5")
class FrameworksTest(unittest.TestCase):
    def trained(self, script, *arguments, saved=None, **environment):
        printed, _, answer = self.run_script(script, *arguments, saved=saved, **environment)
        return printed, answer["losses"]

    def run_script(self, script, *arguments, saved=None, **environment):
        """Returns the first rank's output and errors, and its answer."""
        with tempfile.TemporaryDirectory() as folder:
            paths = python_path(pathlib.Path(folder))
            done = job_ranks.run(lambda rank, port: [job_ranks.FOLDER / "frameworks" / f"{script}.py", saved or f"{folder}/saved", *arguments], 2,
                                 environment={"PYTHONPATH": paths, "LOCAL_WORLD_SIZE": "2", "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1",
                                              "CUDA_VISIBLE_DEVICES": "", **environment},
                                 of_rank=lambda rank: {"LOCAL_RANK": str(rank)})
        for each in done:
            self.assertTrue(job_ranks.succeeded(each, plain=True), each.said[-3000:])
        answers = [json.loads(line) for line in done[0].printed.splitlines() if line.startswith('{"losses"')]
        return done[0].printed, done[0].said, answers[0]

    def assert_is_compressed(self, what, *command, times=1):
        _, plain = self.trained(*command)
        printed, losses = self.trained(*command, CGX="bits=4")
        self.assertEqual(printed.count("tensors compressed"), times, printed)
        self.assertRegex(printed, rf"(?m)^cgx: {what}: \d+ of \d+ tensors compressed, \d+ -> \d+ bytes")
        self.assertNotEqual(losses, plain)
        end = max(1, len(plain) // 8)
        self.assertLess(sum(losses[-end:]), 0.9 * sum(losses[:end]), "it learns nothing")
        self.assertAlmostEqual(sum(losses[-end:]) / end, sum(plain[-end:]) / end, delta=0.05 * plain[0])

    def assert_resumes(self, script, whole, resumed):
        """Error feedback at 2 bits has large residuals, and its random numbers differ in each step."""
        with tempfile.TemporaryDirectory() as folder:
            options = {"CGX": "gradients='bits=2 error-feedback=f32'"}
            (*_, first), (_, said, second) = (self.run_script(script, *arguments, saved=f"{folder}/saved", **options)
                                              for arguments in (whole, resumed))
        self.assertNotIn("is lost", said)
        self.assertEqual(second["losses"], first["losses"][-len(second["losses"]):])
        self.assertEqual(second["bits"], first["bits"])

    @needs("accelerate")
    def test_accelerate_resumes_to_the_bit(self):
        self.assert_resumes("with_accelerate", [], ["resumes"])

    @needs("accelerate")
    @needs("transformers")
    def test_trainer_of_transformers_resumes_to_the_bit(self):
        with tempfile.TemporaryDirectory() as folder:
            options = {"CGX": "gradients='bits=2 error-feedback=f32'"}
            *_, whole = self.run_script("with_trainer", "whole", saved=f"{folder}/whole", **options)
            _, said, resumed = self.run_script("with_trainer", saved=f"{folder}/resumed", **options)
        self.assertNotIn("is lost", said)
        self.assertEqual(resumed, whole)

    @needs("lightning")
    def test_lightning_resumes_to_the_bit(self):
        self.assert_resumes("with_lightning", ["ddp", "saves"], ["ddp", "resumes"])

    @needs("accelerate")
    def test_accelerate(self):
        self.assert_is_compressed(r"DistributedDataParallel\(Sequential\)", "with_accelerate")

    @needs("accelerate")
    @needs("transformers")
    def test_trainer_of_transformers(self):
        # It resumes in the same process, with another model.
        self.assert_is_compressed(r"DistributedDataParallel\(GPT2LMHeadModel\)", "with_trainer", times=2)

    @needs("lightning")
    def test_lightning(self):
        self.assert_is_compressed(r"DistributedDataParallel\(Model\)", "with_lightning", "ddp")

    @needs("lightning")
    @unittest.skipUnless(job_ranks.has_fsdp(), job_ranks.NO_FSDP)
    def test_lightning_with_split_parameters(self):
        self.assert_is_compressed("FSDPSequential", "with_lightning", "fsdp2")


if __name__ == "__main__":
    unittest.main()
