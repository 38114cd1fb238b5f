"""A step that prints its loss and hands it to a function of the host while it runs (jax.debug)."""

import functools

import digits
import jax
import numpy as np
import optax

seen = []


def loss_fn(params, points, labels):
    hidden = jax.nn.relu(points @ params["w1"] + params["b1"])
    return optax.softmax_cross_entropy_with_integer_labels(hidden @ params["w2"] + params["b2"], labels).mean()


@functools.partial(jax.jit, donate_argnums=0)
def train_step(params, batch):
    loss, grads = jax.value_and_grad(loss_fn)(params, *batch)
    jax.debug.print("in the step: {}", loss)
    jax.debug.callback(lambda loss: seen.append(float(loss)), loss)
    return jax.tree.map(lambda each, grad: each - 0.05 * grad, params, grads), loss


random = np.random.default_rng(0)
params = digits.place({"w1": (random.normal(size=(64, 256)) / 8).astype(np.float32), "b1": np.zeros(256, np.float32),
                       "w2": (random.normal(size=(256, 10)) / 16).astype(np.float32), "b2": np.zeros(10, np.float32)})
for batch in digits.batches():
    params, loss = train_step(params, batch)
jax.effects_barrier()
assert len(seen) == digits.STEPS, f"{len(seen)} losses were seen"
print(f"loss {digits.value(loss):.6f}")
