"""Everything in bf16 and long sums in it: the gradient of a bias is a sum over thousands of positions, which would stay
at 256 times one of them if each addition were rounded. Microbatches are accumulated in bf16, too."""

import jax
import jax.numpy as jnp
from jax import lax

import models

RANKS = 4
MICROBATCHES = 2


def make(devices):
    def loss_fn(params, x):
        # One target for all: the gradients of all positions have one sign.
        return jnp.mean(jnp.square(models.dense(params, x) - 1).astype(jnp.float32))

    def local_step(state, batch):
        params = jax.tree.map(lambda p: p.astype(jnp.bfloat16), state["params"])
        parts = batch["x"].astype(jnp.bfloat16).reshape(MICROBATCHES, -1, batch["x"].shape[-1])

        def accumulate(total, x):
            loss, grads = jax.value_and_grad(loss_fn)(params, x)
            return jax.tree.map(jnp.add, total, (loss, grads)), None

        zeros = (jnp.float32(0), jax.tree.map(jnp.zeros_like, params))
        (loss, grads), _ = lax.scan(accumulate, zeros, parts)
        loss, grads = lax.pmean((loss, grads), "data")
        grads = jax.tree.map(lambda g: g.astype(jnp.float32) / MICROBATCHES, grads)
        return {"params": models.sgd(state["params"], grads, rate=0.01)}, {"loss": loss / MICROBATCHES}

    return (models.data_parallel(local_step, devices), {"params": models.dense_params(8, 16, 4)},
            {"x": models.labelled(8, samples=16384)["x"]})
