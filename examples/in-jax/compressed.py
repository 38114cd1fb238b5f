"""Trains a classifier of handwritten digits, data-parallel over all devices: plain.py and two lines more.

    XLA_FLAGS=--xla_force_host_platform_device_count=4 python compressed.py
"""

import cgx_jax
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import NamedSharding, PartitionSpec as P
from sklearn.datasets import load_digits

LAYERS = (64, 256, 128, 10)
BATCH, EPOCHS = 64, 20
HELD_OUT = 360  # samples to validate with

mesh = jax.make_mesh((jax.device_count(),), ("data",))
optimizer = optax.adamw(2e-3)


def init_params(seed=0):
    rng = np.random.default_rng(seed)
    return [{"w": rng.normal(0, np.sqrt(2 / fan_in), (fan_in, fan_out)).astype(np.float32),
             "b": np.zeros(fan_out, np.float32)} for fan_in, fan_out in zip(LAYERS, LAYERS[1:])]


def predict(params, image):
    for layer in params[:-1]:
        image = jax.nn.relu(image @ layer["w"] + layer["b"])
    return image @ params[-1]["w"] + params[-1]["b"]


def loss_fn(params, batch):
    return optax.softmax_cross_entropy_with_integer_labels(predict(params, batch["image"]), batch["label"]).mean()


def train_step(params, opt_state, batch):
    def local(params, opt_state, batch):
        loss, grads = jax.lax.pmean(jax.value_and_grad(loss_fn)(params, batch), "data")
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    return jax.shard_map(local, mesh=mesh, in_specs=(P(), P(), P("data")), out_specs=P(),
                         check_vma=False)(params, opt_state, batch)


train_step = jax.jit(train_step, donate_argnums=(0, 1))
train_step = cgx_jax.compress(train_step, bits=4, report=True)


def main():
    digits = load_digits()
    order = np.random.default_rng(0).permutation(len(digits.target))
    image = ((digits.data - digits.data.mean()) / digits.data.std()).astype(np.float32)[order]
    label = digits.target.astype(np.int32)[order]
    held_out, image = image[:HELD_OUT], image[HELD_OUT:]
    held_out_label, label = label[:HELD_OUT], label[HELD_OUT:]

    replicated, split = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))
    params = jax.device_put(init_params(), replicated)
    opt_state = jax.device_put(optimizer.init(params), replicated)
    for epoch in range(EPOCHS):
        shuffled = np.random.default_rng(epoch).permutation(len(label))
        for first in range(0, len(label) - BATCH + 1, BATCH):
            rows = shuffled[first:first + BATCH]
            batch = jax.device_put({"image": image[rows], "label": label[rows]}, split)
            params, opt_state, loss = train_step(params, opt_state, batch)
        loss = float(loss)  # JAX on CPUs may hang when it runs more than 32 steps ahead
    accuracy = jnp.mean(jnp.argmax(predict(params, held_out), axis=1) == held_out_label)
    print(f"loss {loss:.4f}, accuracy {float(accuracy):.2%}")


if __name__ == "__main__":
    main()
