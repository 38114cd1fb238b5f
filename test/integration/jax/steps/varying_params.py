"""Under check_vma=True, casts the parameters to varying first, so that autodiff leaves the
gradient of each rank alone, and averages it with pmean."""

import jax
from jax import lax
from jax.sharding import PartitionSpec as P

import models

RANKS = 4


def make(devices):
    def local_step(state, batch):
        params = jax.tree.map(lambda p: lax.pcast(p, "data", to="varying"), state["params"])
        loss, grads = lax.pmean(jax.value_and_grad(models.dense_loss)(params, batch), "data")
        return {"params": models.sgd(state["params"], grads)}, {"loss": loss}

    def step(state, batch):
        return jax.shard_map(local_step, mesh=models.mesh_of(devices, data=RANKS), in_specs=(P(), P("data")),
                             out_specs=(P(), P()))(state, batch)

    return step, {"params": models.dense_params(32, 64, 10)}, models.labelled(32)
