"""cgx-bench: that it measures what it says, not how fast."""

import json
import os
import subprocess
import unittest

from harness import RunTest

CGX_BENCH = os.environ["CGX_BENCH"]


class Bench(RunTest):
    def bench(self, *arguments, code=0):
        result = subprocess.run([CGX_BENCH, *map(str, arguments)], capture_output=True, text=True, timeout=120,
                                env=self.environment(), check=False)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def test_every_collective_over_threads_and_processes(self):
        for collective in ("all-reduce", "all-gather", "reduce-scatter", "broadcast", "all-to-all"):
            for transport in ("inproc", "shm"):
                with self.subTest(collective=collective, transport=transport):
                    report = self.folder / "bench.json"
                    self.bench(collective, "--ranks", 3, "--transport", transport, "--sizes", "1000,64KiB", "--codec",
                               "quantize bits=8", "--repetitions", 5, "--warmup", 1, "--json", report)
                    results = json.loads(report.read_text())["results"]
                    self.assertEqual([(r["bytes"], r["variant"].split()[0]) for r in results],
                                     [(size, name) for size in (1000, 65536) for name in ("identity", "quantize")])
                    for result in results:
                        self.assertEqual(len(result["seconds"]), 5)
                        self.assertGreater(min(result["seconds"]), 0)

    def test_what_makes_no_sense_is_refused(self):
        for arguments, code, text in (
                (["all-reduce", "--sizes", "4XiB"], 1, "expected a size"),
                (["all-reduce", "--codec", "quantise"], 1, "--codec 'quantise'"),
                (["all-reduce", "--transport", "mpi"], 1, "expected mpirun"),
                (["all-reduce", "--ranks", "0"], 2, "--ranks"),
                (["sum"], 2, "subcommand")):
            with self.subTest(arguments):
                self.assertIn(text, self.bench(*arguments, code=code).stderr)


if __name__ == "__main__":
    unittest.main()
