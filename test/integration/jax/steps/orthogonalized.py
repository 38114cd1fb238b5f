"""Muon for matrices, Adam for vectors: the update of a weight is no element-by-element function of its
gradient, which is found by the momentum that it goes into."""

import jax
import jax.numpy as jnp
import optax
from optax import contrib

import models

RANKS = 4


def make(devices):
    optimizer = contrib.muon(1e-2)

    def local_step(state, batch):
        loss, grads = models.averaged(models.dense_loss, state["params"], batch)
        updates, opt = optimizer.update(grads, state["opt"], state["params"])
        return {"params": optax.apply_updates(state["params"], updates), "opt": opt}, {"loss": loss}

    params = models.dense_params(32, 64, 10)
    return (models.data_parallel(local_step, devices),
            {"params": params, "opt": optimizer.init(jax.tree.map(jnp.asarray, params))}, models.labelled(32))
