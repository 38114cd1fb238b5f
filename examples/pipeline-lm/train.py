"""Fine-tunes a small language model on the end of the King James Bible in a pipeline of four stages (GPipe), one block
of the transformer each, on four devices.

    python train.py                # trains for two epochs, in JAX alone
    python train.py --export .     # writes what cgx needs to train without Python
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
    """Layers and text of ../transformer-lm, whose script is called train.py, too."""
    path = pathlib.Path(__file__).resolve().parent.parent / "transformer-lm" / "train.py"
    spec = importlib.util.spec_from_file_location("transformer_lm", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


dense = load_dense()
STAGES, MICROBATCHES = 4, 4
dense.WIDTH, dense.BLOCKS = 96, STAGES  # 0.1 million parameters a block
CONTEXT, WIDTH = dense.CONTEXT, dense.WIDTH
BATCH = 16  # windows: microbatches of 4
SAMPLES, EARLIER, VALIDATION = 512, 8192, 256  # windows to fine-tune on, to train on before, to measure on

mesh = jax.sharding.Mesh(np.array(jax.devices()[:STAGES]), ("stage",))
optimizer = optax.adamw(1e-3, b1=0.9, b2=0.99, weight_decay=0.01)
RING = [(stage, (stage + 1) % STAGES) for stage in range(STAGES)]


def run_block(block, x):
    x = x + dense.attention(block, dense.layer_norm(block["norm1"], x))
    return x + dense.mlp(block, dense.layer_norm(block["norm2"], x))


def loss_fn(stage, batch):
    """The mean over the batch, on the last stage; 0 on the others. A stage computes in ticks in which it has a
    microbatch. Each stage has tables for embedding and reading out, of which the first and the last use one."""
    rank = lax.axis_index("stage")
    tokens = batch["tokens"].reshape(MICROBATCHES, -1, CONTEXT + 1)

    def tick(carry, time):
        arrived, loss = carry
        own = tokens[jnp.clip(time, 0, MICROBATCHES - 1)][:, :-1]
        x = jnp.where(rank == 0, stage["token"][own] + stage["position"], arrived)
        microbatch = time - rank
        works = (microbatch >= 0) & (microbatch < MICROBATCHES)
        x = lax.cond(works, lambda x: run_block(stage["block"], x), lambda x: x, x)
        targets = tokens[jnp.clip(microbatch, 0, MICROBATCHES - 1)][:, 1:]

        def read_out(x):
            logits = dense.layer_norm(stage["norm"], x) @ stage["head"]
            return optax.softmax_cross_entropy_with_integer_labels(logits, targets).mean()

        loss += lax.cond(works & (rank == STAGES - 1), read_out, lambda x: 0.0, x)
        return (lax.ppermute(x, "stage", RING), loss), None

    first = jnp.zeros((tokens.shape[1], CONTEXT, WIDTH), stage["head"].dtype)
    (_, loss), _ = lax.scan(tick, (first, jnp.float32(0)), jnp.arange(MICROBATCHES + STAGES - 1))
    return loss / MICROBATCHES


def on_stage(tree):
    """Returns a rank's slice of arrays that are stacked over the stages."""
    return jax.tree.map(lambda x: x[0], tree)


def train_step(state, batch):
    params, opt = on_stage(state["params"]), on_stage(state["opt"])
    loss, grads = jax.value_and_grad(loss_fn)(params, batch)
    updates, opt = optimizer.update(grads, opt, params)
    params = optax.apply_updates(params, updates)
    state = jax.tree.map(lambda x: x[None], {"params": params, "opt": opt})
    return state, {"loss": lax.psum(loss, "stage")}


def eval_step(state, batch):
    return {"loss": lax.psum(loss_fn(on_stage(state["params"]), batch), "stage")}


def sharded(step, out_specs):
    # keep_unused: no step computes with the ids of its samples.
    return jax.jit(jax.shard_map(step, mesh=mesh, in_specs=(P("stage"), P()), out_specs=out_specs, check_vma=False),
                   donate_argnums=0 if step is train_step else (), keep_unused=True)


train_step = sharded(train_step, (P("stage"), P()))
eval_step = sharded(eval_step, P())


def init_state(seed=0):
    params = dense.init_params(seed)

    def stack(x):
        return np.broadcast_to(x, (STAGES, *x.shape)).copy()

    blocks = jax.tree.map(lambda *blocks: np.stack(blocks), *params["blocks"])
    stages = {"block": blocks, **{name: jax.tree.map(stack, params[name])
                                  for name in ("token", "position", "norm", "head")}}
    opt = jax.vmap(optimizer.init)(stages)
    return {"params": stages, "opt": jax.tree.map(np.asarray, opt)}


def load_data():
    """Windows of CONTEXT + 1 bytes with their numbers: of the text's end to fine-tune on, of its beginning to train on
    before that, and the last ones to measure on."""
    text = np.frombuffer((pathlib.Path(dense.__file__).parent / "king-james.txt").read_bytes(), np.uint8)
    windows = text[:len(text) // (CONTEXT + 1) * (CONTEXT + 1)].reshape(-1, CONTEXT + 1)

    def numbered(tokens):
        return {"tokens": tokens, "ids": np.arange(len(tokens), dtype=np.int32)}

    earlier = np.random.default_rng(0).permutation(windows[:-VALIDATION - SAMPLES])[:EARLIER]
    return (numbered(windows[-VALIDATION - SAMPLES:-VALIDATION]), numbered(earlier),
            numbered(windows[-VALIDATION:]))


def batches(data, seed=0):
    """Batch after batch, epoch after epoch, each in another order."""
    rng = np.random.default_rng(seed)
    while True:
        order = rng.permutation(len(data["ids"]))
        for begin in range(0, len(order) - BATCH + 1, BATCH):
            chosen = order[begin:begin + BATCH]
            yield {"tokens": data["tokens"][chosen].astype(np.int32), "ids": data["ids"][chosen]}


def train(steps):
    training, _, _ = load_data()
    state = init_state()
    for step, batch in zip(range(steps), batches(training)):
        state, metrics = train_step(state, batch)
        if step % 8 == 0 or step == steps - 1:
            print(f"step {step:4d}  loss {float(metrics['loss']):.4f}", flush=True)


def export(folder):
    import cgx_jax  # pip install tools/jax

    training, earlier, validation = load_data()
    state, batch = init_state(), next(batches(training))
    cgx_jax.export_step(train_step, state, batch, folder)
    cgx_jax.export_step(eval_step, state, batch, folder, name="eval", write_state=False)
    # Bytes, although the step takes int32: cgx-run widens them.
    for name, data in (("train", training), ("earlier", earlier), ("validation", validation)):
        cgx_jax.write_batches(f"{folder}/{name}.safetensors", data)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=2 * SAMPLES // BATCH)
    parser.add_argument("--export", metavar="FOLDER")
    arguments = parser.parse_args()
    if arguments.export:
        export(arguments.export)
    else:
        train(arguments.steps)
