"""A mean over one axis of a mesh, then over the other: the second one's groups all have the same data."""

import jax
from jax import lax
from jax.sharding import PartitionSpec as P

import models

RANKS = 4


def make(devices):
    def local_step(state, batch):
        loss, grads = jax.value_and_grad(models.dense_loss)(state["params"], batch)
        grads = lax.pmean(lax.pmean(grads, "device"), "host")
        return {"params": models.sgd(state["params"], grads)}, {"loss": lax.pmean(loss, ("host", "device"))}

    step = models.data_parallel(local_step, devices, P(), P(("host", "device")), host=2, device=2)
    return step, {"params": models.dense_params(32, 64, 10)}, models.labelled(32)
