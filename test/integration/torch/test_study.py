"""Tests tools/study/frameworks and sharded-overlap, shortened: steps of torch and JAX on hosts with slow links, alone
and with cgx."""

import os
import pathlib
import subprocess
import unittest

import ranks

TOOLS = pathlib.Path(__file__).resolve().parents[3] / "tools"


def why_not():
    """Returns why network namespaces are not possible here, or None."""
    trial = subprocess.run([TOOLS / "netlab", "--hosts", "2", "--", "true"], capture_output=True, text=True, check=False)
    return None if trial.returncode == 0 else trial.stderr.strip()


@unittest.skipIf(why_not(), f"no network namespaces here: {why_not()}")
class Study(unittest.TestCase):
    def measure(self, framework, python):
        if not python or subprocess.run([python, "-c", f"import {framework}"], capture_output=True, check=False).returncode != 0:
            self.skipTest(f"no Python here has {framework}")
        measured = subprocess.run([TOOLS / "study" / "frameworks", "--quick", "--frameworks", framework, "--libraries",
                                   os.environ["CGX_LIBRARY_PATH"], f"--{framework}-python", python], timeout=240,
                                  capture_output=True, text=True, check=False)
        self.assertEqual(measured.returncode, 0, measured.stdout + measured.stderr)
        self.assertRegex(measured.stdout, rf"\| {framework}: Gloo \| [\d.]+ s \| 1\.0x")
        self.assertRegex(measured.stdout, rf"\| {framework}: cgx, 4 bits \| [\d.]+ s")

    def test_torch(self):
        self.measure("torch", os.environ["CGX_TORCH_PYTHON"])

    def test_exchanges_of_fsdp2_that_go_on_beside(self):
        if not ranks.has_fsdp():
            self.skipTest(ranks.NO_FSDP)
        measured = subprocess.run([TOOLS / "study" / "sharded-overlap", "--quick", "--rates", "1gbit", "--libraries",
                                   os.environ["CGX_LIBRARY_PATH"], "--python", os.environ["CGX_TORCH_PYTHON"]], timeout=240,
                                  capture_output=True, text=True, check=False)
        self.assertEqual(measured.returncode, 0, measured.stdout + measured.stderr)
        self.assertRegex(measured.stdout, r"\| 1gbit \| cgx \| [\d.]+ s \| [\d.]+x \| [\d.]+x \|")

    def test_jax(self):
        self.measure("jax", os.environ.get("CGX_PYTHON"))


if __name__ == "__main__":
    unittest.main()
