"""Plain JAX and optax, under jit with shardings alone."""

import digits
import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.adam(1e-3)


def loss_fn(params, points, labels):
    hidden = jax.nn.relu(points @ params["w1"] + params["b1"])
    return optax.softmax_cross_entropy_with_integer_labels(hidden @ params["w2"] + params["b2"], labels).mean()


@jax.jit
def train_step(params, opt_state, batch):
    loss, grads = jax.value_and_grad(loss_fn)(params, *batch)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


random = np.random.default_rng(0)
params = {"w1": (random.normal(size=(64, 256)) / 8).astype(np.float32), "b1": np.zeros(256, np.float32),
          "w2": (random.normal(size=(256, 10)) / 16).astype(np.float32), "b2": np.zeros(10, np.float32)}
params, opt_state = digits.place(params), digits.place(optimizer.init(params))
for batch in digits.batches():
    params, opt_state, loss = train_step(params, opt_state, batch)
print(f"loss {digits.value(loss):.6f}")
