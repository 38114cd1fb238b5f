"""jit with shardings alone on a 2-D mesh of hosts and devices: samples over both axes, one weight over the minor
axis, the other over both, the minor one first. Groups of ranks lie across the order of the devices."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec as P

import models

RANKS = 4


def make(devices):
    mesh = models.mesh_of(devices, host=2, device=2)
    samples = NamedSharding(mesh, P(("host", "device")))

    def loss_fn(params, batch):
        hidden = lax.with_sharding_constraint(jnp.tanh(batch["x"] @ params["w0"]), samples)
        logits = lax.with_sharding_constraint(hidden @ params["w1"], samples)
        return models.cross_entropy(logits, batch["y"])

    def step(state, batch):
        loss, grads = jax.value_and_grad(loss_fn)(state["params"], batch)
        return {"params": models.sgd(state["params"], grads)}, {"loss": loss}

    rng = np.random.default_rng(0)
    params = {"w0": jax.device_put(models.matrix(rng, 32, 128), NamedSharding(mesh, P("device"))),
              "w1": jax.device_put(models.matrix(rng, 128, 32), NamedSharding(mesh, P(("device", "host"))))}
    return jax.jit(step, donate_argnums=0), {"params": params}, jax.device_put(models.labelled(32), samples)
