"""Normalises by the statistics of the whole batch, which are averaged over the ranks within
the forward pass, and keeps running statistics in the state. Neither may be compressed."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

import models

RANKS = 4
WIDTH = 1024  # so that the statistics are large enough to be mistaken for a gradient


def make(devices):
    def forward(params, x):
        x = x @ params["w0"]
        moments = lax.pmean(jnp.stack([x.mean(0), jnp.square(x).mean(0)]), "data")
        mean, variance = moments[0], moments[1] - jnp.square(moments[0])
        x = (x - mean) * lax.rsqrt(variance + 1e-5) * params["scale"] + params["bias"]
        return jax.nn.relu(x) @ params["w1"], {"mean": mean, "variance": variance}

    def loss_fn(params, batch):
        logits, statistics = forward(params, batch["x"])
        return models.cross_entropy(logits, batch["y"]), statistics

    def local_step(state, batch):
        (loss, statistics), grads = jax.value_and_grad(loss_fn, has_aux=True)(state["params"], batch)
        loss, grads = lax.pmean((loss, grads), "data")
        running = jax.tree.map(lambda old, new: 0.9 * old + 0.1 * new, state["batch_stats"], statistics)
        return {"params": models.sgd(state["params"], grads), "batch_stats": running}, {"loss": loss}

    def step(state, batch):
        return jax.shard_map(local_step, mesh=models.mesh_of(devices, data=RANKS), in_specs=(P(), P("data")),
                             out_specs=(P(), P()), check_vma=False)(state, batch)

    rng = np.random.default_rng(0)
    params = {"w0": rng.normal(0, 0.2, (32, WIDTH)).astype(np.float32),
              "scale": np.ones(WIDTH, np.float32), "bias": np.zeros(WIDTH, np.float32),
              "w1": rng.normal(0, 0.03, (WIDTH, 10)).astype(np.float32)}
    statistics = {"mean": np.zeros(WIDTH, np.float32), "variance": np.ones(WIDTH, np.float32)}
    return step, {"params": params, "batch_stats": statistics}, models.labelled(32)
