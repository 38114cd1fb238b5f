"""A step with f8 and int4 in state, batch and collectives: exported, trained, saved and resumed as JAX trains it."""

import pathlib
import tempfile
import unittest

import jobs  # first, because it sets the number of devices

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P

import cgx_jax

RANKS, STEPS, SAMPLES = 2, 6, 8
SPECS = {"w": P(), "momentum": P(), "history": P(), "rows": P("data"), "code": P()}


def local_step(state, batch):
    """Trains with momentum in f8, as in 8-bit optimizers; inputs and weights through f8 with delayed scales, as in
    TransformerEngine; samples of int4; a table of f8 whose rows are gathered; and one f8 type without a name in
    files."""
    scale = jnp.maximum(jnp.max(state["history"]), 1e-3) / 448.0
    rows = lax.all_gather(state["rows"], "data", tiled=True)  # sent as bytes

    def loss_fn(w):
        x = batch["x"].astype(jnp.float32) * 0.25
        quantized = jnp.clip(w / scale, -448, 448).astype(jnp.float8_e4m3fn)
        out = lax.dot(x.astype(jnp.float8_e4m3fn), quantized, preferred_element_type=jnp.float32) * scale
        straight = x @ w - lax.stop_gradient(x @ w)
        return jnp.mean((out + straight + rows.astype(jnp.float32)[0] - batch["y"]) ** 2)
    loss, gradient = lax.pmean(jax.value_and_grad(loss_fn)(state["w"]), "data")
    momentum = 0.5 * state["momentum"].astype(jnp.float32) + gradient
    return {"w": state["w"] - 0.05 * momentum, "momentum": momentum.astype(jnp.float8_e5m2),
            "history": jnp.roll(state["history"], 1).at[0].set(jnp.max(jnp.abs(state["w"]))),
            "rows": (state["rows"].astype(jnp.float32) * 0.5 + 1).astype(state["rows"].dtype),
            "code": (state["code"].astype(jnp.float32) + 0.25).astype(state["code"].dtype)}, {"loss": loss}


@jobs.needs_run
class NarrowTypesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        mesh = Mesh(np.array(jax.devices()[:RANKS]), ("data",))
        step = jax.shard_map(local_step, mesh=mesh, in_specs=(SPECS, P("data")), out_specs=(SPECS, P()),
                             check_vma=False)
        rng = np.random.default_rng(0)
        self.data = {"x": rng.integers(-8, 8, (STEPS * SAMPLES, 16)).astype(ml_dtypes.int4),
                     "y": rng.standard_normal((STEPS * SAMPLES, 4)).astype(np.float32)}
        state = {"w": rng.standard_normal((16, 4)).astype(np.float32), "history": np.ones(3, np.float32),
                 "momentum": np.zeros((16, 4), ml_dtypes.float8_e5m2),
                 "rows": np.arange(1, 9).astype(np.float32).reshape(2, 4).astype(ml_dtypes.float8_e4m3fn),
                 "code": np.ones(3, ml_dtypes.float8_e3m4)}
        batches = [{name: values[t * SAMPLES:(t + 1) * SAMPLES] for name, values in self.data.items()}
                   for t in range(STEPS)]
        self.program = cgx_jax.export_step(step, state, batches[0], self.folder)
        self.reference = jobs.train_in_jax(step, state, batches, STEPS, "state")
        cgx_jax.write_batches(self.folder / "data.safetensors", self.data)

    def train(self, state, steps, *options):
        return jobs.train_in_cgx(self.program, self.folder, RANKS, steps, state, self.folder / "data.safetensors",
                                 *options)[0]

    def test_trains_as_jax_does(self):
        ours = self.train(self.folder / "state.safetensors", STEPS)
        np.testing.assert_allclose(ours.losses, self.reference.losses, rtol=1e-4)
        for name, expected in self.reference.state.items():
            result = ours.state[name]
            self.assertEqual(result.dtype, np.uint8 if name == "state['code']" else expected.dtype, name)
            np.testing.assert_allclose(result.view(expected.dtype).astype(np.float32), expected.astype(np.float32),
                                       rtol=0.2 if expected.dtype == ml_dtypes.float8_e5m2 else 1e-3, atol=1e-4)

    def test_resumes_where_it_stopped(self):
        whole = self.train(self.folder / "state.safetensors", STEPS)
        self.train(self.folder / "state.safetensors", 3)
        half = self.folder / "half.safetensors"
        (self.folder / "trained.safetensors").rename(half)
        rest = self.train(half, 3, "--first-step", 3)
        for name, expected in whole.state.items():
            np.testing.assert_array_equal(rest.state[name].view(np.uint8), expected.view(np.uint8), name)

    def test_refuses_what_a_type_has_no_room_for(self):
        for x, said in ((np.full((16, 16), 9, np.int8), "'batch['x']': expected elements of i4, got 9"),
                        (np.zeros((16, 16), np.float32), "write it as i8")):
            cgx_jax.write_batches(self.folder / "data.safetensors", {"x": x, "y": self.data["y"][:16]})
            with self.assertRaises(jobs.Refused) as refused:
                self.train(self.folder / "state.safetensors", 1)
            self.assertIn(said, str(refused.exception))
        state = cgx_jax.load(self.folder / "state.safetensors")
        cgx_jax.write_batches(self.folder / "data.safetensors", self.data)
        cgx_jax.save(self.folder / "wrong.safetensors", state | {"state['code']": np.ones(3, np.float32)})
        with self.assertRaises(jobs.Refused) as refused:
            self.train(self.folder / "wrong.safetensors", 1)
        self.assertIn("'state['code']': expected f8e3m4[3], its bits written as u8, got f32[3]", str(refused.exception))


@jobs.needs_run
class SumsTest(unittest.TestCase):
    """Sums over ranks have f16 digits, as XLA's do; only their order may show, in one of a thousand elements."""

    def check(self, dtype):
        def local_step(state, batch):
            total = lax.psum(batch["x"][0].astype(dtype), "data")
            return {"total": total.astype(jnp.float32) + 0 * state["total"]}, {"norm": jnp.sum(total.astype(jnp.float32))}

        mesh = Mesh(np.array(jax.devices()[:4]), ("data",))
        step = jax.shard_map(local_step, mesh=mesh, in_specs=(P(), P("data")), out_specs=(P(), P()), check_vma=False)
        state = {"total": np.zeros(20000, np.float32)}
        batch = {"x": np.random.default_rng(0).normal(0, 2, (4, 20000)).astype(np.float32)}
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            program = cgx_jax.export_step(step, state, batch, folder)
            cgx_jax.write_batches(folder / "data.safetensors", batch)
            ours, _ = jobs.train_in_cgx(program, folder, 4, 1, folder / "state.safetensors", folder / "data.safetensors")
        expected = np.asarray(jax.jit(step)(state, batch)[0]["total"])
        different = np.flatnonzero(ours.state["state['total']"] != expected)
        self.assertLess(different.size, 20, different[:5])

    def test_of_eight_bits(self):
        for dtype in (jnp.float8_e4m3fn, jnp.float8_e5m2, jnp.float8_e4m3b11fnuz):
            with self.subTest(dtype.__name__):
                self.check(dtype)


if __name__ == "__main__":
    unittest.main()
