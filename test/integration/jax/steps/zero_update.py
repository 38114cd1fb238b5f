"""Shards the update as ZeRO does: psum_scatter of each gradient, an update of the rank's own
rows, and an all_gather of the new parameters (weights on the wire)."""

import jax
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

import models

RANKS = 4


def make(devices):
    def local_step(state, batch):
        loss, grads = jax.value_and_grad(
            lambda p: models.cross_entropy(batch["x"] @ p["w"], batch["y"]))(state["params"])
        shard = lax.psum_scatter(grads["w"], "data", scatter_dimension=0, tiled=True) / RANKS
        momentum = 0.9 * state["momentum"] + shard
        rows = state["params"]["w"].shape[0] // RANKS
        own = lax.dynamic_slice_in_dim(state["params"]["w"], lax.axis_index("data") * rows, rows)
        new = lax.all_gather(own - 0.1 * momentum, "data", axis=0, tiled=True)
        return {"params": {"w": new}, "momentum": momentum}, {"loss": lax.pmean(loss, "data")}

    specs = {"params": P(), "momentum": P("data")}

    def step(state, batch):
        return jax.shard_map(local_step, mesh=models.mesh_of(devices, data=RANKS), in_specs=(specs, P("data")),
                             out_specs=(specs, P()), check_vma=False)(state, batch)

    weight = np.random.default_rng(0).normal(0, 0.1, (128, 16)).astype(np.float32)
    return step, {"params": {"w": weight}, "momentum": np.zeros_like(weight)}, models.labelled(128)
