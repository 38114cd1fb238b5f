"""DP-SGD: the gradient of each sample is clipped, their sum is reduced, noise is added to it on every rank
alike, from a key in the state."""

import jax
import jax.numpy as jnp
from jax import lax

import models

RANKS = 4
SAMPLES = 32


def make(devices):
    def local_step(state, batch):
        def of_sample(x, y):
            return jax.grad(models.dense_loss)(state["params"], {"x": x[None], "y": y[None]})
        grads = jax.vmap(of_sample)(batch["x"], batch["y"])
        norms = jnp.sqrt(sum(jnp.sum(g.reshape(len(g), -1) ** 2, axis=1) for g in jax.tree.leaves(grads)))
        clipped = jax.tree.map(lambda g: jnp.einsum("n,n...->...", jnp.minimum(1, 1 / norms), g), grads)
        leaves, tree = jax.tree.flatten(lax.psum(clipped, "data"))
        key, *keys = jax.random.split(state["key"], len(leaves) + 1)
        noisy = [(g + 0.1 * jax.random.normal(k, g.shape)) / SAMPLES for g, k in zip(leaves, keys)]
        params = models.sgd(state["params"], jax.tree.unflatten(tree, noisy))
        return {"params": params, "key": key}, {"loss": lax.pmean(jnp.mean(norms), "data")}

    return (models.data_parallel(local_step, devices),
            {"params": models.dense_params(32, 128, 10), "key": jax.random.key(3)}, models.labelled(32, samples=SAMPLES))
