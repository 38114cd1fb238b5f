"""A step never hangs, in whatever order devices, processes and their threads run. Each run has a few steps and a new
connection, in one process and in several. CGX_TEST_RUNS is the number of runs of each kind; 200 take about an hour
on two cores."""

import os
import pathlib
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import ports

FOLDER = pathlib.Path(__file__).resolve().parent
RUNS = int(os.environ.get("CGX_TEST_RUNS", 2))
HAS_LIBRARIES = all((pathlib.Path(os.environ.get("CGX_LIBRARY_PATH", "/nowhere")) / f"lib{name}.so").exists()
                    for name in ("cgx_xla", "cgx_compiler"))
# (processes, devices of each)
KINDS = ((1, 2), (1, 4), (1, 8), (2, 1), (4, 1), (8, 1), (2, 2))


@unittest.skipUnless(HAS_LIBRARIES, "CGX_LIBRARY_PATH names no folder with libcgx_xla.so and libcgx_compiler.so")
class EnduranceTest(unittest.TestCase):
    def test_runs_end_with_the_same_bits(self):
        for processes, devices in KINDS:
            with self.subTest(processes=processes, devices=devices):
                began = time.monotonic()
                port = ports.reserve()
                started = [subprocess.Popen([sys.executable, FOLDER / "endurance.py", str(index), str(processes), str(port),
                                             str(devices), str(RUNS)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                           for index in range(processes)]
                done = [(*process.communicate(timeout=240 + 60 * RUNS), process.returncode) for process in started]
                for printed, said, status in done:
                    self.assertEqual(status, 0, f"after {printed.count('run')} runs: {said[-3000:]}")
                ended = [line.split() for printed, _, _ in done for line in printed.splitlines() if line.startswith("run ")]
                self.assertEqual(len(ended), processes * RUNS)
                self.assertEqual(len({bits for _, _, bits in ended}), 1, "runs ended with different parameters")
                print(f"{processes} processes of {devices} devices: {RUNS} runs, {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    unittest.main()
