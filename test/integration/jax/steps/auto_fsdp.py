"""jit with shardings alone, parameters and moments split over the devices as well as the samples: the
partitioner gathers weights before their use, and sums gradients of which each device keeps its part."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import NamedSharding, PartitionSpec as P

import models

RANKS = 4


def make(devices):
    rows = NamedSharding(models.mesh_of(devices, data=RANKS), P("data"))
    optimizer = optax.adam(1e-2)

    def place(tree):
        return jax.tree.map(lambda leaf: jax.device_put(leaf, rows) if np.ndim(leaf) == 2 else leaf, tree)

    def step(state, batch):
        loss, grads = jax.value_and_grad(models.dense_loss)(state["params"], batch)
        updates, opt = optimizer.update(grads, state["opt"], state["params"])
        return {"params": optax.apply_updates(state["params"], updates), "opt": opt}, {"loss": loss}

    params = jax.tree.map(jnp.asarray, models.dense_params(32, 64, 10))
    state = {"params": place(params), "opt": place(optimizer.init(params))}
    return jax.jit(step, donate_argnums=0), state, jax.device_put(models.labelled(32), rows)
