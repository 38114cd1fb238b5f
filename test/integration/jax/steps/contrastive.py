"""Two encoders and a loss over all pairs of the global batch (CLIP): embeddings are gathered, which is no
gradient, and their gradients scattered back."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import models

RANKS = 4


def make(devices):
    def embed(params, x):
        embedded = models.dense(params, x)
        return embedded / jnp.linalg.norm(embedded, axis=1, keepdims=True)

    def loss_fn(params, batch):
        images, texts = embed(params["image"], batch["image"]), embed(params["text"], batch["text"])
        everywhere = [lax.all_gather(each, "data", tiled=True) for each in (images, texts)]
        own = lax.axis_index("data") * len(images) + jnp.arange(len(images))
        scale = jnp.exp(params["scale"])
        return 0.5 * (models.cross_entropy(scale * images @ everywhere[1].T, own) +
                      models.cross_entropy(scale * texts @ everywhere[0].T, own))

    def local_step(state, batch):
        loss, grads = models.averaged(loss_fn, state["params"], batch)
        return {"params": models.sgd(state["params"], grads)}, {"loss": loss}

    rng = np.random.default_rng(0)
    params = {"image": models.dense_params(48, 64, 32), "text": models.dense_params(24, 64, 32, seed=1),
              "scale": np.float32(1)}
    batch = {"image": rng.normal(0, 1, (32, 48)).astype(np.float32), "text": rng.normal(0, 1, (32, 24)).astype(np.float32)}
    return models.data_parallel(local_step, devices), {"params": params}, batch
