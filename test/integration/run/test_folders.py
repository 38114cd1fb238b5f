"""A folder of checkpoints belongs to one run: whatever happens to it, no run loses its own checkpoints or those of
another."""

import os
import random
import shutil
import signal
import subprocess
import unittest

from harness import RunTest, read_safetensors

HISTORIES, RUNS = 6, 8


class Folders(RunTest):
    def setUp(self):
        super().setUp()
        self.checkpoints = self.folder / "ck"

    def run_one(self, *arguments, **options):
        options.setdefault("state", None if "--resume" in arguments else self.state(1))
        return self.run_tool("train1.so", "--repeat", "--quiet", *arguments, **options)

    def save(self, *arguments, **options):
        return self.run_one("--save", f"{self.checkpoints}/", *arguments, **options)

    def succeed(self, *arguments, **options):
        result = self.save(*arguments, **options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def path(self, step):
        return self.checkpoints / f"step-{step:012}.safetensors"

    def contents(self, folder=None):
        """Returns all files by name, and links by their targets."""
        return {p.name: os.readlink(p) if p.is_symlink() else p.read_bytes() for p in (folder or self.checkpoints).iterdir()}

    def damage(self, path):
        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        path.write_bytes(content)

    def test_a_folder_with_checkpoints_of_another_run_is_refused_and_left_alone(self):
        self.succeed("--steps", 10, "--save-every", 5)
        before = self.contents()
        for others in (["--seed", 3], ["--set", "lr=0.5"], []):
            result = self.save("--steps", 5, "--save-every", 1, "--keep-last", 2, *others)
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertIn("has checkpoints of an earlier run", result.stderr)
            self.assertIn(f"--resume {self.checkpoints}/", result.stderr)
        self.assertEqual(self.run_one("--steps", 5, "--seed", 3, "--save", f"{self.folder}/other/").returncode, 0)
        result = self.save("--steps", 5, "--resume", f"{self.folder}/other/")
        self.assertIn("has checkpoints of another run than that of", result.stderr)
        self.assertEqual(self.contents(), before)

    def test_what_comes_after_the_step_that_a_run_goes_on_from_is_not_taken_for_its_own(self):
        self.succeed("--steps", 10, "--save-every", 5)
        before = self.contents()
        result = self.save("--steps", 2, "--resume", self.path(5))
        self.assertEqual(result.returncode, 1)
        self.assertIn("was saved after step 10, and this run goes on from step 5", result.stderr)
        self.assertEqual(self.contents(), before)

    def test_what_a_run_writes_is_not_pruned_for_what_it_passed_over(self):
        self.succeed("--steps", 10, "--save-every", 2)
        for step in (8, 10):
            self.damage(self.path(step))
        result = self.succeed("--until", 7, "--resume", self.checkpoints, "--save-every", 1, "--keep-last", 1)
        self.assertIn("is damaged", result.stderr)
        self.assertEqual(sorted(self.contents()), [self.path(step).name for step in (7, 8, 10)])
        self.assertEqual(read_safetensors(self.path(7))[1]["cgx.steps"], "7")

    def test_the_step_of_a_checkpoint_is_what_it_says_and_not_its_name(self):
        self.succeed("--steps", 6, "--save-every", 2)
        shutil.move(self.path(2), self.path(900))
        result = self.succeed("--resume", self.checkpoints, "--steps", 1, "--metrics", self.folder / "metrics.jsonl")
        self.assertIn("step-000000000900.safetensors' was saved after step 2, whatever its name says", result.stderr)
        self.assertEqual(read_safetensors(self.path(7))[1]["cgx.steps"], "7")

    def test_a_finished_run_writes_nothing(self):
        command = ["--until", 6, "--save-every", 2, "--resume", self.checkpoints, "--keep-best", "loss", "--keep-last", 1,
                   "--set", "lr=linear(0.02,3.0,6)"]
        self.succeed(*command, lr=None, state=self.state(1))
        before, report = self.contents(), self.folder / "report.json"
        result = self.succeed(*command, "--report", report, lr=None)
        self.assertEqual(self.contents(), before)
        self.assertFalse(report.exists())
        lines = result.stderr.splitlines()
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("nothing to do, and nothing is written", lines[0])

    def test_a_finished_run_writes_nothing_whatever_its_last_checkpoint_is_called(self):
        self.succeed("--steps", 3)
        shutil.move(self.path(3), self.path(900))
        before = self.contents()
        for found in (self.checkpoints, self.path(900)):
            result = self.succeed("--resume", found, "--until", 3, "--keep-last", 1)
            self.assertIn("nothing to do", result.stderr)
            self.assertEqual(self.contents(), before)

    def test_what_is_saved_elsewhere_is_something_to_do(self):
        self.succeed("--steps", 4)
        copy = self.folder / "copy.safetensors"
        result = self.run_one("--until", 4, "--resume", self.checkpoints, "--save", copy)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(read_safetensors(copy), read_safetensors(self.path(4)))
        before = copy.read_bytes()
        result = self.run_one("--until", 4, "--resume", copy, "--save", copy)
        self.assertIn("nothing to do", result.stderr)
        self.assertEqual(copy.read_bytes(), before)

    def test_of_two_runs_at_once_the_second_is_refused(self):
        outputs = {"--save": f"{self.checkpoints}/", "--report": self.folder / "report.json", "--metrics": self.folder / "m.jsonl"}
        first = subprocess.Popen(self.command("train1.so", "--repeat", "--steps", 100000, "--log-every", 1, *sum(outputs.items(), ()),
                                              state=self.state(1), job=False),
                                 env=self.environment(FIXTURE_SLEEP_MS=5), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(first.kill)
        next(line for line in first.stderr if "steps/s" in line)
        for option, value in outputs.items():
            result = self.run_one("--steps", 1, option, value)
            self.assertEqual(result.returncode, 1)
            self.assertIn(f"'{value}' is written by another run (process {first.pid} on ", result.stderr)
        first.send_signal(signal.SIGKILL)
        first.wait()
        first.stderr.close()
        # Its ranks end after a step, and the lock with them.
        result = self.save("--steps", 1)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(sorted(p.name for p in self.folder.rglob(".*lock")), [".m.jsonl.lock", ".report.json.lock"])
        self.assertEqual(self.run_one("--steps", 1, "--report", outputs["--report"], "--metrics", outputs["--metrics"]).returncode, 0)
        self.assertEqual([p.name for p in self.folder.rglob(".*lock")], [])

    def test_no_output_takes_the_place_of_an_input(self):
        for option in ("--save", "--report", "--metrics", "--trace"):
            result = self.run_one("--steps", 1, option, self.data)
            self.assertIn("expected an output that is no input", result.stderr)

    def test_a_best_that_is_no_link_is_left_alone(self):
        self.checkpoints.mkdir()
        (self.checkpoints / "best.safetensors").write_text("mine")
        result = self.save("--steps", 1, "--keep-best", "loss")
        self.assertIn("'best.safetensors' that is no link", result.stderr)
        self.assertEqual((self.checkpoints / "best.safetensors").read_text(), "mine")

    def test_random_histories(self):
        """Random runs use one folder. A run that succeeds has its last step there, and --resume continues from it; none
        removes or changes the files of another; a rejected run changes nothing."""
        seed = int(os.environ.get("CGX_TEST_SEED", random.randrange(1 << 30)))
        rng = random.Random(seed)
        for history in range(HISTORIES):
            shutil.rmtree(self.checkpoints, ignore_errors=True)
            self.checkpoints.mkdir()
            said = []
            for _ in range(RUNS):
                files = sorted(self.checkpoints.glob("step-*"))
                if files and rng.random() < 0.3:
                    chosen = rng.choice(files)
                    if rng.random() < 0.5:
                        self.damage(chosen)
                    else:
                        chosen.rename(self.path(rng.randrange(1, 60)))
                begin = rng.choice([["--state", self.state(1), "--seed", rng.randrange(2)], ["--resume", self.checkpoints, "--state", self.state(1)],
                                    ["--resume", rng.choice(files)] if files else ["--state", self.state(1)]])
                steps = ["--steps", rng.randrange(0, 8)]
                arguments = [*begin, *steps, "--save-every", rng.randrange(1, 4), *rng.choice([[], ["--keep-last", 1], ["--keep-last", 2]]),
                             *rng.choice([[], ["--keep-best", "loss"]])]
                before = self.contents()
                result = self.run_tool("train1.so", "--repeat", "--quiet", "--save", f"{self.checkpoints}/", *arguments)
                after = self.contents()
                said.append(" ".join(map(str, arguments[:4])) + f": {result.returncode} {result.stderr.strip()[-200:]}")
                with self.subTest(seed=seed, history=history, said="\n".join(said)):
                    if result.returncode != 0 or "nothing to do" in result.stderr:
                        self.assertEqual(after, before)
                        continue
                    runs = {}
                    for name in sorted(after):
                        if name.startswith("step-") and after[name] != before.get(name):
                            runs[name] = read_safetensors(self.checkpoints / name)[1]
                    self.assertEqual(len({metadata["cgx.run"] for metadata in runs.values()}), 1)
                    run, last = next(iter(runs.values()))["cgx.run"], max(int(metadata["cgx.steps"]) for metadata in runs.values())
                    for name in set(before) - set(after):
                        (self.folder / "removed.safetensors").write_bytes(before[name])
                        self.assertEqual(read_safetensors(self.folder / "removed.safetensors")[1]["cgx.run"], run)
                    again = self.run_tool("train1.so", "--repeat", "--quiet", "--resume", self.checkpoints, "--steps", 1, "--report",
                                          self.folder / "report.json")
                    self.assertEqual(again.returncode, 0, again.stderr)
                    self.assertIn(f'"first_step": {last},', (self.folder / "report.json").read_text())


if __name__ == "__main__":
    unittest.main()
