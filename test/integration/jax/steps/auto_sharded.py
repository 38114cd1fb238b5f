"""jit with shardings alone: the text that JAX prints holds no collective, since XLA's partitioner inserts
them later; cgx_jax has it do so at export."""

import jax
from jax.sharding import NamedSharding, PartitionSpec as P

import models

RANKS = 4


def make(devices):
    mesh = models.mesh_of(devices, data=RANKS)

    def step(state, batch):
        loss, grads = jax.value_and_grad(models.dense_loss)(state["params"], batch)
        return {"params": models.sgd(state["params"], grads)}, {"loss": loss}

    whole, rows = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))
    step = jax.jit(step, in_shardings=(whole, rows), out_shardings=(whole, whole), donate_argnums=0)
    return step, {"params": models.dense_params(32, 64, 10)}, models.labelled(32)
