"""bf16 with a dynamic loss scale: lax.cond skips a step whose gradients are not finite, and two of the batches
overflow. The step is jit with shardings alone."""

import functools

import digits
import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.adamw(2e-3)


def loss_fn(params, points, labels):
    half = jax.tree.map(lambda leaf: leaf.astype(jnp.bfloat16), params)
    hidden = jax.nn.relu(points.astype(jnp.bfloat16) @ half["w1"] + half["b1"])
    logits = (hidden @ half["w2"] + half["b2"]).astype(jnp.float32)
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


@functools.partial(jax.jit, donate_argnums=0)
def train_step(state, batch):
    params, opt_state, scale, skipped = state
    loss, grads = jax.value_and_grad(lambda params: loss_fn(params, *batch) * scale)(params)
    grads = jax.tree.map(lambda leaf: leaf / scale, grads)
    finite = jnp.all(jnp.asarray([jnp.all(jnp.isfinite(leaf)) for leaf in jax.tree.leaves(grads)]))

    def update():
        updates, following = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), following, scale * 1.5, skipped

    state = jax.lax.cond(finite, update, lambda: (params, opt_state, scale / 2, skipped + 1))
    return state, loss / scale


random = np.random.default_rng(0)
params = {"w1": (random.normal(size=(64, 256)) / 8).astype(np.float32), "b1": np.zeros(256, np.float32),
          "w2": (random.normal(size=(256, 10)) / 16).astype(np.float32), "b2": np.zeros(10, np.float32)}
state = digits.place((params, optimizer.init(params), np.float32(1024), np.int32(0)))
for step, (points, labels) in enumerate(digits.batches()):
    if step in (3, 11):
        points = digits.place(np.full((64, 64), np.inf, np.float32), digits.P("data"))
    state, loss = train_step(state, (points, labels))
assert digits.value(state[3]) == 2, "two steps are skipped, on all devices"
print(f"loss {digits.value(loss):.6f}")
