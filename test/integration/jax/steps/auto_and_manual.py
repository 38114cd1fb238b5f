"""A shard_map over `data` that leaves `model` to the partitioner, and an update outside of it: gradients are
averaged by hand, the hidden layer is summed by whoever partitions."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec as P

import models

RANKS = 4


def make(devices):
    mesh = models.mesh_of(devices, data=2, model=2)

    def local_gradients(params, batch):
        def loss_fn(params):
            return models.cross_entropy(jnp.tanh(batch["x"] @ params["up"]) @ params["down"], batch["y"])
        params = jax.tree.map(lambda p: lax.pcast(p, ("data",), to="varying"), params)
        return lax.pmean(jax.value_and_grad(loss_fn)(params), "data")

    gradients = jax.shard_map(local_gradients, mesh=mesh, in_specs=(P(), P("data")), out_specs=P(), axis_names={"data"})

    def step(state, batch):
        loss, grads = gradients(state["params"], batch)
        return {"params": models.sgd(state["params"], grads)}, {"loss": loss}

    rng = np.random.default_rng(0)
    params = {"up": rng.normal(0, 0.2, (32, 128)).astype(np.float32),
              "down": rng.normal(0, 0.1, (128, 10)).astype(np.float32)}
    places = {"up": P(None, "model"), "down": P("model", None)}
    params = {name: jax.device_put(leaf, NamedSharding(mesh, places[name])) for name, leaf in params.items()}
    return jax.jit(step), {"params": params}, models.labelled(32)
