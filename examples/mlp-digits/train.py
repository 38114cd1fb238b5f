"""Trains a 3-layer classifier on the UCI handwritten digits, data-parallel on four devices.

    python train.py                # trains and validates, in JAX alone
    python train.py --export .     # writes what cgx needs to do the same without Python
"""

import argparse
import functools
import os

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=4")

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P
from sklearn.datasets import load_digits

LAYERS = (64, 256, 128, 10)
BATCH = 64  # global: 16 samples on each of four devices
VALIDATION = 360  # samples, evaluated in one step
LEARNING_RATE, MOMENTUM = 0.02, 0.9
STEPS = 440  # 20 epochs of 22 batches

mesh = jax.sharding.Mesh(np.array(jax.devices()), ("data",))


def load_data(seed=0):
    """Returns the digits, shuffled once: standardized pixels and labels, for training and validation."""
    digits = load_digits()
    order = np.random.default_rng(seed).permutation(len(digits.target))
    pixels = digits.data[order]
    data = {"image": ((pixels - pixels.mean()) / pixels.std()).astype(np.float32),
            "label": digits.target[order].astype(np.int32)}
    return jax.tree.map(lambda a: a[VALIDATION:], data), jax.tree.map(lambda a: a[:VALIDATION], data)


def init_state(seed=0):
    """Returns He-initialized weights and a momentum of zero."""
    rng = np.random.default_rng(seed)
    params = {}
    for i, (fan_in, fan_out) in enumerate(zip(LAYERS, LAYERS[1:])):
        weight = rng.normal(0, np.sqrt(2 / fan_in), (fan_in, fan_out))
        params[f"dense{i}"] = {"kernel": weight.astype(np.float32), "bias": np.zeros(fan_out, np.float32)}
    return {"params": params, "momentum": jax.tree.map(np.zeros_like, params)}


def predict(params, image):
    """Returns logits of shape [samples, 10]."""
    x = jax.nn.relu(image @ params["dense0"]["kernel"] + params["dense0"]["bias"])
    x = jax.nn.relu(x @ params["dense1"]["kernel"] + params["dense1"]["bias"])
    return x @ params["dense2"]["kernel"] + params["dense2"]["bias"]


def loss_fn(params, batch):
    logits = predict(params, batch["image"])
    log_probs = jax.nn.log_softmax(logits)
    loss = -jnp.mean(jnp.take_along_axis(log_probs, batch["label"][:, None], axis=1))
    accuracy = jnp.mean((jnp.argmax(logits, axis=1) == batch["label"]).astype(jnp.float32))
    return loss, accuracy


# check_vma=False: the gradient that autodiff returns is that of each device's own samples, and
# the pmean below makes it the gradient of the whole batch.
@functools.partial(jax.jit, donate_argnums=0)
@functools.partial(jax.shard_map, mesh=mesh, in_specs=(P(), P("data")), out_specs=(P(), P()), check_vma=False)
def train_step(state, batch):
    (loss, accuracy), grads = jax.value_and_grad(loss_fn, has_aux=True)(state["params"], batch)
    grads = lax.pmean(grads, "data")
    momentum = jax.tree.map(lambda m, g: MOMENTUM * m + g, state["momentum"], grads)
    params = jax.tree.map(lambda p, m: p - LEARNING_RATE * m, state["params"], momentum)
    metrics = lax.pmean({"loss": loss, "accuracy": accuracy}, "data")
    return {"params": params, "momentum": momentum}, metrics


@jax.jit
@functools.partial(jax.shard_map, mesh=mesh, in_specs=(P(), P("data")), out_specs=P())
def eval_step(state, batch):
    loss, accuracy = loss_fn(state["params"], batch)
    return lax.pmean({"loss": loss, "accuracy": accuracy}, "data")


def batches(data):
    """Batch after batch, epoch after epoch; what does not fill a batch is left out."""
    samples = len(data["label"])
    while True:
        for begin in range(0, samples - BATCH + 1, BATCH):
            yield jax.tree.map(lambda a: a[begin:begin + BATCH], data)


def train(steps):
    training, validation = load_data()
    state = init_state()
    for step, batch in zip(range(steps), batches(training)):
        state, metrics = train_step(state, batch)
        loss, accuracy = float(metrics["loss"]), float(metrics["accuracy"])
        if step % 50 == 0 or step == steps - 1:
            print(f"step {step:4d}  loss {loss:.4f}  accuracy {accuracy:.3f}")
    metrics = eval_step(state, validation)
    print(f"validation  loss {metrics['loss']:.4f}  accuracy {metrics['accuracy']:.4f}")


def export(folder):
    import cgx_jax  # pip install tools/jax

    training, validation = load_data()
    state = init_state()
    cgx_jax.export_step(train_step, state, next(batches(training)), folder)
    cgx_jax.export_step(eval_step, state, validation, folder, name="eval", write_state=False)
    cgx_jax.write_batches(f"{folder}/train.safetensors", training)
    cgx_jax.write_batches(f"{folder}/validation.safetensors", validation)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--export", metavar="FOLDER")
    arguments = parser.parse_args()
    if arguments.export:
        export(arguments.export)
    else:
        train(arguments.steps)
