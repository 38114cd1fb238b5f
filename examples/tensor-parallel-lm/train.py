"""Trains the language model of ../transformer-lm on a mesh of two axes: samples over `data`, heads and hidden units over
`model`, as Megatron does it. Each block has two sums of activations over `model` forward and two backward; with
--sequence-parallel, positions are split over `model` between products, and sums become gathers and scattered sums.

    python train.py                # trains and validates, in JAX alone
    python train.py --export .     # writes step.mlir, sequence.mlir and eval.mlir, which cgx-run runs without Python
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
    """The data, the layers and the first values of ../transformer-lm, whose script is called train.py, too."""
    path = pathlib.Path(__file__).resolve().parent.parent / "transformer-lm" / "train.py"
    spec = importlib.util.spec_from_file_location("transformer_lm", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


dense = load_dense()
MODEL = 2  # ranks that share a layer
mesh = jax.sharding.Mesh(np.array(jax.devices()).reshape(-1, MODEL), ("data", "model"))
AXES = ("data", "model")

# Clipping needs the norm over all parts: `clip` below stands in the place of optax's, so that the state has the tree
# of transformer-lm, whose first values this step takes. Columns of `qkv` are ordered by head here, so that a rank's
# columns are whole heads; its evaluation is therefore another one.
optimizer = optax.chain(
    optax.identity(),
    optax.adamw(dense.schedule, b1=0.9, b2=0.99, weight_decay=0.1,
                mask=lambda params: jax.tree.map(lambda p: p.ndim > 1, params)),
)


def spec_of(path):
    """Returns how the ranks of `model` split a parameter: by columns at the start of a layer, by rows at its end."""
    keys = [str(getattr(key, "key", "")) for key in path]
    if any(name in keys for name in ("qkv", "fc1")):
        return P(None, "model") if "kernel" in keys else P("model")
    return P("model", None) if any(name in keys for name in ("proj", "fc2")) and "kernel" in keys else P()


class Whole:
    """Every rank of `model` has all positions: a product by rows is summed up."""
    begin = staticmethod(lambda x: x)
    end = staticmethod(lambda x: lax.psum(x, "model"))
    axes = ("data",)  # the loss is a mean over these


class Sequence:
    """Between products a rank has its part of the positions: gathered before, summed up and scattered behind."""
    begin = staticmethod(lambda x: lax.all_gather(x, "model", axis=1, tiled=True))
    end = staticmethod(lambda x: lax.psum_scatter(x, "model", scatter_dimension=1, tiled=True))
    axes = AXES


def own_positions(x, form, axis):
    if form is Whole:
        return x
    length = dense.CONTEXT // MODEL
    return lax.dynamic_slice_in_dim(x, lax.axis_index("model") * length, length, axis)


def attention(p, x, form):
    x = form.begin(x)
    batch, length, _ = x.shape
    qkv = dense.linear(p["qkv"], x).reshape(batch, length, dense.HEADS // MODEL, 3, dense.WIDTH // dense.HEADS)
    q, k, v = qkv[:, :, :, 0], qkv[:, :, :, 1], qkv[:, :, :, 2]
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1])
    causal = jnp.tril(jnp.ones((length, length), bool))
    weights = jax.nn.softmax(jnp.where(causal, scores, -1e9), axis=-1)
    read = jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(batch, length, -1)
    return form.end(read @ p["proj"]["kernel"]) + p["proj"]["bias"]


def mlp(p, x, form):
    hidden = jax.nn.gelu(dense.linear(p["fc1"], form.begin(x)))
    return form.end(hidden @ p["fc2"]["kernel"]) + p["fc2"]["bias"]


def loss_fn(params, batch, form):
    """Returns the mean loss over the whole batch, on all devices together."""
    inputs, targets = (own_positions(tokens, form, axis=1) for tokens in (batch["tokens"][:, :-1], batch["tokens"][:, 1:]))
    x = params["token"][inputs] + own_positions(params["position"], form, axis=0)
    for block in params["blocks"]:
        x = x + attention(block, dense.layer_norm(block["norm1"], x), form)
        x = x + mlp(block, dense.layer_norm(block["norm2"], x), form)
    logits = dense.layer_norm(params["norm"], x) @ params["head"]
    loss = optax.softmax_cross_entropy_with_integer_labels(logits, targets).mean()
    accuracy = (logits.argmax(-1) == targets).astype(jnp.float32).mean()
    return lax.pmean(loss, form.axes), lax.pmean(accuracy, form.axes)


def clip(grads, limit):
    """Scales gradients by the norm over all parts."""
    def squares(path, g):
        own = jnp.sum(jnp.square(g))
        return lax.psum(own, "model") if "model" in spec_of(path) else own

    norm = jnp.sqrt(sum(jax.tree.leaves(jax.tree_util.tree_map_with_path(squares, grads))))
    return jax.tree.map(lambda g: g * jnp.minimum(1.0, limit / (norm + 1e-9)), grads), norm


def train_step_of(form):
    def train_step(state, batch):
        (loss, accuracy), grads = jax.value_and_grad(loss_fn, has_aux=True)(state["params"], batch, form)
        grads, norm = clip(grads, 1.0)
        updates, opt = optimizer.update(grads, state["opt"], state["params"])
        params = optax.apply_updates(state["params"], updates)
        return {"params": params, "opt": opt}, {"loss": loss, "accuracy": accuracy, "grad_norm": norm}

    return jax.jit(jax.shard_map(train_step, mesh=mesh, in_specs=(state_specs, P("data")), out_specs=(state_specs, P())),
                   donate_argnums=0)


def init_state(seed=0):
    params = dense.init_params(seed)
    return {"params": params, "opt": jax.jit(optimizer.init)(params)}


def eval_step(state, batch):
    loss, accuracy = loss_fn(state["params"], batch, Whole)
    return {"loss": loss, "accuracy": accuracy}


state_specs = jax.tree_util.tree_map_with_path(lambda path, x: spec_of(path), jax.eval_shape(init_state))
eval_step = jax.jit(jax.shard_map(eval_step, mesh=mesh, in_specs=(state_specs, P("data")), out_specs=P()))


def train(steps, form):
    training, validation = dense.load_data()
    state, train_step = init_state(), train_step_of(form)
    for step, batch in zip(range(steps), dense.batches(training)):
        state, metrics = train_step(state, batch)
        if step % 20 == 0 or step == steps - 1:
            print(f"step {step:4d}  loss {metrics['loss']:.4f}  gradient norm {metrics['grad_norm']:.3f}", flush=True)
    metrics = eval_step(state, {"tokens": validation["tokens"].astype(np.int32)})
    print(f"validation  loss {metrics['loss']:.4f}  accuracy {metrics['accuracy']:.4f}")


def export(folder):
    import cgx_jax  # pip install tools/jax

    training, validation = dense.load_data()
    for form, name in ((Whole, "step"), (Sequence, "sequence")):
        cgx_jax.export_step(train_step_of(form), init_state(), next(dense.batches(training)), folder, name=name,
                            write_state=False)
    cgx_jax.export_step(eval_step, init_state(), {"tokens": validation["tokens"].astype(np.int32)}, folder, name="eval",
                        write_state=False)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=dense.STEPS)
    parser.add_argument("--sequence-parallel", action="store_true")
    parser.add_argument("--export", metavar="FOLDER")
    arguments = parser.parse_args()
    if arguments.export:
        export(arguments.export)
    else:
        train(arguments.steps, Sequence if arguments.sequence_parallel else Whole)
