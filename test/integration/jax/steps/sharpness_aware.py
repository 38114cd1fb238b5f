"""SAM: a first averaged gradient says where to go uphill, a second one, taken there, is the update."""

import jax
import jax.numpy as jnp

import models

RANKS = 4


def make(devices):
    def local_step(state, batch):
        params = state["params"]
        _, uphill = models.averaged(models.dense_loss, params, batch)
        norm = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(uphill)))
        perturbed = jax.tree.map(lambda p, g: p + 0.05 * g / norm, params, uphill)
        loss, grads = models.averaged(models.dense_loss, perturbed, batch)
        return {"params": models.sgd(params, grads)}, {"loss": loss}

    return models.data_parallel(local_step, devices), {"params": models.dense_params(32, 128, 10)}, models.labelled(32)
