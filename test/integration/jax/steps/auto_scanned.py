"""jit with shardings alone, layers stacked under a rematerialised scan, their weights split over the devices as well as the
samples: the partitioner gathers a layer's weights in each trip of the loops over layers."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec as P

import models

RANKS = 4
DEPTH, WIDTH = 4, 32


def make(devices):
    mesh = models.mesh_of(devices, data=len(devices))
    whole, samples = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))
    shards = {"head": whole, "v": NamedSharding(mesh, P(None, None, "data")), "w": NamedSharding(mesh, P(None, "data"))}

    @jax.checkpoint
    def layer(x, weights):
        weights = jax.tree.map(lambda weight: lax.with_sharding_constraint(weight, whole), weights)
        x = x + jnp.tanh(x @ weights["w"])
        return lax.with_sharding_constraint(x + jnp.tanh(x @ weights["v"]), samples), None

    def loss_fn(params, batch):
        x, _ = lax.scan(layer, batch["x"], {"v": params["v"], "w": params["w"]})
        return models.cross_entropy(x @ params["head"], batch["y"])

    def step(state, batch):
        loss, grads = jax.value_and_grad(loss_fn)(state["params"], batch)
        params = jax.tree.map(lax.with_sharding_constraint, models.sgd(state["params"], grads), shards)
        return {"params": params}, {"loss": loss}

    rng = np.random.default_rng(0)
    params = {"head": models.matrix(rng, WIDTH, 10), "v": models.matrix(rng, DEPTH, WIDTH, WIDTH),
              "w": models.matrix(rng, DEPTH, WIDTH, WIDTH)}
    state = {"params": jax.tree.map(jax.device_put, params, shards)}
    return jax.jit(step, donate_argnums=0), state, jax.device_put(models.labelled(WIDTH, samples=8 * len(devices)), samples)
