"""tools/netlab: hosts of its own that are gone afterwards, and a job over them with the bits of shared memory."""

import csv
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "run"))

from harness import RunTest, read_safetensors

NETLAB = pathlib.Path(__file__).parents[3] / "tools" / "netlab"
TOOLS = pathlib.Path(os.environ["CGX_RUN"]).parent


def why_not():
    """Why there can be no network namespaces here, or None."""
    if os.geteuid() != 0:
        return "needs root"
    if not shutil.which("ip") or not shutil.which("tc"):
        return "needs iproute2"
    trial = subprocess.run([NETLAB, "--hosts", "2", "--", "true"], capture_output=True, text=True, check=False)
    return None if trial.returncode == 0 else trial.stderr.strip()


class Refusals(unittest.TestCase):
    def test_wrong_options_are_named(self):
        for arguments, words in ((["--hosts", "1", "--", "true"], "expected 2 to 64 hosts, got 1"),
                                 (["--rate", "fast", "--", "true"], "expected a rate such as 100mbit or 1gbit")):
            result = subprocess.run([NETLAB, *arguments], capture_output=True, text=True, check=False)
            self.assertEqual(result.returncode, 1)
            self.assertIn(words, result.stderr)


@unittest.skipIf(why_not(), f"no network namespaces here: {why_not()}")
class Netlab(RunTest):
    def netlab(self, *command, **options):
        return subprocess.run([NETLAB, *map(str, command)], capture_output=True, text=True, timeout=120, check=False,
                              env=self.environment(), **options)

    def namespaces(self, pid):
        names = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
        return [line for line in names.splitlines() if f"-{pid}-" in line]

    def test_the_exit_status_is_the_commands(self):
        self.assertEqual(self.netlab("--hosts", 2, "--", "sh", "-c", "exit 7").returncode, 7)

    def test_links_have_the_rate_that_was_asked_for(self):
        result = self.netlab("--hosts", 2, "--rate", "123mbit", "--", "tc", "qdisc", "show", "dev", "eth0")
        self.assertIn("rate 123Mbit", result.stdout, result.stderr)

    def test_each_host_has_a_name_of_its_own_and_knows_the_others(self):
        result = self.netlab("--hosts", 3, "--each", "--", "sh", "-c", "echo $RANK of $WORLD_SIZE $(hostname) $(getent hosts netlab2)")
        self.assertEqual(result.returncode, 0, result.stderr)
        for rank in range(3):
            self.assertRegex(result.stdout, rf"{rank} of 3 netlab{rank} 10\.77\.0\.3 +netlab2")

    def test_a_latency_is_there_or_refused(self):
        result = self.netlab("--hosts", 2, "--latency", "3ms", "--", "tc", "qdisc", "show", "dev", "eth0")
        if result.returncode == 0:
            self.assertIn("delay 3ms", result.stdout)
        else:
            self.assertIn("--latency needs the kernel's netem", result.stderr)

    def test_nothing_is_left_when_it_is_interrupted(self):
        job = subprocess.Popen([NETLAB, "--hosts", "3", "--", "sleep", "1000"], env=self.environment())
        deadline = time.monotonic() + 30
        while len(self.namespaces(job.pid)) < 4:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        job.send_signal(signal.SIGTERM)
        self.assertEqual(job.wait(timeout=30), 128 + signal.SIGTERM)
        self.assertEqual(self.namespaces(job.pid), [])

    @unittest.skipUnless(shutil.which("mpirun"), "needs mpirun")
    def test_mpirun_keeps_its_files_apart_from_other_jobs(self):
        # A job that ends removes the folder of this machine's name from where both keep their files.
        result = self.netlab("--hosts", 2, "--", "mpirun", "-np", 2, "sh", "-c", "env | grep orte_tmpdir_base")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, "orte_tmpdir_base=.*cgx-netlab")

    @unittest.skipUnless(shutil.which("mpirun"), "needs mpirun")
    def test_a_job_over_hosts_has_the_bits_of_shared_memory(self):
        saved = []
        for transport in ("shm", "mpi"):
            save = self.folder / f"{transport}.safetensors"
            command = self.command("train4.so", "--transport", transport, "--steps", 10, "--repeat", "--save", save,
                                   state=self.state(4), job=transport == "shm")
            if transport == "mpi":
                command = [NETLAB, "--hosts", 4, "--rate", "1gbit", "--", "mpirun", "-np", 4, *command]
            result = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=120, check=False,
                                    env=self.environment())
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            saved.append(save.read_bytes())
        self.assertEqual(*saved)

    @unittest.skipUnless("CGX_EXAMPLES" in os.environ, "needs the compiler")
    def test_local_training_goes_on_without_a_host_that_is_lost_and_with_one_that_joins(self):
        example, checkpoints = pathlib.Path(os.environ["CGX_EXAMPLES"]) / "mlp-digits", self.folder / "checkpoints"
        def step(ranks):
            made = self.folder / f"step{ranks}.mlir"
            subprocess.run([pathlib.Path(os.environ["CGX_RUN"]).parent / "cgx-opt", example / "step.mlir", f"--cgx-set-ranks={ranks}", "-o", made],
                           capture_output=True, check=True)
            return made
        def run(ranks, *arguments):
            return [*map(str, (os.environ["CGX_RUN"], step(ranks), "--data", example / "train.safetensors", "--repeat",
                               "--local-steps", "every=10 outer=nesterov<lr=0.7 momentum=0.9>", "--compress", "bits=4", *arguments))]
        first = ("--state", example / "state.safetensors")
        # Host 1 is lost once something is saved: its rank dies as with the power, and nobody is told.
        lost = f"""{' '.join(f"'{part}'" for part in run(4, *first, "--transport", "tcp", "--until", 100000, "--save", f"{checkpoints}/", "--save-every", 50))} &
            if [ $RANK = 1 ]; then until ls {checkpoints} | grep -q safetensors$; do sleep 0.1; done; kill -KILL $!; fi
            wait $!"""
        result = self.netlab("--hosts", 4, "--rate", "1gbit", "--each", "--", "sh", "-c", lost)
        self.assertNotEqual(result.returncode, 0)
        self.assertRegex(result.stderr, "rank 1")
        newest = max(checkpoints.iterdir())
        cut = int(read_safetensors(newest)[1]["cgx.steps"])
        self.assertEqual(cut % 50, 0)
        parts = (4, first, cut), (3, ("--resume", None, "--members", "0,2,3"), cut + 50), (4, ("--resume", None), cut + 100)
        states = {}
        for place in ("hosts", "here"):
            saved = newest if place == "hosts" else None
            for ranks, begin, until in parts[1:] if place == "hosts" else parts:
                begin = [saved if part is None else part for part in begin]
                saved = self.folder / f"{place}{until}.safetensors"
                command = run(ranks, *begin, "--until", until, "--save", saved, "--quiet")
                if place == "hosts":
                    result = self.netlab("--hosts", ranks, "--rate", "1gbit", "--each", "--", *command, "--transport", "tcp")
                else:
                    result = subprocess.run([*command, "--ranks", str(ranks), "--transport", "shm", "--job", self.job], capture_output=True, text=True,
                                            env=self.environment(), timeout=120, check=False)
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            states[place] = saved.read_bytes()
        self.assertEqual(states["hosts"], states["here"])

    @unittest.skipUnless(shutil.which("mpirun"), "needs mpirun")
    def test_the_figures_of_the_readme_can_be_measured(self):
        measured = subprocess.run([NETLAB.parent / "study" / "link-speed", "--quick", "--tools", TOOLS], timeout=120,
                                  capture_output=True, text=True, check=False)
        self.assertEqual(measured.returncode, 0, measured.stdout + measured.stderr)
        row = json.loads(measured.stdout)
        for variant in ("cgx 4 bit", "cgx uncompressed", "Open MPI"):  # Gloo only where the build found it
            self.assertGreater(float(row[variant]), 0)

    @unittest.skipUnless(shutil.which("mpirun"), "needs mpirun")
    def test_predictions_can_be_measured(self):
        study = [NETLAB.parent / "study" / "simulation", "--tools", TOOLS]
        measured = subprocess.run([*study, "--quick"], timeout=120, capture_output=True, text=True, check=False)
        self.assertEqual(measured.returncode, 0, measured.stdout + measured.stderr)
        row = json.loads(measured.stdout)
        # The wire bounds both: of 1 MiB each of two hosts sends one half twice, at 1 Gbit.
        for seconds in (row["uncompressed"], row["predicted"]["exact_seconds"]):
            self.assertGreater(seconds, (1 << 20) / 1.25e8)
        self.assertLess(row["predicted"]["seconds"], row["predicted"]["exact_seconds"])

    @unittest.skipUnless((TOOLS / "cgx-compile").exists(), "needs the compiler")
    def test_steps_of_examples_on_slow_links_can_be_measured(self):
        for example, compressed in (("pipeline-lm", "AQ-SGD 3/6"), ("fsdp-lm", "W8G8")):
            measured = subprocess.run([NETLAB.parent / "study/links", example, "--short", "--tools", TOOLS, "--out", self.folder, "--only",
                                       "exact", "--only", compressed], timeout=300, capture_output=True, text=True, check=False)
            self.assertEqual(measured.returncode, 0, measured.stdout + measured.stderr)
            rows = {row["setting"]: row for row in csv.DictReader((self.folder / "links.csv").read_text().splitlines())}
            self.assertEqual(list(rows), ["exact", compressed])
            # Behind the first epoch of AQ-SGD: changes are sent, not samples as they are.
            self.assertLess(float(rows[compressed]["wire_bytes"]), float(rows["exact"]["wire_bytes"]) / 3)
            # On 100 Mbit: what a host sends in a step takes its time. Half of it, for steps that overlap.
            self.assertGreater(float(rows["exact"]["seconds"]), 0.5 * float(rows["exact"]["wire_bytes"]) / 12.5e6)
            self.assertIn(f"| 100 Mbit | {float(rows['exact']['seconds']) * 1e3:.0f} (", (self.folder / "links.md").read_text())
            self.assertTrue((self.folder / "links.svg").read_text().endswith("</svg>\n"))

    @unittest.skipUnless(shutil.which("mpirun"), "needs mpirun")
    def test_tcp_beside_gloo_in_one_run(self):
        bench = TOOLS / "cgx-bench"
        result = self.netlab("--hosts", 2, "--rate", "1gbit", "--", "mpirun", "-np", 2, bench, "all-reduce", "--transport", "tcp",
                             "--sizes", "1MiB", "--repetitions", 1, "--warmup", 1)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("tcp", result.stdout)
        self.assertIn("MPI_Allreduce", result.stdout)  # and Gloo where the build found it

    @unittest.skipUnless(shutil.which("mpirun"), "needs mpirun")
    def test_sums_are_right_while_hosts_agree_on_shorter_messages(self):
        # From the third all-reduce on: the first measures the link, and with the second ranks say what they wish.
        for transport in ("tcp", "mpi"):
            times = self.folder / f"{transport}.json"
            result = self.netlab("--hosts", 3, "--rate", "200mbit", "--", "mpirun", "-np", 3, TOOLS / "cgx-bench", "all-reduce", "--transport",
                                 transport, "--sizes", "2MiB", "--repetitions", 5, "--warmup", 0, "--codec", "quantize bits=8 bucket=128",
                                 "--json", times)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            wrong = {one["variant"].split()[0]: one["wrong"] for one in json.loads(times.read_text())["results"]}
            self.assertEqual((wrong["identity"], wrong["quantize"]), (0, 0))


if __name__ == "__main__":
    unittest.main()
