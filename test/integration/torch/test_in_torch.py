"""examples/in-torch: the script with two lines more trains as the plain one does."""

import difflib
import os
import pathlib
import re
import socket
import subprocess
import sys
import unittest

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "examples" / "in-torch"
PACKAGE = FOLDER.parents[1] / "tools" / "torch"
HAS_LIBRARIES = (pathlib.Path(os.environ.get("CGX_LIBRARY_PATH", "/nowhere")) / "libcgx_compiler.so").exists()
try:
    import torch
except ImportError:
    torch = None


def train(script, ranks=2):
    """What rank 0 prints."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    environment = os.environ | {"PYTHONPATH": str(PACKAGE), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port),
                                "WORLD_SIZE": str(ranks), "USE_LIBUV": "0"}  # Debian's torch has none
    processes = [subprocess.Popen([sys.executable, str(FOLDER / script)], env=environment | {"RANK": str(rank)},
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for rank in range(ranks)]
    done = [process.communicate(timeout=240) for process in processes]
    for process, (_, said) in zip(processes, done):
        assert process.returncode == 0, said[-3000:]
    return done[0][0], float(re.search(r"accuracy ([\d.]+)%", done[0][0]).group(1))


class InTorchTest(unittest.TestCase):
    def test_two_lines_more(self):
        plain, compressed = [(FOLDER / name).read_text().splitlines() for name in ("plain.py", "compressed.py")]
        changed = [line for line in difflib.ndiff(plain, compressed) if line[0] in "+-"]
        self.assertEqual([line[0] for line in changed if "cgx_torch" in line], ["+", "+"])
        self.assertEqual(len(changed), 2 + 4, "besides the two lines, only the documentation differs")

    @unittest.skipIf(torch is None, "this Python has no torch: tools/setup --torch")
    @unittest.skipUnless(HAS_LIBRARIES, "CGX_LIBRARY_PATH names no folder with libcgx_compiler.so")
    def test_it_trains_as_well(self):
        printed, accuracy = train("compressed.py")
        self.assertEqual(printed.count("cgx report: 2 ranks"), 1)
        self.assertGreater(accuracy, train("plain.py")[1] - 2)


if __name__ == "__main__":
    unittest.main()
