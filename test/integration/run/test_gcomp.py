"""gcomp does not send gradient bits that the optimizer would lose, and training does not change."""

import json
import os
import pathlib
import subprocess
import unittest

import regression
from harness import CGX_RUN, RunTest, read_safetensors

EXAMPLES = pathlib.Path(os.environ["CGX_EXAMPLES"])
CGX_OPT, CGX_COMPILE = os.environ["CGX_OPT"], os.environ["CGX_COMPILE"]
# These are the constants of the examples' train.py.
OPTIMIZERS = {
    "mlp-digits": "optimizer=momentum learning-rate=0.02 momentum=0.9",
    "verse-cnn": "optimizer=adam learning-rate=2e-3",
    "transformer-lm": "optimizer=adamw learning-rate=1.5e-3 beta2=0.99 weight-decay=0.1",
}


class GcompRun(RunTest):
    def tool(self, *arguments, code=0):
        result = subprocess.run([str(a) for a in arguments], capture_output=True, text=True, timeout=600,
                                env=self.environment(), check=False)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result


class Examples(GcompRun):
    def compile(self, example, options=""):
        program = self.folder / f"{example}.cgx.mlir"
        self.tool(CGX_OPT, EXAMPLES / example / "step.mlir",
                  f"--cgx-compress=codec=gcomp {OPTIMIZERS[example]} {options}", "-o", program)
        return program

    def train(self, example, program, *arguments, name="run", steps=20):
        save, report = self.folder / f"{name}.safetensors", self.folder / f"{name}.json"
        state = [] if "--resume" in arguments else ["--ranks", 4, "--state", EXAMPLES / example / "state.safetensors"]
        self.tool(CGX_RUN, program, "--quiet", "--job", self.job, *state, "--data", EXAMPLES / example / "train.safetensors",
                  "--steps", steps, "--repeat", "--save", save, "--report", report, *arguments)
        return json.loads(report.read_text()), read_safetensors(save)[0]

    def loss_of(self, example, name):
        """Returns the loss on the validation data."""
        report = self.folder / "eval.json"
        self.tool(CGX_RUN, EXAMPLES / example / "eval.mlir", "--quiet", "--state", self.folder / f"{name}.safetensors",
                  "--data", EXAMPLES / example / "validation.safetensors", "--report", report)
        return json.loads(report.read_text())["loss"]["mean"]

    def test_the_examples_train_as_well_as_uncompressed(self):
        for example, steps in (("mlp-digits", 220), ("verse-cnn", 60), ("transformer-lm", 40)):
            with self.subTest(example=example):
                exact, _ = self.train(example, EXAMPLES / example / "step.mlir", name="exact", steps=steps)
                report, _ = self.train(example, self.compile(example), name="gcomp", steps=steps)
                for of in (lambda name: sum((exact if name == "exact" else report)["loss"]["per_step"]),
                           lambda name: self.loss_of(example, name)):
                    self.assertAlmostEqual(of("gcomp") / of("exact"), 1, delta=0.01)
                families = {layer["codec"]["family"] for layer in report["layers"]}
                self.assertEqual(families, {"gcomp", "identity"})
                # At first gradients are large, and the learning rate is warming up.
                self.assertGreater(report["totals"]["ratio"], 1.25)

    def test_text_library_transports_and_overlap_give_the_same_bits(self):
        program, library = self.compile("mlp-digits"), self.folder / "step.so"
        self.tool(CGX_COMPILE, program, "-o", library)
        _, expected = self.train("mlp-digits", program)
        overlapped = self.folder / "overlapped.mlir"
        overlapped.write_bytes(self.compile("mlp-digits", "overlap").read_bytes())
        for candidate, transport in ((library, "shm"), (library, "inproc"), (overlapped, "shm")):
            self.assertEqual(self.train("mlp-digits", candidate, "--transport", transport)[1], expected)

    def test_a_resumed_run_is_the_one_that_was_interrupted(self):
        program = self.compile("transformer-lm", "error-feedback=f32")
        _, whole = self.train("transformer-lm", program, name="whole", steps=8)
        self.train("transformer-lm", program, name="first", steps=5)
        _, second = self.train("transformer-lm", program, "--resume", self.folder / "first.safetensors", name="second",
                               steps=3)
        self.assertEqual(second, whole)

    def test_algorithms_and_hosts_train(self):
        for options in ("algorithm=ring", "algorithm=tree", "algorithm=hierarchical local=2"):
            with self.subTest(options=options):
                report, _ = self.train("mlp-digits", self.compile("mlp-digits", options), steps=22)
                losses = report["loss"]["per_step"]
                self.assertLess(sum(losses[-5:]), 0.7 * sum(losses[:5]))

    def test_an_optimizer_that_the_step_does_not_have_is_an_error(self):
        result = self.tool(CGX_OPT, EXAMPLES / "mlp-digits" / "step.mlir", "--cgx-compress=codec=gcomp optimizer=adam",
                           code=1)
        self.assertIn("layer 'params/dense", result.stderr)
        self.assertIn("to be its second moment, found none", result.stderr)

    def test_profiles_refuse_it_as_a_candidate(self):
        program = self.folder / "exact.mlir"
        self.tool(CGX_OPT, EXAMPLES / "mlp-digits" / "step.mlir", "--cgx-instrument", "-o", program)
        result = self.tool(CGX_RUN, program, "--quiet", "--job", self.job, "--ranks", 4, "--state",
                           EXAMPLES / "mlp-digits" / "state.safetensors", "--data",
                           EXAMPLES / "mlp-digits" / "train.safetensors", "--steps", 2, "--profile",
                           self.folder / "profile.json", "--candidate", "gcomp optimizer=sgd learning_rate=0.1", code=1)
        self.assertIn("profiles do not see what the optimizer keeps", result.stderr)


class LearningRate(GcompRun):
    """Runs the hand-written step, whose learning rate is an argument."""

    def train(self, options="", name="run", steps=8, resume=None, code=0, **constants):
        """Returns (report, state), or the tool's output if it ends with another code."""
        step, state, data = regression.write(self.folder, ranks=3, **constants)
        program, save, report = (self.folder / f"{name}.{end}" for end in ("cgx.mlir", "safetensors", "json"))
        self.tool(CGX_OPT, step, f"--cgx-compress=codec=gcomp optimizer=momentum {options}", "-o", program)
        start = ["--resume", resume] if resume else ["--ranks", 3, "--state", state]
        result = self.tool(CGX_RUN, program, "--quiet", "--job", self.job, *start, "--data", data, "--steps", steps,
                           "--repeat", "--save", save, "--report", report, code=code)
        return result.stderr if code else (json.loads(report.read_text()), read_safetensors(save)[0])

    def test_a_constant_one_counts_as_one_of_the_codec(self):
        lent, lent_state = self.train(decay=1.0)
        constant, constant_state = self.train(f"learning-rate={regression.RATE}", decay=1.0)
        self.assertEqual(lent["totals"], constant["totals"])
        self.assertEqual(lent_state, constant_state)

    def test_a_falling_one_drops_more(self):
        lent, lent_state = self.train()
        largest, largest_state = self.train(f"learning-rate={regression.RATE}")
        self.assertLess(lent["totals"]["wire_bytes_per_step"], 0.97 * largest["totals"]["wire_bytes_per_step"])
        self.assertEqual(lent_state["state['rate']"], largest_state["state['rate']"])
        for ours, reference in zip(lent["loss"]["per_step"], largest["loss"]["per_step"]):
            self.assertAlmostEqual(ours / reference, 1, delta=1e-4)

    def test_a_resumed_run_goes_on_with_the_rate_that_was_saved(self):
        _, whole = self.train(name="whole")
        self.train(name="first", steps=5)
        _, second = self.train(name="second", steps=3, resume=self.folder / "first.safetensors")
        self.assertEqual(second, whole)

    def test_one_that_is_no_learning_rate_is_named(self):
        for rate, text in ((float("inf"), "inf"), (float("nan"), "nan"), (-0.5, "-0.5")):
            self.assertIn(f"layer 'params/w': expected a learning rate of at least 0, got {text}",
                          self.train(rate=rate, code=1))


if __name__ == "__main__":
    unittest.main()
