"""Collectives in branches and loops whose conditions are equal on all ranks: a step counter of the state, a loss and
a test for finite numbers behind their reductions, a loop until a reduced residual is small."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

import models

RANKS = 4


def make(devices):
    def local_step(state, batch):
        loss, grads = jax.value_and_grad(models.dense_loss)(state["params"], batch)
        loss = lax.pmean(loss, "data")
        grads = lax.cond(state["step"] % 2 == 0, lambda g: lax.pmean(g, "data"),
                         lambda g: jax.tree.map(lambda x: lax.psum(x, "data") / RANKS, g), grads)
        finite = jnp.isfinite(loss) & jnp.all(jnp.array([jnp.all(jnp.isfinite(g)) for g in jax.tree.leaves(grads)]))
        worst = lax.cond(finite & (loss > 0), lambda x: lax.pmax(jnp.max(jnp.abs(x)), "data"),
                         lambda x: jnp.float32(0), batch["x"])

        def residual(carry):
            i, norm = carry
            return i + 1, lax.pmean(jnp.sum(batch["x"] ** 2), "data") * 0 + norm / 2

        rounds, _ = lax.while_loop(lambda carry: (carry[1] > 1e-3) & (carry[0] < 8), residual,
                                   (0, lax.pmean(jnp.sum(batch["x"] ** 2), "data")))
        params = jax.tree.map(lambda p, g: jnp.where(finite, p - 0.1 * g, p), state["params"], grads)
        return {"params": params, "step": state["step"] + 1}, {"loss": loss, "worst": worst, "rounds": rounds}

    def step(state, batch):
        return jax.shard_map(local_step, mesh=models.mesh_of(devices, data=RANKS), in_specs=(P(), P("data")),
                             out_specs=(P(), P()), check_vma=False)(state, batch)

    return step, {"params": models.dense_params(32, 64, 10), "step": np.int32(0)}, models.labelled(32)
