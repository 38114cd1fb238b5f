"""The training steps that `speed` times. The arithmetic of each is of one kind.

A model is a function of (devices, small) that returns (step, state, batch of one step, samples): the step is jitted over all devices
along "data", with its state donated, and returns (state, {"loss": ...}). `small` is for a test: the same operations on little data.
"""

import importlib.util
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax
from jax.sharding import PartitionSpec as P

ROOT = pathlib.Path(__file__).resolve().parents[2]
STEPS = 4  # there are samples for this many steps; then they repeat


class Timed:
    """A row of the table."""

    def __init__(self, title, make, ranks=2, tolerance=1e-3):
        self.title, self.make, self.ranks, self.tolerance = title, make, ranks, tolerance


def matrix(rng, *shape, dtype=np.float32):
    fan_in = np.prod(shape[:-1])
    return rng.normal(0, fan_in ** -0.5, shape).astype(np.float32).astype(dtype)


def trained(devices, loss_of, params, samples, optimizer, per_rank):
    """Returns a data-parallel step that trains `params` with `loss_of(params, batch)`."""
    mesh = jax.sharding.Mesh(np.array(devices), ("data",))

    def local(state, batch):
        loss, grads = lax.pmean(jax.value_and_grad(loss_of)(state["params"], batch), "data")
        updates, moments = optimizer.update(grads, state["moments"], state["params"])
        return {"params": optax.apply_updates(state["params"], updates), "moments": moments}, {"loss": loss}

    step = jax.jit(jax.shard_map(local, mesh=mesh, in_specs=(P(), P("data")), out_specs=(P(), P()), check_vma=False),
                   donate_argnums=0)
    count = per_rank * len(devices)
    return step, {"params": params, "moments": optimizer.init(params)}, {name: each[:count] for name, each in samples.items()}, samples


def random(devices, per_rank, seed=1):
    return np.random.default_rng(seed), per_rank * len(devices) * STEPS


def cross_entropy(logits, labels):
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


def transformer_lm(devices, small):
    """Returns the example, unchanged."""
    spec = importlib.util.spec_from_file_location("transformer_lm", ROOT / "examples/transformer-lm/train.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    samples = {"tokens": module.load_data()[0]["tokens"][:module.BATCH * STEPS]}
    batch = {"tokens": samples["tokens"][:module.BATCH].astype(np.int32)}
    return module.train_step, module.init_state(), batch, samples


def gpt(devices, small):
    """Returns four blocks of width 256 on 128 bytes: layer norm, causal attention of 8 heads, GELU."""
    width, heads, blocks, context, per_rank = (32, 2, 1, 16, 2) if small else (256, 8, 4, 128, 4)
    rng, count = random(devices, per_rank)
    params = {"token": matrix(rng, 256, width), "place": matrix(rng, context, width), "head": matrix(rng, width, 256), "blocks": [
        {"norm1": np.ones(width, np.float32), "qkv": matrix(rng, width, 3 * width), "out": matrix(rng, width, width),
         "norm2": np.ones(width, np.float32), "up": matrix(rng, width, 4 * width), "down": matrix(rng, 4 * width, width)}
        for _ in range(blocks)]}

    def norm(x, scale):
        centred = x - x.mean(-1, keepdims=True)
        return centred * lax.rsqrt(jnp.square(centred).mean(-1, keepdims=True) + 1e-5) * scale

    def loss_of(params, batch):
        x = params["token"][batch["tokens"][:, :-1]] + params["place"]
        mask = jnp.tril(jnp.ones((context, context), bool))
        for block in params["blocks"]:
            q, k, v = jnp.split((norm(x, block["norm1"]) @ block["qkv"]).reshape(*x.shape[:2], heads, -1), 3, axis=-1)
            scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(width // heads)
            mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(jnp.where(mask, scores, -1e9)), v)
            x = x + mixed.reshape(x.shape) @ block["out"]
            x = x + jax.nn.gelu(norm(x, block["norm2"]) @ block["up"]) @ block["down"]
        return cross_entropy(x @ params["head"], batch["tokens"][:, 1:])

    tokens = rng.integers(0, 256, (count, context + 1)).astype(np.int32)
    return trained(devices, loss_of, params, {"tokens": tokens}, optax.adamw(1e-3), per_rank)


def gru(devices, small):
    """Returns a gated recurrent unit of width 256 over 64 positions."""
    width, length, per_rank = (16, 8, 4) if small else (256, 64, 32)
    rng, count = random(devices, per_rank)
    params = {"in": matrix(rng, width, 3 * width), "carry": matrix(rng, width, 2 * width), "new": matrix(rng, width, width),
              "head": matrix(rng, width, 10)}

    def loss_of(params, batch):
        def cell(h, x):
            rx, zx, nx = jnp.split(x, 3, axis=-1)
            rh, zh = jnp.split(h @ params["carry"], 2, axis=-1)
            r, z = jax.nn.sigmoid(rx + rh), jax.nn.sigmoid(zx + zh)
            h = (1 - z) * jnp.tanh(nx + (r * h) @ params["new"]) + z * h
            return h, None
        inputs = jnp.swapaxes(batch["x"] @ params["in"], 0, 1)
        h, _ = lax.scan(cell, jnp.zeros(inputs.shape[1:-1] + (width,)), inputs)
        return cross_entropy(h @ params["head"], batch["y"])

    samples = {"x": rng.normal(size=(count, length, width)).astype(np.float32), "y": rng.integers(0, 10, count).astype(np.int32)}
    return trained(devices, loss_of, params, samples, optax.sgd(0.1), per_rank)


def embedding_bag(devices, small):
    """Returns means of 32 rows of a table of 50 000, and a perceptron."""
    rows, width, bag, per_rank = (500, 16, 4, 8) if small else (50000, 64, 32, 256)
    rng, count = random(devices, per_rank)
    params = {"table": matrix(rng, rows, width), "up": matrix(rng, width, 4 * width), "head": matrix(rng, 4 * width, 1)}

    def loss_of(params, batch):
        x = jax.nn.relu(params["table"][batch["ids"]].mean(1) @ params["up"])
        return optax.sigmoid_binary_cross_entropy((x @ params["head"])[:, 0], batch["y"]).mean()

    samples = {"ids": rng.integers(0, rows, (count, bag)).astype(np.int32), "y": rng.integers(0, 2, count).astype(np.float32)}
    return trained(devices, loss_of, params, samples, optax.sgd(0.1), per_rank)


def bf16_mlp(devices, small):
    """Returns three layers of 512 in bf16."""
    width, per_rank = (32, 8) if small else (512, 128)
    rng, count = random(devices, per_rank)
    params = {f"l{i}": matrix(rng, width, width, dtype=jnp.bfloat16) for i in range(3)}

    def loss_of(params, batch):
        x = batch["x"].astype(jnp.bfloat16)
        for name in sorted(params):
            x = jax.nn.relu(x @ params[name])
        return cross_entropy(x.astype(jnp.float32), batch["y"])

    samples = {"x": rng.normal(size=(count, width)).astype(np.float32), "y": rng.integers(0, width, count).astype(np.int32)}
    return trained(devices, loss_of, params, samples, optax.sgd(0.1), per_rank)


def sorting(devices, small):
    """Returns sorted rows of 4096, the 32 largest of each, and their gradients."""
    width, per_rank, largest = (64, 4, 8) if small else (4096, 32, 32)
    rng, count = random(devices, per_rank)
    params = {"scale": np.ones(width, np.float32), "shift": np.zeros(width, np.float32)}

    def loss_of(params, batch):
        x = batch["x"] * params["scale"] + params["shift"]
        best, _ = lax.top_k(x, largest)
        return jnp.square(jnp.sort(x) - batch["y"]).mean() - best.mean()

    samples = {"x": rng.normal(size=(count, width)).astype(np.float32), "y": np.sort(rng.normal(size=(count, width))).astype(np.float32)}
    return trained(devices, loss_of, params, samples, optax.sgd(0.1), per_rank)


def transcendentals(devices, small):
    """Returns functions of each element, and their derivatives."""
    width, per_rank = (256, 4) if small else (4096, 64)
    rng, count = random(devices, per_rank)
    functions = (jnp.exp, jnp.tanh, lax.erf, jax.nn.sigmoid, jax.nn.softplus, jnp.sin, jnp.cos, lambda x: lax.rsqrt(x * x + 1),
                 lambda x: jnp.log(x * x + 1), lambda x: jnp.expm1(0.1 * x), lambda x: jnp.log1p(x * x))
    params = {str(i): np.full(width, 0.5, np.float32) for i in range(len(functions))}

    def loss_of(params, batch):
        x = batch["x"]
        return jnp.square(sum(f(x * params[str(i)]) for i, f in enumerate(functions)) - batch["y"]).mean()

    samples = {name: rng.normal(size=(count, width)).astype(np.float32) for name in "xy"}
    return trained(devices, loss_of, params, samples, optax.sgd(0.1), per_rank)


def convolution(x, kernel, stride=1, groups=1):
    spatial = "DHW"[-(x.ndim - 2):]
    return lax.conv_general_dilated(x, kernel, (stride,) * len(spatial), "SAME", feature_group_count=groups,
                                    dimension_numbers=(f"N{spatial}C", f"{spatial}IO", f"N{spatial}C"))


def images(rng, count, *shape):
    return {"x": rng.normal(size=(count, *shape)).astype(np.float32), "y": rng.integers(0, 10, count).astype(np.int32)}


def resnet(devices, small):
    """Returns three stages of two residual blocks of 3x3 convolutions, 32 to 128 channels, on images of 32x32."""
    size, widths, per_rank = (8, (8, 16), 2) if small else (32, (32, 64, 128), 8)
    rng, count = random(devices, per_rank)
    params, before = {"stem": matrix(rng, 3, 3, 3, widths[0]), "stages": [], "head": matrix(rng, widths[-1], 10)}, widths[0]
    for width in widths:
        params["stages"].append({"enter": matrix(rng, 3, 3, before, width), "skip": matrix(rng, 1, 1, before, width),
                                 "rest": [matrix(rng, 3, 3, width, width) for _ in range(3)]})
        before = width

    def loss_of(params, batch):
        x = jax.nn.relu(convolution(batch["x"], params["stem"]))
        for i, stage in enumerate(params["stages"]):
            stride = 2 if i else 1
            inner = convolution(jax.nn.relu(convolution(x, stage["enter"], stride)), stage["rest"][0])
            x = jax.nn.relu(convolution(x, stage["skip"], stride) + 0.3 * inner)
            x = jax.nn.relu(x + 0.3 * convolution(jax.nn.relu(convolution(x, stage["rest"][1])), stage["rest"][2]))
        return cross_entropy(x.mean((1, 2)) @ params["head"], batch["y"])

    return trained(devices, loss_of, params, images(rng, count, size, size, 3), optax.sgd(0.05), per_rank)


def depthwise(devices, small):
    """Returns four blocks of a depthwise 3x3 and a 1x1 convolution, 64 channels, on images of 32x32."""
    size, width, per_rank = (8, 8, 2) if small else (32, 64, 8)
    rng, count = random(devices, per_rank)
    params = {"stem": matrix(rng, 3, 3, 3, width), "head": matrix(rng, width, 10),
              "blocks": [{"depth": matrix(rng, 3, 3, 1, width), "point": matrix(rng, 1, 1, width, width)} for _ in range(4)]}

    def loss_of(params, batch):
        x = convolution(batch["x"], params["stem"])
        for block in params["blocks"]:
            x = x + jax.nn.relu(convolution(convolution(x, block["depth"], groups=width), block["point"]))
        return cross_entropy(x.mean((1, 2)) @ params["head"], batch["y"])

    return trained(devices, loss_of, params, images(rng, count, size, size, 3), optax.sgd(0.05), per_rank)


def volumes(devices, small):
    """Returns three 3x3x3 convolutions of 16 and 32 channels on volumes of 16x16x16."""
    size, width, per_rank = (4, 4, 2) if small else (16, 16, 4)
    rng, count = random(devices, per_rank)
    params = {"a": matrix(rng, 3, 3, 3, 1, width), "b": matrix(rng, 3, 3, 3, width, width),
              "c": matrix(rng, 3, 3, 3, width, 2 * width), "head": matrix(rng, 2 * width, 10)}

    def loss_of(params, batch):
        x = batch["x"]
        for name in "abc":
            x = jax.nn.relu(convolution(x, params[name], 2 if name == "c" else 1))
        return cross_entropy(x.mean((1, 2, 3)) @ params["head"], batch["y"])

    return trained(devices, loss_of, params, images(rng, count, size, size, size, 1), optax.sgd(0.05), per_rank)


MODELS = {
    "transformer-lm": Timed("transformer-lm example", transformer_lm, ranks=4),
    "gpt": Timed("GPT 4x256", gpt),
    "gru": Timed("GRU", gru),
    "embedding-bag": Timed("embedding bag", embedding_bag),
    "bf16-mlp": Timed("bf16 MLP", bf16_mlp, tolerance=3e-2),
    "sort": Timed("sort, top-k", sorting),
    "transcendentals": Timed("elementwise transcendentals", transcendentals),
    "resnet": Timed("3x3 convolution ResNet", resnet),
    "depthwise": Timed("depthwise convolution", depthwise),
    "conv3d": Timed("3-D convolution", volumes),
}
