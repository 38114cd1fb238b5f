"""Code of jax.pmap brought to jit: each device has its replica of the state on a leading axis, which a shard_map takes off; a
loss and a norm of gradients come back from each device."""

import functools

import digits
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import PartitionSpec as P

optimizer = optax.adamw(2e-3)


def loss_fn(params, points, labels):
    hidden = jnp.tanh(points @ params["w1"] + params["b1"])
    return optax.softmax_cross_entropy_with_integer_labels(hidden @ params["w2"] + params["b2"], labels).mean()


def replicated(local):
    """Does the work of jax.pmap."""
    def of_one(*stacked):
        results = local(*jax.tree.map(lambda leaf: leaf[0], stacked))
        return jax.tree.map(lambda leaf: leaf[None], results)
    return functools.wraps(local)(jax.shard_map(of_one, mesh=digits.mesh, in_specs=P("data"), out_specs=P("data"), check_vma=False))


@functools.partial(jax.jit, donate_argnums=0)
@replicated
def train_step(state, points, labels):
    params, opt_state = state
    loss, grads = jax.value_and_grad(loss_fn)(params, points, labels)
    grads = jax.lax.pmean(grads, "data")
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return (optax.apply_updates(params, updates), opt_state), jax.lax.pmean(loss, "data"), optax.global_norm(grads)


random = np.random.default_rng(0)
params = {"w1": (random.normal(size=(64, 256)) / 8).astype(np.float32), "b1": np.zeros(256, np.float32),
          "w2": (random.normal(size=(256, 10)) / 16).astype(np.float32), "b2": np.zeros(10, np.float32)}
count = digits.mesh.size
stack = lambda tree: jax.tree.map(lambda leaf: np.stack([np.asarray(leaf)] * count), tree)
state = digits.place(stack((params, optimizer.init(params))), P("data"))
points, labels = digits.samples()
for step in range(digits.STEPS):
    rows = np.arange(step * 64, step * 64 + 64) % len(labels)
    state, loss, norm = train_step(state, *digits.place((points[rows].reshape(count, -1, 64), labels[rows].reshape(count, -1)), P("data")))
replicas = [np.asarray(shard.data) for shard in state[0]["w1"].addressable_shards]
assert all(np.array_equal(each, replicas[0]) for each in replicas), "replicas have drifted apart"
print(f"loss {digits.value(loss):.6f}")
