"""An LSTM in a loop over time, with one matrix for reading words and for writing them."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax

import models

RANKS = 4
WORDS, WIDTH = 64, 32


def make(devices):
    optimizer = optax.adam(1e-2)

    def loss_fn(params, batch):
        embedded = params["words"][batch["text"][:, :-1]]

        def cell(carry, x):
            hidden, memory = carry
            gates = jnp.split(x @ params["input"] + hidden @ params["hidden"] + params["bias"], 4, axis=1)
            keep, forget, out = map(jax.nn.sigmoid, gates[:3])
            memory = forget * memory + keep * jnp.tanh(gates[3])
            hidden = out * jnp.tanh(memory)
            return (hidden, memory), hidden
        start = jnp.zeros((len(embedded), WIDTH))
        _, hidden = lax.scan(cell, (start, start), embedded.swapaxes(0, 1))
        logits = hidden.swapaxes(0, 1) @ params["words"].T
        return models.cross_entropy(logits.reshape(-1, WORDS), batch["text"][:, 1:].reshape(-1))

    def local_step(state, batch):
        loss, grads = models.averaged(loss_fn, state["params"], batch)
        updates, opt = optimizer.update(grads, state["opt"])
        return {"params": optax.apply_updates(state["params"], updates), "opt": opt}, {"loss": loss}

    rng = np.random.default_rng(0)
    params = {"words": models.matrix(rng, WORDS, WIDTH), "input": models.matrix(rng, WIDTH, 4 * WIDTH),
              "hidden": models.matrix(rng, WIDTH, 4 * WIDTH), "bias": np.zeros(4 * WIDTH, np.float32)}
    batch = {"text": rng.integers(0, WORDS, (16, 9)).astype(np.int32)}
    return (models.data_parallel(local_step, devices),
            {"params": params, "opt": optimizer.init(jax.tree.map(jnp.asarray, params))}, batch)
