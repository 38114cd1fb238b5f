"""A VQ-VAE: the codebook is made of moving averages of what the ranks assign to its entries, which are statistics
and no gradients; the encoder's gradient goes straight through."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import models

RANKS = 4
ENTRIES, WIDTH = 12, 8


def make(devices):
    def local_step(state, batch):
        def loss_fn(params):
            z = batch["x"] @ params["encoder"]
            nearest = jnp.argmin(jnp.sum(jnp.square(z[:, None] - state["book"]), -1), -1)
            entry = state["book"][nearest]
            decoded = (z + lax.stop_gradient(entry - z)) @ params["decoder"]
            loss = jnp.mean(jnp.square(decoded - batch["x"])) + 0.25 * jnp.mean(jnp.square(z - entry))
            return loss, (z, jax.nn.one_hot(nearest, ENTRIES))

        (loss, (z, assigned)), grads = jax.value_and_grad(loss_fn, has_aux=True)(state["params"])
        loss, grads = lax.pmean((loss, grads), "data")
        count, total = lax.psum((assigned.sum(0), assigned.T @ z), "data")
        count = 0.9 * state["count"] + 0.1 * count
        total = 0.9 * state["total"] + 0.1 * total
        return {"params": models.sgd(state["params"], grads), "book": total / (count[:, None] + 1e-5),
                "count": count, "total": total}, {"loss": loss}

    rng = np.random.default_rng(0)
    book = rng.normal(size=(ENTRIES, WIDTH)).astype(np.float32)
    state = {"params": {"encoder": models.matrix(rng, 16, WIDTH), "decoder": models.matrix(rng, WIDTH, 16)},
             "book": book, "count": np.ones(ENTRIES, np.float32), "total": book}
    return models.data_parallel(local_step, devices), state, models.labelled(16)
