"""Schedule-free AdamW: gradients are taken at an average of the parameters that the state does not hold."""

import jax
import jax.numpy as jnp
import optax
from optax import contrib

import models

RANKS = 4


def make(devices):
    optimizer = contrib.schedule_free_adamw(1e-2)

    def local_step(state, batch):
        loss, grads = models.averaged(models.dense_loss, state["params"], batch)
        updates, opt = optimizer.update(grads, state["opt"], state["params"])
        return {"params": optax.apply_updates(state["params"], updates), "opt": opt}, {"loss": loss}

    params = jax.tree.map(jnp.asarray, models.dense_params(32, 64, 10))
    return models.data_parallel(local_step, devices), {"params": params, "opt": optimizer.init(params)}, models.labelled(32)
