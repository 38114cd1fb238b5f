"""Runs cgx-run with the compiler: steps as JAX printed them, trained without Python."""

import array
import json
import os
import pathlib
import subprocess
import unittest

from harness import CGX_RUN, RunTest, read_safetensors, write_safetensors

EXAMPLE = pathlib.Path(os.environ["CGX_EXAMPLES"]) / "mlp-digits"
CGX_OPT, CGX_COMPILE = os.environ["CGX_OPT"], os.environ["CGX_COMPILE"]
COMPRESS = "--cgx-compress=codec=quantize bits=4 bucket=128 rounding=stochastic"
# The list has one codec of each family, and the variants of quantize.
CODECS = ("quantize bits=4 rounding=random_shift scale=f32", "quantize bits=4 scaling=max_abs",
          "quantize bits=8 scaling=l2", "quantize bits=4 scaling=max_abs levels=exponential",
          "quantize bits=3 levels=learned", "ternary bucket=128", "sign error-feedback=f32",
          "sign magnitude=norm error-feedback=f32", "natural", "eden bits=3", "cast format=bf16", "cast format=fp8_e4m3 bucket=64",
          "cast format=mxfp8", "cast format=mxfp4", "topk density=0.05 error-feedback=f32",
          "randk density=0.2 error-feedback=bf16", "threshold threshold=0.01 error-feedback=f32",
          "adaptive_threshold bucket=64 threshold=0.5 error-feedback=f32", "lowrank rank=2 error-feedback=f32", "lossless",
          "gcomp optimizer=momentum learning-rate=0.02")
VARYING = ("threshold", "adaptive_threshold", "lossless", "gcomp")  # their payloads vary with the data


def without_codec_state(saved):
    """Returns the state of the step itself, without the memory that a plannable codec keeps beside it."""
    return {name: tensor for name, tensor in saved.items() if not name.startswith("cgx.codec_state/")}


class Compiled(RunTest):
    def tool(self, *arguments, code=0):
        result = subprocess.run([str(a) for a in arguments], capture_output=True, text=True, timeout=300,
                                env=self.environment(), check=False)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def compressed(self):
        program = self.folder / "step.cgx.mlir"
        self.tool(CGX_OPT, EXAMPLE / "step.mlir", COMPRESS, "-o", program)
        return program

    def run_example(self, program, *arguments, name="run", steps=20, state=EXAMPLE / "state.safetensors"):
        save, report = self.folder / f"{name}.safetensors", self.folder / f"{name}.json"
        self.tool(CGX_RUN, program, "--ranks", 4, "--quiet", "--job", self.job, "--state", state, "--data",
                  EXAMPLE / "train.safetensors", "--steps", steps, "--save", save, "--report", report, *arguments)
        return json.loads(report.read_text()), read_safetensors(save)[0]

    def test_an_instrumented_step_is_exact_until_a_plan_says_otherwise(self):
        program, profile, plan = (self.folder / name for name in ("step.cgx.mlir", "profile.json", "plan.json"))
        self.tool(CGX_OPT, EXAMPLE / "step.mlir", "--cgx-instrument", "-o", program)
        _, exact = self.run_example(EXAMPLE / "step.mlir", name="exact")
        measured, state = self.run_example(program, "--profile", profile)
        self.assertEqual(without_codec_state(state), exact)
        self.assertEqual(measured["totals"]["ratio"], 1)
        self.tool(pathlib.Path(CGX_RUN).with_name("cgx-plan"), "solve", profile, "-o", plan)
        planned, state = self.run_example(program, "--plan", plan)
        self.assertNotEqual(state, exact)
        self.assertGreater(planned["totals"]["ratio"], 5)
        # The result equals that of a step that was compiled with the plan.
        self.tool(CGX_OPT, EXAMPLE / "step.mlir", f"--cgx-compress=plan={plan}", "-o", program)
        compiled, same = self.run_example(program)
        self.assertEqual(compiled["totals"], planned["totals"])
        self.assertEqual(without_codec_state(same), without_codec_state(state))

    def test_a_lossless_step_is_the_exact_one_and_sends_less(self):
        program = self.folder / "step.cgx.mlir"
        self.tool(CGX_OPT, EXAMPLE / "step.mlir", "--cgx-compress=codec=lossless", "-o", program)
        _, exact = self.run_example(EXAMPLE / "step.mlir", name="exact")
        for transport in ("inproc", "shm"):
            report, state = self.run_example(program, "--transport", transport)
            self.assertEqual(without_codec_state(state), exact)
            self.assertGreater(report["totals"]["ratio"], 1.1)

    def test_a_step_for_other_ranks_averages_over_those(self):
        """Eight ranks, of which two each have the samples of one of four, take the step of those four."""
        data, ranks = self.folder / "data.safetensors", 8
        tensors = read_safetensors(EXAMPLE / "train.safetensors")[0]
        half, whole = {}, {}
        for name, (dtype, shape, values) in tensors.items():
            row = len(values) // shape[0]
            parts = [values[16 * row * i:16 * row * (i + 1)] for i in range(4)]
            half[name] = (dtype, [64, *shape[1:]], b"".join(parts))
            whole[name] = (dtype, [128, *shape[1:]], b"".join(part for part in parts for _ in range(2)))
        results = {}
        for name, tensors, program in (("four", half, EXAMPLE / "step.mlir"), ("eight", whole, self.folder / "eight.mlir")):
            if name == "eight":
                done = self.tool(CGX_OPT, EXAMPLE / "step.mlir", "--cgx-set-ranks=8", "-o", program)
                self.assertIn("for 8 ranks in place of 4: 8 all_reduces, 8 divisions", done.stderr)
                refused = self.tool(CGX_RUN, EXAMPLE / "step.mlir", "--ranks", ranks, "--state",
                                    EXAMPLE / "state.safetensors", "--data", data, code=1)
                self.assertIn("cgx-opt --cgx-set-ranks=8", refused.stderr)
            write_safetensors(data, tensors)
            save, report = self.folder / f"{name}.safetensors", self.folder / f"{name}.json"
            self.tool(CGX_RUN, program, "--ranks", 8 if name == "eight" else 4, "--quiet", "--job", self.job, "--state",
                      EXAMPLE / "state.safetensors", "--data", data, "--steps", 3, "--repeat", "--save", save,
                      "--report", report)
            results[name] = read_safetensors(save)[0], json.loads(report.read_text())["loss"]["per_step"]
        for one, other in zip(results["four"][1], results["eight"][1], strict=True):
            self.assertAlmostEqual(one, other, delta=1e-5)
        for name, (_, _, values) in results["four"][0].items():
            numbers, others = (array.array("f", v) for v in (values, results["eight"][0][name][2]))
            worst = max(abs(a - b) for a, b in zip(numbers, others, strict=True))
            self.assertLess(worst, 1e-5, name)

    def test_text_and_library_and_transports_give_the_same_bits(self):
        program, library = self.compressed(), self.folder / "step.so"
        self.tool(CGX_COMPILE, program, "-o", library)
        expected_report, expected = self.run_example(program)
        for candidate, transport in ((program, "inproc"), (library, "shm"), (library, "inproc")):
            report, saved = self.run_example(candidate, "--transport", transport)
            self.assertEqual(saved, expected)
            self.assertEqual(report["loss"], expected_report["loss"])
        self.expect_nothing_left()

    def test_four_bits_train_as_well_and_send_a_seventh(self):
        metrics = {}
        for name, program in (("exact", EXAMPLE / "step.mlir"), ("q4", self.compressed())):
            report, _ = self.run_example(program, "--repeat", name=name, steps=220)
            evaluation = self.folder / "eval.json"
            self.tool(CGX_RUN, EXAMPLE / "eval.mlir", "--quiet", "--state", self.folder / f"{name}.safetensors",
                      "--data", EXAMPLE / "validation.safetensors", "--report", evaluation)
            metrics[name] = json.loads(evaluation.read_text())["metrics"][0]["mean"]
        self.assertGreater(metrics["exact"], 0.95)
        self.assertGreater(metrics["q4"], 0.99 * metrics["exact"])
        compressed = [layer for layer in report["layers"] if layer["codec"]["family"] == "quantize"]
        self.assertEqual({layer["layer"] for layer in compressed}, {f"params/dense{i}/kernel" for i in range(3)})
        for layer in compressed:
            self.assertGreater(layer["ratio"], 7.1)

    def test_the_bytes_of_the_compilers_report_are_those_of_the_run(self):
        program = self.compressed()
        predicted = json.loads(self.tool(CGX_OPT, program, "--cgx-report=format=json", "-o", os.devnull).stderr)
        report, _ = self.run_example(program, steps=2)
        for bytes_of in ("raw_bytes", "wire_bytes"):
            self.assertEqual([(layer["layer"], layer[f"{bytes_of}_by_rank"]) for layer in predicted["layers"]],
                             [(layer["layer"], layer[f"{bytes_of}_per_step"]) for layer in report["layers"]])

    def test_every_codec_trains_and_sends_the_bytes_of_the_compilers_report(self):
        for codec in CODECS:
            with self.subTest(codec=codec):
                program = self.folder / "codec.mlir"
                self.tool(CGX_OPT, EXAMPLE / "step.mlir", f"--cgx-compress=codec={codec}", "-o", program)
                predicted = json.loads(self.tool(CGX_OPT, program, "--cgx-report=format=json", "-o", os.devnull).stderr)
                report, _ = self.run_example(program, steps=22)
                losses = report["loss"]["per_step"]
                self.assertLess(sum(losses[-5:]), 0.7 * sum(losses[:5]))
                for most, layer in zip(predicted["layers"], report["layers"], strict=True):
                    if layer["codec"]["family"] in VARYING:
                        self.assertTrue(most["wire_bytes_are_most"])
                        share = 0.95 if codec == "lossless" else 0.85 if "gcomp" in codec else 0.7
                        self.assertLess(sum(layer["wire_bytes_per_step"]), share * sum(most["wire_bytes_by_rank"]))
                    else:
                        self.assertNotIn("wire_bytes_are_most", most)
                        self.assertEqual(most["wire_bytes_by_rank"], layer["wire_bytes_per_step"])
                for key, value in (pair.split("=") for pair in codec.split()[1:] if "error" not in pair):
                    self.assertIn(value, {str(layer["codec"].get(key.replace("-", "_"))) for layer in report["layers"]})

    def compile_and_report(self, options):
        program = self.folder / "step.cgx.mlir"
        self.tool(CGX_OPT, EXAMPLE / "step.mlir", f"--cgx-compress={options}", "-o", program)
        return program, json.loads(self.tool(CGX_OPT, program, "--cgx-report=format=json", "-o", os.devnull).stderr)

    def test_factors_go_on_where_they_were_and_are_alike_over_transports(self):
        program, _ = self.compile_and_report("codec=lowrank rank=2 error-feedback=bf16")
        _, whole = self.run_example(program, "--seed", 5, name="whole", steps=12)
        _, other = self.run_example(program, "--seed", 5, "--transport", "shm", name="shm", steps=12)
        self.assertEqual(other, whole)
        self.assertTrue(any("warm_start" in name for name in whole))
        self.run_example(program, "--seed", 5, name="first", steps=7)
        second = self.folder / "second.safetensors"
        self.tool(CGX_RUN, program, "--quiet", "--job", self.job, "--resume", self.folder / "first.safetensors",
                  "--data", EXAMPLE / "train.safetensors", "--steps", 5, "--save", second)
        self.assertEqual(read_safetensors(second)[0], whole)

    def test_a_plan_gives_each_layer_its_rank(self):
        program, plan = self.folder / "step.cgx.mlir", self.folder / "plan.json"
        profile = self.folder / "profile.json"
        self.tool(CGX_OPT, EXAMPLE / "step.mlir", "--cgx-instrument", "-o", program)
        self.run_example(program, "--profile", profile, "--candidate", "lowrank rank=1..8")
        self.tool(pathlib.Path(CGX_RUN).with_name("cgx-plan"), "solve", profile, "--reference", "lowrank rank=4",
                  "-o", plan)
        planned, predicted = self.compile_and_report(f"plan={plan} error-feedback=f32")
        report, _ = self.run_example(planned, steps=4)
        self.assertIn("lowrank", {layer["codec"]["family"] for layer in report["layers"]})
        self.assertEqual([layer["wire_bytes_by_rank"] for layer in predicted["layers"]],
                         [layer["wire_bytes_per_step"] for layer in report["layers"]])

    def test_an_entire_model_is_one_vector(self):
        options = "codec=topk density=0.05 error-feedback=f32 "
        runs = {}
        for scope in ("layer-wise", "entire-model"):
            program, predicted = self.compile_and_report(options + f"scope={scope}")
            report, state = self.run_example(program, name=scope, steps=22)
            self.assertEqual([layer["wire_bytes_by_rank"] for layer in predicted["layers"]],
                             [layer["wire_bytes_per_step"] for layer in report["layers"]])
            losses = report["loss"]["per_step"]
            self.assertLess(sum(losses[-5:]), 0.7 * sum(losses[:5]))
            runs[scope] = [layer for layer in report["layers"] if layer["codec"]["family"] == "topk"], state
        layers, merged = runs["layer-wise"][0], runs["entire-model"][0]
        self.assertEqual([layer["layer"] for layer in merged], [" + ".join(layer["layer"] for layer in layers)])
        self.assertEqual(merged[0]["elements"], sum(layer["elements"] for layer in layers))
        self.assertNotEqual(runs["layer-wise"][1], runs["entire-model"][1])

    def test_results_travel_by_another_codec(self):
        program, predicted = self.compile_and_report(
            "codec=topk density=0.05 back-codec=quantize<bits=4,bucket=128> error-feedback=f32")
        report, state = self.run_example(program, steps=22)
        self.assertEqual([layer["wire_bytes_by_rank"] for layer in predicted["layers"]],
                         [layer["wire_bytes_per_step"] for layer in report["layers"]])
        losses = report["loss"]["per_step"]
        self.assertLess(sum(losses[-5:]), 0.7 * sum(losses[:5]))
        self.assertIn("quantize", {layer["codec"].get("back", {}).get("family") for layer in report["layers"]})
        self.assertEqual(self.run_example(program, "--transport", "shm", name="shm", steps=22)[1], state)

    def test_a_step_resumes_in_the_middle(self):
        program = self.compressed()
        _, whole = self.run_example(program, "--seed", 5, name="whole", steps=20)
        self.run_example(program, "--seed", 5, name="first", steps=12)
        _, second = self.run_example(program, "--seed", 5, "--first-step", 12, name="second", steps=8,
                                     state=self.folder / "first.safetensors")
        self.assertEqual(second, whole)

    def test_a_resumed_run_has_what_codecs_remember(self):
        program = self.folder / "feedback.mlir"
        self.tool(CGX_OPT, EXAMPLE / "step.mlir", "--cgx-compress=bits=1 rounding=nearest error-feedback=int8", "-o",
                  program)
        _, whole = self.run_example(program, "--seed", 5, "--shuffle", name="whole", steps=20)
        self.run_example(program, "--seed", 5, "--shuffle", name="first", steps=12)
        first, second = self.folder / "first.safetensors", self.folder / "second.safetensors"
        resume = [CGX_RUN, program, "--quiet", "--job", self.job, "--resume", first, "--shuffle", "--data",
                  EXAMPLE / "train.safetensors", "--steps", 8, "--save", second]
        self.tool(*resume)
        self.assertEqual(read_safetensors(second)[0], whole)
        result = self.tool(*resume, "--seed", 6, code=1)
        self.assertIn("was saved by a run with --seed 5, got --seed 6", result.stderr)
        result = self.tool(CGX_RUN, EXAMPLE / "step.mlir", *resume[2:])
        self.assertIn("was saved by another program", result.stderr)
        self.assertIn("the codecs of this one remember nothing", result.stderr)
        # Without --resume its tensors are the state of a new run.
        _, forgetful = self.run_example(program, "--seed", 5, "--shuffle", "--first-step", 12, name="forgetful",
                                        steps=8, state=first)
        self.assertNotEqual(forgetful, whole)

    def test_what_codecs_remember_goes_to_another_grouping(self):
        programs = {}
        for name, more in ("together", ""), ("grouped", " overlap group-bytes=65536"), ("ring", " algorithm=ring"):
            programs[name] = self.folder / f"{name}.mlir"
            self.tool(CGX_OPT, EXAMPLE / "step.mlir", f"--cgx-compress=bits=1 rounding=nearest error-feedback=int8{more}", "-o",
                      programs[name])
        self.run_example(programs["together"], name="first", steps=12)
        first, save = self.folder / "first.safetensors", self.folder / "second.safetensors"

        def go_on(name, *start):
            said = self.tool(CGX_RUN, programs[name], "--quiet", "--job", self.job, *start, "--data", EXAMPLE / "train.safetensors",
                             "--steps", 4, "--save", save).stderr
            return said, {key: value for key, value in read_safetensors(save)[0].items() if "codec_state" not in key}

        said, kept = go_on("grouped", "--resume", first)
        self.assertIn("codecs go on with 3 of 6 memories, and begin anew: residual.result of 'params/dense", said)
        self.assertNotEqual(kept, go_on("grouped", "--state", first, "--first-step", 12)[1])
        # The partial sums of a ring belong to no single rank's gradient.
        said, _ = go_on("ring", "--resume", first)
        self.assertRegex(said, "codecs go on with \\d of \\d memories|remember nothing")

    def test_options_of_a_pass_that_it_does_not_have_are_named_with_what_was_meant(self):
        for option, value, said in (("--local-steps", "evry=50", "cgx-local-steps: no such option evry (did you mean 'every'?)"),
                                    ("--local-steps", "zebra=1", "cgx-local-steps: no such option zebra; it has axes, every, "),
                                    ("--compress", "bts=4", "cgx-compress: no such option bts (did you mean 'bits'?)"),
                                    ("--compress", "zebra=4", "cgx-compress: no such option zebra; it has activation, ")):
            result = self.tool(CGX_RUN, EXAMPLE / "step.mlir", option, value, "--steps", 1, code=1)
            self.assertIn(said, result.stderr)

    def test_a_library_stands_beside_its_step_unless_it_is_to_be_elsewhere(self):
        step = self.folder / "step.mlir"
        step.write_bytes((EXAMPLE / "step.mlir").read_bytes())
        self.assertEqual(self.tool(CGX_COMPILE, step).stderr, f"cgx-compile: wrote {self.folder / 'step.so'}\n")
        self.run_example(self.folder / "step.so", steps=1)
        self.assertIn("expected -o", self.tool(CGX_COMPILE, "-", code=2).stderr)

    def test_a_processor_that_is_none_is_one_line(self):
        result = self.tool(CGX_COMPILE, EXAMPLE / "step.mlir", "--mcpu=znver9", "--no-cache", "-o", self.folder / "step.so", code=1)
        self.assertRegex(result.stderr, r"^error: expected --mcpu to be native or a processor of [-\w]+, got 'znver9'( \(did you mean '\w+'\?\))?\n$")

    def test_an_evaluation_has_nothing_to_be_noted(self):
        result = self.tool(CGX_RUN, EXAMPLE / "eval.mlir", "--state", EXAMPLE / "state.safetensors", "--data",
                           EXAMPLE / "validation.safetensors", "--job", self.job)
        self.assertNotIn("note:", result.stderr)
        self.assertIn("\n1 step on 4 ranks ", result.stdout)

    def test_text_that_does_not_parse_is_refused(self):
        text = (EXAMPLE / "step.mlir").read_text()
        broken = self.folder / "broken.mlir"
        for change in (text[:len(text) // 2], text.replace("stablehlo.maximum", "stablehlo.maximumm"), "", "\0"):
            broken.write_text(change)
            result = self.tool(CGX_RUN, broken, "--state", EXAMPLE / "state.safetensors", "--data",
                               EXAMPLE / "train.safetensors", "--steps", 1, code=1)
            self.assertIn("broken.mlir", result.stderr)
            self.assertIn("error", result.stderr)


if __name__ == "__main__":
    unittest.main()
