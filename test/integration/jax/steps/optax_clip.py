"""Clips by the global norm and updates with Adam, both from optax: named tuples in the state,
and a factor that depends on all gradients between each of them and its parameter."""

import jax
import optax
from jax import lax
from jax.sharding import PartitionSpec as P

import models

RANKS = 4


def make(devices):
    optimizer = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(1e-2))

    def local_step(state, batch):
        loss, grads = lax.pmean(jax.value_and_grad(models.dense_loss)(state["params"], batch), "data")
        updates, opt = optimizer.update(grads, state["opt"])
        params = optax.apply_updates(state["params"], updates)
        return {"params": params, "opt": opt}, {"loss": loss, "grad_norm": optax.tree.norm(grads)}

    def step(state, batch):
        return jax.shard_map(local_step, mesh=models.mesh_of(devices, data=RANKS), in_specs=(P(), P("data")),
                             out_specs=(P(), P()), check_vma=False)(state, batch)

    params = models.dense_params(32, 64, 10)
    return step, {"params": params, "opt": optimizer.init(params)}, models.labelled(32)
