"""A denoiser: times and noise are drawn on each rank from a key in the state, and a moving average of the
parameters is part of it."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import models

RANKS = 4
TIMES = 100
KEPT = np.cumprod(1 - np.linspace(1e-4, 0.02, TIMES)).astype(np.float32)


def make(devices):
    def local_step(state, batch):
        times_key, noise_key = jax.random.split(jax.random.fold_in(state["key"], lax.axis_index("data")))
        times = jax.random.randint(times_key, (len(batch["x"]),), 0, TIMES)
        noise = jax.random.normal(noise_key, batch["x"].shape)
        kept = jnp.asarray(KEPT)[times][:, None]
        waves = times[:, None] * jnp.exp(-jnp.arange(8.0))
        seen = [jnp.sqrt(kept) * batch["x"] + jnp.sqrt(1 - kept) * noise, jnp.sin(waves), jnp.cos(waves)]

        def loss_fn(params, seen):
            return jnp.mean((models.dense(params, jnp.concatenate(seen, axis=1)) - noise) ** 2)
        loss, grads = models.averaged(loss_fn, state["params"], seen)
        params = models.sgd(state["params"], grads)
        average = jax.tree.map(lambda a, p: 0.9 * a + 0.1 * p, state["average"], params)
        return {"params": params, "average": average, "key": jax.random.split(state["key"])[0]}, {"loss": loss}

    params = models.dense_params(48, 64, 32)
    return (models.data_parallel(local_step, devices),
            {"params": params, "average": params, "key": jax.random.key(0)}, {"x": models.labelled(32)["x"]})
