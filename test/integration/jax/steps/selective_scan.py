"""A state-space model (Mamba): a causal depthwise convolution, and a recurrence whose factors depend on the input, by
an associative scan, which slices and joins pieces of odd lengths."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import models

RANKS = 4
WIDTH, STATES, WORDS, LENGTH = 12, 4, 30, 13


def forward(params, words):
    embedded = params["embed"][words]
    x, gate = jnp.split(embedded @ params["input"], 2, axis=-1)
    x = jax.nn.silu(lax.conv_general_dilated(x, params["conv"], (1,), [(3, 0)], feature_group_count=WIDTH,
                                             dimension_numbers=("NWC", "WIO", "NWC")))
    step = jax.nn.softplus(x @ params["step"] + params["step_bias"])
    read, write = jnp.split(x @ params["selection"], 2, axis=-1)
    factor = jnp.exp(-step[..., None] * jnp.exp(params["decay"]))
    term = (step * x)[..., None] * write[..., None, :]
    _, states = lax.associative_scan(lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]), (factor, term), axis=1)
    y = (jnp.einsum("btdn,btn->btd", states, read) + params["skip"] * x) * jax.nn.silu(gate)
    return (embedded + y @ params["output"]) @ params["embed"].T


def make(devices):
    def loss_fn(params, batch):
        logits = forward(params, batch["words"][:, :-1])
        return models.cross_entropy(logits.reshape(-1, WORDS), batch["words"][:, 1:].reshape(-1))

    def local_step(state, batch):
        loss, grads = models.averaged(loss_fn, state["params"], batch)
        return {"params": models.sgd(state["params"], grads)}, {"loss": loss}

    rng = np.random.default_rng(0)
    params = {"embed": models.matrix(rng, WORDS, WIDTH), "input": models.matrix(rng, WIDTH, 2 * WIDTH),
              "conv": models.matrix(rng, 4, 1, WIDTH), "step": models.matrix(rng, WIDTH, WIDTH),
              "step_bias": np.full(WIDTH, -2, np.float32), "selection": models.matrix(rng, WIDTH, 2 * STATES),
              "decay": np.log(np.tile(np.arange(1, STATES + 1, dtype=np.float32), (WIDTH, 1))),
              "skip": np.ones(WIDTH, np.float32), "output": models.matrix(rng, WIDTH, WIDTH)}
    words = rng.integers(0, WORDS, (16, LENGTH + 1)).astype(np.int32)
    return models.data_parallel(local_step, devices), {"params": params}, {"words": words}
