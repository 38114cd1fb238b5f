"""Tests state that is declared replicated and is not, and state that stays replicated only as long as all devices get
equal sums: under `shard_map(check_vma=False)` JAX checks neither. With codec=identity each step gives JAX's results,
device by device; with a lossy codec devices end with equal bits where they do so without."""

import os
import pathlib
import unittest

import jobs  # first, because it sets the number of devices

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec as P

import cgx_jax
import models

HAS_LIBRARIES = all((folder / "libcgx_xla.so").exists() and (folder / "libcgx_compiler.so").exists()
                    for folder in [pathlib.Path(os.environ.get("CGX_LIBRARY_PATH", "/nowhere"))])
RATE = 0.05


def loss(w, batch):
    return jnp.mean((jnp.tanh(batch["x"] @ w) - batch["y"]) ** 2)


def shards(tree):
    """Returns the values of each device, by the name of the leaf."""
    return {jax.tree_util.keystr(path): [np.asarray(shard.data) for shard in leaf.addressable_shards]
            for path, leaf in jax.tree_util.tree_leaves_with_path(tree)}


def spread(tree):
    """Returns the largest difference between devices."""
    return max(float(np.abs(values - values[0]).max()) for values in map(np.stack, shards(tree).values()))


def averaged_locally(state, batch):
    """Runs federated averaging: the mean of the weights, then steps without any communication."""
    w = lax.pmean(state["w"], "data")
    for _ in range(4):
        w = w - RATE * jax.grad(loss)(w, batch)
    return {"w": w}, lax.pmean(loss(w, batch), "data")


def statistics_of_devices(state, batch):
    """Keeps statistics of each device's own samples, and uses their mean over devices."""
    mean = lax.pmean(state["mean"], "data")
    value, grad = jax.value_and_grad(loss)(state["w"], batch | {"x": batch["x"] - mean})
    return ({"w": state["w"] - RATE * lax.pmean(grad, "data"),
             "mean": 0.9 * state["mean"] + 0.1 * batch["x"].mean(0)}, lax.pmean(value, "data"))


def averaged_each_step(state, batch):
    """Averages the weights in each step, whatever they were before."""
    w = lax.pmean(state["w"], "data")
    value, grad = jax.value_and_grad(loss)(w, batch)
    return {"w": w - RATE * lax.pmean(grad, "data")}, lax.pmean(value, "data")


def largest_of_devices(state, batch):
    """Uses a scale that is the largest on any device, and a counter from one device."""
    scale = lax.pmax(state["scale"], "data")
    value, grad = jax.value_and_grad(loss)(state["w"], batch)
    return ({"w": state["w"] - scale * lax.pmean(grad, "data"), "scale": 0.9 * scale},
            lax.pmean(value, "data"))


def next_device(count):
    return [(i, (i + 1) % count) for i in range(count)]


def ring(g, count):
    total = hop = g
    for _ in range(count - 1):
        hop = lax.ppermute(hop, "data", next_device(count))
        total = total + hop
    return total / count


def ring_in_a_loop(g, count):
    def one(carried, _):
        total, hop = carried
        hop = lax.ppermute(hop, "data", next_device(count))
        return (total + hop, hop), None
    return lax.scan(one, (g, g), None, length=count - 1)[0][0] / count


def ring_in_a_counted_loop(g, count):
    def one(_, carried):
        total, hop = carried
        hop = lax.ppermute(hop, "data", next_device(count))
        return total + hop, hop
    return lax.fori_loop(0, count - 1, one, (g, g))[0] / count


def ring_of_slices(g, count):
    """Adds up a slice on each device, and passes it around the ring."""
    rank, slices = lax.axis_index("data"), g.reshape(count, -1)
    pick = lambda i: lax.dynamic_index_in_dim(slices, i % count, keepdims=False)
    part = pick(rank)
    for hop in range(count - 1):
        part = lax.ppermute(part, "data", next_device(count)) + pick(rank - hop - 1)
    total = jnp.zeros_like(slices)
    for hop in range(count):
        total = lax.dynamic_update_index_in_dim(total, part, (rank + 1 - hop) % count, 0)
        part = lax.ppermute(part, "data", next_device(count))
    return total.reshape(g.shape) / count


def ring_in_place(g, count):
    """Adds up slices in place, and passes them around from there."""
    rank, slices = lax.axis_index("data"), g.reshape(count, -1)
    for hop in range(count - 1):
        part = lax.ppermute(slices[(rank - hop) % count], "data", next_device(count))
        slices = slices.at[(rank - hop - 1) % count].add(part)
    for hop in range(count - 1):
        part = lax.ppermute(slices[(rank + 1 - hop) % count], "data", next_device(count))
        slices = slices.at[(rank - hop) % count].set(part)
    return slices.reshape(g.shape) / count


def butterfly(g, count):
    distance = 1
    while distance < count:
        g = (g + lax.ppermute(g, "data", [(i, i ^ distance) for i in range(count)])) / 2
        distance *= 2
    return g


def tree(g, count):
    rank, distance = lax.axis_index("data"), 1
    while distance < count:
        g = g + lax.ppermute(g, "data", [(i + distance, i) for i in range(0, count, 2 * distance)])
        distance *= 2
    while distance > 1:
        distance //= 2
        down = lax.ppermute(g, "data", [(i, i + distance) for i in range(0, count, 2 * distance)])
        g = jnp.where(rank % (2 * distance) == distance, down, g)
    return g / count


def gathered(g, count):
    del count
    return lax.all_gather(g, "data").mean(0)


def gathered_in_one(g, count):
    return lax.all_gather(g, "data", tiled=True).reshape(count, *g.shape).sum(0) / count


def exchanged(g, count):
    slices = g.reshape(count, -1, *g.shape[1:])
    return lax.all_gather(lax.all_to_all(slices, "data", 0, 0).reshape(slices.shape).mean(0), "data", tiled=True)


# These are means in the spellings of scripts, and True if they are recognized as reductions and compressed.
MEANS = {ring: True, ring_in_a_loop: False, ring_in_a_counted_loop: False, ring_of_slices: False, butterfly: True, tree: True, gathered: True,
         gathered_in_one: True, exchanged: True}


def trained_by(mean, count):
    def local(state, batch):
        value, grad = jax.value_and_grad(loss)(state["w"], batch)
        return {"w": state["w"] - RATE * mean(grad, count)}, lax.pmean(value, "data")
    return local


def different_on_devices(mesh, tree):
    """Returns an array that differs between devices although its sharding declares it replicated."""
    sharding = NamedSharding(mesh, P())
    return jax.tree.map(lambda leaf: jax.make_array_from_single_device_arrays(leaf.shape, sharding, [
        jax.device_put(leaf + 0.1 * i, device) for i, device in enumerate(mesh.devices.flat)]), tree)


def make(local, count, state, differs=True):
    devices = jax.devices()[:count]
    mesh = models.mesh_of(devices, data=count)
    rng = np.random.default_rng(1)
    samples, inputs = 64 // count * count, state["w"].shape[0]
    batch = jax.device_put({"x": rng.normal(size=(samples, inputs)).astype(np.float32),
                            "y": rng.normal(size=(samples, 64)).astype(np.float32)}, NamedSharding(mesh, P("data")))
    state = different_on_devices(mesh, state) if differs else jax.device_put(state, NamedSharding(mesh, P()))
    return jax.jit(models.data_parallel(local, devices)), state, batch


def train(step, state, batch, steps):
    for _ in range(steps):
        state, value = step(state, batch)
        value.block_until_ready()
    return state


W = {"w": np.random.default_rng(0).normal(0, 0.2, (32, 64)).astype(np.float32)}
STEPS = {averaged_locally: W, averaged_each_step: W, statistics_of_devices: W | {"mean": np.zeros(32, np.float32)},
         largest_of_devices: W | {"scale": np.float32(RATE)}}


@unittest.skipUnless(HAS_LIBRARIES, "CGX_LIBRARY_PATH names no folder with libcgx_xla.so and libcgx_compiler.so")
class ReplicasTest(unittest.TestCase):
    def test_what_differs_on_devices_is_brought_together_as_in_jax(self):
        for local, state in STEPS.items():
            for count in (2, 4):
                with self.subTest(step=local.__name__, devices=count):
                    step, state_, batch = make(local, count, state)
                    expected = train(step, state_, batch, 8)
                    got = train(cgx_jax.compress(step, codec="identity"), state_, batch, 8)
                    for name, values in shards(expected).items():
                        for device, (value, own) in enumerate(zip(values, shards(got)[name])):
                            np.testing.assert_allclose(own, value, rtol=1e-4, atol=1e-6, err_msg=f"{name} on {device}")

    def test_slices_that_are_handed_round_in_place_stay_exact(self):
        """A value that is not known to be a gradient is not compressed as one, nor as anything else where all kinds
        are."""
        for count in (2, 3, 4):
            step, state, batch = make(trained_by(ring_in_place, count), count, {"w": np.tile(W["w"], (3, 1))}, differs=False)
            expected = train(step, state, batch, 50)
            for kinds in (["gradient"], ["gradient", "activation", "other"]):
                with self.subTest(devices=count, kinds=kinds):
                    ours = cgx_jax.compress(step, bits=2, min_elements=1, min_rank=1, kinds=",".join(kinds))
                    got = train(ours, state, batch, 50)
                    self.assertEqual(spread(got), spread(expected))
                    said = str(ours.report("json")["layers"])
                    self.assertIn("kind" if len(kinds) == 1 else "ranks would drift apart in", said)

    def test_means_that_are_spelled_out_leave_devices_alike(self):
        for mean, is_known in MEANS.items():
            for count in (2, 4) if mean in (butterfly, tree, exchanged) else (2, 3, 4):
                weights = {"w": np.tile(W["w"], (3, 1))} if count == 3 else W
                step, state, batch = make(trained_by(mean, count), count, weights, differs=False)
                expected = train(step, state, batch, 50)
                for bits in (4, 2):
                    with self.subTest(mean=mean.__name__, devices=count, bits=bits):
                        ours = cgx_jax.compress(step, bits=bits, min_elements=1, error_feedback="f32")
                        got = train(ours, state, batch, 50)
                        # A sum without a codec may have another order on each device, as in JAX.
                        self.assertLessEqual(spread(got), 0 if is_known else spread(expected) + 1e-6)
                        np.testing.assert_allclose(shards(got)["['w']"][0], shards(expected)["['w']"][0], atol=0.02)
                        layers = ours.report("json")["layers"]
                        if is_known:
                            self.assertTrue(all("bits" in layer["codec"] for layer in layers if layer["kind"] == "gradient"))
                        else:
                            self.assertIn("ranks would drift apart in", str(layers))


if __name__ == "__main__":
    unittest.main()
