"""Stacked layers, fully sharded, under a rematerialised scan: each trip of the forward loop gathers the
weights of its layer, and each trip of the backward loop gathers them again, last layer first."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

import models

RANKS = 4
DEPTH, WIDTH = 4, 32


def make(devices, dtype=np.float32, **scan):
    mesh = models.mesh_of(devices, data=len(devices))

    def gather(shard, axis=0):
        return lax.all_gather(shard, "data", axis=axis, tiled=True)

    @jax.checkpoint
    def layer(x, shards):
        x = x + jnp.tanh(x @ gather(shards["w"]).astype(np.float32) + shards["b"])
        return x + jnp.tanh(x @ gather(shards["v"], axis=1).astype(np.float32)), None

    def loss_fn(params, batch):
        x, _ = lax.scan(layer, batch["x"], params["stack"], **scan)
        return models.cross_entropy(x @ params["head"], batch["y"])

    def local_step(state, batch):
        loss, grads = jax.value_and_grad(loss_fn)(state["params"], batch)
        stack, head = grads["stack"], lax.pmean(grads["head"], "data")
        stack = {"w": stack["w"] / len(devices), "v": stack["v"] / len(devices), "b": lax.pmean(stack["b"], "data")}
        return {"params": models.sgd(state["params"], {"stack": stack, "head": head})}, {"loss": lax.pmean(loss, "data")}

    specs = {"params": {"stack": {"w": P(None, "data"), "v": P(None, None, "data"), "b": P()}, "head": P()}}

    def step(state, batch):
        return jax.shard_map(local_step, mesh=mesh, in_specs=(specs, P("data")),
                             out_specs=(specs, P()), check_vma=False)(state, batch)

    rng = np.random.default_rng(0)
    width = WIDTH // len(devices) * len(devices)
    stack = {"w": models.matrix(rng, DEPTH, width, width).astype(dtype),
             "v": models.matrix(rng, DEPTH, width, width).astype(dtype), "b": np.zeros((DEPTH, width), np.float32)}
    params = {"stack": stack, "head": models.matrix(rng, width, 10)}
    return step, {"params": params}, models.labelled(width, samples=8 * len(devices))
