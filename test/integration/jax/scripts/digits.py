"""The samples and devices of the scripts, without cgx."""

import os

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

if "JOB_PROCESSES" in os.environ:
    jax.distributed.initialize(f"localhost:{os.environ['JOB_PORT']}", int(os.environ["JOB_PROCESSES"]),
                               int(os.environ["JOB_INDEX"]))

STEPS = 30
mesh = Mesh(np.array(jax.devices()), ("data",))


def samples():
    """Returns points of ten clouds, [1024, 64] floats, and the number of each one's cloud."""
    random = np.random.default_rng(0)
    label = random.integers(0, 10, 1024)
    centres = random.normal(size=(10, 64))
    return (centres[label] + 0.5 * random.normal(size=(1024, 64))).astype(np.float32), label.astype(np.int32)


def place(tree, spec=P()):
    """Puts a tree on all devices of all processes."""
    def one(leaf):
        leaf = np.asarray(leaf)
        return jax.make_array_from_callback(leaf.shape, NamedSharding(mesh, spec), lambda index: leaf[index])
    return jax.tree.map(one, tree)


def batches():
    """Returns (points, labels), split over the devices."""
    points, label = samples()
    for step in range(STEPS):
        rows = np.arange(step * 64, step * 64 + 64) % len(label)
        yield place((points[rows], label[rows]), P("data"))


def value(loss):
    return float(np.mean(np.asarray(loss.addressable_shards[0].data)))
