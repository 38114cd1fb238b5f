"""Tests that cgx-bench measures what it claims to; its results are not compared."""

import json
import os
import subprocess
import unittest

from harness import FIXTURES, RunTest

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
                    self.bench(collective, "--ranks", 3, "--transport", transport, "--sizes", "1000,64K", "--codec",
                               "quantize bits=8", "--repetitions", 5, "--warmup", 1, "--json", report)
                    results = json.loads(report.read_text())["results"]
                    self.assertEqual([(r["bytes"], r["variant"].split()[0]) for r in results],
                                     [(size, name) for size in (1000, 65536) for name in ("identity", "quantize")])
                    for result in results:
                        self.assertEqual(len(result["seconds"]), 5)
                        self.assertGreater(min(result["seconds"]), 0)
                        self.assertEqual(result["wrong"], 0, result["variant"])

    def test_algorithms_stand_beside_the_default(self):
        report = self.folder / "bench.json"
        self.bench("all-reduce", "--ranks", 4, "--sizes", "64KiB", "--codec", "quantize", "--algorithm",
                   "ring,tree,hierarchical", "--local", 2, "--repetitions", 3, "--warmup", 1, "--json", report)
        names = [r["variant"] for r in json.loads(report.read_text())["results"]]
        self.assertEqual([name for name in names if name.startswith("identity")],
                         ["identity"] + [f"identity by {a}" for a in ("ring", "tree", "hierarchical")])
        self.assertEqual(len(names), 8)

    def test_words_of_a_codec_that_a_shell_took_apart_are_no_codecs_of_their_own(self):
        for command in (["all-reduce"], ["calibrate", "-o", self.folder / "machine.json"]):
            said = self.bench(*command, "--codec", "quantize", "bits=3", "bucket=64", "--ranks", 2, code=2).stderr
            self.assertIn('quote what belongs together, --codec "quantize bits=3 bucket=64"', said)

    def machine(self, ranks=2):
        machine = self.folder / "machine.json"
        self.bench("calibrate", "--ranks", ranks, "--bytes", "64KiB", "--repetitions", 3, "-o", machine)
        return machine

    def test_a_machine_has_rates_above_zero(self):
        machine = json.loads(self.machine(ranks=3).read_text())
        self.assertEqual((machine["cgx_machine"], machine["ranks"], machine["local"]), (1, 3, 1))
        for link in ("link", "inside"):
            self.assertGreater(min(machine[link].values()), 0)
        self.assertGreater(machine["flops_per_second"], 0)
        # Each rank wants two cores.
        self.assertGreater(machine["cores_per_rank"], 0)
        self.assertLess(machine["cores_per_rank"], 2.1)
        self.assertIn("quantize", [entry["codec"]["family"] for entry in machine["codecs"]])
        for entry in machine["codecs"]:
            self.assertGreater(min(entry["encode_bytes_per_second"], entry["decode_bytes_per_second"]), 0)

    def test_simulated_bytes_are_those_that_ranks_count(self):
        machine, prediction = self.machine(), self.folder / "prediction.json"
        for ranks in (2, 3, 4):
            with self.subTest(ranks=ranks):
                report, _ = self.train(f"train{ranks}.so", "--steps", 3, ranks=ranks)
                self.bench("simulate", FIXTURES / f"train{ranks}.so", "--machine", machine, "--ranks", ranks, "--json",
                           prediction)
                predicted = json.loads(prediction.read_text())["predictions"][0]
                self.assertEqual(sum(predicted["wire_bytes"]), report["totals"]["wire_bytes_per_step"])
                self.assertAlmostEqual(predicted["mean_wire_bytes"],
                                       report["totals"]["wire_bytes_per_rank_and_step"])

    def test_a_simulation_reaches_4096_ranks_and_finds_hosts(self):
        machine, prediction = self.machine(), self.folder / "prediction.json"
        table = self.bench("simulate", FIXTURES / "train4.so", "--machine", machine, "--local", 8, "--link", 1,
                           "--algorithm", "best", "--json", prediction).stdout
        rows = json.loads(prediction.read_text())["predictions"]
        self.assertEqual([row["ranks"] for row in rows], [8 * 2**i for i in range(10)])
        self.assertEqual(len(table.splitlines()), 11)
        for row in rows:
            self.assertGreater(row["seconds"], 0)
            self.assertGreater(row["exact_seconds"], 0)
        # With the best algorithm of each, a larger group is never faster.
        times = [row["seconds"] for row in rows]
        self.assertEqual(times, sorted(times))

    def test_hosts_that_share_cores_take_turns(self):
        machine, prediction = self.folder / "machine.json", self.folder / "prediction.json"
        link = {"latency_seconds": 1e-12, "message_seconds": 1e-12, "bytes_per_second": 1e9}
        known = {"cgx_machine": 1, "ranks": 4, "local": 1, "link": link, "inside": link, "reduce_bytes_per_second": 1e9,
                 "cores_per_rank": 0.5, "flops_per_second": 1e10,
                 "codecs": [{"codec": {"family": "quantize"}, "encode_bytes_per_second": 1e9, "decode_bytes_per_second": 1e9}]}

        def seconds(*options):
            machine.write_text(json.dumps(known))
            self.bench("simulate", FIXTURES / "train4.so", "--machine", machine, "--ranks", "4,8", "--link", 100, "--json", prediction, *options)
            return [row["seconds"] for row in json.loads(prediction.read_text())["predictions"]]

        shared, own, many = seconds("--cores", 2), seconds(), seconds("--cores", 64)
        # Eight ranks on two cores take twice as long as if each had half a core of its own. Four ranks were measured,
        # and they have to send.
        self.assertGreater(shared[1], 1.5 * own[1])
        self.assertGreater(shared[0], own[0])
        self.assertLess(many[1], own[1])
        simulate = ["simulate", FIXTURES / "train4.so", "--machine", machine, "--cores", 2]
        self.assertIn("--link", self.bench(*simulate, code=2).stderr)
        machine.write_text(json.dumps({key: value for key, value in known.items() if key != "cores_per_rank"}))
        self.assertIn("does not say how many cores its ranks had", self.bench(*simulate, "--link", 1, code=1).stderr)

    def other_kind(self):
        path = self.folder / "plan.json"
        path.write_text('{"cgx_plan": 1}')
        return path

    def test_what_makes_no_sense_is_refused(self):
        for arguments, code, text in (
                (["all-reduce", "--sizes", "4XiB"], 1, "expected a size"),
                (["all-reduce", "--codec", "quantise"], 1, "--codec 'quantise'"),
                (["all-reduce", "--codec", "quantise"], 1, "(did you mean 'quantize'?)"),
                (["all-reduce", "--codec", "quantize bts=3"], 1, "expected one of bits, bucket, "),
                (["all-reduce", "--codec", "quantize bts=3"], 1, "(did you mean 'bits'?)"),
                (["all-reduce", "--transport", "mpi"], 1, "expected mpirun"),
                (["all-reduce", "--ranks", "0"], 2, "--ranks"),
                (["all-reduce", "--algorithm", "rings"], 1, "expected one of auto"),
                (["all-reduce", "--ranks", "3", "--algorithm", "hierarchical", "--local", "2"], 1, "hosts of 2"),
                (["calibrate", "--ranks", "1", "-o", "machine.json"], 1, "expected at least 2 ranks"),
                (["simulate", __file__, "--machine", "no.json"], 1, "cannot read 'no.json'"),
                (["simulate", __file__, "--machine", __file__], 1, "expected JSON: line 1"),
                (["simulate", __file__, "--machine", self.other_kind()], 1, "expected 'cgx_machine' of version 1"),
                (["sum"], 2, "expected a command")):
            with self.subTest(arguments):
                self.assertIn(text, self.bench(*arguments, code=code).stderr)


if __name__ == "__main__":
    unittest.main()
