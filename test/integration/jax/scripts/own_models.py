"""A search: each process trains a model of its own, on its own devices and for as long as it likes, beside the others."""

import digits
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.local_devices()), ("data",))
optimizer = optax.sgd(0.05 / (1 + jax.process_index()), momentum=0.9)


def loss_fn(params, points, labels):
    hidden = jnp.tanh(points @ params["w1"] + params["b1"])
    return optax.softmax_cross_entropy_with_integer_labels(hidden @ params["w2"] + params["b2"], labels).mean()


@jax.jit
def train_step(params, opt_state, batch):
    loss, grads = jax.value_and_grad(loss_fn)(params, *batch)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


random = np.random.default_rng(0)
params = {"w1": (random.normal(size=(64, 256)) / 8).astype(np.float32), "b1": np.zeros(256, np.float32),
          "w2": (random.normal(size=(256, 10)) / 16).astype(np.float32), "b2": np.zeros(10, np.float32)}
params, opt_state = jax.device_put((params, optimizer.init(params)), NamedSharding(mesh, P()))
points, labels = digits.samples()
for step in range(digits.STEPS - 10 * jax.process_index()):
    rows = np.arange(step * 64, step * 64 + 64) % len(labels)
    batch = jax.device_put((points[rows], labels[rows]), NamedSharding(mesh, P("data")))
    params, opt_state, loss = train_step(params, opt_state, batch)
print(f"loss {digits.value(loss):.6f}")
