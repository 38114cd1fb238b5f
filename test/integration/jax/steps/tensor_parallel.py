"""A 2-D mesh: samples over `data`, the hidden layer over `model`. The forward pass sums
activations over `model`, the gradients are averaged over `data` alone."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

import models

RANKS = 4
HIDDEN = 128


def make(devices):
    def loss_fn(params, batch):
        hidden = jnp.tanh(batch["x"] @ params["up"] + params["up_bias"])
        logits = lax.psum(hidden @ params["down"], "model") + params["down_bias"]
        return lax.pmean(models.cross_entropy(logits, batch["y"]), "data")

    def local_step(state, batch):
        loss, grads = jax.value_and_grad(loss_fn)(state["params"], batch)
        return {"params": models.sgd(state["params"], grads)}, {"loss": loss}

    specs = {"params": {"up": P(None, "model"), "up_bias": P("model"), "down": P("model", None),
                        "down_bias": P()}}

    def step(state, batch):
        return jax.shard_map(local_step, mesh=models.mesh_of(devices, data=2, model=2),
                             in_specs=(specs, P("data")), out_specs=(specs, P()))(state, batch)

    rng = np.random.default_rng(0)
    params = {"up": rng.normal(0, 0.2, (32, HIDDEN)).astype(np.float32), "up_bias": np.zeros(HIDDEN, np.float32),
              "down": rng.normal(0, 0.1, (HIDDEN, 10)).astype(np.float32), "down_bias": np.zeros(10, np.float32)}
    return step, {"params": params}, models.labelled(32)
