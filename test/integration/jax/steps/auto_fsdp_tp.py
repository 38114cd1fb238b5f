"""jit with shardings alone on a 2-D mesh: samples and one dimension of each weight over `data`, the hidden
layer over `model`, activations held where they are by constraints."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec as P

import models

RANKS = 4
HIDDEN = 128


def make(devices):
    mesh = models.mesh_of(devices, data=2, model=2)

    def over(*axes):
        return NamedSharding(mesh, P(*axes))

    def loss_fn(params, batch):
        hidden = jnp.tanh(batch["x"] @ params["up"] + params["up_bias"])
        hidden = lax.with_sharding_constraint(hidden, over("data", "model"))
        logits = lax.with_sharding_constraint(hidden @ params["down"], over("data", None))
        return models.cross_entropy(logits + params["down_bias"], batch["y"])

    def step(state, batch):
        loss, grads = jax.value_and_grad(loss_fn)(state["params"], batch)
        momentum = jax.tree.map(lambda m, g: 0.9 * m + g, state["momentum"], grads)
        return {"params": models.sgd(state["params"], momentum), "momentum": momentum}, {"loss": loss}

    rng = np.random.default_rng(0)
    params = {"up": rng.normal(0, 0.2, (32, HIDDEN)).astype(np.float32), "up_bias": np.zeros(HIDDEN, np.float32),
              "down": rng.normal(0, 0.1, (HIDDEN, 10)).astype(np.float32), "down_bias": np.zeros(10, np.float32)}
    places = {"up": over("data", "model"), "up_bias": over("model"), "down": over("model"), "down_bias": over()}
    params = {name: jax.device_put(leaf, places[name]) for name, leaf in params.items()}
    return step, {"params": params, "momentum": jax.tree.map(jnp.zeros_like, params)}, models.labelled(32)
