"""Differentiates the mean loss of all ranks under check_vma=True: autodiff sums the gradient
within the backward pass, and no collective is the user's own but that of the loss."""

import jax
from jax import lax
from jax.sharding import PartitionSpec as P

import models

RANKS = 4


def make(devices):
    def local_step(state, batch):
        loss, grads = jax.value_and_grad(
            lambda params: lax.pmean(models.dense_loss(params, batch), "data"))(state["params"])
        return {"params": models.sgd(state["params"], grads)}, {"loss": loss}

    def step(state, batch):
        return jax.shard_map(local_step, mesh=models.mesh_of(devices, data=RANKS), in_specs=(P(), P("data")),
                             out_specs=(P(), P()))(state, batch)

    return step, {"params": models.dense_params(32, 64, 10)}, models.labelled(32)
