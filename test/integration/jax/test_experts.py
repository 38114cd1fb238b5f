"""The compiler finds the all-to-alls to experts and back, tells their directions apart, and gives them codecs of their
own; the router's values stay uncompressed. Tested on 2 and 4 ranks and a mesh of two axes, against JAX."""

import collections
import json
import pathlib
import tempfile
import unittest

import jobs  # first, because it sets the number of devices

import jax
import numpy as np

import cgx_jax
import moe

TOKENS = ("dispatch", "combine", "combine_gradient", "dispatch_gradient")
# Each entry is a label, arguments of moe.make, and numbers of ranks.
CASES = {
    "top1 on 2": ({"top": 1}, 2),
    "top2 on 2": ({"top": 2, "layers": 2}, 2),
    "top1 on 4": ({"top": 1}, 4),
    "top2 on 4": ({"top": 2, "experts": 8}, 4),
    "top1 on 2x2": ({"top": 1, "layers": 2, "data": 2, "expert": 2}, 4),
    "top2 on 2x2, computed again": ({"top": 2, "layers": 2, "data": 2, "expert": 2, "remat": True}, 4),
}
STEPS = 6


@jobs.needs_run
class ExpertsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def export(self, label):
        arguments, ranks = CASES[label]
        step, state, batch = moe.make(jax.devices()[:ranks], **arguments)
        folder = self.folder / label.replace(" ", "-")
        program = cgx_jax.export_step(step, state, batch, folder)
        cgx_jax.write_batches(folder / "data.safetensors", batch, name=jobs.parameters(step)[1])
        return program, folder, ranks, (step, state, batch)

    def train(self, program, folder, ranks):
        return jobs.train_in_cgx(program, folder, ranks, STEPS, folder / "state.safetensors", folder / "data.safetensors")

    def compress(self, program, options):
        """Returns (the compressed program, rows of its report)."""
        report, compressed = program.with_suffix(".json"), program.with_suffix(".cgx.mlir")
        jobs.run("CGX_OPT", program, f"--cgx-compress={options}", f"--cgx-report=format=json output={report}", "-o", compressed)
        return compressed, json.loads(report.read_text())["layers"]

    def test_exact_is_what_jax_computes(self):
        for label in CASES:
            with self.subTest(label):
                program, folder, ranks, (step, state, batch) = self.export(label)
                ours, _ = self.train(program, folder, ranks)
                theirs = jobs.train_in_jax(step, state, [batch] * STEPS, STEPS, jobs.parameters(step)[0])
                np.testing.assert_allclose(ours.losses, theirs.losses, rtol=1e-4)
                for name, value in theirs.state.items():
                    np.testing.assert_allclose(ours.state[name], value, rtol=1e-3, atol=1e-4, err_msg=name)

    def test_tokens_are_told_apart(self):
        for label, (arguments, ranks) in CASES.items():
            with self.subTest(label):
                program, *_ = self.export(label)
                _, rows = self.compress(program, "min-elements=1")
                travels = collections.Counter((row["kind"], row["layer"]) for row in rows if row["operation"] == "all_to_all")
                # jax.checkpoint repeats the dispatch, and with it the inputs of the experts' gradients.
                expected = {(kind, f"experts/layer{i}/{'up' if 'dispatch' in kind else 'down'}")
                            for kind in TOKENS for i in range(arguments.get("layers", 1))}
                self.assertLessEqual(expected, set(travels))
                again = set(travels) - expected
                self.assertLessEqual({kind for kind, _ in again}, {"dispatch", "combine"})
                self.assertTrue(all(layer.endswith("#2") for _, layer in again))
                self.assertEqual(bool(again), arguments.get("remat", False))
                self.assertEqual(set(travels.values()), {1}, "each has a name of its own, as plans need it")
                # These are uncompressed by default.
                self.assertEqual({row["codec"] for row in rows if row["kind"] in TOKENS}, {"identity"})

    def test_compressed_tokens_keep_replicas_equal(self):
        for label in CASES:
            program, folder, ranks, _ = self.export(label)
            exact, before = self.train(program, folder, ranks)
            for options in ("dispatch=bits=8 combine=bits=8", "dispatch=bits=4 combine=bits=4",
                            "dispatch=fp8_e4m3 combine='bits=8 rounding=nearest' dispatch-gradient=bits=6",
                            "activation='bits=4 bucket=row' gradient=bits=4"):
                with self.subTest(label, options=options):
                    compressed, rows = self.compress(program, f"{options} gradient=identity min-elements=1"
                                                     if "gradient=bits=4" not in options else f"{options} min-elements=1")
                    for row in rows:
                        isToken = row["kind"] in TOKENS
                        self.assertEqual("identity" not in row["codec"], isToken or ("gradient=bits=4" in options and
                                         row["kind"] == "gradient"), row)
                        if isToken and "quantize" in row["codec"]:
                            self.assertIn(f"bucket={row['shape'][-1]}", row["codec"])
                    ours, report = self.train(compressed, folder, ranks)
                    self.assertEqual(report["disagreements"], [])
                    self.assertEqual(report["totals"]["wire_bytes_per_step"],
                                     sum(json.loads(program.with_suffix(".json").read_text())["wire_bytes_by_rank"]))
                    self.assertLess(report["totals"]["wire_bytes_per_step"], before["totals"]["wire_bytes_per_step"])
                    self.assertLess(abs(ours.losses[-1] - exact.losses[-1]), 0.15 * exact.losses[0])


if __name__ == "__main__":
    unittest.main()
