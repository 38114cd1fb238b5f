"""Gradients by shard_map, which reduce-scatters them, and the update of the split state outside of it."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

import models

RANKS = 4


def make(devices):
    def local_gradients(shards, batch):
        def loss_fn(shards):
            w0, w1 = (lax.all_gather(shards[name], "data", axis=0, tiled=True) for name in ("w0", "w1"))
            return models.cross_entropy(jnp.tanh(batch["x"] @ w0) @ w1, batch["y"]) / RANKS
        loss, grads = jax.value_and_grad(loss_fn)(shards)
        return lax.psum(loss, "data"), grads

    gradients = jax.shard_map(local_gradients, mesh=models.mesh_of(devices, data=RANKS),
                              in_specs=(P("data"), P("data")), out_specs=(P(), P("data")))

    def step(state, batch):
        loss, grads = gradients(state["params"], batch)
        momentum = jax.tree.map(lambda m, g: 0.9 * m + g, state["momentum"], grads)
        return {"params": models.sgd(state["params"], momentum), "momentum": momentum}, {"loss": loss}

    rng = np.random.default_rng(0)
    params = {"w0": rng.normal(0, 0.2, (32, 128)).astype(np.float32),
              "w1": rng.normal(0, 0.1, (128, 16)).astype(np.float32)}
    return step, {"params": params, "momentum": jax.tree.map(np.zeros_like, params)}, models.labelled(32)
