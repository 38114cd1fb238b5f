"""Gradients are reduced one by one; `optax.flatten` then makes one vector of them for the optimizer. The layers
are of one size."""

import jax
import optax
from jax import lax
from jax.sharding import PartitionSpec as P

import models

RANKS = 4


def make(devices):
    optimizer = optax.flatten(optax.adam(1e-2))

    def local_step(state, batch):
        loss, grads = jax.value_and_grad(models.dense_loss)(state["params"], batch)
        updates, opt = optimizer.update(lax.pmean(grads, "data"), state["opt"], state["params"])
        return {"params": optax.apply_updates(state["params"], updates), "opt": opt}, {"loss": lax.pmean(loss, "data")}

    def step(state, batch):
        return jax.shard_map(local_step, mesh=models.mesh_of(devices, data=RANKS), in_specs=(P(), P("data")),
                             out_specs=(P(), P()), check_vma=False)(state, batch)

    params = models.dense_params(32, 32, 32, 10)
    return step, {"params": params, "opt": optimizer.init(params)}, models.labelled(32)
