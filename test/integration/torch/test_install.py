"""With install() or the environment variable CGX, scripts that do not mention cgx send compressed gradients."""

import json
import pathlib
import sys
import tempfile
import unittest

import ranks as job_ranks
from installed import PYTHON_PACKAGES, python_path
from launch import FOLDER, needs_torch_and_libraries
from ranks import PACKAGE


@needs_torch_and_libraries
class InstallTest(unittest.TestCase):
    def run_script(self, kind, **environment):
        """Returns how the ranks of a script ended, after checking that all succeeded."""
        paths = environment.pop("PYTHONPATH", f"{PACKAGE}:{PYTHON_PACKAGES}")
        done = job_ranks.run(lambda rank, port: [FOLDER / "unedited.py", kind], 2, environment={"PYTHONPATH": paths, **environment})
        for each in done:
            self.assertTrue(job_ranks.succeeded(each, plain=True), each.said[-3000:])
            self.assertTrue(each.answer()["alike"])
        return done

    def installed(self, kind, **options):
        return self.run_script(kind, CGX_TEST_INSTALL=json.dumps(options))

    def test_models_are_compressed_as_they_are_wrapped(self):
        plain = self.run_script("ddp")[0].answer()["losses"]
        first, second = self.installed("ddp", bits=8)
        self.assertRegex(first.printed, r"(?m)^cgx: DistributedDataParallel\(Sequential\): 2 of 4 tensors compressed, (\d+) -> (\d+) bytes")
        self.assertNotIn("cgx:", second.printed)
        for mine, theirs in zip(first.answer()["losses"], plain):
            self.assertAlmostEqual(mine, theirs, delta=0.02)
        self.assertNotEqual(first.answer()["losses"], plain)

    @unittest.skipUnless(job_ranks.has_fsdp(), "this torch has no FSDP2 with custom collectives, as of 2.10")
    def test_sharded_models_are_compressed_as_one(self):
        first, second = self.installed("fsdp", bits=8, weights="bits=8")
        self.assertEqual(first.printed.count("tensors compressed"), 1, first.printed)
        self.assertNotIn("cgx:", second.printed)

    def test_a_model_with_a_hook_of_its_own_is_left_alone(self):
        plain = self.run_script("hooked")[0].answer()["losses"]
        first, _ = self.installed("hooked", bits=2)
        self.assertIn("it has a communication hook", first.printed)
        self.assertEqual(first.answer()["losses"], plain)
        self.assertIn("compressed nothing: DistributedDataParallel(Sequential): it has a communication hook", first.said)

    @unittest.skipUnless(job_ranks.has_fsdp(), "this torch has no FSDP2 with custom collectives, as of 2.10")
    def test_flat_parameters_are_left_alone_once_with_the_way_out(self):
        plain = self.run_script("flat")[0].answer()["losses"]
        first, _ = self.installed("flat", bits=2)
        self.assertEqual(first.answer()["losses"], plain)
        self.assertEqual(first.said.count("FullyShardedDataParallel(Sequential) is left alone: "), 1, first.said)
        self.assertIn("call fully_shard of torch.distributed.fsdp (FSDP2)", first.said)

    def test_that_nothing_was_compressed_is_said(self):
        first, _ = self.installed("none")
        self.assertIn("cgx_torch.install() compressed nothing: no DistributedDataParallel", first.said)

    def test_wrong_options_are_refused_where_they_are_written(self):
        done = job_ranks.run(lambda rank, port: [FOLDER / "unedited.py", "ddp"], 2,
                             environment={"PYTHONPATH": str(PACKAGE), "CGX_TEST_INSTALL": json.dumps({"gradients": "bitz=4"})})
        for each in done:
            self.assertNotEqual(each.code, 0)
            self.assertIn("bitz", each.said)

    @unittest.skipUnless(job_ranks.torch and hasattr(job_ranks.torch, "_import_device_backends"), "this torch loads no backends, as of 2.5")
    def test_the_environment_suffices(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = python_path(pathlib.Path(folder))
            first, second = self.run_script("ddp", PYTHONPATH=paths, CGX='"gradients=bits=2 bucket=64" report=True')
            self.assertIn("quantize bits=2 bucket=64", first.printed)
            self.assertNotIn("cgx", second.printed)
            first, _ = self.run_script("ddp", PYTHONPATH=paths)
            self.assertNotIn("cgx", first.printed + first.said)

    def test_words_of_the_environment(self):
        sys.path[:0] = [str(PYTHON_PACKAGES)]
        from cgx import environment
        self.assertEqual(environment.options_of('bits=4 exclude=*embed* "weights=bits=8 bucket=64" report=True'),
                         {"bits": 4, "exclude": "*embed*", "weights": "bits=8 bucket=64", "report": True})
        self.assertEqual(environment.options_of(""), {})
        with self.assertRaisesRegex(ValueError, "got 'on'"):
            environment.options_of("on")


if __name__ == "__main__":
    unittest.main()
