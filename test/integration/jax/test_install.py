"""After cgx_jax.install(), training steps that JAX compiles are compressed, and other functions are left alone."""

import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest
import warnings

import jobs  # first, because it sets the number of devices

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec as P

import cgx_jax
import models
import ports
from test_compress import HAS_LIBRARIES, ROOT, disagreement, make, train


@unittest.skipUnless(HAS_LIBRARIES, "CGX_LIBRARY_PATH names no folder with libcgx_xla.so and libcgx_compiler.so")
class InstallTest(unittest.TestCase):
    def install(self, **options):
        jax.clear_caches()
        installation = cgx_jax.install(**options)
        self.addCleanup(jax.clear_caches)
        self.addCleanup(installation.uninstall)
        return installation

    def test_a_step_of_shard_map(self):
        installation = self.install(bits=4)
        step, params, batch = make(jax.devices())
        name = step.__name__
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            losses, trained = train(step, params, batch, steps=80)
        self.assertRegex(printed.getvalue(), rf"^cgx: {name}: 2 of 5 tensors compressed, \d+ -> \d+ bytes per rank and step\n$")
        self.assertLess(losses[-1], losses[0])
        self.assertEqual(disagreement(trained), [])
        self.assertTrue(params["l0"]["w"].is_deleted())
        counters = installation.steps[name].telemetry()
        self.assertEqual(sorted(counters), [0, 1, 2, 3])
        self.assertEqual(counters[0]["steps"], 80)
        self.assertGreater(counters[0]["raw_bytes"], 6 * counters[0]["wire_bytes"])
        self.assertIn("quantize bits=4", installation.steps[name].report())

    def test_it_is_what_compress_does(self):
        step, params, batch = make(jax.devices()[:2])
        expected = train(cgx_jax.compress(step, bits=4, seed=3), jax.tree.map(jnp.copy, params), batch)
        self.install(bits=4, seed=3)
        got = train(step, params, batch)
        self.assertEqual(got[0], expected[0])

    def test_shardings_alone(self):
        installation = self.install(bits=4, min_elements=1)
        _, (step, state, batch) = jobs.load_step("auto_sharded")
        for _ in range(3):
            state, metrics = step(state, batch)
        self.assertTrue(np.isfinite(metrics["loss"]))
        named, = installation.steps.values()
        self.assertEqual(named.telemetry()[0]["steps"], 3)
        self.assertGreater(named.telemetry()[0]["raw_bytes"], 2 * named.telemetry()[0]["wire_bytes"])

    def test_state_that_comes_back_split_is_the_loop_s_affair(self):
        """The state is whole in the first call, returns split, and is passed split to the second. So JAX compiles two
        programs, as for a model of flax.nnx on a mesh. No state is lost, and no warning appears."""
        mesh = models.mesh_of(jax.devices(), data=2, model=2)
        split = NamedSharding(mesh, P(None, "model"))

        @jax.jit
        def train_step(w, x):
            loss, grad = jax.value_and_grad(lambda w: jnp.mean((x @ w) ** 2))(w)
            return lax.with_sharding_constraint(w - 0.01 * grad, split), loss

        def train_from_whole(step):
            random = np.random.default_rng(0)
            w = jax.device_put(random.normal(size=(64, 64)).astype(np.float32), NamedSharding(mesh, P()))
            x = jax.device_put(random.normal(size=(8, 64)).astype(np.float32), NamedSharding(mesh, P("data")))
            losses = []
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                for _ in range(4):
                    w, loss = step(w, x)
                    losses.append(float(loss))
            self.assertLess(losses[-1], losses[0])
            self.assertEqual([each for each in caught if "fed back" in str(each.message)], [])

        compressed = cgx_jax.compress(train_step, bits=4)
        train_from_whole(compressed)
        self.assertGreater(compressed.telemetry()[0]["raw_bytes"], 4 * compressed.telemetry()[0]["wire_bytes"])
        installation = self.install(bits=4)
        train_from_whole(train_step)
        self.assertEqual(installation.steps["train_step"].telemetry()[0]["steps"], 3)

    def test_pmap(self):
        installation = self.install(bits=4)

        def train_step(w, x):
            return w - 0.01 * lax.pmean(jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w), "data")

        step = jax.pmap(train_step, axis_name="data", in_axes=(None, 0), out_axes=None)
        w = np.random.default_rng(0).normal(size=(64, 64)).astype(np.float32)
        x = np.random.default_rng(1).normal(size=(4, 8, 64)).astype(np.float32)
        after = step(w, x)
        self.assertLess(np.abs(np.asarray(after) - w).max(), 1)
        self.assertEqual(len(installation.steps), 1)  # JAX 0.10 does not pass the function's name

    def test_what_trains_nothing_is_left_to_jax(self):
        installation = self.install(bits=4)
        mesh = models.mesh_of(jax.devices(), data=4)
        split = NamedSharding(mesh, P("data"))
        x = jax.device_put(np.arange(64 * 64, dtype=np.float32).reshape(64, 64), split)
        metric = jax.jit(jax.shard_map(lambda x: lax.pmean(x.mean(), "data"), mesh=mesh, in_specs=P("data"), out_specs=P()))
        self.assertEqual(float(metric(x)), 64 * 64 / 2 - 0.5)
        self.assertEqual(float(jnp.sum(x)), 64 * 64 * (64 * 64 - 1) / 2)
        np.testing.assert_allclose(jax.jit(lambda x: x @ x.T)(x), np.asarray(x) @ np.asarray(x).T, rtol=1e-5)
        self.assertEqual(installation.steps, {})
        with self.assertWarnsRegex(UserWarning, r"install\(\) compressed nothing: .*nothing"):
            installation.uninstall()

    def test_select(self):
        installation = self.install(bits=4, select="train_*")
        step, params, batch = make(jax.devices()[:2])
        train(step, params, batch, steps=1)
        self.assertEqual(installation.steps, {})
        with self.assertWarnsRegex(UserWarning, r"install\(\) compressed nothing: no function .*select=\['train_\*'\]"):
            installation.uninstall()

    def test_what_the_compiler_refuses_is_left_to_jax_with_a_warning(self):
        self.install(plan={"cgx_plan": 1, "program": "", "layers": []})
        step, params, batch = make(jax.devices()[:2])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            train(step, params, batch, steps=1)
        self.assertTrue([each for each in caught if "is left to JAX" in str(each.message)])

    def test_mistakes(self):
        with self.assertRaisesRegex(cgx_jax.CompileError, "bits"):
            cgx_jax.install(bits=40)
        with self.assertRaisesRegex(TypeError, 'error_feedback to be one of "f32", "bf16", "int8"'):
            cgx_jax.install(error_feedback=True)
        with self.assertRaisesRegex(ValueError, 'did you mean "lgreco"'):
            cgx_jax.install(adapt="lgrecoo")
        self.install(bits=4)
        with self.assertRaisesRegex(RuntimeError, "was called before"):
            cgx_jax.install(bits=2)

    def test_a_jax_without_the_place(self):
        from jax._src import compiler
        kept = compiler.compile_or_get_cached
        del compiler.compile_or_get_cached
        try:
            with self.assertRaisesRegex(RuntimeError, f"JAX {jax.__version__} lacks the place"):
                cgx_jax.install(bits=4)
        finally:
            compiler.compile_or_get_cached = kept


PROGRAM = """
    import sys
    sys.path[:0] = [%r, %r]
    import json
    import jax
    import cgx_jax, models

    options, distributed = json.loads(sys.argv[1]), sys.argv[2:]
    if distributed:
        jax.distributed.initialize(*[f"localhost:{distributed[2]}", int(distributed[1]), int(distributed[0])])
    installation = cgx_jax.install(**options)
    step, params, batch = models.dense_job()
    for _ in range(200):
        params, loss = step(params, batch)
    each, = installation.steps.values()
    counters = next(iter(each.telemetry().values()))
    print(json.dumps({"loss": float(loss.addressable_shards[0].data), "steps": counters["steps"],
                      "raw": counters["raw_bytes"], "wire": counters["wire_bytes"]}))
    """


@unittest.skipUnless(HAS_LIBRARIES, "CGX_LIBRARY_PATH names no folder with libcgx_xla.so and libcgx_compiler.so")
class ProcessesTest(unittest.TestCase):
    def start(self, options, devices, distributed=(), environment=()):
        code = textwrap.dedent(PROGRAM % (str(ROOT / "tools" / "jax"), str(ROOT / "test" / "integration" / "jax")))
        return subprocess.Popen(
            [sys.executable, "-c", code, json.dumps(options), *map(str, distributed)], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
            env=os.environ | {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}"}
            | ({"JAX_CPU_COLLECTIVES_IMPLEMENTATION": "gloo"} if distributed else {}) | dict(environment))

    def answer(self, process):
        printed, said = process.communicate(timeout=240)
        self.assertEqual(process.returncode, 0, said[-3000:])
        return json.loads(printed.splitlines()[-1])

    def test_eight_devices_and_steps_that_nobody_waits_for(self):
        answer = self.answer(self.start({"bits": 4}, 8))
        self.assertEqual(answer["steps"], 200)

    def test_two_processes(self):
        port = ports.reserve()
        answers = [self.answer(each) for each in
                   [self.start({"bits": 4}, 1, (index, 2, port)) for index in range(2)]]
        self.assertEqual(answers[0]["loss"], answers[1]["loss"])
        self.assertGreater(answers[0]["raw"], 6 * answers[0]["wire"])

    def test_the_persistent_cache_keeps_options_apart(self):
        with tempfile.TemporaryDirectory() as folder:
            environment = {"JAX_COMPILATION_CACHE_DIR": folder, "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
                           "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "0"}
            first, again, other = [self.answer(self.start({"bits": bits}, 2, environment=environment)) for bits in (4, 4, 2)]
            self.assertTrue(list(pathlib.Path(folder).iterdir()), "nothing was cached")
        self.assertEqual(first, again)
        self.assertLess(other["wire"], 0.7 * first["wire"])


if __name__ == "__main__":
    unittest.main()
