"""Tests profiles, plans and codecs that change while cgx-run trains."""

import json
import os
import subprocess
import unittest

from harness import RunTest, read_safetensors

CGX_PLAN = os.environ["CGX_PLAN"]
ADAPT = ("--adapt", "lgreco", "--adapt-every", 10, "--warmup", 5, "--profile-steps", 4)


class Planning(RunTest):
    def profile(self, *arguments, steps=12):
        path = self.folder / "profile.json"
        result = self.run_tool("train4.so", "--steps", steps, "--repeat", "--profile", path, *arguments, state=self.state())
        self.assertEqual(result.returncode, 0, result.stderr)
        return path

    def solve(self, profile, *arguments):
        plan = self.folder / "plan.json"
        subprocess.run([CGX_PLAN, "solve", profile, "-o", plan, "--quiet", *map(str, arguments)], check=True)
        return plan

    def test_a_profile_is_of_the_last_steps_and_changes_no_result(self):
        plain, state = self.train("train4.so", "--steps", 12, "--repeat")
        path = self.folder / "profile.json"
        report, profiled = self.train("train4.so", "--steps", 12, "--repeat", "--profile", path, "--profile-steps", 5)
        self.assertEqual(profiled, state)
        self.assertEqual(report["state_hash"], plain["state_hash"])
        profile = json.loads(path.read_text())
        self.assertEqual((profile["first_step"], profile["steps"], profile["ranks"]), (7, 5, 4))
        self.assertEqual([layer["layer"] for layer in profile["layers"]], ["params/w"])
        self.assertEqual(len(profile["layers"][0]["candidates"]), 15)
        self.assertGreater(report["profiling"]["seconds"], 0)

    def test_candidates_are_those_asked_for(self):
        profile = json.loads(self.profile("--candidate", "quantize bits=1|3 bucket=64").read_text())
        bits = [candidate["codec"].get("bits") for candidate in profile["layers"][0]["candidates"]]
        self.assertEqual(bits, [None, 1, 3])

    def test_a_plan_is_what_travels(self):
        plan = self.solve(self.profile(), "--solver", "exact", "--alpha", 100)
        promised = json.loads(plan.read_text())
        report, _ = self.train("train4.so", "--steps", 6, "--plan", plan)
        layer = next(layer for layer in report["layers"] if layer["layer"] == "params/w")
        self.assertEqual(sum(layer["wire_bytes_per_step"]), promised["planned"]["wire_bytes"])
        self.assertEqual(layer["codec"]["bits"], promised["layers"][0]["codec"]["bits"])
        self.assertNotEqual(layer["codec"]["bits"], 4)
        self.assertEqual(report["plans"], [{"step": 0, "plan": promised}])

    def test_a_plan_is_taken_whole_or_refused(self):
        """Every reader rejects a plan that it cannot use completely, because ignoring a part would make another plan."""
        plan = self.solve(self.profile(), "--solver", "exact", "--alpha", 100)
        good = json.loads(plan.read_text())

        def codec(**members):
            return {**good, "layers": [{**good["layers"][0], "codec": {**good["layers"][0]["codec"], **members}}]}
        for changed, said in ((codec(**{"error-feedback": "bf16"}), 'error_feedback, decay in a codec of family .*, got "error-feedback"'),
                              (codec(error_feedback="bf16", decay=1.0), "has error feedback, and the program was compiled without"),
                              ({**good, "layers": []}, "expected at least one layer in 'layers'")):
            plan.write_text(json.dumps(changed))
            self.assertRegex(self.refuse("train4.so", "--steps", 2, "--plan", plan, state=self.state()), said)
            if "CGX_OPT" in os.environ and "was compiled" not in said:
                read = subprocess.run([os.environ["CGX_OPT"], "-", f"--cgx-assign-codecs=plan={plan}"], input="module {}", text=True,
                                      capture_output=True, check=False)
                self.assertNotEqual(read.returncode, 0)
                self.assertRegex(read.stderr, said)

    def test_codecs_follow_the_training(self):
        report, _ = self.train("train4.so", "--steps", 32, "--repeat", *ADAPT, "--alpha", 20)
        self.assertEqual([entry["step"] for entry in report["plans"]], [5, 15, 25])
        for entry in report["plans"]:
            self.assertEqual(entry["plan"]["solver"], "lgreco")
            self.assertLessEqual(entry["plan"]["planned"]["squared_error"], entry["plan"]["squared_error_bound"])
        self.assertLess(report["profiling"]["share"], 1)

    def test_adapting_is_the_same_over_threads_and_processes(self):
        runs = [self.train("train4.so", "--steps", 20, "--repeat", *ADAPT, "--alpha", 20, "--transport", transport)
                for transport in ("shm", "inproc")]
        self.assertEqual(runs[0][1], runs[1][1])

        def decisions(report):
            return [[layer["codec"] for layer in entry["plan"]["layers"]] for entry in report["plans"]]
        self.assertEqual(decisions(runs[0][0]), decisions(runs[1][0]))

    def test_a_resumed_run_adapts_where_the_other_would_have(self):
        whole, state = self.train("train4.so", "--steps", 30, "--repeat", *ADAPT, "--alpha", 20)
        for first in (15, 18): # at a change of codecs, and between two
            half = self.folder / "half.safetensors"
            result = self.run_tool("train4.so", "--steps", first, "--repeat", *ADAPT, "--alpha", 20, "--save", half,
                                   state=self.state())
            self.assertEqual(result.returncode, 0, result.stderr)
            save, report = self.folder / "saved.safetensors", self.folder / "report.json"
            result = self.run_tool("train4.so", "--steps", 30 - first, "--repeat", *ADAPT, "--alpha", 20, "--resume", half,
                                   "--save", save, "--report", report)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(json.loads(report.read_text())["state_hash"], whole["state_hash"])
            self.assertEqual(read_safetensors(save)[0], state)

    LEARN = ("--learn-levels", "steps=3,12 bits=3 rounding=nearest")

    def test_levels_are_learned_at_the_steps_asked_for(self):
        plan, metrics = self.folder / "plan.json", self.folder / "metrics.jsonl"
        report, state = self.train("train4.so", "--steps", 16, "--repeat", *self.LEARN, "--write-plan", plan, "--metrics", metrics)
        self.assertEqual([entry["step"] for entry in report["plans"]], [4, 13])
        for entry in report["plans"]:
            layer = entry["plan"]["layers"][0]
            self.assertEqual((layer["layer"], layer["codec"]["bits"], layer["codec"]["levels"], len(layer["levels"])),
                             ("params/w", 3, "learned", 8))
            self.assertLess(entry["plan"]["planned"]["squared_error"], entry["plan"]["of_reference"]["squared_error"])
        self.assertEqual(json.loads(plan.read_text()), report["plans"][1]["plan"])
        lines = [json.loads(line) for line in metrics.read_text().splitlines()]
        self.assertEqual([line["step"] for line in lines if line.get("plan")], [4, 13])
        # Threads, processes, and a slower machine give equal bits.
        self.assertEqual(self.train("train4.so", "--steps", 16, "--repeat", *self.LEARN, "--transport", "inproc")[1], state)
        # A run can start with the learned levels.
        begun, _ = self.train("train4.so", "--steps", 3, "--plan", plan)
        self.assertEqual(begun["plans"][0]["plan"], report["plans"][1]["plan"])

    def test_a_resumed_run_has_the_levels_that_were_learned(self):
        whole, state = self.train("train4.so", "--steps", 20, "--repeat", *self.LEARN)
        for first in (3, 4, 8, 13):  # before, right after, and between the steps with learning
            half = self.folder / "half.safetensors"
            result = self.run_tool("train4.so", "--steps", first, "--repeat", *(self.LEARN if first > 3 else ()), "--save", half,
                                   state=self.state())
            self.assertEqual(result.returncode, 0, result.stderr)
            save, report = self.folder / "saved.safetensors", self.folder / "report.json"
            result = self.run_tool("train4.so", "--steps", 20 - first, "--repeat", *self.LEARN, "--resume", half,
                                   "--save", save, "--report", report)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(json.loads(report.read_text())["state_hash"], whole["state_hash"])
            self.assertEqual(read_safetensors(save)[0], state)

    def test_levels_that_cannot_be_learned_are_refused(self):
        state = self.state()
        for text, message in (
                ("bits=4", "expected steps to learn levels at"),
                ("steps=", "expected NAME=VALUE"),
                ("steps=5,3", "expected steps in ascending order, each once, got '5,3'"),
                ("steps=5,5", "expected steps in ascending order, each once"),
                ("steps=-1", "expected steps such as 100,1000, got '-1'"),
                ("steps=1e3", "expected steps such as 100,1000, got '1e3'"),
                ("steps=99999999999999999999", "expected steps such as 100,1000"),
                ("steps=6", "the last step is 5, and levels are learned in steps 6 only"),
                ("steps=1 steps=2", "expected steps once"),
                ("steps=1 kinds=weights", "expected kinds among weight, gradient"),
                ("steps=1 kinds=weight", "no layer of kind weight of the program"),
                ("steps=1 bits=9", "expected a number in 1..8 as 'bits', got 9"),
                ("steps=1 bits=x", "bits"),
                ("steps=1 rounding=random_shift scale=f32", "(rounding=nearest, or stochastic)"),
                ("steps=1 family=sign", "expected steps, kinds, bits, bucket, rounding or scale, got 'family'")):
            with self.subTest(text=text):
                self.assertIn(message, self.refuse("train4.so", "--steps", 6, "--learn-levels", text, state=state))
        self.assertIn("no weight and no gradient of the program",
                      self.refuse("exact4.so", "--steps", 6, "--learn-levels", "steps=1", state=state))
        self.assertIn("excludes", self.refuse("train4.so", "--steps", 6, "--learn-levels", "steps=1", "--adapt", "lgreco",
                                              state=state, code=2))
        self.assertIn("--write-plan requires", self.refuse("train4.so", "--steps", 6, "--write-plan", "p.json", state=state, code=2))
        result = self.run_tool("train4.so", "--steps", 6, "--learn-levels", "steps=2,6,9", state=state)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("no levels are learned in steps 6, 9: the last step is 5", result.stderr)
        self.expect_nothing_left()

    def test_what_does_not_fit_is_refused_before_it_does_harm(self):
        plan = json.loads(self.solve(self.profile()).read_text())
        plan["layers"][0]["elements"] = 7
        other = self.folder / "other.json"
        other.write_text(json.dumps(plan))
        state = self.state()
        self.assertIn("the plan's layer 'params/w' has 7 elements of f32, the program's 1024 of f32",
                      self.refuse("train4.so", "--steps", 3, "--plan", other, state=state))
        plan["layers"][0]["layer"] = "params/other"
        other.write_text(json.dumps(plan))
        error = self.refuse("train4.so", "--steps", 3, "--plan", other, state=state)
        self.assertRegex(error, r"plan '.*other.json' was made for another program: '.*train4.so' compresses none of its 1 layer, "
                                r"and not 'params/other' \(gradient\)")
        self.assertEqual(error.count("error:"), 1)
        self.assertNotIn("rank", error)
        self.assertIn("no layer of the program may be compressed", self.refuse("exact4.so", "--steps", 3, "--profile", other, state=state))
        self.assertIn("expected a solver among uniform",
                      self.refuse("train4.so", "--steps", 3, "--adapt", "best", state=state))
        self.assertIn("expected a range such as 2..8",
                      self.refuse("train4.so", "--steps", 3, "--profile", other, "--candidate", "quantize bits=8..2", state=state))
        self.assertIn("cannot read", self.refuse("train4.so", "--steps", 3, "--plan", "none.json", state=state))
        self.assertIn("excludes", self.refuse("train4.so", "--adapt", "lgreco", "--profile", other, state=state, code=2))
        self.assertIn("no candidate of any layer",
                      self.refuse("train4.so", "--steps", 9, *ADAPT, "--reference", "quantize bits=7 bucket=1", "--repeat",
                                  state=state))
        self.expect_nothing_left()


if __name__ == "__main__":
    unittest.main()
