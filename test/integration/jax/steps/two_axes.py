"""A 2-D mesh of hosts and devices; gradients are averaged over both axes in one collective."""

import jax
from jax import lax
from jax.sharding import PartitionSpec as P

import models

RANKS = 4


def make(devices):
    def local_step(state, batch):
        loss, grads = jax.value_and_grad(models.dense_loss)(state["params"], batch)
        loss, grads = lax.pmean((loss, grads), ("host", "device"))
        return {"params": models.sgd(state["params"], grads)}, {"loss": loss}

    def step(state, batch):
        return jax.shard_map(local_step, mesh=models.mesh_of(devices, host=2, device=2),
                             in_specs=(P(), P(("host", "device"))), out_specs=(P(), P()),
                             check_vma=False)(state, batch)

    return step, {"params": models.dense_params(32, 64, 10)}, models.labelled(32)
