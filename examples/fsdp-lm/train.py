"""Trains the language model of ../transformer-lm fully sharded (FSDP) on four devices: each holds a quarter of every
parameter and of the optimizer's state, gathers a layer's weights before it uses them, in the forward pass and again
in the backward pass, and keeps its quarter of the sum of the gradients.

    python train.py                # trains and validates, in JAX alone
    python train.py --export .     # writes the step that cgx-run trains without Python
"""

import argparse
import importlib.util
import os
import pathlib

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=4")

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax
from jax.sharding import PartitionSpec as P


def load_dense():
    """The model, the data and the evaluation of ../transformer-lm, whose script is called train.py, too."""
    path = pathlib.Path(__file__).resolve().parent.parent / "transformer-lm" / "train.py"
    spec = importlib.util.spec_from_file_location("transformer_lm", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


dense = load_dense()
RANKS = len(jax.devices())

# Clipping needs the norm over all shards, which optax does not know: `clip` below stands in the place of optax's, and
# the state has the same tree as that of transformer-lm, whose first values this step takes.
optimizer = optax.chain(
    optax.identity(),
    optax.adamw(dense.schedule, b1=0.9, b2=0.99, weight_decay=0.1,
                mask=lambda params: jax.tree.map(lambda p: p.ndim > 1, params)),
)


def gather(shards):
    """Returns the whole parameters of one layer."""
    return jax.tree.map(lambda shard: lax.all_gather(shard, "data", axis=0, tiled=True), shards)


def sharded(layer):
    """A layer that takes shards: it gathers its weights where it runs, and again where its gradients are computed.
    Everything but gathered weights is kept for the backward pass."""
    return jax.checkpoint(lambda shards, *inputs: layer(gather(shards), *inputs),
                          policy=lambda primitive, *_, **__: primitive.name != "all_gather")


@sharded
def embed(params, tokens):
    return params["token"][tokens] + params["position"]


@sharded
def run_block(block, x):
    x = x + dense.attention(block, dense.layer_norm(block["norm1"], x))
    return x + dense.mlp(block, dense.layer_norm(block["norm2"], x))


@sharded
def read_out(params, x):
    return dense.layer_norm(params["norm"], x) @ params["head"]


def loss_fn(shards, batch):
    """Returns the mean loss over the rank's own windows."""
    inputs, targets = batch["tokens"][:, :-1], batch["tokens"][:, 1:]
    x = embed({name: shards[name] for name in ("token", "position")}, inputs)
    for block in shards["blocks"]:
        x = run_block(block, x)
    logits = read_out({name: shards[name] for name in ("norm", "head")}, x)
    loss = optax.softmax_cross_entropy_with_integer_labels(logits, targets).mean()
    return loss, (logits.argmax(-1) == targets).astype(jnp.float32).mean()


def clip(grads, limit):
    """Scales gradients by the norm over all shards."""
    norm = jnp.sqrt(lax.psum(sum(jnp.sum(jnp.square(g)) for g in jax.tree.leaves(grads)), "data"))
    return jax.tree.map(lambda g: g * jnp.minimum(1.0, limit / (norm + 1e-9)), grads), norm


def train_step(state, batch):
    (loss, accuracy), grads = jax.value_and_grad(loss_fn, has_aux=True)(state["params"], batch)
    grads, norm = clip(jax.tree.map(lambda g: g / RANKS, grads), 1.0)
    updates, opt = optimizer.update(grads, state["opt"], state["params"])
    params = optax.apply_updates(state["params"], updates)
    metrics = {"loss": lax.pmean(loss, "data"), "accuracy": lax.pmean(accuracy, "data"), "grad_norm": norm}
    return {"params": params, "opt": opt}, metrics


def init_state(seed=0):
    params = dense.init_params(seed)
    return {"params": params, "opt": jax.jit(optimizer.init)(params)}


# Every array is split along its first dimension, counters are on all devices.
state_specs = jax.tree.map(lambda x: P("data") if x.ndim else P(), jax.eval_shape(init_state))
train_step = jax.jit(
    jax.shard_map(train_step, mesh=dense.mesh, in_specs=(state_specs, P("data")), out_specs=(state_specs, P())),
    donate_argnums=0)


def train(steps):
    training, validation = dense.load_data()
    state = init_state()
    for step, batch in zip(range(steps), dense.batches(training)):
        state, metrics = train_step(state, batch)
        if step % 20 == 0 or step == steps - 1:
            print(f"step {step:4d}  loss {metrics['loss']:.4f}  gradient norm {metrics['grad_norm']:.3f}", flush=True)
    metrics = dense.eval_step(jax.device_get(state), {"tokens": validation["tokens"].astype(np.int32)})
    print(f"validation  loss {metrics['loss']:.4f}  accuracy {metrics['accuracy']:.4f}")


def export(folder):
    import cgx_jax  # pip install tools/jax

    training, _ = dense.load_data()
    cgx_jax.export_step(train_step, init_state(), next(dense.batches(training)), folder, write_state=False)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=dense.STEPS)
    parser.add_argument("--export", metavar="FOLDER")
    arguments = parser.parse_args()
    if arguments.export:
        export(arguments.export)
    else:
        train(arguments.steps)
