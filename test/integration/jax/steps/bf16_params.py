"""Computes in bfloat16, reduces bfloat16 gradients, and updates float32 master weights."""

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import PartitionSpec as P

import models

RANKS = 4


def make(devices):
    def local_step(state, batch):
        batch = {"x": batch["x"].astype(jnp.bfloat16), "y": batch["y"]}
        loss, grads = jax.value_and_grad(
            lambda p: models.cross_entropy(models.dense(p, batch["x"]).astype(jnp.float32), batch["y"]))(state["params"])
        loss, grads = lax.pmean((loss, grads), "data")
        master = jax.tree.map(lambda m, g: m - 0.1 * g.astype(jnp.float32), state["master"], grads)
        params = jax.tree.map(lambda m: m.astype(jnp.bfloat16), master)
        return {"params": params, "master": master}, {"loss": loss}

    def step(state, batch):
        return jax.shard_map(local_step, mesh=models.mesh_of(devices, data=RANKS), in_specs=(P(), P("data")),
                             out_specs=(P(), P()), check_vma=False)(state, batch)

    master = models.dense_params(32, 64, 10)
    params = jax.tree.map(lambda m: m.astype(jnp.bfloat16), master)
    return step, {"params": params, "master": master}, models.labelled(32)
