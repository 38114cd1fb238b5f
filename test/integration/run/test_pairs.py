"""All pairs of options of cgx-run work together, or one message says why they do not."""

import itertools
import shutil
import subprocess
import unittest

from harness import CGX_RUN, FIXTURES, RunTest, samples, write_safetensors

# These pairs of options are rejected with the given text; all others succeed.
REFUSED = {
    ("--resume", "--first-step"): "--resume excludes --first-step",
    ("--resume", "--shuffle"): "was saved by a run with --shuffle 0, got 1",
    ("--resume", "--seed"): "was saved by a run with --seed 0, got --seed 3",
    ("--steps", "--until"): "--steps excludes --until",
    ("--profile", "--adapt"): "--profile excludes --adapt",
}
# Each of these options needs another one.
NEEDS = {
    "--adapt-every": "--adapt", "--warmup": "--adapt", "--alpha": "--adapt", "--reference": "--adapt",
    "--candidate": "--profile or --adapt", "--profile-steps": "--profile or --adapt", "--save-every": "--save",
    "--keep-last": "--save", "--keep-best": "--save", "--eval-every": "--eval", "--eval-data": "--eval", "--eval-set": "--eval",
}


class Pairs(RunTest):
    def setUp(self):
        super().setUp()
        self.start, self.checkpoints, validation = self.state(1), f"{self.folder}/earlier/", self.folder / "validation.safetensors"
        write_safetensors(validation, samples(48))
        self.assertEqual(self.run_one(["--steps", 1, "--save", self.checkpoints]).returncode, 0)
        adapt, save = ["--adapt", "uniform"], ["--save", f"{self.folder}/saved/"]
        evaluate = ["--eval", FIXTURES / "eval1.so", "--eval-data", validation]
        # Each option comes with the ones that it needs.
        self.options = {
            "--resume": [self.checkpoints], "--steps": [2], "--until": [3], "--first-step": [1], "--repeat": [], "--shuffle": [],
            "--pad-last": [], "--stop-on-nan": [], "--seed": [3], "--feed": ["result[1]['loss']="],
            "--profile": [self.folder / "profile.json"], "--adapt": ["uniform"], "--adapt-every": [1, *adapt], "--warmup": [1, *adapt],
            "--profile-steps": [1, *adapt], "--candidate": ["quantize bits=2..4 bucket=128", *adapt], "--reference": ["quantize bits=8", *adapt],
            "--alpha": [2, *adapt], "--messages-in": [self.folder], "--save": save[1:], "--save-every": [1, *save], "--keep-last": [1, *save],
            "--keep-best": ["loss", *save], "--report": [self.folder / "report.json"], "--metrics": [self.folder / "metrics.jsonl"],
            "--trace": [self.folder / "trace.json"], "--log-every": [1], "--quiet": [], "--progress": ["never"], "--no-cache": [],
            "--timeout": [20], "--transport": ["inproc"], "--ranks": [1], "--job": [f"pairs-{self.folder.name}"], "--eval": evaluate[1:],
            "--eval-every": [1, *evaluate],
        }

    def run_one(self, arguments):
        command = [CGX_RUN, FIXTURES / "train1.so", "--state", self.start, "--data", self.data, "--set", "lr=0.02", *arguments]
        return subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=60, env=self.environment(),
                              check=False)

    def arguments_of(self, pair):
        """Returns both options with those that they need, each once."""
        given, arguments = set(), []
        for name in pair:
            words = [name, *self.options[name]]
            starts = [i for i, word in enumerate(words) if str(word).startswith("--")] + [len(words)]
            for begin, end in zip(starts, starts[1:]):
                if words[begin] not in given:
                    arguments += words[begin:end]
                    given.add(words[begin])
        return arguments + ([] if {"--steps", "--until"} & given else ["--steps", 2])

    def test_every_pair(self):
        for pair in itertools.combinations(self.options, 2):
            arguments = self.arguments_of(pair)
            expected = next((text for refused, text in REFUSED.items() if set(refused) <= set(map(str, arguments))), None)
            shutil.rmtree(f"{self.folder}/saved", ignore_errors=True)  # a folder belongs to one run
            result = self.run_one(arguments)
            with self.subTest(pair):
                errors = [line for line in result.stderr.splitlines() if line.startswith("cgx-run: error: ")]
                if expected is None:
                    self.assertEqual((result.returncode, errors), (0, []), result.stderr)
                else:
                    self.assertIn(result.returncode, (1, 2))
                    self.assertEqual(len(errors), 1, result.stderr)
                    self.assertIn(expected, errors[0])

    def test_an_option_that_means_nothing_alone_is_refused(self):
        values = {"--eval-data": [self.data], "--eval-set": ["lr=1"]}
        for option, needed in NEEDS.items():
            result = self.run_one(["--steps", 1, option, values.get(option) and values[option][0] or self.options[option][0]])
            self.assertEqual(result.returncode, 2, option)
            self.assertIn(f"{option} requires {needed}", result.stderr)


if __name__ == "__main__":
    unittest.main()
