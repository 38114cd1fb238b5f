"""Tests of the examples: their data-parallel training is correct, the committed files are what they export today, and
the compiler accepts them."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import jobs  # first, because it sets the number of devices

import numpy as np

import cgx_jax
from cgx_jax import signature

COMPRESS = "--cgx-compress=codec=quantize bits=4 bucket=128 rounding=stochastic"


def printed_losses(example, devices):
    """Returns the output of train.py, in a process of its own with so many devices."""
    script = jobs.ROOT / "examples" / example / "train.py"
    result = subprocess.run(
        [sys.executable, script, "--steps", "20"], capture_output=True, text=True, check=True,
        env={**jobs.os.environ, "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}"})
    return result.stdout


class ExamplesTest(unittest.TestCase):
    def test_four_devices_train_as_one_does(self):
        for example in jobs.EXAMPLES:
            with self.subTest(example):
                self.assertEqual(printed_losses(example, 4), printed_losses(example, 1))

    def test_every_form_of_the_gradient_is_the_same(self):
        """The network, data and optimizer are fixed; the step is equal whoever sums the gradient."""
        def trained(name):
            _, (step, state, batch) = jobs.load_step(name)
            return jobs.train_in_jax(step, state, [batch] * 3, 3, "state")

        reference = trained("one_rank")
        for name in ("psum_gradients", "varying_params", "autodiff_sum", "two_axes", "flattened", "accumulation"):
            with self.subTest(name):
                result = trained(name)
                np.testing.assert_allclose(result.losses, reference.losses, rtol=1e-6)
                for tensor, expected in reference.state.items():
                    np.testing.assert_allclose(result.state[tensor], expected, rtol=1e-5, atol=1e-6)

    def test_an_export_of_today_equals_what_is_committed(self):
        for example in jobs.EXAMPLES:
            with self.subTest(example), tempfile.TemporaryDirectory() as folder:
                fresh, committed = pathlib.Path(folder), jobs.ROOT / "examples" / example
                jobs.load_example(example).export(fresh)
                self.assertEqual(sorted(path.name for path in fresh.iterdir()),
                                 ["eval.mlir", "state.safetensors", "step.mlir", "train.safetensors",
                                  "validation.safetensors"])
                for path in fresh.glob("*.mlir"):
                    self.assertEqual(signature.main_arguments(path.read_text()),
                                     signature.main_arguments((committed / path.name).read_text()), path.name)
                for path in fresh.glob("*.safetensors"):
                    ours, theirs = cgx_jax.load(path), cgx_jax.load(committed / path.name)
                    self.assertEqual(list(ours), list(theirs), path.name)
                    for name, tensor in ours.items():
                        self.assertEqual(tensor.dtype, theirs[name].dtype, name)
                        np.testing.assert_allclose(tensor, theirs[name], rtol=1e-5, atol=1e-6, err_msg=name)

    @jobs.needs_opt
    def test_the_compiler_takes_an_export_of_today(self):
        for example in jobs.EXAMPLES:
            with self.subTest(example), tempfile.TemporaryDirectory() as folder:
                fresh = pathlib.Path(folder)
                jobs.load_example(example).export(fresh)
                for name in ("step", "eval"):
                    rewritten = jobs.run("CGX_OPT", fresh / f"{name}.mlir", COMPRESS)
                    self.assertEqual("quantize<bits = 4" in rewritten, name == "step")
                    self.assertNotIn("sdy.manual_computation", rewritten)


if __name__ == "__main__":
    unittest.main()
