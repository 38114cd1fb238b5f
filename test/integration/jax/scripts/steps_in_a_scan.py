"""The loop is in the jitted function: five steps for each call, under lax.scan over their batches."""

import digits
import jax
import numpy as np
import optax
from jax import lax
from jax.sharding import PartitionSpec as P

optimizer = optax.adam(1e-3)


def loss_fn(params, points, labels):
    hidden = jax.nn.relu(points @ params["w1"] + params["b1"])
    return optax.softmax_cross_entropy_with_integer_labels(hidden @ params["w2"] + params["b2"], labels).mean()


def train_steps(state, batches):
    def one(state, batch):
        params, opt_state = state
        loss, grads = lax.pmean(jax.value_and_grad(loss_fn)(params, *batch), "data")
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return (optax.apply_updates(params, updates), opt_state), loss
    return lax.scan(one, state, batches)


train_steps = jax.jit(jax.shard_map(train_steps, mesh=digits.mesh, in_specs=(P(), P(None, "data")), out_specs=P(),
                                    check_vma=False), donate_argnums=0)
random = np.random.default_rng(0)
params = {"w1": (random.normal(size=(64, 256)) / 8).astype(np.float32), "b1": np.zeros(256, np.float32),
          "w2": (random.normal(size=(256, 10)) / 16).astype(np.float32), "b2": np.zeros(10, np.float32)}
state = digits.place((params, optimizer.init(params)))
points, labels = digits.samples()
for call in range(digits.STEPS):
    rows = np.arange(call * 320, call * 320 + 320) % len(labels)
    state, losses = train_steps(state, digits.place((points[rows].reshape(5, 64, 64), labels[rows].reshape(5, 64)), P(None, "data")))
print(f"loss {float(np.asarray(losses.addressable_shards[0].data)[-1]):.6f}")
