"""Code of the years of jax.pmap: state replicated on a leading axis, a batch in as many parts as there are devices."""

import functools

import digits
import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.sgd(0.05, momentum=0.9)
count = jax.local_device_count()


def loss_fn(params, points, labels):
    hidden = jnp.tanh(points @ params["w1"] + params["b1"])
    return optax.softmax_cross_entropy_with_integer_labels(hidden @ params["w2"] + params["b2"], labels).mean()


@functools.partial(jax.pmap, axis_name="batch", donate_argnums=(0, 1))
def train_step(params, opt_state, points, labels):
    loss, grads = jax.value_and_grad(loss_fn)(params, points, labels)
    grads = jax.lax.pmean(grads, axis_name="batch")
    loss = jax.lax.pmean(loss, axis_name="batch")
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


def replicate(tree):
    return jax.tree.map(lambda leaf: jnp.stack([jnp.asarray(leaf)] * count), tree)


random = np.random.default_rng(0)
params = {"w1": (random.normal(size=(64, 256)) / 8).astype(np.float32), "b1": np.zeros(256, np.float32),
          "w2": (random.normal(size=(256, 10)) / 16).astype(np.float32), "b2": np.zeros(10, np.float32)}
params, opt_state = replicate(params), replicate(optimizer.init(params))
points, labels = digits.samples()
for step in range(digits.STEPS):
    rows = np.arange(step * 64, step * 64 + 64) % len(labels)
    own = np.array_split(rows, jax.process_count())[jax.process_index()]
    params, opt_state, loss = train_step(params, opt_state, points[own].reshape(count, -1, 64), labels[own].reshape(count, -1))
print(f"loss {digits.value(loss):.6f}")
