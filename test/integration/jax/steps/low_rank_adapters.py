"""LoRA: the weights are part of the state and never change, small matrices beside them are trained."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

import models

RANKS = 4
RANK_OF_UPDATE = 16


def make(devices):
    optimizer = optax.adam(1e-2)

    def local_step(state, batch):
        def loss_fn(adapters, batch):
            w0, w1 = (state["base"][name] + adapters[name]["a"] @ adapters[name]["b"] for name in ("w0", "w1"))
            return models.cross_entropy(jnp.tanh(batch["x"] @ w0) @ w1, batch["y"])
        loss, grads = models.averaged(loss_fn, state["adapters"], batch)
        updates, opt = optimizer.update(grads, state["opt"])
        return {"base": state["base"], "adapters": optax.apply_updates(state["adapters"], updates), "opt": opt}, loss

    rng = np.random.default_rng(0)
    base = {"w0": models.matrix(rng, 64, 128), "w1": models.matrix(rng, 128, 64)}
    adapters = {name: {"a": models.matrix(rng, w.shape[0], RANK_OF_UPDATE),
                       "b": 0.1 * models.matrix(rng, RANK_OF_UPDATE, w.shape[1])} for name, w in base.items()}
    return (models.data_parallel(local_step, devices),
            {"base": base, "adapters": adapters, "opt": optimizer.init(jax.tree.map(jnp.asarray, adapters))},
            models.labelled(64))
