"""gcomp takes the learning rate of the step: an argument, which the optimizer of `steps/optax_hyperparams.py` keeps in
the state beside other numbers, and which falls from step to step."""

import pathlib
import tempfile
import unittest

import jobs  # first, because it sets the number of devices

import jax
import numpy as np

import cgx_jax
import optax_hyperparams

STEPS = 8
RATE = "state['opt'].hyperparams['learning_rate']"


@jobs.needs_run
@jobs.needs_opt
class LearningRateTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def export(self, decay):
        step, state, batch = optax_hyperparams.make(jax.devices()[:optax_hyperparams.RANKS], decay)
        program = cgx_jax.export_step(step, state, batch, self.folder, name=f"decay{decay}")
        cgx_jax.write_batches(self.folder / "data.safetensors", batch)
        return program

    def train(self, program, options):
        """Returns (Trained, bytes per step on average)."""
        compressed = program.with_suffix(".cgx.mlir")
        jobs.run("CGX_OPT", program, f"--cgx-compress={options}", "-o", compressed)
        trained, report = jobs.train_in_cgx(compressed, self.folder, optax_hyperparams.RANKS, STEPS,
                                            self.folder / "state.safetensors", self.folder / "data.safetensors")
        return trained, report["totals"]["wire_bytes_per_step"]

    def test_the_argument_is_lent(self):
        text = jobs.run("CGX_OPT", self.export(1.0), "--cgx-compress=codec=gcomp optimizer=adam")
        rates = [line for line in text.splitlines() if "cgx.bind_optimizer_state" in line]
        argument = text[:text.index(f'cgx.name = "{RATE}"')].rsplit("%arg", 1)[1].split(":")[0]
        self.assertEqual(len(rates), 1)  # only one matrix is large enough
        self.assertIn(f"learning_rate(%arg{argument} : tensor<f32>)", rates[0])

    def test_a_constant_one_counts_as_one_of_the_codec(self):
        program = self.export(1.0)
        lent, constant = (self.train(program, f"codec=gcomp optimizer=adam {rate}") for rate in ("", "learning-rate=1e-2"))
        self.assertEqual(lent[1], constant[1])
        for name, tensor in lent[0].state.items():
            np.testing.assert_array_equal(tensor, constant[0].state[name], name)

    def test_a_falling_one_sends_fewer_bytes_and_trains_as_well(self):
        program = self.export(0.3)
        exact, _ = self.train(program, "codec=lossless")
        lent, bytes_of_lent = self.train(program, "codec=gcomp optimizer=adam")
        _, bytes_of_largest = self.train(program, "codec=gcomp optimizer=adam learning-rate=1e-2")
        self.assertLess(bytes_of_lent, 0.9 * bytes_of_largest)
        np.testing.assert_allclose(lent.losses, exact.losses, rtol=1e-4)
        self.assertAlmostEqual(float(lent.state[RATE]), 1e-2 * 0.3 ** STEPS, delta=1e-9)

    def test_one_that_is_no_learning_rate_ends_the_run_and_is_named(self):
        program = self.export(1.0)
        state = cgx_jax.load(self.folder / "state.safetensors")
        cgx_jax.save(self.folder / "state.safetensors", state | {RATE: np.float32(-1)})
        with self.assertRaisesRegex(jobs.Refused, "layer 'params/l0/w': expected a learning rate of at least 0, got -1"):
            self.train(program, "codec=gcomp optimizer=adam")


if __name__ == "__main__":
    unittest.main()
