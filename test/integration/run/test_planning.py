"""Profiles, plans and codecs that change while cgx-run trains."""

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
