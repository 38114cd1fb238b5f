"""Tests cgx-run --compress: one command from an exported step to compressed training."""

import json
import os
import pathlib
import subprocess
import unittest

from harness import CGX_RUN, RunTest, read_safetensors

EXAMPLE = pathlib.Path(os.environ["CGX_EXAMPLES"]) / "mlp-digits"
CGX_OPT, CGX_COMPILE = os.environ["CGX_OPT"], os.environ["CGX_COMPILE"]


class Compress(RunTest):
    def tool(self, *arguments, code=0):
        result = subprocess.run([str(a) for a in arguments], capture_output=True, text=True, timeout=300,
                                env=self.environment(), check=False)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def run_step(self, program, *arguments, code=0, name="run"):
        save, report = self.folder / f"{name}.safetensors", self.folder / f"{name}.json"
        result = self.tool(CGX_RUN, program, "--job", self.job, "--state", EXAMPLE / "state.safetensors", "--data",
                           EXAMPLE / "train.safetensors", "--steps", 5, "--save", save, "--report", report, *arguments,
                           code=code)
        if code:
            return result.stderr
        return json.loads(report.read_text()), read_safetensors(save)[0], result

    def test_one_command_trains_as_two_do(self):
        for options in ("bits=4", "codec=topk density=0.05 error-feedback=f32"):
            program = self.folder / "step.cgx.mlir"
            self.tool(CGX_OPT, EXAMPLE / "step.mlir", f"--cgx-compress={options}", "-o", program)
            report, state, _ = self.run_step(program)
            own_report, own_state, said = self.run_step(EXAMPLE / "step.mlir", "--compress", options, name="own")
            self.assertEqual(own_state, state)
            self.assertEqual(own_report["totals"]["wire_bytes_per_step"], report["totals"]["wire_bytes_per_step"])
            self.assertLess(own_report["totals"]["wire_bytes_per_step"], own_report["totals"]["raw_bytes_per_step"])
            self.assertIn("cgx report: 4 ranks", said.stderr)
            self.assertIn("params/dense1/kernel", said.stderr)

    def test_ranks_that_compress_by_other_options_are_told_the_values_and_no_hashes(self):
        ranks = [subprocess.Popen(
            [CGX_RUN, str(EXAMPLE / "step.mlir"), "--job", self.job, "--state", str(EXAMPLE / "state.safetensors"), "--data",
             str(EXAMPLE / "train.safetensors"), "--steps", "5", "--compress", f"bits={4 + (rank == 1)}"],
            env=self.environment(RANK=rank, WORLD_SIZE=4), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for rank in range(4)]
        errors = [process.communicate(timeout=300)[1] for process in ranks]
        self.assertIn("inputs: --compress is 'bits=4' on ranks 0, 2 and 3; 'bits=5' on rank 1: give all ranks the same", errors[0])
        self.assertNotIn("hash", "".join(errors))

    def test_quiet_prints_no_report(self):
        said = self.run_step(EXAMPLE / "step.mlir", "--compress", "bits=4", "--quiet")[2]
        self.assertEqual(said.stderr, "")

    def test_a_plan_that_changes_is_compiled_anew(self):
        exact = self.run_step(EXAMPLE / "step.mlir", "--compress", "exclude=*")[0]
        four = self.run_step(EXAMPLE / "step.mlir", "--compress", "bits=4")[0]
        self.assertGreater(exact["totals"]["wire_bytes_per_step"], four["totals"]["wire_bytes_per_step"])

    def test_what_makes_no_sense_is_refused(self):
        library = self.folder / "step.so"
        self.tool(CGX_COMPILE, EXAMPLE / "step.mlir", "-o", library)
        self.assertIn("expected the text of a step with --compress", self.run_step(library, "--compress", "bits=4", code=1))
        for options, text in (("bitz=4", "did you mean 'bits'?"), ("bits=9", "bits"), ("bits=x", "bits=x"), ("min-elements=x", "of another type"), ("bits=4}", "cannot compress"),
                              ("plan=/nonexistent.json", "/nonexistent.json")):
            error = self.run_step(EXAMPLE / "step.mlir", "--compress", options, code=1)
            self.assertIn(text, error)
            self.assertIn(f'by --compress "{options}"', error)
            self.assertNotIn("failed to add", error)  # MLIR's wording of this error


if __name__ == "__main__":
    unittest.main()
