"""Parameters are split over the devices of a host and held by every host (HSDP): gathers and reduce-scatters
inside of it, all-reduces of shards between hosts."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

import models

RANKS = 4


def make(devices):
    def loss_fn(shards, batch):
        w0, w1 = (lax.all_gather(shards[name], "device", axis=0, tiled=True) for name in ("w0", "w1"))
        return models.cross_entropy(jnp.tanh(batch["x"] @ w0) @ w1, batch["y"]) / RANKS

    def local_step(state, batch):
        loss, grads = jax.value_and_grad(loss_fn)(state["params"], batch)
        grads = lax.psum(grads, "host")
        return {"params": models.sgd(state["params"], grads)}, {"loss": lax.psum(loss, ("host", "device"))}

    rng = np.random.default_rng(0)
    step = models.data_parallel(local_step, devices, P("device"), P(("host", "device")), host=2, device=2)
    return step, {"params": {"w0": models.matrix(rng, 32, 128), "w1": models.matrix(rng, 128, 32)}}, models.labelled(32)
