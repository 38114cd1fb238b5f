"""Plain JAX and optax: gradients come from one jitted function, another changes the parameters, a third evaluates."""

import digits
import jax
import numpy as np
import optax

optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3))


@jax.jit
def evaluate(params, points, labels):
    return loss_fn(params, points, labels)


def loss_fn(params, points, labels):
    hidden = jax.nn.relu(points @ params["w1"] + params["b1"])
    return optax.softmax_cross_entropy_with_integer_labels(hidden @ params["w2"] + params["b2"], labels).mean()


@jax.jit
def apply(params, opt_state, grads):
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state


random = np.random.default_rng(0)
params = {"w1": (random.normal(size=(64, 256)) / 8).astype(np.float32), "b1": np.zeros(256, np.float32),
          "w2": (random.normal(size=(256, 10)) / 16).astype(np.float32), "b2": np.zeros(10, np.float32)}
params, opt_state = digits.place(params), digits.place(optimizer.init(params))
gradients = jax.jit(jax.value_and_grad(loss_fn))
for batch in digits.batches():
    loss, grads = gradients(params, *batch)
    params, opt_state = apply(params, opt_state, grads)
print(f"loss {digits.value(evaluate(params, *batch)):.6f}")
