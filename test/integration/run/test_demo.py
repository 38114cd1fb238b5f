"""tools/demo, in its short form: what it promises on a screen and in a log."""

import os
import pathlib
import re
import subprocess
import unittest

from harness import RunTest

ROOT = pathlib.Path(__file__).resolve().parents[3]


class Demo(RunTest):
    def test_a_log_has_tables_and_no_lines_of_progress(self):
        out = self.folder / "demo"
        result = subprocess.run([ROOT / "tools" / "demo", "--quick", "--tools", pathlib.Path(os.environ["CGX_OPT"]).parent, "--out", out],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600, check=False,
                                env=self.environment())
        said = result.stdout
        self.assertEqual(result.returncode, 0, said)
        self.assertRegex(said, r"two examples .*: about \d+ s")
        self.assertNotIn(" left\n", said)
        rows = {row[0]: row[1:] for row in re.findall(r"(?m)^\| ([a-z-]+, (?:uncompressed|4 bits)) .*\| +([\d.]+ .B) \| +([\d.]+ .B) \| +([\d.]+) \|", said)}
        # README's columns of bytes, which do not depend on how long one trains.
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        self.assertEqual(len(rows), 4, said)
        for name, (raw, wire, ratio) in rows.items():
            self.assertRegex(readme, rf"(?m)^\| {name} \|.*\| {re.escape(raw)} \| {re.escape(wire)} \| {re.escape(ratio)} \|$")
        for name in ("mlp-digits.svg", "transformer-lm.svg", "mlp-digits.q4.safetensors"):
            self.assertTrue((out / name).exists(), name)
        self.assertIn("== next", said)
        self.assertLess(max(map(len, said[said.index("cgx report"):said.index("== results")].splitlines())), 161)


if __name__ == "__main__":
    unittest.main()
