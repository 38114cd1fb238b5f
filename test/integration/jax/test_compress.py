"""A step runs in the user's own JAX process, with its collectives in our runtime. Its signature and donation stay,
devices agree to the bit, and uncompressed steps give JAX's results."""

import os
import pathlib
import subprocess
import sys
import textwrap
import unittest

import jobs  # first, because it sets the number of devices

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec as P

import cgx_jax
import models
import scanned_fsdp

ROOT = pathlib.Path(__file__).resolve().parents[3]
HAS_LIBRARIES = all((folder / "libcgx_xla.so").exists() and (folder / "libcgx_compiler.so").exists()
                    for folder in [pathlib.Path(os.environ.get("CGX_LIBRARY_PATH", "/nowhere"))])


def make(devices, seed=0):
    """Returns a data-parallel step with shard_map, its parameters, and a batch."""
    mesh = models.mesh_of(devices, data=len(devices))

    def local(params, batch):
        loss, grads = models.averaged(models.dense_loss, params, batch)
        return models.sgd(params, grads), loss

    step = jax.jit(models.data_parallel(local, devices), donate_argnums=0)
    params = jax.device_put(models.dense_params(64, 128, 10, seed=seed), NamedSharding(mesh, P()))
    batch = jax.device_put(models.labelled(64, samples=64), NamedSharding(mesh, P("data")))
    return step, params, batch


def train(step, params, batch, steps=5):
    losses = []
    for _ in range(steps):
        params, loss = step(params, batch)
        losses.append(float(loss))
    return losses, params


def disagreement(tree):
    """Returns the names of leaves whose bits differ between devices."""
    return [jax.tree_util.keystr(path) for path, leaf in jax.tree_util.tree_leaves_with_path(tree)
            if leaf.sharding.is_fully_replicated
            and len({np.asarray(shard.data).tobytes() for shard in leaf.addressable_shards}) > 1]


@unittest.skipUnless(HAS_LIBRARIES, "CGX_LIBRARY_PATH names no folder with libcgx_xla.so and libcgx_compiler.so")
class CompressTest(unittest.TestCase):
    def assert_same_bits(self, left, right):
        for (path, a), b in zip(jax.tree_util.tree_leaves_with_path(left), jax.tree.leaves(right)):
            self.assertEqual(np.asarray(a).tobytes(), np.asarray(b).tobytes(), jax.tree_util.keystr(path))

    def test_exact_is_what_jax_computes(self):
        # There are two devices, because a sum of two numbers has one order.
        step, params, batch = make(jax.devices()[:2])
        ours = cgx_jax.compress(step, codec="identity")
        expected = train(step, jax.tree.map(jnp.copy, params), batch)
        got = train(ours, params, batch)
        self.assertEqual(got[0], expected[0])
        self.assert_same_bits(got[1], expected[1])

    def test_arguments_that_lie_on_one_device_are_said_at_the_users_line(self):
        step = cgx_jax.compress(jax.jit(lambda params, batch: models.sgd(params, jax.grad(models.dense_loss)(params, batch))), bits=4)
        with self.assertWarns(UserWarning) as said:
            step(models.dense_params(64, 128, 10, seed=0), models.labelled(64, samples=64))
        self.assertEqual(said.filename, __file__)
        self.assertRegex(str(said.warning), r"^cgx: the step is for one device: .* lie on one of \d+ devices: .*jax\.device_put\(batch, ")

    def test_devices_agree(self):
        for count in (2, 4):
            with self.subTest(devices=count):
                step, params, batch = make(jax.devices()[:count])
                ours = cgx_jax.compress(step, bits=4)
                losses, trained = train(ours, params, batch)
                self.assertEqual(disagreement(trained), [])
                self.assertLess(losses[-1], losses[0])
                self.assertIn("quantize bits=4", ours.report())
                counters = ours.telemetry()
                self.assertEqual(sorted(counters), list(range(count)))
                self.assertGreater(counters[0]["raw_bytes"], 6 * counters[0]["wire_bytes"])
                self.assertEqual(counters[0]["steps"], 5)

    def test_signature_and_donation_stay(self):
        step, params, batch = make(jax.devices()[:2])
        ours = cgx_jax.compress(step, bits=4)
        before = params["l0"]["w"]
        after, loss = ours(params, batch)
        self.assertTrue(before.is_deleted())
        self.assertFalse(batch["x"].is_deleted())
        self.assertEqual(loss.shape, ())
        self.assertEqual(after["l0"]["w"].sharding, step.lower(after, batch).compile().output_shardings[0]["l0"]["w"])
        self.assertEqual(ours.__name__, step.__name__)

    def test_shardings_alone(self):
        module, (step, state, batch) = jobs.load_step("auto_fsdp")
        ours = cgx_jax.compress(step, codec="identity")
        expected, got = jax.tree.map(jnp.copy, state), state
        for _ in range(3):
            expected, metrics = step(expected, batch)
            got, own = ours(got, batch)
            np.testing.assert_allclose(own["loss"], metrics["loss"], rtol=1e-5)
        for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(expected)):
            np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5)
            self.assertEqual(a.sharding, b.sharding)

    def test_a_wrong_option_is_refused_where_it_is_written(self):
        step = jax.jit(lambda w: w)
        for wrong, expected in (({"bit": 4}, r"no such option bit \(did you mean 'bits'\?\)"), ({"bits": 9}, "^expected bits in 1..8, got 9$"),
                                ({"codec": "quantise"}, r"got quantise \(did you mean 'quantize'\?\)$"),
                                ({"plan": "nowhere.json"}, "^plan 'nowhere.json': cannot read it: No such file or directory$"),
                                ({"plan": {"a": 1}}, "expected 'cgx_plan' of version 1"),
                                ({"transport": "shm_tcp"}, r'got \'shm_tcp\': did you mean "shm\+tcp"\?$'),
                                ({"timeout": "soon"}, "^expected timeout to be a number of seconds, got 'soon'$"),
                                ({"timeout": 0}, "^expected timeout to be from 0.001 to 1e6 seconds, got 0$"),
                                ({"seed": 1.5}, "^expected seed to be a whole number, got 1.5$"),
                                ({"seed": -1}, r"^expected seed to be from 0 to 2\*\*64 - 1, got -1$")):
            with self.subTest(**wrong), self.assertRaisesRegex((cgx_jax.CompileError, TypeError, ValueError), expected):
                cgx_jax.compress(step, **wrong)

    def test_static_arguments_and_new_shapes(self):
        mesh = models.mesh_of(jax.devices()[:2], data=2)

        def step(scale, w, x, *, times):
            def local(w, x):
                for _ in range(times):
                    w = w - scale * lax.psum(x.T @ x @ w, "data")
                return w
            return jax.shard_map(local, mesh=mesh, in_specs=(P(), P("data")), out_specs=P(), check_vma=False)(w, x)

        jitted = jax.jit(step, static_argnames="times")
        ours = cgx_jax.compress(jitted, codec="identity")
        w = np.ones((32, 40), np.float32)
        for rows in (4, 8):
            x = np.full((rows, 32), 0.01, np.float32)
            for times in (1, 2):
                for scale in (0.5, 0.25):
                    self.assert_same_bits(ours(scale, w, x, times=times), jitted(scale, w, x, times=times))

    def test_collectives_in_loops(self):
        mesh = models.mesh_of(jax.devices(), data=4)

        def local(w, x):
            def body(carry):
                index, x = carry
                return index + 1, lax.ppermute(x, "data", [(0, 1), (1, 2), (2, 3), (3, 0)])
            _, x = lax.while_loop(lambda carry: carry[0] < 3 + 0 * lax.pmax(carry[0], "data"), body, (0, x))
            return w - 0.01 * lax.pmean(x.T @ x, "data"), lax.all_gather(x, "data", tiled=True)

        step = jax.jit(jax.shard_map(local, mesh=mesh, in_specs=(P(), P("data")), out_specs=(P(), P()), check_vma=False))
        w, x = np.ones((32, 32), np.float32), np.arange(8 * 32, dtype=np.float32).reshape(8, 32) / 256
        ours = cgx_jax.compress(step, codec="identity")
        expected, got = step(w, x), ours(w, x)
        self.assert_same_bits(got[1], expected[1])
        np.testing.assert_allclose(got[0], expected[0], rtol=1e-6)

    def test_state_goes_on(self):
        step, params, batch = make(jax.devices()[:2])
        first = cgx_jax.compress(step, bits=2, error_feedback="f32", seed=7)
        _, halfway = train(first, jax.tree.map(jnp.copy, params), batch, steps=3)
        saved = first.state_dict()
        self.assertEqual(saved["step"], 3)
        self.assertTrue(any(array.any() for array in saved["ranks"][0].values()), "nothing is remembered")
        kept = jax.tree.map(jnp.copy, halfway)
        _, whole = train(first, halfway, batch, steps=3)

        second = cgx_jax.compress(step, bits=2, error_feedback="f32", seed=7)
        second.load_state_dict(saved)
        _, resumed = train(second, kept, batch, steps=3)
        self.assert_same_bits(resumed, whole)

    def test_sharded_weights_as_differences(self):
        for count in (2, 4):
            with self.subTest(devices=count):
                step, params, batch = models.fsdp_job(jax.devices()[:count])
                exact, _ = train(step, jax.tree.map(jnp.copy, params), batch, steps=20)
                ours = cgx_jax.compress(step, weight="bits=4 delta=bf16", gradient="identity", min_elements=1)
                losses, halfway = train(ours, jax.tree.map(jnp.copy, params), batch, steps=10)
                self.assertAlmostEqual(losses[0], exact[0], 5, "the first gathers are exact")
                saved, kept = ours.state_dict(), jax.tree.map(jnp.copy, halfway)
                more, whole = train(ours, halfway, batch, steps=10)
                direct, _ = train(cgx_jax.compress(step, weight="bits=4", gradient="identity", min_elements=1), params, batch,
                                  steps=20)
                away = [max(abs(a - b) for a, b in zip(each, exact)) for each in (losses + more, direct)]
                self.assertLess(away[0], away[1] / 2)
                promised = ours.report("json")
                weights = [row for row in promised["layers"] if row["kind"] == "weight"]
                self.assertEqual(len(weights), 5, "the first layer's is not gathered again")
                first = sum(row["first_visit_bytes_are_at_most"] for row in weights)
                for rank, sent in ours.telemetry().items():
                    self.assertEqual(sent["wire_bytes"], 20 * promised["wire_bytes_by_rank"][rank] + first)
                # The messages that were sent are part of the state: otherwise the first gathers would be uncompressed
                # again.
                again = cgx_jax.compress(step, weight="bits=4 delta=bf16", gradient="identity", min_elements=1)
                again.load_state_dict(saved)
                _, resumed = train(again, kept, batch, steps=10)
                self.assert_same_bits(resumed, whole)

    def test_sharded_weights_decoded_again(self):
        step, params, batch = models.fsdp_job(jax.devices()[:4])
        trained = []
        for options in ({}, {"overlap": True}):
            ours = cgx_jax.compress(step, weight="bits=6", gradient="bits=8 rounding=nearest", min_elements=1, reuse_gathers="all",
                                    **options)
            trained.append(train(ours, jax.tree.map(jnp.copy, params), batch)[1])
            rows = [row for row in ours.report("json")["layers"] if row["exact_reason"] == "decodes kept payloads again"]
            self.assertEqual(len(rows), 2)
            for counters in ours.telemetry().values():
                sent = {each["id"]: each for each in counters["collectives"]}
                self.assertEqual([sent[row["collective"]]["operands"][0]["wire_bytes"] for row in rows], [0, 0])
        self.assert_same_bits(*trained)

    def test_pipelines_send_nothing_in_bubbles(self):
        for name in ("pipeline", "pipeline_1f1b"):
            with self.subTest(name):
                module, (step, state, batch) = jobs.load_step(name)
                step = jax.jit(step)
                expected, got = state, jax.tree.map(jnp.copy, state)
                ours = cgx_jax.compress(step, codec="identity")
                for _ in range(3):
                    expected, metrics = step(expected, batch)
                    got, own = ours(got, batch)
                    self.assert_same_bits(own, metrics)
                self.assert_same_bits(got, expected)
                rows = {row["layer"]: row for row in ours.report("json")["layers"]}
                for edge, last in (("forward", module.RANKS - 1), ("backward", 0)):
                    row = rows[f"pipeline/{edge}"]
                    sending = [0 if rank == last else module.MICROBATCHES for rank in range(module.RANKS)]
                    self.assertEqual(row["sending_runs_by_rank"], sending)
                    bytes_of_one = 4 * row["shape"][0] * row["shape"][1]
                    for rank, counters in ours.telemetry().items():
                        sent = {each["id"]: each for each in counters["collectives"]}[row["collective"]]
                        self.assertGreater(sent["runs"], 3 * module.MICROBATCHES)
                        self.assertEqual(sent["operands"][0]["wire_bytes"], 3 * sending[rank] * bytes_of_one)

    def test_stacked_weights_gathered_once(self):
        step, state, batch = scanned_fsdp.make(jax.devices()[:4])

        def with_loss(state, batch):
            state, metrics = step(state, batch)
            return state, metrics["loss"]

        trained = []
        for options in ({}, {"reuse_gathers": "all"}, {"reuse_gathers": "all", "overlap": True}):
            ours = cgx_jax.compress(jax.jit(with_loss), weight="bits=6 rounding=nearest", gradient="bits=8 rounding=nearest", min_elements=1,
                                    **options)
            trained.append(train(ours, jax.tree.map(jnp.asarray, state), batch)[1])
            rows = [row for row in ours.report("json")["layers"] if row["kind"] == "weight"]
            self.assertEqual(len(rows), 2 if options else 4)
        self.assert_same_bits(trained[0], trained[1])
        self.assert_same_bits(trained[0], trained[2])

    def test_a_step_without_collectives_is_jax_s_own(self):
        step = jax.jit(lambda x: x + 1)
        ours = cgx_jax.compress(step)
        self.assertEqual(float(ours(1.0)), 2.0)
        self.assertEqual(ours.telemetry(), {})

    def test_the_step_itself_stays(self):
        step, params, batch = make(jax.devices()[:2])
        before, _ = step(jax.tree.map(jnp.copy, params), batch)
        first, second = cgx_jax.compress(step, bits=2), cgx_jax.compress(step, bits=8)
        first(jax.tree.map(jnp.copy, params), batch)
        second(jax.tree.map(jnp.copy, params), batch)
        self.assertIn("bits=8", second.report())
        self.assertEqual([each.telemetry()[0]["steps"] for each in (first, second)], [1, 1])
        self.assert_same_bits(step(params, batch)[0], before)
        self.assertNotIn("cgx", step.lower(before, batch).as_text())

    def test_what_codecs_remember_goes_on_with_other_arrays(self):
        step, params, batch = make(jax.devices()[:2])
        ours = cgx_jax.compress(step, bits=2, error_feedback="f32")
        params, _ = ours(params, batch)
        # This sharding is equal, in another spelling.
        mesh = models.mesh_of(jax.devices()[:2], data=2)
        for spec in (lambda leaf: P(*[None] * leaf.ndim), lambda leaf: P()):
            params = jax.tree.map(lambda leaf: jax.device_put(np.asarray(leaf), NamedSharding(mesh, spec(leaf))), params)
            params, _ = ours(params, batch)
        self.assertEqual(ours.state_dict()["step"], 3)

    def test_arrays_of_the_host_and_results_are_one_program(self):
        mesh = models.mesh_of(jax.devices()[:2], data=2)
        step, params, batch = make(jax.devices()[:2])
        ours = cgx_jax.compress(step, codec="identity")
        expected = train(step, jax.tree.map(jnp.copy, params), batch, steps=3)
        got = train(ours, jax.tree.map(np.asarray, params), jax.tree.map(np.asarray, batch), steps=3)
        self.assertEqual(got[0], expected[0])
        self.assert_same_bits(got[1], expected[1])
        self.assertEqual(len(ours._programs), 1)
        self.assertEqual(ours.state_dict()["step"], 3)
        # If the program does not take their placement, arrays get a program of their own, as with jax.jit.
        split = jax.device_put(jax.tree.map(np.asarray, params), NamedSharding(mesh, P("data")))
        again = train(ours, split, batch, steps=3)
        self.assertEqual(again[0], expected[0])
        self.assert_same_bits(again[1], expected[1])
        self.assertGreater(len(ours._programs), 1)

    def test_one_version(self):
        self.assertEqual(cgx_jax.__version__, cgx_jax.compiler.version())

    def test_closed_before_the_process_ends(self):
        step, params, batch = make(jax.devices()[:2])
        ours = cgx_jax.compress(step, bits=4)
        _, params = train(ours, params, batch)
        ours.close()
        self.assertEqual(disagreement(params), [])
        with self.assertRaisesRegex(cgx_jax.RuntimeFailure, "the step was closed"):
            ours(params, batch)

    def test_random_keys_are_arguments(self):
        mesh = models.mesh_of(jax.devices()[:2], data=2)

        def local(w, x, key):
            return w + lax.psum(jnp.sum(x) * jax.random.normal(key, w.shape), "data")

        step = jax.jit(jax.shard_map(local, mesh=mesh, in_specs=(P(), P("data"), P()), out_specs=P(), check_vma=False))
        w, x, key = np.ones((4, 4), np.float32), np.ones(8, np.float32), jax.random.key(1)
        self.assert_same_bits(cgx_jax.compress(step, codec="identity")(w, x, key), step(w, x, key))

    def test_it_adapts(self):
        step, params, batch = make(jax.devices())
        ours = cgx_jax.compress(step, bits=4, adapt=cgx_jax.Adaptation("lgreco", warmup=4, every=4, profile_steps=2))
        params, _ = ours(params, batch)
        self.assertIsNone(ours.plan())
        _, trained = train(ours, params, batch, steps=9)
        self.assertEqual(ours.plan()["solver"], "lgreco")
        self.assertEqual({layer["layer"] for layer in ours.plan()["layers"]}, {"l0/w", "l1/w"})
        self.assertEqual(disagreement(trained), [])
        self.assertEqual(ours.telemetry()[0]["steps"], 10)

    def test_mistakes_are_named(self):
        with self.assertRaisesRegex(TypeError, "under jax.jit"):
            cgx_jax.compress(lambda x: x)
        step, params, batch = make(jax.devices()[:2])
        with self.assertRaisesRegex(cgx_jax.CompileError, "bits"):
            cgx_jax.compress(step, bits=17)(params, batch)
        with self.assertRaisesRegex(cgx_jax.CompileError, "colour"):
            cgx_jax.compress(step, colour="red")(params, batch)
        with self.assertRaisesRegex(RuntimeError, "has not been called"):
            cgx_jax.compress(step).report()


@unittest.skipUnless(HAS_LIBRARIES, "CGX_LIBRARY_PATH names no folder with libcgx_xla.so and libcgx_compiler.so")
class ManyRunsTest(unittest.TestCase):
    """XLA has one thread per core, so a handler that blocked one of them might deadlock."""

    def test_eight_devices(self):
        code = textwrap.dedent("""
            import sys
            sys.path[:0] = [%r, %r]
            import jax, numpy as np
            import cgx_jax, models
            from jax import lax
            from jax.sharding import PartitionSpec as P

            def local(params, batch):
                # Each layer has a collective of its own in the backward pass.
                loss, grads = models.averaged(models.dense_loss, params, batch)
                return models.sgd(params, grads), loss

            step = jax.jit(models.data_parallel(local, jax.devices()), donate_argnums=0)
            ours = cgx_jax.compress(step, bits=4, group_bytes=1, min_elements=1)
            params, batch = models.dense_params(64, *[64] * 6, 10), models.labelled(64, samples=64)
            for _ in range(60):
                params, loss = ours(params, batch)
            for leaf in jax.tree.leaves(params):
                assert len({np.asarray(shard.data).tobytes() for shard in leaf.addressable_shards}) == 1
            print("collectives", len(ours.telemetry()[0]["collectives"]))
            """ % (str(ROOT / "tools" / "jax"), str(ROOT / "test" / "integration" / "jax")))
        environment = os.environ | {"XLA_FLAGS": "--xla_force_host_platform_device_count=8"}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=240)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        self.assertGreaterEqual(int(done.stdout.split("collectives ")[1]), 8)


if __name__ == "__main__":
    unittest.main()
