"""The communication of steps that torch compiles is compressed: the compiler finds the layers of functional collectives
by data flow, and those of a compiled DistributedDataParallel are its parameters."""

import functools
import json
import subprocess
import sys
import unittest

import ranks as job_ranks
from ranks import FOLDER, PACKAGE, torch

WHY_NOT = job_ranks.NO_TORCH
if torch is not None:
    WHY_NOT = None if hasattr(torch, "compile") and hasattr(torch.distributed.distributed_c10d, "_resolve_process_group") else \
        f"torch {torch.__version__} has no torch.compile with functional collectives, as of 2.3"


@functools.cache
def why_no_inductor():
    """Returns what torch's own compiler lacks here, in its words: a C++ compiler, headers of Python or of torch,
    setuptools. Returns None where it works, so that a failure is ours."""
    code = "import torch; torch.compile(lambda x: torch.relu(x) + 1, backend='inductor')(torch.zeros(64))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    said = [line for line in done.stderr.splitlines() if "rror:" in line]
    return f"inductor compiles nothing here, without cgx either: {said[-1] if said else done.stderr[-300:]}" if done.returncode else None


def start(job, ranks=2):
    """Runs a job, and returns how each rank ended."""
    return job_ranks.run(lambda rank, port: [FOLDER / "compiled.py", rank, ranks, port, json.dumps(job)], ranks, timeout=400)


@unittest.skipIf(WHY_NOT, WHY_NOT)
@unittest.skipUnless(job_ranks.HAS_LIBRARIES, job_ranks.NO_LIBRARIES)
class CompiledTest(unittest.TestCase):
    def train(self, step, inner, options, ranks=2, **more):
        """Returns the output of rank 0, after checking that all ranks hold equal bits."""
        done = start({"step": step, "inner": inner, "options": options} | more, ranks)
        for each in done:
            self.assertTrue(job_ranks.succeeded(each, plain=options is None), f"{each.code}: {each.said[-3000:]}")
        answers = [each.answer() for each in done]
        self.assertEqual(len({answer["bits"] for answer in answers}), 1, "ranks hold different parameters")
        return answers[0]

    def assert_compressed(self, answer, matrices, vectors):
        """Two of three matrices are large enough; everything that is no gradient is sent uncompressed."""
        layers = {layer["layer"]: layer for layer in answer["layers"]}
        for name in matrices:
            self.assertIn("quantize bits=4", layers[name]["codec"], layers.keys())
            self.assertEqual(layers[name]["kind"], "gradient")
        for name in vectors:
            self.assertEqual((layers[name]["kind"], layers[name]["codec"]), ("gradient", "identity"))
        self.assertEqual({layer["codec"] for layer in answer["layers"] if layer["kind"] == "other"} - {"identity"}, set())
        self.assertEqual(answer["telemetry"][0]["steps"], len(answer["losses"]))

    def assert_close(self, ours, plain, tolerance):
        for left, right in zip(ours, plain):
            self.assertAlmostEqual(left, right, delta=tolerance)

    def test_functional_collectives(self):
        for inner, ranks in (("aot_eager", 3), ("inductor", 2)):
            with self.subTest(inner=inner):
                if inner == "inductor" and why_no_inductor():
                    self.skipTest(why_no_inductor())
                answer = self.train("functional", inner, {"bits": 4}, ranks)
                self.assert_compressed(answer, ["0.weight", "2.weight"], ["0.bias", "2.bias"])
                self.assertEqual([layer["kind"] for layer in answer["layers"] if layer["dtype"] == "f32" and not layer["shape"]],
                                 ["other"])  # the loss
                self.assert_close(answer["losses"], self.train("functional", inner, None, ranks)["losses"], 0.1)

    def test_parameters_written_in_place(self):
        # The second moment is no gradient, and the first names no layer.
        answer = self.train("written", "aot_eager", {"bits": 4})
        self.assert_compressed(answer, ["0", "2"], ["1", "3"])
        self.assert_close(answer["losses"], self.train("written", "aot_eager", None)["losses"], 0.1)

    def test_compiled_ddp(self):
        if why_no_inductor():
            self.skipTest(why_no_inductor())
        answer = self.train("ddp", "inductor", {"bits": 4})
        self.assert_compressed(answer, ["0.weight", "2.weight"], ["0.bias", "2.bias", "4.bias"])
        plain = self.train("ddp", "inductor", None)
        self.assert_close(answer["losses"], plain["losses"], 0.1)
        exact = self.train("ddp", "inductor", {"codec": "identity"})
        for left, right in zip(exact["parameters"], plain["parameters"]):
            self.assert_close(left, right, 1e-5)

    def test_compiled_ddp_of_some_ranks(self):
        if why_no_inductor():
            self.skipTest(why_no_inductor())
        done = start({"step": "ddp", "inner": "inductor", "options": {"bits": 4}, "groups": [[0, 2], [1]], "steps": 3}, ranks=3)
        for each in done:
            self.assertTrue(job_ranks.succeeded(each), f"{each.code}: {each.said[-3000:]}")
        first, alone, last = (each.answer() for each in done)
        self.assertEqual(first["bits"], last["bits"])
        self.assertNotEqual(first["bits"], alone["bits"], "gradients of another group came in")
        self.assert_compressed(first, ["0.weight", "2.weight"], ["0.bias", "2.bias", "4.bias"])

    def test_what_codecs_remember_is_saved(self):
        options = {"bits": 2, "error_feedback": "f32"}
        through = self.train("written", "aot_eager", options)
        self.assertTrue(through["state"][0])
        self.assertEqual(self.train("written", "aot_eager", options, resume_at=3)["bits"], through["bits"])

    def test_mistakes(self):
        job = {"step": "functional", "inner": "aot_eager", "steps": 1}
        for jobs, expected in (
                ([job | {"options": {"bits": 4}}, job | {"options": {"bits": 2}}], "compiled set of gradients number 0 to different"),
                ([job | {"options": {"bits": 40}}] * 2, "CompileError: .*bits"),
                ([job | {"options": {"bits": 4, "timeout": 5}}, job | {"options": None}], "process 1 compiled no set of gradients")):
            with self.subTest(expected=expected):
                for rank, (_, said, code) in enumerate(start(jobs)):
                    self.assertNotEqual(code, 0)
                    if jobs[rank]["options"]:
                        self.assertRegex(said, expected)


class TooOldTest(unittest.TestCase):
    @unittest.skipIf(not WHY_NOT or "has no torch:" in WHY_NOT, "this torch can, or there is none")
    def test_a_torch_without_torch_compile_is_refused_with_words(self):
        sys.path[:0] = [str(PACKAGE)]
        import cgx_torch
        with self.assertRaisesRegex(cgx_torch.RuntimeFailure, "as of torch 2.3"):
            cgx_torch.backend(bits=4)


if __name__ == "__main__":
    unittest.main()
