"""A convolutional network: strided and padded convolutions, their two transposes, max and
average pooling, kernels of rank four."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

import models

RANKS = 4


def make(devices):
    def conv(kernel, x, stride):
        return lax.conv_general_dilated(x, kernel, (stride, stride), "SAME",
                                        dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def loss_fn(params, batch):
        x = jax.nn.relu(conv(params["conv0"], batch["x"], 1) + params["bias0"])
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        x = jax.nn.relu(conv(params["conv1"], x, 2) + params["bias1"])
        return models.cross_entropy(x.mean((1, 2)) @ params["head"], batch["y"])

    def local_step(state, batch):
        loss, grads = lax.pmean(jax.value_and_grad(loss_fn)(state["params"], batch), "data")
        return {"params": models.sgd(state["params"], grads)}, {"loss": loss}

    def step(state, batch):
        return jax.shard_map(local_step, mesh=models.mesh_of(devices, data=RANKS), in_specs=(P(), P("data")),
                             out_specs=(P(), P()), check_vma=False)(state, batch)

    rng = np.random.default_rng(0)
    params = {"conv0": rng.normal(0, 0.2, (3, 3, 3, 16)).astype(np.float32), "bias0": np.zeros(16, np.float32),
              "conv1": rng.normal(0, 0.1, (3, 3, 16, 32)).astype(np.float32), "bias1": np.zeros(32, np.float32),
              "head": rng.normal(0, 0.2, (32, 10)).astype(np.float32)}
    return step, {"params": params}, models.labelled(8, 8, 3)
