"""Dropout: a random key in the state, folded with the rank's index and split in each step."""

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import PartitionSpec as P

import models

RANKS = 4


def make(devices):
    def loss_fn(params, batch, key):
        hidden = jnp.tanh(batch["x"] @ params["l0"]["w"] + params["l0"]["b"])
        keep = jax.random.bernoulli(key, 0.9, hidden.shape)
        hidden = jnp.where(keep, hidden / 0.9, 0)
        return models.cross_entropy(hidden @ params["l1"]["w"] + params["l1"]["b"], batch["y"])

    def local_step(state, batch):
        key, mask_key = jax.random.split(state["key"])
        mask_key = jax.random.fold_in(mask_key, lax.axis_index("data"))
        loss, grads = jax.value_and_grad(loss_fn)(state["params"], batch, mask_key)
        loss, grads = lax.pmean((loss, grads), "data")
        return {"params": models.sgd(state["params"], grads), "key": key}, {"loss": loss}

    def step(state, batch):
        return jax.shard_map(local_step, mesh=models.mesh_of(devices, data=RANKS), in_specs=(P(), P("data")),
                             out_specs=(P(), P()), check_vma=False)(state, batch)

    return step, {"params": models.dense_params(32, 64, 10), "key": jax.random.key(0)}, models.labelled(32)
