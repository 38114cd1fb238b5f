"""A table that is the input's embedding and, transposed, the last layer; a weight that is applied in every
iteration of a scan and once more behind it. Autodiff reduces each use by itself (check_vma=True)."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

import models

RANKS = 4
WORDS, WIDTH = 64, 32


def make(devices):
    def loss_fn(params, batch):
        hidden = params["embed"][batch["x"]]
        hidden, _ = lax.scan(lambda h, _: (jnp.tanh(h @ params["w"]), None), hidden, None, length=3)
        logits = jnp.tanh(hidden @ params["w"].T) @ params["embed"].T
        return lax.pmean(models.cross_entropy(logits, batch["y"]), "data")

    def local_step(state, batch):
        loss, grads = jax.value_and_grad(loss_fn)(state["params"], batch)
        return {"params": models.sgd(state["params"], grads)}, {"loss": loss}

    def step(state, batch):
        return jax.shard_map(local_step, mesh=models.mesh_of(devices, data=RANKS), in_specs=(P(), P("data")),
                             out_specs=(P(), P()))(state, batch)

    rng = np.random.default_rng(0)
    params = {"embed": rng.normal(0, 0.3, (WORDS, WIDTH)).astype(np.float32),
              "w": rng.normal(0, 0.2, (WIDTH, WIDTH)).astype(np.float32)}
    batch = {"x": rng.integers(0, WORDS, 64).astype(np.int32), "y": rng.integers(0, WORDS, 64).astype(np.int32)}
    return step, {"params": params}, batch
