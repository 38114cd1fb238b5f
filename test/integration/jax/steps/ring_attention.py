"""Attention over a sequence that is split over the ranks: keys and values go around in a loop of permutes, and
backwards in its transpose."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

import models

RANKS = 4
WIDTH = 64


def attend(query, key, value):
    """Returns softmax attention to the keys of all ranks, one rank's at a time."""
    def turn(carry, _):
        total, biggest, weight, key, value = carry
        scores = jnp.einsum("btd,bsd->bts", query, key) * WIDTH ** -0.5
        bigger = jnp.maximum(biggest, jnp.max(scores, axis=-1))
        shares, old = jnp.exp(scores - bigger[..., None]), jnp.exp(biggest - bigger)
        total = total * old[..., None] + jnp.einsum("bts,bsd->btd", shares, value)
        weight = weight * old + jnp.sum(shares, axis=-1)
        ring = [(rank, (rank + 1) % RANKS) for rank in range(RANKS)]
        key, value = lax.ppermute((key, value), "sequence", ring)
        return (total, bigger, weight, key, value), None

    nothing = jnp.full(query.shape[:-1], -1e30), jnp.zeros(query.shape[:-1])
    (total, _, weight, _, _), _ = lax.scan(turn, (jnp.zeros_like(query), *nothing, key, value), None, length=RANKS)
    return total / weight[..., None]


def make(devices):
    def loss_fn(params, batch):
        attended = attend(*(batch["x"] @ params[name] for name in ("query", "key", "value")))
        return jnp.mean((attended @ params["output"] - batch["y"]) ** 2)

    def local_step(state, batch):
        loss, grads = lax.pmean(jax.value_and_grad(loss_fn)(state["params"], batch), "sequence")
        return {"params": models.sgd(state["params"], grads)}, {"loss": loss}

    rng = np.random.default_rng(0)
    params = {name: models.matrix(rng, WIDTH, WIDTH) for name in ("query", "key", "value", "output")}
    batch = {name: rng.normal(0, 1, (2, 16, WIDTH)).astype(np.float32) for name in "xy"}
    step = models.data_parallel(local_step, devices, batch=P(None, "sequence"), sequence=RANKS)
    return step, {"params": params}, batch
