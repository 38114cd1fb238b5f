"""Explicit axes: shardings are part of the types. Weights are split over `data` and gathered by hand, with
jax.sharding.reshard; the transpose of that is left to the partitioner."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P

import models

RANKS = 4


def make(devices):
    mesh = Mesh(np.array(devices), ("data",), axis_types=(AxisType.Explicit,))
    rows, whole = NamedSharding(mesh, P("data", None)), NamedSharding(mesh, P())

    def loss_fn(params, batch):
        hidden = jnp.tanh(batch["x"] @ jax.sharding.reshard(params["w0"], whole) + params["b0"])
        logits = hidden @ jax.sharding.reshard(params["w1"], whole)
        return -jnp.mean(jnp.sum(jax.nn.log_softmax(logits) * batch["y"], axis=1))

    def step(state, batch):
        loss, grads = jax.value_and_grad(loss_fn)(state["params"], batch)
        return {"params": models.sgd(state["params"], grads)}, {"loss": loss}

    rng = np.random.default_rng(0)
    params = {"w0": jax.device_put(rng.normal(0, 0.2, (32, 128)).astype(np.float32), rows),
              "w1": jax.device_put(rng.normal(0, 0.1, (128, 16)).astype(np.float32), rows),
              "b0": jax.device_put(np.zeros(128, np.float32), whole)}
    batch = models.labelled(32)
    batch = {"x": batch["x"], "y": np.eye(16, dtype=np.float32)[batch["y"]]}
    return step, {"params": params}, jax.device_put(batch, rows)
