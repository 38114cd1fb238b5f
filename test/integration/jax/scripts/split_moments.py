"""jit with shardings alone: parameters on all devices, the moments of Adam split between them (ZeRO 1), all donated."""

import digits
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import NamedSharding, PartitionSpec as P

optimizer = optax.adam(1e-3)


def loss_fn(params, points, labels):
    hidden = jax.nn.gelu(points @ params["w1"] + params["b1"])
    return optax.softmax_cross_entropy_with_integer_labels(hidden @ params["w2"] + params["b2"], labels).mean()


def train_step(params, opt_state, batch):
    loss, grads = jax.value_and_grad(loss_fn)(params, *batch)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


def spec_of(leaf):
    return P("data") if leaf.ndim == 2 and leaf.shape[0] % 4 == 0 else P()


random = np.random.default_rng(0)
params = {"w1": (random.normal(size=(64, 256)) / 8).astype(np.float32), "b1": np.zeros(256, np.float32),
          "w2": (random.normal(size=(256, 10)) / 16).astype(np.float32), "b2": np.zeros(10, np.float32)}
opt_state = optimizer.init(jax.tree.map(jnp.asarray, params))
of_params = jax.tree.map(lambda leaf: NamedSharding(digits.mesh, P()), params)
of_state = jax.tree.map(lambda leaf: NamedSharding(digits.mesh, spec_of(leaf)), opt_state)
train_step = jax.jit(train_step, donate_argnums=(0, 1),
                     out_shardings=(of_params, of_state, NamedSharding(digits.mesh, P())))
params = digits.place(params)
opt_state = jax.tree.map(lambda leaf: digits.place(leaf, spec_of(np.asarray(leaf))), opt_state)
for batch in digits.batches():
    params, opt_state, loss = train_step(params, opt_state, batch)
print(f"loss {digits.value(loss):.6f}")
