"""Plain JAX on a mesh of two axes, batch and layers split by `in_shardings`; batches stay on the host until the step is called."""

import functools

import digits
import jax
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, -1), ("data", "model"))
placed = {"w1": NamedSharding(mesh, P(None, "model")), "b1": NamedSharding(mesh, P("model")),
          "w2": NamedSharding(mesh, P("model", None)), "b2": NamedSharding(mesh, P())}
rows = NamedSharding(mesh, P("data"))


def loss_fn(params, points, labels):
    hidden = jax.nn.relu(points @ params["w1"] + params["b1"])
    return optax.softmax_cross_entropy_with_integer_labels(hidden @ params["w2"] + params["b2"], labels).mean()


@functools.partial(jax.jit, in_shardings=(placed, (rows, rows)), out_shardings=(placed, None), donate_argnums=0)
def train_step(params, batch):
    loss, grads = jax.value_and_grad(loss_fn)(params, *batch)
    return jax.tree.map(lambda param, grad: param - 0.05 * grad, params, grads), loss


random = np.random.default_rng(0)
params = {"w1": (random.normal(size=(64, 256)) / 8).astype(np.float32), "b1": np.zeros(256, np.float32),
          "w2": (random.normal(size=(256, 10)) / 16).astype(np.float32), "b2": np.zeros(10, np.float32)}
params = jax.tree.map(jax.device_put, params, placed)
for batch in digits.batches():
    params, loss = train_step(params, jax.tree.map(np.asarray, batch))
print(f"loss {digits.value(loss):.6f}")
