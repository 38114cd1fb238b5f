"""The walks that take a minute: four-hosts.md, on hosts of tools/netlab where this machine may make them, and tutorial-pytorch.md.

What it needs beside Python: CGX_BIN, the folder of the tools; CGX_LIB, that of libcgx_runtime.so; CGX_JAX_PYTHON, a Python that has
torch, for the second.
"""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from test_pages import ROOT, blocks, page


class PyTorchTutorialTest(unittest.TestCase):
    def test_commands_run_and_the_report_is_theirs(self):
        python = os.environ.get("CGX_JAX_PYTHON", "")
        if not python or subprocess.run([python, "-c", "import torch"], capture_output=True, check=False).returncode:
            self.skipTest("no Python with torch (tools/setup --torch makes one)")
        text = page("tutorial-pytorch.md")
        (program,) = blocks(text, "python")
        (shown,) = blocks(text, "text")
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("RANK", "WORLD_SIZE", "MASTER_", "CGX_"))}
        environment |= {"PYTHONPATH": f"{ROOT / 'tools/python'}:{ROOT / 'tools/torch'}", "CGX_LIBRARY_PATH": os.environ["CGX_LIB"],
                        "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        said = []
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "train.py").write_text(program, encoding="utf-8")
            for line in "".join(blocks(text, "sh")).splitlines():
                # A port that is free: other tests may run torchrun, too.
                line = line.replace("torchrun ", f"'{python}' -m torch.distributed.run --standalone ")
                done = subprocess.run(["bash", "-c", line], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=600)
                self.assertEqual(done.returncode, 0, f"{line}\n{done.stderr}")
                said.append(done.stdout)
        row = re.compile(r"^(\S+) .*?(\d+) +(\d+) +([\d.]+x)", re.M)
        rows = row.findall(shown)
        self.assertEqual(len(rows), 7)
        self.assertEqual(row.findall(said[1]), rows)
        self.assertIn("69 times fewer bytes", " ".join(text.split()))
        self.assertEqual(round(float(row.findall(said[2])[-1][3].rstrip("x"))), 69)
        uncompressed, compressed, _ = (float(re.search(r"^loss ([\d.]+), ", each, re.M)[1]) for each in said)
        self.assertIn("the same within 5 %", text)
        self.assertAlmostEqual(compressed / uncompressed, 1, delta=0.05)


class FourHostsTest(unittest.TestCase):
    """The walk of four-hosts.md, on the hosts of tools/netlab where this machine may make them."""

    @classmethod
    def setUpClass(cls):
        cls.text = page("four-hosts.md")
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        for name in ("tools", "examples"):
            pathlib.Path(cls.folder.name, name).symlink_to(ROOT / name)
        cls.environment = {**os.environ, "PATH": f"{os.environ['CGX_BIN']}:{os.environ['PATH']}",
                           "CGX_CACHE_DIR": f"{cls.folder.name}/cache"}
        may = subprocess.run([str(ROOT / "tools/netlab"), "--hosts", "2", "--", "mpirun", "--version"], capture_output=True, text=True,
                             check=False, timeout=60)
        cls.no_hosts = "" if may.returncode == 0 else may.stderr.strip() or "no mpirun"
        cls.said = {}
        if all((pathlib.Path(os.environ["CGX_BIN"]) / tool).exists() for tool in ("cgx-opt", "cgx-run")):
            for line in "".join(blocks(cls.text, "sh")).splitlines():
                cls.run_line(line)

    @classmethod
    def run_line(cls, line):
        # Without hosts the two programs train here, so that there are reports to compare.
        if line.startswith("tools/netlab") and cls.no_hosts:
            if "calibrate" in line:
                line = "cgx-bench calibrate --transport shm --ranks 2 -o out/machine.json"
            else:
                line = line.split(" -- ")[1].replace("--transport tcp", "--ranks 4")
        # The profile needs the page's steps; the speed of a link shows in a few.
        done = subprocess.run(["bash", "-c", line.replace("--steps 20", "--steps 4")], cwd=cls.folder.name, env=cls.environment,
                              capture_output=True, text=True, check=False, timeout=600)
        if done.returncode != 0:
            raise AssertionError(f"{line}\n{done.stdout}{done.stderr}")
        cls.said[line] = done.stdout + done.stderr

    def what(self, *words):
        if not self.said:
            self.skipTest("cgx-opt is not built")
        (found,) = (said for line, said in self.said.items() if all(word in line for word in words))
        return found

    def assertClose(self, got, shown, share):
        self.assertAlmostEqual(float(got) / float(shown), 1, delta=share)

    def test_the_plan_has_the_bytes_of_the_page(self):
        """Errors, and so decisions, differ a little between processors, which add up in another order."""
        row = re.compile(r"^total +(\d+) +(\d+) ", re.M)
        (raw, wire), = row.findall(self.text)
        (raw_now, wire_now), = row.findall(self.what("--cgx-compress=plan="))
        self.assertEqual(raw_now, raw)
        self.assertClose(wire_now, wire, 0.05)
        solved = self.what("cgx-plan solve")
        for layer in re.findall(r"^\| (params/\S+)", self.text, re.M):
            self.assertIn(f"| {layer} ", solved)
        gain = re.compile(r"([\d.]+)x fewer than uncompressed")
        self.assertClose(gain.search(solved)[1], gain.search(self.text)[1], 0.05)

    def test_the_prediction_is_that_of_the_link(self):
        row = re.compile(r"^ +4 +4 +([\d.]+) +([\d.]+) +[\d.]+x +([\d.]+) ", re.M)
        shown = row.findall(self.text)
        self.assertEqual(len(shown), 2)
        got = [row.search(self.what("simulate", program)).groups() for program in ("step.so", "planned.so")]
        for (_, _, megabytes), (exact_now, compressed_now, megabytes_now) in zip(shown, got, strict=True):
            self.assertClose(megabytes_now, megabytes, 0.05)
            # The times contain this machine's own computing. The link bounds them from below: 100 Mbit are 12.5 MB a second.
            if not self.no_hosts:
                for milliseconds, sent in ((exact_now, got[0][2]), (compressed_now, megabytes_now)):
                    self.assertGreater(float(milliseconds), 1e3 * float(sent) / 12.5)

    def test_the_compressed_run_sends_what_the_page_says(self):
        row = re.compile(r"^\| (uncompressed|planned) +\|.*\| +([\d.]+) k?M?B \| +([\d.]+) \| +([\d.]+) \|", re.M)
        shown, got = ({name: rest for name, *rest in row.findall(text)} for text in (self.text, self.what("cgx-curves")))
        self.assertEqual(list(shown), ["uncompressed", "planned"])
        for name, (wire, ratio, _) in shown.items():
            self.assertClose(got[name][0], wire, 0.05)
            self.assertClose(got[name][1], ratio, 0.05)


if __name__ == "__main__":
    unittest.main()
