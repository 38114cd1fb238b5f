"""Inputs that are not samples, a learning rate and a random key per step, train like JAX's equal inputs, from the data
or from --set."""

import pathlib
import tempfile
import unittest

import jobs  # first, because it sets the number of devices

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P

import cgx_jax

RANKS, STEPS, SAMPLES, SEED = 2, 8, 8, 5


def local_step(state, batch):
    """Trains with dropout of inputs by the step's key, and with the step's learning rate."""
    def loss_fn(w):
        key = jax.random.fold_in(jax.random.wrap_key_data(batch["key"]), lax.axis_index("data"))
        kept = jax.random.bernoulli(key, 0.5, batch["x"].shape)
        return jnp.mean((jnp.where(kept, batch["x"], 0) @ w - batch["y"]) ** 2 * batch["weights"])
    loss, gradient = lax.pmean(jax.value_and_grad(loss_fn)(state["w"]), "data")
    return {"w": state["w"] - batch["lr"] * gradient}, {"loss": loss}


@jobs.needs_run
class StepInputsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        mesh = Mesh(np.array(jax.devices()[:RANKS]), ("data",))
        inputs = {"x": P("data"), "y": P("data"), "weights": P(), "lr": P(), "key": P()}
        step = jax.shard_map(local_step, mesh=mesh, in_specs=(P(), inputs), out_specs=(P(), P()), check_vma=False)
        rng = np.random.default_rng(0)  # float64, as most data is
        self.samples = {"x": rng.normal(size=(STEPS * SAMPLES, 8)), "y": rng.normal(size=(STEPS * SAMPLES, 3)),
                        "weights": cgx_jax.constant(np.array([1.0, 2.0, 0.5]))}
        self.rate = optax.cosine_decay_schedule(0.1, STEPS)
        self.keys = [jax.random.fold_in(jax.random.key(SEED), t) for t in range(STEPS)]
        state = {"w": np.ones((8, 3), np.float32)}
        batches = [self.batch(t) for t in range(STEPS)]
        self.program = cgx_jax.export_step(step, state, batches[0], self.folder)
        self.reference = jobs.train_in_jax(step, state, batches, STEPS, "state")

    def batch(self, t):
        rows = slice(t * SAMPLES, (t + 1) * SAMPLES)
        return {"x": self.samples["x"][rows].astype(np.float32), "y": self.samples["y"][rows].astype(np.float32),
                "weights": np.float32([1.0, 2.0, 0.5]), "lr": np.float32(self.rate(t)),
                "key": np.asarray(jax.random.key_data(self.keys[t]))}

    def check(self, data, *options):
        cgx_jax.write_batches(self.folder / "data.safetensors", data)
        ours, _ = jobs.train_in_cgx(self.program, self.folder, RANKS, STEPS, self.folder / "state.safetensors",
                                    self.folder / "data.safetensors", *options)
        np.testing.assert_allclose(ours.losses, self.reference.losses, rtol=1e-5)
        np.testing.assert_allclose(ours.state["state['w']"], self.reference.state["state['w']"], rtol=1e-5)

    def test_from_the_data(self):
        self.check({**self.samples, "lr": cgx_jax.per_step(self.rate, steps=STEPS),
                    "key": cgx_jax.per_step(jnp.stack(self.keys))})

    def test_from_the_command_line(self):
        self.check(self.samples, "--set", f"lr=cosine(0.1,{STEPS})", "--set", f"key=fold_in({SEED},@step)")
        self.check(self.samples, "--set", f"lr=cosine(0.1,{STEPS})", "--set", "key=@step", "--seed", SEED)


if __name__ == "__main__":
    unittest.main()
