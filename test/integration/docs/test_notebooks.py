"""The files in examples/notebooks are valid notebooks, and their cells run one after the other in a new folder.

CGX_JAX_PYTHON is a Python with JAX and torch; CGX_LIB the folder of the libraries.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
FOLDER = ROOT / "examples" / "notebooks"
PYTHON = os.environ.get("CGX_JAX_PYTHON", "")


def cells(name, kind):
    return ["".join(cell["source"]) for cell in json.loads((FOLDER / name).read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == kind]


def has(module):
    return bool(PYTHON) and subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0


class Notebooks(unittest.TestCase):
    def run_cells(self, name):
        with tempfile.TemporaryDirectory(prefix="a notebook ") as folder:
            paths = os.pathsep.join(str(ROOT / "tools" / each) for each in ("python", "jax", "torch"))
            keep = {key: value for key, value in os.environ.items() if not key.startswith(("RANK", "WORLD_SIZE", "MASTER_", "XLA_FLAGS"))}
            environment = {**keep, "PYTHONPATH": paths, "CGX_LIBRARY_PATH": os.environ["CGX_LIB"], "CGX_EXAMPLES": str(ROOT / "examples"),
                           "CGX_CACHE_DIR": f"{folder}/cache", "PYTHONDONTWRITEBYTECODE": "1"}
            script = pathlib.Path(folder) / "cells.py"
            script.write_text("\n\n".join(cells(name, "code")), encoding="utf-8")
            done = subprocess.run([PYTHON or sys.executable, script.name], cwd=folder, env=environment, capture_output=True, text=True,
                                  timeout=600, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            return done.stdout

    def test_they_are_notebooks_without_outputs_and_their_links_lead_somewhere(self):
        names = sorted(path.name for path in FOLDER.glob("*.ipynb"))
        self.assertEqual(names, ["jax.ipynb", "native.ipynb", "pytorch.ipynb"])
        for name in names:
            content = json.loads((FOLDER / name).read_text(encoding="utf-8"))
            self.assertEqual((content["nbformat"], content["nbformat_minor"]), (4, 5))
            self.assertEqual(len({cell["id"] for cell in content["cells"]}), len(content["cells"]))
            for cell in content["cells"]:
                self.assertIn(cell["cell_type"], ("code", "markdown"))
                self.assertRegex(cell["id"], r"^[a-zA-Z0-9_-]{1,64}$")
                if cell["cell_type"] == "code":
                    self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None), name)
                    compile("".join(cell["source"]), name, "exec")
            for link in re.findall(r"\]\(([^)#]+)\)", "\n".join(cells(name, "markdown"))):
                self.assertTrue((FOLDER / link).exists(), f"{name}: {link}")

    @unittest.skipUnless(has("jax"), "no Python with JAX (tools/setup --python makes one)")
    def test_jax(self):
        said = self.run_cells("jax.ipynb")
        exact, compressed = map(float, re.search(r"loss ([\d.]+) exactly, ([\d.]+) at 4 bits", said).groups())
        self.assertAlmostEqual(compressed / exact, 1, delta=0.1)
        self.assertRegex(said, r"out +gradient .*quantize bits=4")

    @unittest.skipUnless(has("torch"), "no Python with torch (tools/setup --torch makes one)")
    def test_pytorch(self):
        said = self.run_cells("pytorch.ipynb")
        exact, compressed = map(float, re.findall(r"loss ([\d.]+)", said))
        self.assertAlmostEqual(compressed / exact, 1, delta=0.2)
        self.assertEqual(said.count("cgx report: 2 ranks"), 1)

    def test_native(self):
        if not (pathlib.Path(os.environ["CGX_LIB"]).parent / "bin" / "cgx-compile").exists():
            self.skipTest("this build has no compiler")
        said = self.run_cells("native.ipynb")
        exact, compressed = map(float, re.findall(r"(?:exact|4 bits): loss ([\d.]+)", said))
        self.assertAlmostEqual(compressed, exact, delta=0.1)
        self.assertRegex(said, r"4 bits: .*[5-9]\.\d+ times fewer bytes")
        self.assertIn("accuracy", said.splitlines()[-1])


if __name__ == "__main__":
    unittest.main()
