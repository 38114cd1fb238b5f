"""cgx-opt rewrites the collectives of a step before it chooses codecs: fewer and smaller ones, one for each layer, and
a warning where some ranks may not reach one."""

import json
import os
import pathlib
import subprocess
import tempfile
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
EQUAL_LAYERS = [f"params/l{i}/{leaf}" for i in range(3) for leaf in "bw"]


def compress(program, folder, options=""):
    """Returns (rows of the report, messages) of cgx-opt --cgx-compress."""
    report = folder / "report.json"
    done = subprocess.run([os.environ["CGX_OPT"], program, f"--cgx-compress=min-elements=1 {options}",
                           f"--cgx-report=format=json output={report}", "-o", folder / "step.cgx.mlir"],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise jobs.Refused(done.stderr)
    return json.loads(report.read_text())["layers"], done.stderr


@jobs.needs_opt
class CollectivesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def compress_step(self, name):
        _, (step, state, batch) = jobs.load_step(name)
        return compress(cgx_jax.export_step(step, state, batch, self.folder / name), self.folder)

    def layers(self, rows):
        return sorted(row["layer"] for row in rows if row["kind"] == "gradient")

    def test_a_weight_that_is_used_twice_travels_once(self):
        rows, _ = self.compress_step("tied_embeddings")
        self.assertEqual(self.layers(rows), ["params/embed", "params/w"])

    def test_a_vector_of_gradients_is_its_layers(self):
        for name in ("raveled_adam", "raveled_padded", "optax_flatten"):
            with self.subTest(name):
                rows, _ = self.compress_step(name)
                self.assertEqual(self.layers(rows), EQUAL_LAYERS)

    def test_what_a_rank_keeps_is_all_that_it_gets(self):
        rows, _ = self.compress_step("own_slices")
        text = (self.folder / "step.cgx.mlir").read_text()
        self.assertEqual(text.count("cgx.reduce_scatter sum"), 2)
        weights = [row for row in rows if row["kind"] == "gradient" and row["layer"].endswith("w")]
        self.assertEqual(len(weights), 2)

    def test_partitioners_slices_are_those_of_a_reduce_scatter(self):
        for name in ("auto_fsdp", "auto_fsdp_tp"):  # offsets from tables, and from tables of tables
            with self.subTest(name):
                self.compress_step(name)
                text = (self.folder / "step.cgx.mlir").read_text()
                self.assertIn("cgx.reduce_scatter sum", text)

    def test_sound_branches_and_loops_give_no_warning(self):
        for name in jobs.step_names():
            with self.subTest(name):
                _, said = self.compress_step(name)
                self.assertNotIn("whose condition may differ", said)

    def export_branch_on(self, decide):
        """Exports a step that averages its gradients where `decide(loss)` holds."""
        def local_step(state, batch):
            loss, grads = jax.value_and_grad(models.dense_loss)(state["params"], batch)
            grads = lax.cond(decide(loss), lambda g: lax.pmean(g, "data"), lambda g: g, grads)
            return {"params": models.sgd(state["params"], grads)}, {"loss": lax.pmean(loss, "data")}

        def step(state, batch):
            return jax.shard_map(local_step, mesh=models.mesh_of(jax.devices()[:4], data=4),
                                 in_specs=(P(), P("data")), out_specs=(P(), P()), check_vma=False)(state, batch)

        state = {"params": models.dense_params(32, 64, 10)}
        return cgx_jax.export_step(step, state, models.labelled(32), self.folder / "branch")

    def test_a_branch_that_some_ranks_take_is_named(self):
        program = self.export_branch_on(lambda loss: jnp.isfinite(loss) & (loss < 10))
        _, said = compress(program, self.folder)
        self.assertIn('whose condition may differ along axis "data" of the mesh', said)
        self.assertRegex(said, r"it differs because of argument 'batch\['[xy]'\]', of which each rank has its own part")
        _, said = compress(program, self.folder, "divergent-collectives=ignore")
        self.assertNotIn("may differ", said)
        with self.assertRaisesRegex(jobs.Refused, "error: all_reduce with id .* whose condition may differ"):
            compress(program, self.folder, "divergent-collectives=error")

    def test_a_branch_that_all_ranks_take_is_not(self):
        program = self.export_branch_on(lambda loss: lax.pmean(loss, "data") < 10)
        compress(program, self.folder, "divergent-collectives=error")


class RandomReductions:
    """A step with random reductions of its state and batch: a seed chooses if each is joined from parts, mapped, added
    to others, split, or kept by slices."""
    ROWS, COLUMNS = 8, 12

    def __init__(self, seed):
        self.seed = seed

    def mapped(self, rng, x):
        """Maps a matrix of any shape linearly to ROWS x COLUMNS and back."""
        return rng.choice([lambda: x, lambda: -x, lambda: 0.5 * x, lambda: x.T.reshape(self.ROWS, self.COLUMNS),
                           lambda: x[::-1], lambda: x.astype(jnp.float32) / 4])()

    def reduced(self, rng, x):
        axes = [("data",), ("model",), ("data", "model")][rng.integers(3)]
        return rng.choice([lax.psum, lax.pmean])(x, axes)

    def term(self, rng, leaves):
        x, y = (leaves[i] for i in rng.integers(len(leaves), size=2))
        kind = rng.integers(4)
        if kind == 0:
            return self.mapped(rng, self.reduced(rng, self.mapped(rng, x)))
        if kind == 1:  # one padded vector of both, which is split again
            vector = jnp.pad(jnp.concatenate([x.ravel(), y.ravel()]), (0, rng.integers(9)))
            vector = self.reduced(rng, vector) * jnp.float32(0.25)
            parts = vector[:x.size], vector[x.size:x.size + y.size]
            return parts[0].reshape(x.shape) - 2 * parts[1].reshape(y.shape)
        if kind == 2:  # each rank keeps its rows, in some order, or those of its position along one axis
            names = [("data", "model"), ("model", "data"), ("data",), ("model",)][rng.integers(4)]
            whole = lax.pmean(x, ("data", "model")) * 0.5
            rows = self.ROWS // 2 ** len(names)
            own = lax.dynamic_slice_in_dim(whole, lax.axis_index(names) * rows, rows)
            return lax.all_gather(own, names, axis=0, tiled=True)
        rounds = int(rng.integers(1, 4))
        return lax.fori_loop(0, rounds, lambda i, total: total + self.reduced(
            np.random.default_rng(self.seed), x * i) - lax.psum(y, "data"), jnp.zeros_like(x))

    def make(self, devices):
        def local_step(state, batch):
            rng = np.random.default_rng(self.seed)
            leaves = [state["a"], state["b"], batch["x"][:self.ROWS], jnp.tanh(state["a"] * batch["x"][-self.ROWS:])]
            total = sum((self.mapped(rng, self.term(rng, leaves)) for _ in range(6)), jnp.zeros_like(state["a"]))
            total = lax.pmean(total, ("data", "model"))
            return {"a": total / (1 + jnp.max(jnp.abs(total))), "b": state["b"] - 0.1 * total}, {"loss": jnp.sum(total)}

        def step(state, batch):
            return jax.shard_map(local_step, mesh=models.mesh_of(devices, data=2, model=2),
                                 in_specs=(P(), P(("data", "model"))), out_specs=(P(), P()),
                                 check_vma=False)(state, batch)

        rng = np.random.default_rng(self.seed)
        state = {name: rng.normal(0, 1, (self.ROWS, self.COLUMNS)).astype(np.float32) for name in "ab"}
        return step, state, {"x": rng.normal(0, 1, (4 * 16, self.COLUMNS)).astype(np.float32)}


@jobs.needs_run
class RewrittenReductionsTest(unittest.TestCase):
    """The rewritten step computes the original's results, on four ranks, compared with JAX."""

    def check(self, seed):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            step, state, batch = RandomReductions(seed).make(jax.devices()[:4])
            program = cgx_jax.export_step(step, state, batch, folder)
            cgx_jax.write_batches(folder / "data.safetensors", batch, name="batch")
            ours, _ = jobs.train_in_cgx(program, folder, 4, 2, folder / "state.safetensors", folder / "data.safetensors")
            reference = jobs.train_in_jax(step, state, [batch] * 2, 2, "state")
            for tensor, value in reference.state.items():
                np.testing.assert_allclose(ours.state[tensor], value, rtol=1e-4, atol=1e-5, err_msg=f"seed {seed}")

    def test_random_reductions(self):
        seeds = os.environ.get("CGX_SEEDS", "0 1 2 3 4 5 6 7")
        for seed in map(int, seeds.split()):
            with self.subTest(seed=seed):
                self.check(seed)


def adapters(state, batch):
    """Trains weights with low-rank adapters, data parallel by shardings alone."""
    def loss(lora):
        return jnp.mean((jnp.tanh(batch["x"] @ (state["base"] + lora["a"] @ lora["b"])) - batch["y"]) ** 2)
    value, grads = jax.value_and_grad(loss)(state["lora"])
    return {**state, "lora": jax.tree.map(lambda w, g: w - 0.1 * g, state["lora"], grads)}, value


def sparse(state, batch):
    """Trains a table of which few rows are looked up: gradients are sent with their positions."""
    def loss(rows, w):
        return jnp.mean((jnp.tanh(rows.mean(1) @ w) - batch["y"]) ** 2)
    value, (rows, w) = jax.value_and_grad(loss, (0, 1))(state["table"][batch["at"]], state["w"])
    rows = lax.all_gather(rows.reshape(-1, rows.shape[-1]), "data", tiled=True) / lax.psum(1, "data")
    at = lax.all_gather(batch["at"].reshape(-1), "data", tiled=True)
    return {"table": state["table"].at[at].add(-0.5 * rows), "w": state["w"] - 0.5 * lax.pmean(w, "data")}, lax.pmean(value, "data")


@unittest.skipUnless(HAS_LIBRARIES, "CGX_LIBRARY_PATH names no folder with libcgx_xla.so and libcgx_compiler.so")
class SmallerGradientsTest(unittest.TestCase):
    def train(self, step, state, batch, steps=10):
        for _ in range(steps):
            state, value = step(state, batch)
            value.block_until_ready()
        return jax.tree.map(np.asarray, state)

    def setUp(self):
        self.mesh = models.mesh_of(jax.devices()[:4], data=4)
        self.random = np.random.default_rng(0)

    def normal(self, *shape):
        return self.random.normal(0, 0.3, shape).astype(np.float32)

    def put(self, tree, *axes):
        return jax.device_put(tree, NamedSharding(self.mesh, P(*axes)))

    def gradients(self, step):
        return {layer["layer"]: layer for layer in step.report("json")["layers"] if layer["kind"] == "gradient"}

    def test_of_adapters_the_gradients_of_both_factors_travel(self):
        state = self.put({"base": self.normal(64, 128), "lora": {"a": self.normal(64, 4), "b": self.normal(4, 128)}})
        batch = self.put({"x": self.normal(32, 64), "y": self.normal(32, 128)}, "data")
        expected = self.train(jax.jit(adapters), state, batch)
        step = cgx_jax.compress(jax.jit(adapters), codec="identity")
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6), self.train(step, state, batch), expected)
        self.assertEqual(sorted(self.gradients(step)), ["lora/a", "lora/b"])
        step = cgx_jax.compress(jax.jit(adapters), bits=4, min_elements=1)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=0.02), self.train(step, state, batch), expected)

    def test_rows_of_a_table_are_gradients_and_have_no_error_feedback(self):
        state = self.put({"table": self.normal(100, 32), "w": self.normal(32, 16)})
        batch = self.put({"at": self.random.integers(0, 100, (32, 4)).astype(np.int32), "y": self.normal(32, 16)}, "data")
        make = lambda: jax.jit(models.data_parallel(sparse, jax.devices()[:4]))
        expected = self.train(make(), state, batch)
        for options in ({}, {"error_feedback": "f32"}):
            step = cgx_jax.compress(make(), bits=4, min_elements=1, **options)
            jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=0.02), self.train(step, state, batch), expected)
            table = self.gradients(step)["table"]
            self.assertIn("rows of a table change places" if options else "bits", str(table))

    def test_gradients_of_f64_are_named(self):
        def local(state, batch):
            value, grads = jax.value_and_grad(lambda state: jnp.mean(jnp.tanh(batch @ state["u"] @ state["w"]) ** 2))(state)
            return jax.tree.map(lambda w, g: w - 0.1 * lax.pmean(g, "data"), state, grads), lax.pmean(value, "data")

        with jax.enable_x64(True):
            state, batch = self.put({"u": np.ones((32, 16)), "w": np.ones((16, 8))}), self.put(np.ones((8, 32)), "data")
            step = cgx_jax.compress(jax.jit(models.data_parallel(local, jax.devices()[:4])), bits=4, min_elements=1)
            self.train(step, state, batch, steps=1)
        said = " ".join(map(str, step.diagnostics()))
        self.assertIn("2 gradients of f64 stay exact, 'u', 'w': codecs take f32, f16 and bf16; cast gradients", said)


if __name__ == "__main__":
    unittest.main()
