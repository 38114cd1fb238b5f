"""Tests cgx.run, which trains an exported step from Python with cgx-run."""

import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

SOURCE = pathlib.Path(os.environ["CGX_SOURCE"])
sys.path.insert(0, str(SOURCE / "tools" / "python"))
EXAMPLE = SOURCE / "examples" / "mlp-digits"

import cgx  # noqa: E402


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_step(self, **options):
        with contextlib.redirect_stderr(io.StringIO()) as said:
            inputs = {"state": EXAMPLE / "state.safetensors", "data": [EXAMPLE / "train.safetensors"], "steps": 5}
            done = cgx.run(EXAMPLE / "step.mlir", **{**inputs, **options})
        return done, said.getvalue()

    def test_metrics_checkpoint_and_report_are_those_of_the_run(self):
        done, said = self.run_step(ranks=4, compress="bits=4", save=self.folder / "trained.safetensors", repeat=True, log_every=1)
        self.assertTrue(done.is_complete)
        self.assertEqual([each["step"] for each in done.metrics], list(range(5)))
        self.assertLess(done.metrics[-1]["metrics"]["loss"], done.metrics[0]["metrics"]["loss"])
        self.assertEqual(done.report["ranks"], 4)
        self.assertGreater(done.report["totals"]["ratio"], 4)
        self.assertEqual(done.checkpoint, self.folder / "trained.safetensors")
        for part in ("cgx report: 4 ranks", "5/5  loss", "saved", "equal on all ranks"):
            self.assertIn(part, said)
        again, _ = self.run_step(resume=done.checkpoint, state=None, save=f"{self.folder / 'folder'}/", quiet=True, steps=2)
        self.assertEqual(again.checkpoint.name, "step-000000000007.safetensors")
        self.assertEqual(again.metrics[0]["step"], 5)

    def test_quiet_says_nothing_and_nothing_is_saved_that_was_not_asked_for(self):
        before = sorted(os.listdir())
        done, said = self.run_step(quiet=True)
        self.assertEqual((said, done.checkpoint), ("", None))
        self.assertEqual(sorted(os.listdir()), before)

    def test_an_error_has_the_words_of_the_program(self):
        for options, status, words in (({"compress": "bitz=4"}, 1, "did you mean 'bits'?"), ({"stepz": 5}, 2, "did you mean '--steps'?"),
                                       ({"set": {"nothing": 1}}, 1, "nothing")):
            with self.assertRaisesRegex(cgx.RunError, words.replace("?", r"\?")) as raised:
                self.run_step(**options)
            self.assertEqual(raised.exception.status, status)
            self.assertNotIn("cgx-run: error", str(raised.exception))

    def test_where_there_is_no_program_it_says_where_it_looked(self):
        with mock.patch.dict(os.environ, {"CGX_LIBRARY_PATH": str(self.folder), "PATH": "/nonexistent"}):
            with self.assertRaisesRegex(FileNotFoundError, f"looked for .*{self.folder.parent / 'bin' / 'cgx-run'}"):
                self.run_step()

    def test_options_come_from_a_file_as_well(self):
        config = self.folder / "cgx.toml"
        config.write_text("steps = 3\n[compress]\nbits = 2\n")
        done, _ = self.run_step(config=config, steps=None)
        self.assertEqual(len(done.metrics), 3)
        self.assertIn('"bits": 2', json.dumps(done.report))


if __name__ == "__main__":
    unittest.main()
