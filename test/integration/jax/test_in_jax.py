"""examples/in-jax: the script with two more lines trains like the plain one."""

import difflib
import os
import pathlib
import re
import subprocess
import sys
import unittest

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "examples" / "in-jax"
PACKAGE = FOLDER.parents[1] / "tools" / "jax"
HAS_LIBRARIES = (pathlib.Path(os.environ.get("CGX_LIBRARY_PATH", "/nowhere")) / "libcgx_xla.so").exists()


def train(script):
    environment = os.environ | {"XLA_FLAGS": "--xla_force_host_platform_device_count=2", "PYTHONPATH": str(PACKAGE)}
    done = subprocess.run([sys.executable, str(FOLDER / script)], env=environment, capture_output=True, text=True,
                          timeout=240)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout, float(re.search(r"accuracy ([\d.]+)%", done.stdout).group(1))


@unittest.skipUnless(HAS_LIBRARIES, "CGX_LIBRARY_PATH names no folder with libcgx_xla.so")
class InJaxTest(unittest.TestCase):
    def test_two_lines_more(self):
        plain, compressed = [(FOLDER / name).read_text().splitlines() for name in ("plain.py", "compressed.py")]
        code = [line for line in difflib.ndiff(plain, compressed) if line[0] in "+-" and "cgx_jax" in line]
        self.assertEqual([line[0] for line in code], ["+", "+"])
        changed = [line for line in difflib.ndiff(plain, compressed) if line[0] in "+-"]
        self.assertEqual(len(changed), 2 + 4, "besides the two lines, only the documentation differs")

    def test_it_trains_as_well(self):
        printed, accuracy = train("compressed.py")
        self.assertEqual(printed.count("cgx report: 2 ranks"), 1)
        self.assertGreater(accuracy, train("plain.py")[1] - 2)


if __name__ == "__main__":
    unittest.main()
