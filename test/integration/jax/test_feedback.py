"""With error feedback, the applied updates and the residual add up to the gradients of all steps, or a warning says
that they do not."""

import os
import pathlib
import unittest

import jobs  # first, because it sets the number of devices

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec as P

import cgx_jax
import models

try:
    import optax
except ImportError:
    optax = None

HAS_LIBRARIES = all((folder / "libcgx_xla.so").exists() and (folder / "libcgx_compiler.so").exists()
                    for folder in [pathlib.Path(os.environ.get("CGX_LIBRARY_PATH", "/nowhere"))])
LEFT_OUT = "error feedback does not make up for what steps lose that are left out"
OTHER_UNITS = "in units of the scale that the gradients have when they travel"
SHAPE = (32, 64)


def gradient(w, x, scale=1.0):
    """Returns the gradient of a loss that is linear in w: each step contributes the mean of x, independent of earlier
    updates."""
    return jax.grad(lambda w: scale * jnp.sum(w * x.mean(0)))(w)


def applied(state, batch):
    return {"w": state["w"] - lax.pmean(gradient(state["w"], batch), "data")}, jnp.float32(0)


def left_out(state, batch):
    g = lax.pmean(gradient(state["w"], batch), "data")
    return {"w": jnp.where(jnp.all(jnp.isfinite(g)), state["w"] - g, state["w"])}, jnp.float32(0)


def scaled(state, batch):
    g = lax.pmean(gradient(state["w"], batch, state["scale"]), "data") / state["scale"]
    return {"w": state["w"] - g, "scale": state["scale"] * 0.5}, jnp.float32(0)


def scaled_by_own(state, batch):
    """Scales by a value of each device's own, which may differ between devices."""
    state, _ = scaled(state, batch)
    return {**state, "scale": state["scale"] + batch.max()}, jnp.float32(0)


def rescaled(state, batch):
    """Scales as mixed precision does: f16 gradients, a test for infinite ones, and a scale that falls at once."""
    g = lax.pmean(gradient(state["w"].astype(jnp.float16), batch.astype(jnp.float16), state["scale"].astype(jnp.float16)), "data")
    is_finite = jnp.all(jnp.isfinite(g))
    scale = jnp.where(is_finite, state["scale"], state["scale"] * 0.5)
    return {"w": state["w"] - g.astype(jnp.float32) / state["scale"], "step": state["step"] + 1,
            "scale": jnp.where(state["step"] == 12, scale / 64, scale)}, jnp.float32(0)


def scaled_before(state, batch):
    g = lax.pmean(gradient(state["w"], batch, state["scale"]) / state["scale"], "data")
    return {"w": state["w"] - g, "scale": state["scale"] * 0.5}, jnp.float32(0)


def by_optax(optimizer):
    def local(state, batch):
        g = lax.pmean(gradient(state["w"], batch), "data")
        updates, following = optimizer.update(g, state["optimizer"], state["w"])
        return {"w": optax.apply_updates(state["w"], updates), "optimizer": following}, jnp.float32(0)
    return local


@unittest.skipUnless(HAS_LIBRARIES, "CGX_LIBRARY_PATH names no folder with libcgx_xla.so and libcgx_compiler.so")
class FeedbackTest(unittest.TestCase):
    def compress(self, local, state, count=2):
        devices = jax.devices()[:count]
        mesh = models.mesh_of(devices, data=count)
        x = np.random.default_rng(1).normal(size=(8 * count, *SHAPE)).astype(np.float32)
        batch = jax.device_put(x, NamedSharding(mesh, P("data")))
        state = jax.device_put(state, NamedSharding(mesh, P()))
        ours = cgx_jax.compress(jax.jit(models.data_parallel(local, devices)), bits=2, error_feedback="f32", min_elements=1)
        return ours, state, batch, x.mean(0)

    def missing(self, local, state, steps, count=2):
        """Returns how much of the contributions had not been applied in any of the last steps, in units of a gradient."""
        ours, state, batch, g = self.compress(local, state, count)
        first, most = np.asarray(state["w"]), 0
        for step in range(1, steps + 1):
            state, _ = ours(state, batch)
            most = max(most, np.linalg.norm(first - np.asarray(state["w"]) - step * g) / np.linalg.norm(g))
        return most, " ".join(map(str, ours.diagnostics()))

    def test_what_is_applied_is_what_was_handed_in(self):
        for local in (applied, scaled_before):
            for count in (2, 4):
                with self.subTest(local.__name__, devices=count):
                    state = {"w": np.zeros(SHAPE, np.float32)} | ({"scale": np.float32(2.0 ** 20)} if local is scaled_before else {})
                    missing, said = self.missing(local, state, 30, count)
                    self.assertLess(missing, 4)  # of 30 gradients; one residual holds this much
                    self.assertNotIn(LEFT_OUT, said)
                    self.assertNotIn(OTHER_UNITS, said)

    def test_what_is_applied_is_what_was_handed_in_whatever_the_scale_is(self):
        for local, scale in ((scaled, 2.0 ** 20), (rescaled, 2.0 ** 10)):
            for count in (2, 4):
                with self.subTest(local.__name__, devices=count):
                    state = {"w": np.zeros(SHAPE, np.float32), "scale": np.float32(scale)}
                    if local is rescaled:
                        state["step"] = np.int32(0)
                    missing, said = self.missing(local, state, 30, count)
                    self.assertLess(missing, 4)
                    self.assertNotIn(OTHER_UNITS, said)

    def test_a_step_that_is_left_out_is_said(self):
        _, said = self.missing(left_out, {"w": np.zeros(SHAPE, np.float32)}, 1)
        self.assertIn(LEFT_OUT, said)

    def test_a_scale_that_devices_may_have_of_their_own_is_said(self):
        _, said = self.missing(scaled_by_own, {"w": np.zeros(SHAPE, np.float32), "scale": np.float32(1024)}, 1)
        self.assertIn(OTHER_UNITS, said)
        self.assertIn("scale", said)

    @unittest.skipUnless(optax, "needs optax")
    def test_optax_leaves_out_or_adds_up(self):
        w = np.zeros(SHAPE, np.float32)
        for optimizer, is_said in ((optax.apply_if_finite(optax.sgd(1.0), 5), True), (optax.apply_if_finite(optax.adam(1e-3), 5), True),
                                   (optax.MultiSteps(optax.sgd(1.0), 3), False), (optax.adam(1e-3), False),
                                   (optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3)), False)):
            with self.subTest(optimizer=optimizer):
                _, said = self.missing(by_optax(optimizer), {"w": w, "optimizer": optimizer.init(w)}, 1)
                (self.assertIn if is_said else self.assertNotIn)(LEFT_OUT, said)
                self.assertNotIn(OTHER_UNITS, said)


if __name__ == "__main__":
    unittest.main()
