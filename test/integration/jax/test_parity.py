"""cgx-run without compression trains like JAX from equal states and batches: losses agree within a relative 1e-4 per
step, and the state within the optimizer's amplification of rounding."""

import pathlib
import tempfile
import unittest

import jobs  # first, because it sets the number of devices

import cgx_jax

LOSS_TOLERANCE = 1e-4
# The tolerance is relative to the distance that training moved a tensor, over 20 steps. JAX on one device and on four
# differ by up to 4e-6 in our examples. A sum in another order differs by more: 1.4e-5 in the norm of 150 thousand
# gradients, which scales all updates.
STATE_TOLERANCE = 1e-3
# Adam divides a gradient by its own size. Where the true gradient is zero (the bias of attention keys, which softmax
# cancels) it amplifies rounding to a whole step: JAX's own runs differ by 8e-4.
NOISE_TOLERANCE = 2e-2
NOISY = ("['qkv']['bias']",)

# In these steps parameters or activations have sixteen bits, so each operation rounds, and XLA also rounds within some
# sums.
HALF_PRECISION = ("bf16_params", "half_sums", "loss_scaling")
HALF_LOSS_TOLERANCE = 5e-4
HALF_STATE_TOLERANCE = 1e-2

STEPS_OF_A_VARIANT = 5


@jobs.needs_run
class ParityTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def compare(self, ours, reference, initial, half=False):
        """Compares two Trained; `initial` is the state by name."""
        loss_tolerance = HALF_LOSS_TOLERANCE if half else LOSS_TOLERANCE
        if ours.losses is not None:
            self.assertEqual(len(ours.losses), len(reference.losses))
            for step, (actual, expected) in enumerate(zip(ours.losses, reference.losses)):
                self.assertLess(abs(actual - expected), loss_tolerance * abs(expected),
                                f"loss of step {step}: {actual}, in JAX {expected}")
        self.assertLessEqual(set(ours.state), set(reference.state))
        for name, tensor in ours.state.items():
            expected = reference.state[name]
            self.assertEqual((tensor.shape, tensor.dtype), (expected.shape, expected.dtype), name)
            tolerance = NOISE_TOLERANCE if name.endswith(NOISY) else STATE_TOLERANCE
            if half:
                tolerance = HALF_STATE_TOLERANCE
            self.assertLess(jobs.distance(tensor, expected, initial[name]), tolerance, name)

    def check_example(self, example, steps=20):
        module, folder = jobs.load_example(example), jobs.ROOT / "examples" / example
        training, _ = module.load_data()
        reference = jobs.train_in_jax(module.train_step, module.init_state(), module.batches(training), steps, "state")
        ours, report = jobs.train_in_cgx(folder / "step.mlir", self.folder, 4, steps, folder / "state.safetensors",
                                         folder / "train.safetensors")
        self.assertEqual(report["codecs"], ["identity"])
        self.assertEqual(len(ours.losses), steps)
        self.assertEqual(set(ours.state), set(reference.state))
        self.compare(ours, reference, cgx_jax.load(folder / "state.safetensors"))

    def test_digits(self):
        self.check_example("mlp-digits")

    def test_language_model(self):
        self.check_example("transformer-lm")

    def test_convolutional_classifier(self):
        self.check_example("verse-cnn")

    def check_step(self, name):
        module, (step, state, batch) = jobs.load_step(name)
        state_name, batch_name = jobs.parameters(step)
        folder = self.folder / name
        program = cgx_jax.export_step(step, state, batch, folder)
        cgx_jax.write_batches(folder / "data.safetensors", batch, name=batch_name)
        initial = cgx_jax.load(folder / "state.safetensors")
        ours, _ = jobs.train_in_cgx(program, folder, module.RANKS, STEPS_OF_A_VARIANT,
                                    folder / "state.safetensors", folder / "data.safetensors")
        batches = [batch] * STEPS_OF_A_VARIANT
        reference = jobs.train_in_jax(step, state, batches, STEPS_OF_A_VARIANT, state_name)
        self.compare(ours, reference, initial, half=name in HALF_PRECISION)

    def test_every_way_to_communicate(self):
        for name in jobs.step_names():
            with self.subTest(name):
                self.check_step(name)


if __name__ == "__main__":
    unittest.main()
