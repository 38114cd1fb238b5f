"""Layers stacked under lax.scan, fully sharded: the backward loop reuses the forward loop's gathers. Without random
rounding its bits are those of a step that gathers twice, and the bytes are those of the report."""

import json
import os
import pathlib
import tempfile
import unittest

import jobs  # first, because it sets the number of devices
os.environ["XLA_FLAGS"] = os.environ["XLA_FLAGS"].replace(f"device_count={jobs.DEVICES}", "device_count=8")

import jax
import jax.numpy as jnp

import cgx_jax
import auto_scanned
import scanned_fsdp

EXACT = "codec=identity min-elements=1"
NEAREST = "weight='bits=8 rounding=nearest scale=f32' gradient='bits=6 rounding=nearest scale=f32' min-elements=1"
STEPS = 4


@jobs.needs_run
class ScannedTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def export(self, ranks, make=scanned_fsdp.make, **options):
        step, state, batch = make(jax.devices()[:ranks], **options)
        self.program = cgx_jax.export_step(step, state, batch, self.folder)
        cgx_jax.write_batches(self.folder / "data.safetensors", batch, name="batch")
        self.ranks, self.width = ranks, state["params"]["head"].shape[0]

    def report(self, options):
        path = self.folder / "static.json"
        jobs.run("CGX_OPT", self.program, f"--cgx-compress={options}", f"--cgx-report=format=json output={path}", "-o",
                 self.folder / "step.cgx.mlir")
        return json.loads(path.read_text())

    def train(self, options):
        """Returns (Trained, the report's messages, ...), after checking that every byte it states was counted."""
        static = self.report(options)
        trained, report = jobs.train_in_cgx(self.folder / "step.cgx.mlir", self.folder, self.ranks, STEPS,
                                            self.folder / "state.safetensors", self.folder / "data.safetensors")
        self.assertEqual(report["disagreements"], [])
        self.assertEqual(report["totals"]["wire_bytes_per_step"], sum(static["wire_bytes_by_rank"]))
        return trained, static

    def check(self, options, gathers=2, element=4, trips=scanned_fsdp.DEPTH):
        twice, before = self.train(options)
        once, after = self.train(f"{options} reuse-gathers=all")
        self.assertEqual(once.losses, twice.losses)
        for name, expected in twice.state.items():
            self.assertEqual(once.state[name].tobytes(), expected.tobytes(), name)
        weights = [row for row in before["layers"] if row["kind"] == "weight"]
        self.assertEqual(len(weights), 2 * gathers)
        backward = [sum(row["wire_bytes_by_rank"][rank] for row in weights[gathers:]) for rank in range(self.ranks)]
        self.assertEqual([a - b for a, b in zip(before["wire_bytes_by_rank"], after["wire_bytes_by_rank"])], backward)
        kept = [row for row in after["layers"] if row["kind"] == "weight"]
        self.assertEqual([(row["reuses"], row["reuses_in_loops"], row["held_bytes"]) for row in kept],
                         [(1, 1, trips * self.width ** 2 * element)] * gathers)

    def test_ranks(self):
        for ranks in range(2, 9):
            with self.subTest(ranks=ranks):
                self.export(ranks)
                self.check(NEAREST)
                if ranks in (3, 4):
                    self.check(EXACT)

    def test_one_rank(self):
        with self.assertWarnsRegex(UserWarning, "for one device"):
            self.export(1)
        twice, once = self.train(NEAREST)[0], self.train(f"{NEAREST} reuse-gathers=all")[0]
        self.assertEqual(once.losses, twice.losses)

    def test_weights_of_sixteen_bits(self):
        self.export(4, dtype=jnp.bfloat16)
        for options in (EXACT, NEAREST):
            self.check(options, element=2)

    def test_scans_as_jax_writes_them(self):
        """Scans run with the last layer first, and with two layers per iteration, which makes two gathers."""
        self.export(4, reverse=True)
        self.check(NEAREST)
        self.export(4, unroll=2)
        self.check(NEAREST, gathers=4, trips=scanned_fsdp.DEPTH // 2)

    def test_partitioned_by_xla(self):
        for ranks in (2, 4, 8):
            with self.subTest(ranks=ranks):
                self.export(ranks, auto_scanned.make)
                self.check(NEAREST)
        self.check(EXACT)

    def test_started_ahead(self):
        self.export(4)
        self.assertEqual(self.train(f"{NEAREST} reuse-gathers=all prefetch=1MiB")[0].losses, self.train(NEAREST)[0].losses)

    def test_weights_that_are_rounded_at_random(self):
        self.export(4)
        losses = self.train("qsdp min-elements=1 reuse-gathers=all")[0].losses
        self.assertLess(losses[-1], losses[0])

    def test_memory(self):
        self.export(4)
        stack = scanned_fsdp.DEPTH * self.width ** 2 * 4
        for memory, kept in ((stack - 1, 0), (stack, 1), (2 * stack, 2)):
            rows = self.report(f"{NEAREST} reuse-gathers={memory}")["layers"]
            self.assertEqual([row["held_bytes"] for row in rows if "reuses" in row], [stack] * kept)
            self.assertEqual(sum(row["kind"] == "weight" for row in rows), 4 - kept)


if __name__ == "__main__":
    unittest.main()
