"""Equal layers as one stacked parameter under a rematerialised scan, as large models have them:
the gradient of all layers leaves the loop as one tensor of rank three."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

import models

RANKS = 4
DEPTH, WIDTH = 4, 32


def make(devices):
    def loss_fn(params, batch):
        @jax.checkpoint
        def layer(x, kernel):
            return x + jnp.tanh(x @ kernel), None

        x, _ = lax.scan(layer, batch["x"], params["stack"])
        return models.cross_entropy(x @ params["head"], batch["y"])

    def local_step(state, batch):
        loss, grads = lax.pmean(jax.value_and_grad(loss_fn)(state["params"], batch), "data")
        return {"params": models.sgd(state["params"], grads)}, {"loss": loss}

    def step(state, batch):
        return jax.shard_map(local_step, mesh=models.mesh_of(devices, data=RANKS), in_specs=(P(), P("data")),
                             out_specs=(P(), P()), check_vma=False)(state, batch)

    rng = np.random.default_rng(0)
    params = {"stack": rng.normal(0, 0.1, (DEPTH, WIDTH, WIDTH)).astype(np.float32),
              "head": rng.normal(0, 0.1, (WIDTH, 10)).astype(np.float32)}
    return step, {"params": params}, models.labelled(WIDTH)
