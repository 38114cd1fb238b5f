"""One vector of all gradients, clipped, and an Adam that keeps vectors, too. The layers
are of one size: only their places in the vector tell them apart."""

import jax
import jax.numpy as jnp
import optax
from jax import lax
from jax.flatten_util import ravel_pytree
from jax.sharding import PartitionSpec as P

import models

RANKS = 4


def make(devices):
    optimizer = optax.adam(1e-2)

    def local_step(state, batch):
        loss, grads = jax.value_and_grad(models.dense_loss)(state["params"], batch)
        vector, unravel = ravel_pytree(grads)
        vector = lax.pmean(vector, "data")
        vector = vector * jnp.minimum(1.0, 5.0 / jnp.linalg.norm(vector))
        updates, opt = optimizer.update(vector, state["opt"])
        return ({"params": optax.apply_updates(state["params"], unravel(updates)), "opt": opt},
                {"loss": lax.pmean(loss, "data")})

    def step(state, batch):
        return jax.shard_map(local_step, mesh=models.mesh_of(devices, data=RANKS), in_specs=(P(), P("data")),
                             out_specs=(P(), P()), check_vma=False)(state, batch)

    params = models.dense_params(32, 32, 32, 10)
    return step, {"params": params, "opt": optimizer.init(ravel_pytree(params)[0])}, models.labelled(32)
