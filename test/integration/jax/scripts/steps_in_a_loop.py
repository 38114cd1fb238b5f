"""Five steps for each call under lax.fori_loop, which takes its batches from an array by number: jit with shardings alone, and
the state is donated."""

import functools

import digits
import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.sgd(0.002, momentum=0.9)


def loss_fn(params, points, labels):
    hidden = jax.nn.relu(points @ params["w1"] + params["b1"])
    return optax.softmax_cross_entropy_with_integer_labels(hidden @ params["w2"] + params["b2"], labels).mean()


@functools.partial(jax.jit, donate_argnums=0)
def train_steps(state, points, labels):
    def one(index, carried):
        (params, opt_state), _ = carried
        loss, grads = jax.value_and_grad(loss_fn)(params, points[index], labels[index])
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return (optax.apply_updates(params, updates), opt_state), loss
    return jax.lax.fori_loop(0, len(points), one, (state, jnp.float32(0)))


random = np.random.default_rng(0)
params = {"w1": (random.normal(size=(64, 256)) / 8).astype(np.float32), "b1": np.zeros(256, np.float32),
          "w2": (random.normal(size=(256, 10)) / 16).astype(np.float32), "b2": np.zeros(10, np.float32)}
state = digits.place((params, optimizer.init(params)))
points, labels = digits.samples()
for call in range(digits.STEPS):
    rows = np.arange(call * 320, call * 320 + 320) % len(labels)
    state, loss = train_steps(state, *digits.place((points[rows].reshape(5, 64, 64), labels[rows].reshape(5, 64)), digits.P(None, "data")))
print(f"loss {digits.value(loss):.6f}")
