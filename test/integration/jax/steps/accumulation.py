"""Accumulates gradients over micro-batches in a scan, and reduces once after the loop."""

import jax
from jax import lax
from jax.sharding import PartitionSpec as P

import models

RANKS = 4
MICRO = 4


def make(devices):
    def local_step(state, batch):
        micro = jax.tree.map(lambda a: a.reshape(MICRO, -1, *a.shape[1:]), batch)

        def accumulate(total, part):
            return jax.tree.map(lambda t, g: t + g / MICRO, total,
                                jax.value_and_grad(models.dense_loss)(state["params"], part)), None

        zero = jax.tree.map(lambda p: 0 * p, (0.0, state["params"]))
        (loss, grads), _ = lax.scan(accumulate, zero, micro)
        loss, grads = lax.pmean((loss, grads), "data")
        return {"params": models.sgd(state["params"], grads)}, {"loss": loss}

    def step(state, batch):
        return jax.shard_map(local_step, mesh=models.mesh_of(devices, data=RANKS), in_specs=(P(), P("data")),
                             out_specs=(P(), P()), check_vma=False)(state, batch)

    return step, {"params": models.dense_params(32, 64, 10)}, models.labelled(32)
