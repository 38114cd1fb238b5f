"""Layers stacked in one array, under lax.scan within a shard_map: each layer is computed again in the backward pass."""

import digits
import jax
import numpy as np
import optax
from jax import lax
from jax.sharding import PartitionSpec as P

optimizer = optax.adam(2e-3)


def loss_fn(params, points, labels):
    def layer(x, weights):
        return x + jax.nn.relu(x @ weights["w"] + weights["b"]) @ weights["out"], None

    x, _ = lax.scan(jax.checkpoint(layer), points, params["layers"])
    return optax.softmax_cross_entropy_with_integer_labels(x @ params["head"], labels).mean()


def train_step(params, opt_state, batch):
    loss, grads = jax.value_and_grad(loss_fn)(params, *batch)
    loss, grads = lax.pmean((loss, grads), "data")
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


train_step = jax.jit(jax.shard_map(train_step, mesh=digits.mesh, in_specs=(P(), P(), P("data")), out_specs=P(),
                                   check_vma=False), donate_argnums=(0, 1))
random = np.random.default_rng(0)
draw = lambda *shape: (random.normal(size=shape) / shape[-2] ** 0.5).astype(np.float32)
params = {"layers": {"w": draw(3, 64, 128), "b": np.zeros((3, 128), np.float32), "out": 0.1 * draw(3, 128, 64)}, "head": draw(64, 10)}
params, opt_state = digits.place(params), digits.place(optimizer.init(params))
for batch in digits.batches():
    params, opt_state, loss = train_step(params, opt_state, batch)
print(f"loss {digits.value(loss):.6f}")
