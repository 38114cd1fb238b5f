"""optax.MultiSteps: gradients of two batches are accumulated before parameters change; blocks are computed again in the
backward pass (jax.checkpoint), gradients are clipped, and the state is donated."""

import functools

import digits
import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.MultiSteps(optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(optax.cosine_decay_schedule(3e-3, 60))), 2)


@jax.checkpoint
def block(weights, x):
    return x + jax.nn.relu(x @ weights["up"]) @ weights["down"]


def loss_fn(params, points, labels):
    x = points
    for weights in params["blocks"]:
        x = block(weights, x)
    return optax.softmax_cross_entropy_with_integer_labels(x @ params["head"], labels).mean()


@functools.partial(jax.jit, donate_argnums=(0, 1))
def train_step(params, opt_state, batch):
    loss, grads = jax.value_and_grad(loss_fn)(params, *batch)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, {"loss": loss, "norm": optax.global_norm(grads)}


random = np.random.default_rng(0)
draw = lambda *shape: (random.normal(size=shape) / shape[0] ** 0.5).astype(np.float32)
params = {"blocks": [{"up": draw(64, 256), "down": 0.1 * draw(256, 64)} for _ in range(2)], "head": draw(64, 10)}
params, opt_state = digits.place(params), digits.place(optimizer.init(jax.tree.map(jnp.asarray, params)))
for batch in digits.batches():
    params, opt_state, metrics = train_step(params, opt_state, batch)
print(f"loss {digits.value(metrics['loss']):.6f}")
