"""Half-precision gradients under dynamic loss scaling: a gradient that is not finite on one
rank skips the update on all of them."""

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import PartitionSpec as P

import models

RANKS = 4


def make(devices):
    def local_step(state, batch):
        half = jax.tree.map(lambda p: p.astype(jnp.float16), state["params"])
        x = batch["x"].astype(jnp.float16)

        def scaled_loss(params):
            loss = models.cross_entropy(models.dense(params, x).astype(jnp.float32), batch["y"])
            return loss * state["scale"], loss

        grads, loss = jax.grad(scaled_loss, has_aux=True)(half)
        grads, loss = lax.pmean((grads, loss), "data")
        grads = jax.tree.map(lambda g: g.astype(jnp.float32) / state["scale"], grads)
        finite = jnp.all(jnp.stack([jnp.isfinite(g).all() for g in jax.tree.leaves(grads)]))
        params = lax.cond(finite, lambda: models.sgd(state["params"], grads), lambda: state["params"])
        scale = jnp.where(finite, state["scale"] * 1.001, state["scale"] * 0.5)
        return {"params": params, "scale": scale}, {"loss": loss, "finite": finite}

    def step(state, batch):
        return jax.shard_map(local_step, mesh=models.mesh_of(devices, data=RANKS), in_specs=(P(), P("data")),
                             out_specs=(P(), P()), check_vma=False)(state, batch)

    return (step, {"params": models.dense_params(32, 64, 10), "scale": jnp.float32(2.0 ** 10)},
            models.labelled(32))
