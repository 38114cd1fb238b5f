"""Shards the parameters over `data` as FSDP does: each weight is gathered before its use, and
the transpose of that, a reduce-scatter, leaves each rank the gradient of its shard."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

import models

RANKS = 4


def make(devices):
    def gather(shard):
        return lax.all_gather(shard, "data", axis=0, tiled=True)

    def loss_fn(shards, batch):
        hidden = jnp.tanh(batch["x"] @ gather(shards["w0"]))
        return models.cross_entropy(hidden @ gather(shards["w1"]), batch["y"])

    def local_step(state, batch):
        loss, grads = jax.value_and_grad(loss_fn)(state["params"], batch)
        grads = jax.tree.map(lambda g: g / RANKS, grads)
        momentum = jax.tree.map(lambda m, g: 0.9 * m + g, state["momentum"], grads)
        return ({"params": models.sgd(state["params"], momentum), "momentum": momentum},
                {"loss": lax.pmean(loss, "data")})

    def step(state, batch):
        return jax.shard_map(local_step, mesh=models.mesh_of(devices, data=RANKS),
                             in_specs=(P("data"), P("data")), out_specs=(P("data"), P()))(state, batch)

    rng = np.random.default_rng(0)
    params = {"w0": rng.normal(0, 0.2, (32, 128)).astype(np.float32),
              "w1": rng.normal(0, 0.1, (128, 16)).astype(np.float32)}
    return step, {"params": params, "momentum": jax.tree.map(np.zeros_like, params)}, models.labelled(32)
