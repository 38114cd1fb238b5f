"""Trains a convolutional classifier of sentences (Kim 2014), data-parallel on four devices: from
which book of the King James Bible is a verse?

    python train.py                # trains and validates, in JAX alone
    python train.py --export .     # writes what cgx needs to do the same without Python
"""

import argparse
import collections
import functools
import os
import pathlib
import re

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=4")

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax
from jax.sharding import PartitionSpec as P

# The books of ../transformer-lm/king-james.txt, a verse a line, and how many verses each has.
VERSES = {"Genesis": 1533, "Exodus": 1213, "Leviticus": 859, "Numbers": 1288, "Deuteronomy": 959,
          "Joshua": 658, "Judges": 618, "Ruth": 85, "1 Samuel": 810}
VOCABULARY = 5888  # words and punctuation marks; 0 fills verses up, 1 stands for words beyond
LENGTH = 48  # words of a verse that are read
WIDTH, FILTERS, HIDDEN = 64, 64, 64
KERNELS = (3, 4, 5)  # words that a convolution sees
BATCH = 64  # verses, global: 16 on each of four devices
VALIDATION = 1024  # verses, evaluated in one step
STEPS = 600

mesh = jax.sharding.Mesh(np.array(jax.devices()), ("data",))

optimizer = optax.chain(
    optax.clip_by_global_norm(1.0),
    optax.adam(optax.cosine_decay_schedule(2e-3, decay_steps=STEPS)),
)


def load_data(seed=0):
    """Returns verses as numbers of words, and the number of the book; shuffled once."""
    text = pathlib.Path(__file__).resolve().parents[1] / "transformer-lm" / "king-james.txt"
    verses = [re.findall(r"\w+|[^\w\s]", line) for line in text.read_text().lower().splitlines()]
    frequent = collections.Counter(word for verse in verses for word in verse).most_common(VOCABULARY - 2)
    number = {word: i + 2 for i, (word, _) in enumerate(frequent)}
    words = np.zeros((len(verses), LENGTH), np.uint16)
    for row, verse in zip(words, verses):
        row[:min(len(verse), LENGTH)] = [number.get(word, 1) for word in verse[:LENGTH]]
    book = np.repeat(np.arange(len(VERSES), dtype=np.uint8), list(VERSES.values()))
    order = np.random.default_rng(seed).permutation(len(verses))
    data = {"words": words[order], "book": book[order]}
    return jax.tree.map(lambda a: a[VALIDATION:], data), jax.tree.map(lambda a: a[:VALIDATION], data)


def init_state(seed=0):
    rng = np.random.default_rng(seed)

    def layer(*shape):
        return {"kernel": rng.normal(0, np.prod(shape[:-1])**-0.5, shape).astype(np.float32),
                "bias": np.zeros(shape[-1], np.float32)}

    params = {
        "embedding": rng.normal(0, 0.1, (VOCABULARY, WIDTH)).astype(np.float32),
        "conv": [layer(k, WIDTH, FILTERS) for k in KERNELS],
        "hidden": layer(len(KERNELS) * FILTERS, HIDDEN),
        "out": layer(HIDDEN, len(VERSES)),
    }
    return {"params": params, "opt": jax.jit(optimizer.init)(params)}


def convolution(p, x):
    """x: [verses, words, channels]."""
    return lax.conv_general_dilated(x, p["kernel"], window_strides=(1,), padding="SAME",
                                    dimension_numbers=("NWC", "WIO", "NWC")) + p["bias"]


def logits_fn(params, words):
    """Returns logits of shape [verses, books] for words of shape [verses, LENGTH]."""
    x = params["embedding"][words] * (words != 0)[..., None]
    x = jnp.concatenate([jax.nn.relu(convolution(p, x)).max(axis=1) for p in params["conv"]], axis=-1)
    x = jax.nn.relu(x @ params["hidden"]["kernel"] + params["hidden"]["bias"])
    return x @ params["out"]["kernel"] + params["out"]["bias"]


def loss_fn(params, batch):
    """Returns the mean loss over the whole batch, on all devices together."""
    logits = logits_fn(params, batch["words"])
    loss = optax.softmax_cross_entropy_with_integer_labels(logits, batch["book"]).mean()
    accuracy = (logits.argmax(-1) == batch["book"]).astype(jnp.float32).mean()
    return lax.pmean(loss, "data"), lax.pmean(accuracy, "data")


@functools.partial(jax.jit, donate_argnums=0)
@functools.partial(jax.shard_map, mesh=mesh, in_specs=(P(), P("data")), out_specs=(P(), P()))
def train_step(state, batch):
    (loss, accuracy), grads = jax.value_and_grad(loss_fn, has_aux=True)(state["params"], batch)
    updates, opt = optimizer.update(grads, state["opt"], state["params"])
    params = optax.apply_updates(state["params"], updates)
    return {"params": params, "opt": opt}, {"loss": loss, "accuracy": accuracy}


@jax.jit
@functools.partial(jax.shard_map, mesh=mesh, in_specs=(P(), P("data")), out_specs=P())
def eval_step(state, batch):
    loss, accuracy = loss_fn(state["params"], batch)
    return {"loss": loss, "accuracy": accuracy}


def int32(batch):
    return jax.tree.map(lambda a: a.astype(np.int32), batch)


def batches(data):
    """Batch after batch, epoch after epoch; what does not fill a batch is left out."""
    while True:
        for begin in range(0, len(data["book"]) - BATCH + 1, BATCH):
            yield int32(jax.tree.map(lambda a: a[begin:begin + BATCH], data))


def train(steps):
    training, validation = load_data()
    state = init_state()
    for step, batch in zip(range(steps), batches(training)):
        state, metrics = train_step(state, batch)
        loss, accuracy = float(metrics["loss"]), float(metrics["accuracy"])
        if step % 50 == 0 or step == steps - 1:
            print(f"step {step:4d}  loss {loss:.4f}  accuracy {accuracy:.3f}", flush=True)
    metrics = eval_step(state, int32(validation))
    print(f"validation  loss {metrics['loss']:.4f}  accuracy {metrics['accuracy']:.4f}")


def export(folder):
    import cgx_jax  # pip install tools/jax

    training, validation = load_data()
    state = init_state()
    cgx_jax.export_step(train_step, state, next(batches(training)), folder)
    cgx_jax.export_step(eval_step, state, int32(validation), folder, name="eval", write_state=False)
    # 8 and 16 bits, although the step takes int32: cgx-run widens them.
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
