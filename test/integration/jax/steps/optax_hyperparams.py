"""Adam from optax with its numbers in the state: learning rate, decays and epsilon are arguments of the step,
and the schedule of the learning rate is what the step makes of it for the next one."""

import jax
import optax
from jax import lax
from jax.sharding import PartitionSpec as P

import models

RANKS = 4


def make(devices, decay=0.8):
    optimizer = optax.inject_hyperparams(optax.adam)(learning_rate=1e-2)

    def local_step(state, batch):
        loss, grads = lax.pmean(jax.value_and_grad(models.dense_loss)(state["params"], batch), "data")
        updates, opt = optimizer.update(grads, state["opt"])
        params = optax.apply_updates(state["params"], updates)
        rate = {"learning_rate": opt.hyperparams["learning_rate"] * decay}
        return {"params": params, "opt": opt._replace(hyperparams=opt.hyperparams | rate)}, {"loss": loss}

    def step(state, batch):
        return jax.shard_map(local_step, mesh=models.mesh_of(devices, data=RANKS), in_specs=(P(), P("data")),
                             out_specs=(P(), P()), check_vma=False)(state, batch)

    params = models.dense_params(32, 64, 10)
    return step, {"params": params, "opt": optimizer.init(params)}, models.labelled(32)
