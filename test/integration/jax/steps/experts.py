"""A mixture of experts, one on each rank: an all-to-all takes every token to its expert and back. The experts'
own gradients stay where they are; those of the layers around them are averaged."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

import models

RANKS = 4
WIDTH, CAPACITY = 64, 8


def make(devices):
    def loss_fn(params, expert, batch):
        tokens = jnp.tanh(batch["x"] @ params["input"])
        gates = jax.nn.softmax(tokens @ params["router"])
        chosen = jax.nn.one_hot(jnp.argmax(gates, axis=1), RANKS)
        place = jnp.sum(jnp.cumsum(chosen, axis=0) * chosen, axis=1).astype(jnp.int32) - 1
        sent = chosen[:, :, None] * jax.nn.one_hot(place, CAPACITY)[:, None, :]  # beyond the capacity: dropped
        inbox = lax.all_to_all(jnp.einsum("tec,td->ecd", sent, tokens), "data", 0, 0, tiled=True)
        done = jax.nn.gelu(inbox @ expert["up"][0]) @ expert["down"][0]
        outbox = lax.all_to_all(done, "data", 0, 0, tiled=True)
        tokens += jnp.einsum("tec,ecd->td", sent, outbox) * jnp.max(gates, axis=1, keepdims=True)
        return models.cross_entropy(tokens @ params["output"], batch["y"])

    def local_step(state, batch):
        loss, (grads, own) = jax.value_and_grad(lambda both: loss_fn(*both, batch))((state["params"], state["experts"]))
        return ({"params": models.sgd(state["params"], lax.pmean(grads, "data")),
                 "experts": models.sgd(state["experts"], jax.tree.map(lambda g: g / RANKS, own))},
                {"loss": lax.pmean(loss, "data")})

    rng = np.random.default_rng(0)
    params = {"input": models.matrix(rng, 32, WIDTH), "router": models.matrix(rng, WIDTH, RANKS),
              "output": models.matrix(rng, WIDTH, 10)}
    experts = {"up": models.matrix(rng, RANKS, WIDTH, 32), "down": models.matrix(rng, RANKS, 32, WIDTH)}
    step = models.data_parallel(local_step, devices, {"params": P(), "experts": P("data")})
    return step, {"params": params, "experts": experts}, models.labelled(32)
