"""Trains a decoder-only language model on the King James Bible, byte by byte, data-parallel
on four devices.

    python train.py                # trains and validates, in JAX alone
    python train.py --export .     # writes what cgx needs to do the same without Python
"""

import argparse
import functools
import os
import pathlib

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=4")

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax
from jax.sharding import PartitionSpec as P

VOCABULARY = 256  # bytes
CONTEXT, WIDTH, HEADS, BLOCKS = 64, 192, 6, 2  # 1.0 million parameters
BATCH = 16  # windows, global: 4 on each of four devices
VALIDATION = 256  # windows from the end of the text, evaluated in one step
STEPS = 700

mesh = jax.sharding.Mesh(np.array(jax.devices()), ("data",))

schedule = optax.warmup_cosine_decay_schedule(0.0, peak_value=1.5e-3, warmup_steps=100, decay_steps=STEPS,
                                              end_value=0.0)
optimizer = optax.chain(
    optax.clip_by_global_norm(1.0),
    optax.adamw(schedule, b1=0.9, b2=0.99, weight_decay=0.1,
                mask=lambda params: jax.tree.map(lambda p: p.ndim > 1, params)),
)


def load_data(seed=0):
    """Windows of CONTEXT + 1 bytes: those of the training text in random order, then those of
    the text's end for validation."""
    text = np.frombuffer(pathlib.Path(__file__).with_name("king-james.txt").read_bytes(), np.uint8)
    windows = text[:len(text) // (CONTEXT + 1) * (CONTEXT + 1)].reshape(-1, CONTEXT + 1)
    training, validation = windows[:-VALIDATION], windows[-VALIDATION:]
    return ({"tokens": np.random.default_rng(seed).permutation(training)}, {"tokens": validation})


def init_params(seed=0):
    """Normal weights, those that write to the residual stream smaller by the depth."""
    rng = np.random.default_rng(seed)

    def normal(*shape, scale=0.02):
        return rng.normal(0, scale, shape).astype(np.float32)

    def norm():
        return {"scale": np.ones(WIDTH, np.float32), "bias": np.zeros(WIDTH, np.float32)}

    def linear(fan_in, fan_out, scale=0.02):
        return {"kernel": normal(fan_in, fan_out, scale=scale), "bias": np.zeros(fan_out, np.float32)}

    residual = 0.02 / np.sqrt(2 * BLOCKS)
    return {
        "token": normal(VOCABULARY, WIDTH),
        "position": normal(CONTEXT, WIDTH),
        "blocks": [{
            "norm1": norm(),
            "qkv": linear(WIDTH, 3 * WIDTH),
            "proj": linear(WIDTH, WIDTH, residual),
            "norm2": norm(),
            "fc1": linear(WIDTH, 4 * WIDTH),
            "fc2": linear(4 * WIDTH, WIDTH, residual),
        } for _ in range(BLOCKS)],
        "norm": norm(),
        "head": normal(WIDTH, VOCABULARY),
    }


def init_state(seed=0):
    params = init_params(seed)
    return {"params": params, "opt": jax.jit(optimizer.init)(params)}


def layer_norm(p, x):
    mean = x.mean(-1, keepdims=True)
    variance = jnp.square(x - mean).mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * p["scale"] + p["bias"]


def linear(p, x):
    return x @ p["kernel"] + p["bias"]


def attention(p, x):
    batch, length, width = x.shape
    qkv = linear(p["qkv"], x).reshape(batch, length, 3, HEADS, width // HEADS)
    q, k, v = qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2]
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(width // HEADS)
    causal = jnp.tril(jnp.ones((length, length), bool))
    weights = jax.nn.softmax(jnp.where(causal, scores, -1e9), axis=-1)
    return linear(p["proj"], jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(x.shape))


def mlp(p, x):
    return linear(p["fc2"], jax.nn.gelu(linear(p["fc1"], x)))


def logits_fn(params, tokens):
    """Returns logits of shape [batch, length, VOCABULARY] for tokens of shape [batch, length]."""
    x = params["token"][tokens] + params["position"]
    for block in params["blocks"]:
        x = x + attention(block, layer_norm(block["norm1"], x))
        x = x + mlp(block, layer_norm(block["norm2"], x))
    return layer_norm(params["norm"], x) @ params["head"]


def loss_fn(params, batch):
    """Returns the mean loss over the whole batch, on all devices together."""
    inputs, targets = batch["tokens"][:, :-1], batch["tokens"][:, 1:]
    logits = logits_fn(params, inputs)
    loss = optax.softmax_cross_entropy_with_integer_labels(logits, targets).mean()
    accuracy = (logits.argmax(-1) == targets).astype(jnp.float32).mean()
    return lax.pmean(loss, "data"), lax.pmean(accuracy, "data")


# The parameters are the same on all devices and the loss is the mean over them, which jax.shard_map
# knows (check_vma=True, its default): autodiff itself sums the gradient over the devices.
def train_step(state, batch):
    (loss, accuracy), grads = jax.value_and_grad(loss_fn, has_aux=True)(state["params"], batch)
    updates, opt = optimizer.update(grads, state["opt"], state["params"])
    params = optax.apply_updates(state["params"], updates)
    metrics = {"loss": loss, "accuracy": accuracy, "grad_norm": optax.tree.norm(grads)}
    return {"params": params, "opt": opt}, metrics


def eval_step(state, batch):
    loss, accuracy = loss_fn(state["params"], batch)
    return {"loss": loss, "accuracy": accuracy}


train_step = jax.jit(jax.shard_map(train_step, mesh=mesh, in_specs=(P(), P("data")), out_specs=(P(), P())),
                     donate_argnums=0)
eval_step = jax.jit(jax.shard_map(eval_step, mesh=mesh, in_specs=(P(), P("data")), out_specs=P()))


def batches(data):
    """Batch after batch, epoch after epoch; what does not fill a batch is left out."""
    while True:
        for begin in range(0, len(data["tokens"]) - BATCH + 1, BATCH):
            yield {"tokens": data["tokens"][begin:begin + BATCH].astype(np.int32)}


def train(steps):
    training, validation = load_data()
    state = init_state()
    for step, batch in zip(range(steps), batches(training)):
        state, metrics = train_step(state, batch)
        loss, norm = float(metrics["loss"]), float(metrics["grad_norm"])
        if step % 20 == 0 or step == steps - 1:
            print(f"step {step:4d}  loss {loss:.4f}  gradient norm {norm:.3f}", flush=True)
    metrics = eval_step(state, {"tokens": validation["tokens"].astype(np.int32)})
    print(f"validation  loss {metrics['loss']:.4f}  accuracy {metrics['accuracy']:.4f}")


def export(folder):
    import cgx_jax  # pip install tools/jax

    training, validation = load_data()
    state = init_state()
    cgx_jax.export_step(train_step, state, next(batches(training)), folder)
    cgx_jax.export_step(eval_step, state, {"tokens": validation["tokens"].astype(np.int32)}, folder, name="eval",
                        write_state=False)
    # Bytes, although the step takes int32: cgx-run widens them.
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
