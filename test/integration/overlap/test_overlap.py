"""Overlap changes when ranks exchange data, but no bit of their results. Standard library only."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

CGX_OPT, CGX_RUN = os.environ["CGX_OPT"], os.environ["CGX_RUN"]
EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / "examples"
# Each entry has a number of steps, and a group size in bytes that splits the example's gradients into several groups.
CASES = {"mlp-digits": (20, 65536), "transformer-lm": (2, 262144)}


class Overlap(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def compile(self, example, name, options):
        path = self.folder / f"{name}.mlir"
        subprocess.run([CGX_OPT, EXAMPLES / example / "step.mlir", f"--cgx-compress={options}", "-o", path], check=True)
        return path

    def run_step(self, example, step, transport, *options):
        """Returns the report of a short run."""
        report = self.folder / "report.json"
        files = EXAMPLES / example
        result = subprocess.run(
            [CGX_RUN, step, "--ranks", "4", "--transport", transport, "--state", files / "state.safetensors", "--data",
             files / "train.safetensors", "--steps", str(CASES[example][0]), "--repeat", "--quiet", "--report", report,
             *options], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(report.read_text())

    def check_trace(self, path):
        events = json.loads(path.read_text())["traceEvents"]
        spans = [event for event in events if event["ph"] == "X"]
        self.assertEqual({event["pid"] for event in spans}, {0, 1, 2, 3})
        self.assertEqual(min(event["ts"] for event in spans), 0)
        for rank in range(4):
            mine = [event for event in spans if event["pid"] == rank]
            threads = {category: {event["tid"] for event in mine if event["cat"] == category}
                       for category in ("step", "compute", "wait", "encode", "exchange", "decode")}
            self.assertEqual((threads["step"], threads["compute"], threads["wait"]), ({0}, {0}, {0}))
            for category in ("encode", "exchange", "decode"):
                self.assertIn(1, threads[category])
            layers = {layer for event in mine if event["cat"] == "encode" for layer in event["args"]["layers"]}
            self.assertTrue(any(layer.startswith("params/") for layer in layers), layers)

    def test_results_are_those_without(self):
        for example, (_, group) in CASES.items():
            options = f"bits=4 error-feedback=f32 group-bytes={group}"
            synchronous = self.compile(example, "synchronous", options)
            ungrouped = self.compile(example, "ungrouped", "bits=4 error-feedback=f32 group-bytes=0")
            started = self.compile(example, "started", options + " overlap")
            text = started.read_text()
            self.assertGreater(text.count("cgx.start all_reduce"), 1)
            self.assertEqual(text.count("cgx.start "), text.count("cgx.wait"))
            reports = {}
            for transport in ("inproc", "shm"):
                trace = self.folder / "trace.json"
                reports[transport] = self.run_step(example, started, transport, "--trace", trace)
                self.check_trace(trace)
            for step in (synchronous, ungrouped):
                reports[step.stem] = self.run_step(example, step, "inproc")
            for name, report in reports.items():
                with self.subTest(example=example, run=name):
                    self.assertEqual(report["state_hash"], reports["synchronous"]["state_hash"])
                    self.assertEqual(report["loss"], reports["synchronous"]["loss"])
            waits = [(entry["wait_seconds_per_step"], entry["communication_seconds_per_step"])
                     for entry in reports["synchronous"]["collectives"]]
            for wait, total in waits:  # the step waits for the whole exchange
                self.assertGreaterEqual(wait, total * 0.5)


if __name__ == "__main__":
    unittest.main()
