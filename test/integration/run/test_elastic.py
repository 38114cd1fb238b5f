"""cgx-run --elastic: ranks that die or join do not end a job of local steps."""

import json
import os
import pathlib
import signal
import subprocess
import time
import unittest

from harness import CGX_RUN, RunTest, children

EXAMPLE = pathlib.Path(os.environ["CGX_EXAMPLES"]) / "mlp-digits"
EVERY = 10
PATIENCE = int(os.environ.get("CGX_TEST_PATIENCE", 120))


class Elastic(RunTest):
    def setUp(self):
        super().setUp()
        self.metrics, self.report = self.folder / "metrics.jsonl", self.folder / "report.json"

    def command(self, ranks, *arguments, begin=("--state", EXAMPLE / "state.safetensors"), elastic=1, transport="shm"):
        return [*map(str, (CGX_RUN, EXAMPLE / "step.mlir", "--ranks", ranks, *begin, "--data", EXAMPLE / "train.safetensors", "--repeat", "--job", self.job,
                           "--transport", transport, "--local-steps", f"every={EVERY} outer=nesterov<lr=0.7 momentum=0.9>", "--compress", "bits=4",
                           "--elastic", elastic, "--report", self.report, *arguments))]

    def start(self, ranks, *arguments, steps=4000, **options):
        return subprocess.Popen(self.command(ranks, "--steps", steps, "--metrics", self.metrics, *arguments, **options), text=True,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**self.environment(), "TMPDIR": str(self.folder)})

    def wait_for(self, job, step):
        """Until the job has done so many steps."""
        deadline = time.monotonic() + PATIENCE
        while not self.metrics.exists() or self.steps_done() < step:
            self.assertLess(time.monotonic(), deadline)
            self.assertIsNone(job.poll(), "the job is over too early")
            time.sleep(0.005)

    def steps_done(self):
        lines = self.metrics.read_text().splitlines()
        for line in reversed(lines):
            try:
                return json.loads(line)["step"]
            except (json.JSONDecodeError, KeyError):  # the last one as it is written
                continue
        return -1

    def end(self, job, code=0):
        _, error = job.communicate(timeout=PATIENCE)
        self.assertEqual(job.returncode, code, error)
        self.expect_nothing_left()
        self.assertEqual([path.name for path in self.folder.iterdir() if "membership" in path.name], [])
        return error

    def memberships(self):
        return json.loads(self.report.read_text())["memberships"]

    def reference(self, parts, steps):
        """What a run saves that goes on with other ranks by hand: (ranks, first step) after one another."""
        save = None
        for (ranks, _), end in zip(parts, [first for _, first in parts[1:]] + [steps]):
            begin = ("--resume", save) if save else ("--state", EXAMPLE / "state.safetensors")
            save = self.folder / f"reference{end}.safetensors"
            subprocess.run([part for part in self.command(ranks, "--until", end, "--save", save, "--quiet", begin=begin)], check=True,
                           env=self.environment(), timeout=PATIENCE)
        return save.read_bytes()

    def test_ranks_that_die_are_left_behind(self):
        for transport in ("shm", "tcp"):
            with self.subTest(transport=transport):
                self.metrics.unlink(missing_ok=True)
                saved = self.folder / "saved.safetensors"
                job = self.start(4, "--save", saved, transport=transport)
                self.wait_for(job, 200)
                os.kill(children(job.pid)[3], signal.SIGKILL)
                error = self.end(job)
                first, second = self.memberships()
                self.assertEqual((first["ranks"], second["ranks"]), (4, 3))
                self.assertEqual(second["change"], "rank 3: killed by signal 9 (Killed)")
                self.assertIn(f"rank 3: killed by signal 9 (Killed): going on from step {second['first_step']} with 3 ranks, before 4", error)
                self.assertEqual(second["first_step"] % EVERY, 0)
                self.assertGreaterEqual(second["first_step"] + 2 * EVERY, 200)
                self.assertEqual(saved.read_bytes(), self.reference([(4, 0), (3, second["first_step"])], 4000))
                # Steps that were done again stand there once.
                self.assertEqual([json.loads(line)["step"] for line in self.metrics.read_text().splitlines()], list(range(4000)))

    def test_any_rank_may_die_again_and_again(self):
        job = self.start(4, transport="shm+tcp", steps=5000)
        for place, step in ((0, 200), (1, 1000), (0, 2000)):
            self.wait_for(job, step)
            os.kill(children(job.pid)[place], signal.SIGKILL)
            while len(self.memberships_said(job)) == 0:
                time.sleep(0.01)
        self.end(job)
        self.assertEqual([each["ranks"] for each in self.memberships()], [4, 3, 2, 1])

    def memberships_said(self, job):
        """Reads standard error as far as the next word of another membership."""
        while line := job.stderr.readline():
            if "going on from step" in line:
                return line
        return "over"

    def test_a_rank_joins_as_a_copy_of_another(self):
        saved = self.folder / "saved.safetensors"
        job = self.start(2, "--save", saved)
        self.wait_for(job, 200)
        job.send_signal(signal.SIGUSR2)
        error = self.end(job)
        first, second = self.memberships()
        self.assertEqual((first["ranks"], second["ranks"], second["change"]), (2, 3, "1 rank joins"))
        self.assertIn("1 rank joins: going on from step", error)
        self.assertEqual(saved.read_bytes(), self.reference([(2, 0), (3, second["first_step"])], 4000))

    def test_nobody_joins_where_the_samples_do_not_suffice(self):
        job = self.start(4, "--eval", EXAMPLE / "eval.mlir", "--eval-data", EXAMPLE / "validation.safetensors")
        self.wait_for(job, 200)
        job.send_signal(signal.SIGUSR2)
        self.assertIn("warning: nobody joins, since the job cannot go on with 5 ranks", self.end(job))
        self.assertEqual([each["ranks"] for each in self.memberships()], [4, 4])

    def test_too_few_ranks_end_the_job(self):
        job = self.start(3, elastic=3)
        self.wait_for(job, 200)
        os.kill(children(job.pid)[1], signal.SIGKILL)
        error = self.end(job, code=1)
        self.assertIn("rank 1: killed by signal 9 (Killed)", error)
        self.assertIn("2 ranks are left, and --elastic 3 asks for as many to go on", error)

    def test_a_signal_ends_it_as_any_other_run(self):
        save = self.folder / "saved.safetensors"
        job = self.start(2, "--save", save, steps=100000)
        self.wait_for(job, 100)
        job.send_signal(signal.SIGTERM)
        self.assertIn("stopped by signal 15", self.end(job, code=3))
        self.assertTrue(save.exists())

    def test_what_makes_no_sense_is_refused(self):
        def refuse(command, environment=None):
            result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment or self.environment())
            self.assertNotEqual(result.returncode, 0)
            return result.stderr
        self.assertIn("--elastic requires --local-steps", refuse([CGX_RUN, EXAMPLE / "step.mlir", "--elastic", "2"]))
        self.assertIn("--transport shm, tcp or shm+tcp with --elastic, got inproc", refuse(self.command(2, transport="inproc")))
        member = [part for part in self.command(2) if part not in ("--ranks", "2")]
        self.assertIn("expected --elastic where cgx-run starts the ranks itself", refuse(member, self.environment(RANK=0, WORLD_SIZE=2, MASTER_PORT=1)))


if __name__ == "__main__":
    unittest.main()
