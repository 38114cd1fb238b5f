"""One vector of all gradients, padded to whole tiles, and an Adam that keeps the padded vectors."""

import jax
import jax.numpy as jnp
import optax
from jax import lax
from jax.flatten_util import ravel_pytree
from jax.sharding import PartitionSpec as P

import models

RANKS = 4
TILE = 256


def make(devices):
    optimizer = optax.adam(1e-2)

    def raveled(tree):
        vector = ravel_pytree(tree)[0]
        return jnp.pad(vector, (0, -vector.size % TILE))

    def local_step(state, batch):
        loss, grads = jax.value_and_grad(models.dense_loss)(state["params"], batch)
        vector = raveled(state["params"])
        updates, opt = optimizer.update(lax.pmean(raveled(grads), "data"), state["opt"], vector)
        flat, unravel = ravel_pytree(state["params"])
        return ({"params": unravel((vector + updates)[:flat.size]), "opt": opt}, {"loss": lax.pmean(loss, "data")})

    def step(state, batch):
        return jax.shard_map(local_step, mesh=models.mesh_of(devices, data=RANKS), in_specs=(P(), P("data")),
                             out_specs=(P(), P()), check_vma=False)(state, batch)

    params = jax.tree.map(jnp.asarray, models.dense_params(32, 32, 32, 10))
    return step, {"params": params, "opt": optimizer.init(raveled(params))}, models.labelled(32)
