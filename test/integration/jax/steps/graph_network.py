"""Message passing on graphs: nodes are read by index, and messages summed by receiver, in gradients, too."""

import jax
import jax.numpy as jnp
import numpy as np

import models

RANKS = 4
GRAPHS, NODES, EDGES, WIDTH = 8, 8, 12, 32


def make(devices):
    def of_graph(params, nodes, senders, receivers):
        for layer in ("first", "second"):
            messages = jax.nn.relu(jnp.concatenate([nodes[senders], nodes[receivers]], axis=1) @ params[layer]["edge"])
            degrees = jax.ops.segment_sum(jnp.ones(EDGES), receivers, NODES)
            means = jax.ops.segment_sum(messages, receivers, NODES) / jnp.maximum(degrees, 1)[:, None]
            nodes = jax.nn.relu(nodes @ params[layer]["node"] + means)
        return jnp.mean(nodes, axis=0) @ params["output"]

    def loss_fn(params, batch):
        logits = jax.vmap(of_graph, in_axes=(None, 0, 0, 0))(params, batch["x"], batch["senders"], batch["receivers"])
        return models.cross_entropy(logits, batch["y"])

    def local_step(state, batch):
        loss, grads = models.averaged(loss_fn, state["params"], batch)
        return {"params": models.sgd(state["params"], grads)}, {"loss": loss}

    rng = np.random.default_rng(0)
    params = {layer: {"edge": models.matrix(rng, 2 * WIDTH, WIDTH), "node": models.matrix(rng, WIDTH, WIDTH)}
              for layer in ("first", "second")} | {"output": models.matrix(rng, WIDTH, 10)}
    batch = {"x": rng.normal(0, 1, (GRAPHS, NODES, WIDTH)).astype(np.float32),
             "senders": rng.integers(0, NODES, (GRAPHS, EDGES)).astype(np.int32),
             "receivers": rng.integers(0, NODES, (GRAPHS, EDGES)).astype(np.int32),
             "y": rng.integers(0, 10, GRAPHS).astype(np.int32)}
    return models.data_parallel(local_step, devices), {"params": params}, batch
