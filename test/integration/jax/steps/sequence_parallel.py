"""Tensor and sequence parallelism on a 2-D mesh (Megatron): between the layers each rank has its part of the positions,
within them its part of the heads, so that activations are gathered and scattered where they would be summed."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax
from jax.sharding import PartitionSpec as P

import models

RANKS = 4
WIDTH, HEADS, WORDS, LENGTH = 16, 4, 30, 8
SPECS = {"embed": P(), "norm": P(), "heads": P(None, None, "model"), "joined": P("model"),
         "up": P(None, "model"), "down": P("model")}


def norm(x, scale):
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * scale


def gather(x):
    return lax.all_gather(x, "model", axis=1, tiled=True)


def scatter(x):
    return lax.psum_scatter(x, "model", scatter_dimension=1, tiled=True)


def attention(params, x):
    q, k, v = jnp.einsum("btd,dkhe->kbhte", x, params["heads"])
    scores = jnp.einsum("bhte,bhse->bhts", q, k) / 2
    scores = jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), scores, -1e9)
    return jnp.einsum("bhts,bhse,hed->btd", jax.nn.softmax(scores), v, params["joined"])


def make(devices):
    def local_step(state, batch):
        def own_positions(x):
            own = LENGTH // lax.axis_size("model")
            return lax.dynamic_slice_in_dim(x, own * lax.axis_index("model"), own, 1)

        def loss_fn(params):
            x = own_positions(params["embed"][batch["x"]])
            x = x + scatter(attention(params, gather(norm(x, params["norm"]))))
            x = x + scatter(jax.nn.gelu(gather(norm(x, params["norm"])) @ params["up"]) @ params["down"])
            logits = x @ params["embed"].T
            return optax.softmax_cross_entropy_with_integer_labels(logits, own_positions(batch["y"])).mean() / 2

        loss, grads = jax.value_and_grad(loss_fn)(state["params"])
        for name in ("embed", "norm"):  # each rank has seen its own positions only
            grads[name] = lax.psum(grads[name], "model")
        loss, grads = lax.pmean((lax.psum(loss, "model"), grads), "data")
        return {"params": models.sgd(state["params"], grads)}, {"loss": loss}

    rng = np.random.default_rng(0)
    params = {"embed": models.matrix(rng, WORDS, WIDTH), "norm": np.ones(WIDTH, np.float32),
              "heads": rng.normal(0, 0.25, (WIDTH, 3, HEADS, 4)).astype(np.float32),
              "joined": rng.normal(0, 0.25, (HEADS, 4, WIDTH)).astype(np.float32),
              "up": models.matrix(rng, WIDTH, 32), "down": models.matrix(rng, 32, WIDTH)}
    batch = {key: rng.integers(0, WORDS, (8, LENGTH)).astype(np.int32) for key in ("x", "y")}
    return (models.data_parallel(local_step, devices, {"params": SPECS}, data=2, model=2), {"params": params}, batch)
