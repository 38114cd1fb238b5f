"""Master weights in f32, everything else in bf16 with a scaled loss: gradients are summed in bf16 within a shard_map."""

import digits
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax
from jax.sharding import PartitionSpec as P

optimizer, SCALE = optax.sgd(0.05, momentum=0.9), 128.0


def loss_fn(params, points, labels):
    hidden = jax.nn.relu(points.astype(jnp.bfloat16) @ params["w1"] + params["b1"])
    logits = (hidden @ params["w2"] + params["b2"]).astype(jnp.float32)
    return SCALE * optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


def train_step(params, opt_state, batch):
    half = jax.tree.map(lambda leaf: leaf.astype(jnp.bfloat16), params)
    loss, grads = lax.pmean(jax.value_and_grad(loss_fn)(half, *batch), "data")
    grads = jax.tree.map(lambda leaf: leaf.astype(jnp.float32) / SCALE, grads)
    finite = jnp.all(jnp.asarray([jnp.all(jnp.isfinite(leaf)) for leaf in jax.tree.leaves(grads)]))
    updates, next_state = optimizer.update(grads, opt_state, params)
    keep = lambda new, old: jnp.where(finite, new, old)
    return jax.tree.map(keep, optax.apply_updates(params, updates), params), jax.tree.map(keep, next_state, opt_state), loss / SCALE


train_step = jax.jit(jax.shard_map(train_step, mesh=digits.mesh, in_specs=(P(), P(), P("data")), out_specs=P(),
                                   check_vma=False), donate_argnums=(0, 1))
random = np.random.default_rng(0)
params = {"w1": (random.normal(size=(64, 256)) / 8).astype(np.float32), "b1": np.zeros(256, np.float32),
          "w2": (random.normal(size=(256, 10)) / 16).astype(np.float32), "b2": np.zeros(10, np.float32)}
params, opt_state = digits.place(params), digits.place(optimizer.init(params))
for batch in digits.batches():
    params, opt_state, loss = train_step(params, opt_state, batch)
print(f"loss {digits.value(loss):.6f}")
