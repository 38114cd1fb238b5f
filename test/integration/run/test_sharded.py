"""Tests fully sharded steps: a codec for each kind, and gathers that serve twice. On 1 to 8 ranks, a mesh of two axes,
in f32 and bf16."""

import json
import os
import pathlib
import random
import struct
import subprocess
import unittest

from harness import CGX_RUN, RunTest, read_safetensors, tensor, write_safetensors

CGX_OPT = os.environ["CGX_OPT"]
EXAMPLES = pathlib.Path(os.environ["CGX_EXAMPLES"])
ROWS, COLUMNS, BATCH = 32, 48, 4  # ROWS are of a shard, BATCH is per rank

# The step gathers %w in the forward pass and again, after a barrier, in the backward pass: y = x W; g = x^T y + W /
# 100, of which a rank keeps its rows.
STEP = """
#g = #cgx.groups<{gathers}>
module attributes {{cgx.mesh = #cgx.mesh<[{mesh}]>, cgx.num_ranks = {ranks} : i64}} {{
func.func public @main(
    %w: tensor<{part}x{columns}x{type}> {{cgx.name = "state['w']", cgx.sharding = #cgx.sharding<[[{split}], []]>,
        cgx.global_type = tensor<{whole}x{columns}x{type}>}},
    %x: tensor<{batch}x{whole}xf32> {{cgx.name = "batch['x']", cgx.sharding = #cgx.sharding<[[{axes}], []]>,
        cgx.global_type = tensor<{samples}x{whole}xf32>}})
    -> (tensor<{part}x{columns}x{type}> {{cgx.name = "[0]['w']", cgx.feeds = 0 : i64,
            cgx.sharding = #cgx.sharding<[[{split}], []]>, cgx.global_type = tensor<{whole}x{columns}x{type}>}},
        tensor<f32> {{cgx.name = "loss", cgx.sharding = #cgx.sharding<[]>, cgx.global_type = tensor<f32>}}) {{
  {before}
  %forward = cgx.all_gather(%shard) {{dim = 0 : i64, id = 0 : i64, groups = #g, codecs = [#cgx.identity],
      layers = [#cgx.layer<"w", weight, [{whole}, {columns}]>]}} : (tensor<{rows}x{columns}x{type}>) -> tensor<{whole}x{columns}x{type}>
  %f = stablehlo.convert %forward : (tensor<{whole}x{columns}x{type}>) -> tensor<{whole}x{columns}xf32>
  %y = stablehlo.dot_general %x, %f, contracting_dims = [1] x [0]
      : (tensor<{batch}x{whole}xf32>, tensor<{whole}x{columns}xf32>) -> tensor<{batch}x{columns}xf32>
  %b:2 = stablehlo.optimization_barrier %shard, %y : tensor<{rows}x{columns}x{type}>, tensor<{batch}x{columns}xf32>
  %backward = cgx.all_gather(%b#0) {{dim = 0 : i64, id = 1 : i64, groups = #g, codecs = [#cgx.identity],
      layers = [#cgx.layer<"w", weight, [{whole}, {columns}]>]}} : (tensor<{rows}x{columns}x{type}>) -> tensor<{whole}x{columns}x{type}>
  %d = stablehlo.convert %backward : (tensor<{whole}x{columns}x{type}>) -> tensor<{whole}x{columns}xf32>
  %product = stablehlo.dot_general %x, %b#1, contracting_dims = [0] x [0]
      : (tensor<{batch}x{whole}xf32>, tensor<{batch}x{columns}xf32>) -> tensor<{whole}x{columns}xf32>
  %tenth = stablehlo.constant dense<0.1> : tensor<{whole}x{columns}xf32>
  %decay = stablehlo.multiply %d, %tenth : tensor<{whole}x{columns}xf32>
  %g = stablehlo.add %product, %decay : tensor<{whole}x{columns}xf32>
  %cast = stablehlo.convert %g : (tensor<{whole}x{columns}xf32>) -> tensor<{whole}x{columns}x{type}>
  %own = cgx.reduce_scatter sum(%cast) {{dim = 0 : i64, id = 2 : i64, groups = #g, codecs = [#cgx.identity],
      layers = [#cgx.layer<"w", gradient, [{whole}, {columns}]>]}} : (tensor<{whole}x{columns}x{type}>) -> tensor<{rows}x{columns}x{type}>
  {between}
  %rate = stablehlo.constant dense<0.01> : tensor<{part}x{columns}x{type}>
  %change = stablehlo.multiply %sum, %rate : tensor<{part}x{columns}x{type}>
  %next = stablehlo.subtract %w, %change : tensor<{part}x{columns}x{type}>
  %squares = stablehlo.multiply %y, %y : tensor<{batch}x{columns}xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %mine = stablehlo.reduce(%squares init: %zero) applies stablehlo.add across dimensions = [0, 1]
      : (tensor<{batch}x{columns}xf32>, tensor<f32>) -> tensor<f32>
  %loss = cgx.all_reduce mean(%mine) {{id = 4 : i64, groups = #cgx.groups<[{everybody}]>, codecs = [#cgx.identity],
      layers = [#cgx.layer<"loss", other>]}} : tensor<f32>
  return %next, %loss : tensor<{part}x{columns}x{type}>, tensor<f32>
}}
}}
"""
ALONE = "%sum = stablehlo.reshape %own : (tensor<{0}x{1}x{2}>) -> tensor<{0}x{1}x{2}>"
REPLICATED = """%sum = cgx.all_reduce sum(%own) {{id = 3 : i64, groups = #cgx.groups<[[0, 2], [1, 3]]>, codecs = [#cgx.identity],
      layers = [#cgx.layer<"w", gradient, [{0}, {1}]>]}} : tensor<{0}x{1}x{2}>"""
WHOLE = "%shard = stablehlo.reshape %w : (tensor<{0}x{1}x{2}>) -> tensor<{0}x{1}x{2}>"
# As in ZeRO++, weights are split along both axes. Both passes gather within a host the result of one gather between
# hosts.
BETWEEN_HOSTS = """%shard = cgx.all_gather(%w) {{dim = 0 : i64, id = 5 : i64, groups = #cgx.groups<[[0, 2], [1, 3]]>, codecs = [#cgx.identity],
      layers = [#cgx.layer<"w", weight, [{0}, {1}]>]}} : (tensor<{3}x{1}x{2}>) -> tensor<{0}x{1}x{2}>"""
SCATTERED = """%sum = cgx.reduce_scatter sum(%own) {{dim = 0 : i64, id = 3 : i64, groups = #cgx.groups<[[0, 2], [1, 3]]>, codecs = [#cgx.identity],
      layers = [#cgx.layer<"w", gradient, [{0}, {1}]>]}} : (tensor<{0}x{1}x{2}>) -> tensor<{3}x{1}x{2}>"""
QSDP = "qsdp min-elements=1"
DIFFERENCES = "min-elements=1 weight='bits=4 delta=bf16' gradient=bits=8"
NEAREST = "min-elements=1 weight='bits=8 rounding=nearest scale=f32' gradient='bits=6 rounding=nearest scale=f32'"


class Sharded(RunTest):
    def make(self, ranks, element="f32", replicas=1, is_zero=False):
        """Writes step, initial values and samples. `is_zero` splits weights along both axes."""
        shards = ranks // replicas
        everybody = list(range(ranks))
        groups = [everybody[begin:begin + shards] for begin in range(0, ranks, shards)]
        part = ROWS // replicas if is_zero else ROWS
        before, between = ((BETWEEN_HOSTS, SCATTERED) if is_zero else (WHOLE, ALONE if replicas == 1 else REPLICATED))
        text = STEP.format(
            part=part, split='"shard", "host"' if is_zero else '"shard"', before=before.format(ROWS, COLUMNS, element, part),
            gathers=groups, ranks=ranks, everybody=everybody, rows=ROWS, columns=COLUMNS, batch=BATCH, type=element,
            whole=ROWS * shards, samples=BATCH * ranks, axes='"shard"' if replicas == 1 else '"host", "shard"',
            mesh=f'"shard" = {shards}' if replicas == 1 else f'"host" = {replicas}, "shard" = {shards}',
            between=between.format(ROWS, COLUMNS, element, part))
        (self.folder / "step.mlir").write_text(text)
        rng = random.Random(20261122)
        whole = ROWS * shards
        values = [rng.gauss(0, 0.1) for _ in range(whole * COLUMNS)]
        weights = tensor("F32", [whole, COLUMNS], values)
        if element == "bf16":  # the upper half of an f32
            weights = ("BF16", weights[1], b"".join(weights[2][at + 2:at + 4] for at in range(0, len(weights[2]), 4)))
        write_safetensors(self.folder / "state.safetensors", {"state['w']": weights})
        samples = [rng.gauss(0, 0.1) for _ in range(3 * BATCH * ranks * whole)]
        write_safetensors(self.folder / "data.safetensors", {"x": tensor("F32", [3 * BATCH * ranks, whole], samples)})

    def step(self, options, *arguments, state="state", steps=6, save="saved"):
        """Returns (report, bytes of the weights) of training with these options of --cgx-compress."""
        program, report = self.folder / "step.cgx.mlir", self.folder / "report.json"
        subprocess.run([CGX_OPT, self.folder / "step.mlir", f"--cgx-compress={options}", "-o", program], check=True)
        done = subprocess.run(
            [CGX_RUN, program, "--job", self.job, *(["--transport", "inproc"] if "--transport" not in arguments else []), "--data", self.folder / "data.safetensors", "--repeat",
             "--steps", str(steps), "--save", self.folder / f"{save}.safetensors", "--report", report, "--quiet", "--no-cache",
             *(["--state", self.folder / f"{state}.safetensors"] if state else []), *arguments],
            capture_output=True, text=True, timeout=300, env=self.environment(), check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        read = json.loads(report.read_text())
        self.assertEqual(read["disagreements"], [])
        (saved,) = [each[2] for name, each in read_safetensors(self.folder / f"{save}.safetensors")[0].items() if name.endswith("['w']")]
        return read, saved

    def report_of(self, options):
        done = subprocess.run([CGX_OPT, self.folder / "step.mlir", f"--cgx-compress={options}", "--cgx-report=format=json",
                               "-o", os.devnull], capture_output=True, text=True, check=True)
        return json.loads(done.stderr)

    def check(self, ranks, element, replicas=1):
        self.make(ranks, element, replicas)
        twice, expected = self.step(NEAREST)
        once, state = self.step(f"{NEAREST} reuse-gathers=all prefetch=1MiB")
        self.assertEqual(state, expected, "a gather that serves twice must not change a bit")
        self.assertEqual(once["loss"]["per_step"], twice["loss"]["per_step"])
        options = f"{QSDP} reuse-gathers=all"
        report, _ = self.step(options)
        sent = report["totals"]["wire_bytes_per_step"]
        self.assertEqual(sent, sum(self.report_of(options)["wire_bytes_by_rank"]), "the report is what was sent")

    def test_ranks(self):
        for ranks in range(1, 9):
            for element in ("f32", "bf16") if ranks in (2, 3, 8) else ("f32",):
                with self.subTest(ranks=ranks, element=element):
                    self.check(ranks, element)

    def test_shards_inside_of_replicas(self):
        for element in ("f32", "bf16"):
            with self.subTest(element=element):
                self.check(4, element, replicas=2)

    def test_a_resumed_run_is_the_run(self):
        self.make(4)
        for options in (QSDP + " reuse-gathers=all", "qsdp min-elements=1 gradient='bits=4 error-feedback=f32'"):
            _, expected = self.step(options)
            self.step(options, steps=3, save="half")
            _, state = self.step(options, "--resume", self.folder / "half.safetensors", state=None, steps=3)
            self.assertEqual(state, expected)

    def test_a_gather_that_serves_twice_saves_its_bytes(self):
        self.make(4)
        twice, once = self.report_of(QSDP), self.report_of(f"{QSDP} reuse-gathers=all")
        backward = twice["layers"][1]
        self.assertEqual([a - b for a, b in zip(twice["wire_bytes_by_rank"], once["wire_bytes_by_rank"])],
                         backward["wire_bytes_by_rank"])
        payloads = backward["wire_bytes_by_rank"][0] // 3 * 4
        self.assertEqual([once["layers"][0][key] for key in ("reuses", "held_bytes", "keeps_payloads")], [1, payloads, True])
        self.assertLess(payloads, 4 * ROWS * COLUMNS * 4 / 3)
        self.assertEqual(set(once["layers"][1]["wire_bytes_by_rank"]), {0})
        self.assertEqual(once["layers"][1]["exact_reason"], "decodes kept payloads again")
        # Payloads fit into memory where values do not.
        some, none = (self.report_of(f"{QSDP} reuse-gathers={bytes}") for bytes in (payloads, payloads - 1))
        self.assertEqual(some["wire_bytes_by_rank"], once["wire_bytes_by_rank"])
        self.assertEqual(none["wire_bytes_by_rank"], twice["wire_bytes_by_rank"])
        # The values of an uncompressed gather are kept, and there is nothing to decode.
        exact = self.report_of("weight=identity min-elements=1 reuse-gathers=all")["layers"]
        self.assertEqual([row["kind"] for row in exact].count("weight"), 1)
        self.assertEqual((exact[0]["held_bytes"], exact[0]["keeps_payloads"]), (4 * ROWS * COLUMNS * 4, False))

    def test_what_is_decoded_again_is_what_was_gathered(self):
        """With codecs that round at random, the backward pass has the weights of the forward pass: the bits are those
        of a step that gathers once."""
        for ranks, element in ((2, "f32"), (4, "f32"), (3, "bf16")):
            with self.subTest(ranks=ranks, element=element):
                self.make(ranks, element)
                # Random numbers depend on the position of a layer among all, which changes where there is a gather
                # less.
                options = QSDP + " gradient=rounding=nearest"
                _, decoded = self.step(options + " reuse-gathers=all")
                _, started = self.step(options + " reuse-gathers=all overlap")
                self.assertEqual(started, decoded)
                text = (self.folder / "step.mlir").read_text()
                begin, end = text.index("  %backward = "), text.index("  %d = ")
                (self.folder / "step.mlir").write_text(text[:begin] + text[end:].replace("%backward", "%forward"))
                _, once = self.step(options)
                self.assertEqual(decoded, once)

    def test_decodes_again_what_a_plan_encodes(self):
        """The codec of kept payloads changes between steps, as when a program adapts."""
        self.make(4)
        report, _ = self.step(QSDP + " reuse-gathers=all", "--adapt", "lgreco", "--adapt-every", "3", "--warmup", "1", "--profile-steps", "2", "--candidate", "quantize bits=2..8 bucket=128",
                              "--candidate", "weight=quantize bits=4..8 bucket=1024 rounding=random_shift scale=f32",
                              "--reference", "gradient=quantize bits=4 bucket=128", "--reference",
                              "weight=quantize bits=5 bucket=1024 rounding=random_shift scale=f32", steps=9)
        weights = [row for row in report["layers"] if row["kind"] == "weight"]
        self.assertTrue(weights, report["layers"])
        self.assertNotIn("bits=8", weights[0]["codec"])

    def test_learned_levels_of_weights_and_gradients(self):
        """At equal bits, learned levels lose less than even ones: the weights stay closer to those of an uncompressed
        run."""
        even = "min-elements=1 weight='bits=3 bucket=512 rounding=nearest' gradient='bits=3 bucket=512 rounding=nearest'"
        for ranks in range(1, 9):
            for element in ("f32", "bf16") if ranks in (2, 3, 8) else ("f32",):
                with self.subTest(ranks=ranks, element=element):
                    self.make(ranks, element)
                    learn = ("--learn-levels", "steps=0,3")
                    report, state = self.step(f"{even} reuse-gathers=all", *learn, steps=8)
                    self.assertEqual([entry["step"] for entry in report["plans"]], [1, 4])
                    for entry in report["plans"]:
                        layers = entry["plan"]["layers"]
                        self.assertEqual([layer["kind"] for layer in layers], ["weight", "gradient"])
                        self.assertEqual([len(layer["levels"]) for layer in layers], [8, 8])
                        if ranks > 1:  # one rank alone gathers and scatters nothing
                            self.assertLess(entry["plan"]["planned"]["squared_error"], entry["plan"]["of_reference"]["squared_error"])
                    _, again = self.step(f"{even} reuse-gathers=all", *learn, "--transport", "shm", steps=8)
                    self.assertEqual(again, state)
                    if element == "f32":
                        self.step(f"{even} reuse-gathers=all", *learn, steps=2, save="half")
                        _, resumed = self.step(f"{even} reuse-gathers=all", *learn, "--resume", self.folder / "half.safetensors",
                                               state=None, steps=6)
                        self.assertEqual(resumed, state)
                    if element == "f32" and ranks > 1:
                        exact, plain = (self.step(options, steps=8)[1] for options in ("weight=identity gradient=identity", even))
                        reference = struct.unpack(f"<{len(exact) // 4}f", exact)
                        loss = [sum((a - b) ** 2 for a, b in zip(struct.unpack(f"<{len(other) // 4}f", other), reference))
                                for other in (state, plain)]
                        self.assertLess(loss[0], loss[1])

    def test_qsdp_learns_levels_of_both_kinds(self):
        """Weights, which qsdp shifts at random, are rounded to the nearest learned level; gradients stay unbiased."""
        self.make(3)
        options = "qsdp min-elements=1 weight=bits=4 gradient=bits=3 reuse-gathers=all"
        learn = ("--learn-levels", "steps=0,3")
        report, state = self.step(options, *learn, steps=8)
        self.assertEqual([entry["step"] for entry in report["plans"]], [1, 4])
        codecs = {layer["kind"]: layer for layer in report["plans"][-1]["plan"]["layers"]}
        for kind, bits, rounding in (("weight", 4, "nearest"), ("gradient", 3, "stochastic")):
            with self.subTest(kind=kind):
                codec = codecs[kind]["codec"]
                self.assertEqual((codec["bits"], codec["bucket"], codec["rounding"], codec["levels"]), (bits, 1024, rounding, "learned"))
                self.assertEqual(len(codecs[kind]["levels"]), 2 ** bits)
        self.assertEqual(self.step(options, *learn, "--transport", "shm", steps=8)[1], state)
        # This works for qsdp as a whole too, and explicit options take precedence.
        report, _ = self.step(QSDP + " reuse-gathers=all", "--learn-levels", "steps=0 rounding=stochastic")
        self.assertEqual([(layer["codec"]["bits"], layer["codec"]["rounding"]) for layer in report["plans"][-1]["plan"]["layers"]],
                         [(8, "stochastic")] * 2)

    def check_differences(self, ranks, element, options=DIFFERENCES, replicas=1, gathers=2, steps=6):
        self.make(ranks, element, replicas)
        report, _ = self.step(options, steps=steps)
        promised, shards = self.report_of(options), ranks // replicas
        message = ROWS * COLUMNS * {"f32": 4, "bf16": 2}[element]
        rows = [row for row in promised["layers"] if row["kind"] == "weight"]
        if shards > 1:
            self.assertEqual([row["first_visit_bytes_are_at_most"] for row in rows], [(shards - 1) * message] * gathers)
            self.assertEqual(rows[0]["message_bytes_by_rank"], [shards * (ROWS * COLUMNS * 2 + 1)] * ranks)
        # cgx-run has compared each collective to the byte; a mean over steps is rounded down for each operand.
        first = gathers * ranks * (shards - 1) * message
        self.assertAlmostEqual(report["totals"]["wire_bytes_per_step"], sum(promised["wire_bytes_by_rank"]) + first / steps,
                               delta=5 * ranks)
        return report

    def test_differences_of_weights(self):
        for ranks in range(1, 9):
            for element in ("f32", "bf16") if ranks in (2, 3, 8) else ("f32",):
                with self.subTest(ranks=ranks, element=element):
                    self.check_differences(ranks, element)

    def test_differences_beside_gradients_of_two_levels(self):
        levels = "min-elements=1 weight='bits=4 delta=bf16' along='shard<gradient=bits=8> host<gradient=bits=4>'"
        along = "min-elements=1 along='shard<gradient=bits=8 weight=\"bits=4 delta=bf16\"> host<gradient=bits=4>'"
        for options in (DIFFERENCES, levels, along):
            for element in ("f32", "bf16"):
                with self.subTest(options=options, element=element):
                    self.check_differences(4, element, options, replicas=2)

    def test_differences_along_two_axes(self):
        """Both gathers of ZeRO++ send differences, each along its axis with its own bits."""
        options = ("min-elements=1 along='host<weight=\"bits=4 delta=f32\" gradient=bits=4> "
                   "shard<weight=\"bits=6 delta=bf16\" gradient=bits=8>'")
        for element in ("f32", "bf16"):
            with self.subTest(element=element):
                self.make(4, element, replicas=2, is_zero=True)
                promised = self.report_of(options)
                rows = {row["collective"]: row for row in promised["layers"]}
                for between, inside in ((rows[5], rows[0]), (rows[3], rows[2])):
                    self.assertIn("bits=4", between["codec"])
                    self.assertRegex(inside["codec"], "bits=[68]")
                # A rank has, for each layer, halves of a shard between hosts and both shards within one, twice.
                size = {"f32": 4, "bf16": 2}[element]
                self.assertEqual(rows[5]["message_bytes_by_rank"], [2 * (ROWS // 2 * COLUMNS * 4 + 1)] * 4)
                self.assertEqual(rows[1]["message_bytes_by_rank"], [2 * (ROWS * COLUMNS * 2 + 1)] * 4)
                report, expected = self.step(options)
                first = 4 * (ROWS // 2 + 2 * ROWS) * COLUMNS * size
                self.assertAlmostEqual(report["totals"]["wire_bytes_per_step"],
                                       sum(promised["wire_bytes_by_rank"]) + first / 6, delta=24)
                self.step(options, steps=3, save="half")
                _, state = self.step(options, "--resume", self.folder / "half.safetensors", state=None, steps=3)
                self.assertEqual(state, expected)

    def test_differences_gathered_once(self):
        self.check_differences(4, "f32", DIFFERENCES + " reuse-gathers=all", gathers=1)

    def test_differences_lose_less_than_weights(self):
        self.make(4)
        floats = lambda state: struct.unpack(f"<{len(state) // 4}f", state)
        loss = {}
        for name, weight in (("exact", "identity"), ("direct", "bits=3"), ("differences", "'bits=3 delta=f32'")):
            _, state = self.step(f"min-elements=1 gradient=identity weight={weight}", steps=24)
            loss[name] = floats(state)
        def away(name):
            return sum((a - b) ** 2 for a, b in zip(loss[name], loss["exact"])) ** 0.5
        self.assertGreater(away("direct"), 0)
        self.assertLess(away("differences"), away("direct") / 4)

    def test_differences_of_a_resumed_run(self):
        self.make(4)
        for storage in ("f32", "bf16"):
            options = f"min-elements=1 weight='bits=4 delta={storage}' gradient=bits=8"
            _, expected = self.step(options)
            self.step(options, steps=3, save="half")
            again, state = self.step(options, "--resume", self.folder / "half.safetensors", state=None, steps=3)
            self.assertEqual(state, expected)
            self.assertAlmostEqual(again["totals"]["wire_bytes_per_step"], sum(self.report_of(options)["wire_bytes_by_rank"]),
                                   msg="nothing is a first visit")

    def test_differences_in_mapped_files(self):
        self.make(4)
        _, expected = self.step(DIFFERENCES)
        for transport in ("inproc", "shm"):
            _, state = self.step(DIFFERENCES, "--messages-in", self.folder, "--transport", transport)
            self.assertEqual(state, expected)
        self.step(DIFFERENCES, "--messages-in", self.folder, steps=3, save="half")
        _, state = self.step(DIFFERENCES, "--resume", self.folder / "half.safetensors", "--messages-in", self.folder, state=None, steps=3)
        self.assertEqual(state, expected)
        self.assertEqual([path.name for path in self.folder.iterdir() if "messages" in path.name], [])

    def test_messages_have_a_folder(self):
        self.make(2)
        subprocess.run([CGX_OPT, self.folder / "step.mlir", f"--cgx-compress={DIFFERENCES}", "-o", self.folder / "step.cgx.mlir"], check=True)
        for variable, arguments, expected in (({}, ["--messages-in", self.folder / "none"], "expected --messages-in to be a folder"),
                                              ({"CGX_MESSAGES_IN": "/proc"}, [], "messages: expected a file of ")):
            done = subprocess.run([CGX_RUN, self.folder / "step.cgx.mlir", "--job", self.job, "--transport", "inproc", "--data",
                                   self.folder / "data.safetensors", "--state", self.folder / "state.safetensors", "--steps", "1", "--quiet",
                                   *map(str, arguments)], capture_output=True, text=True, env=self.environment() | variable, check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(expected, done.stderr)

    def test_differences_are_of_no_samples(self):
        self.make(2)
        done = subprocess.run([CGX_OPT, self.folder / "step.mlir", "--cgx-compress=weight='bits=4 delta=f32 samples=3'"],
                              capture_output=True, text=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("expected delta of weights without samples", done.stderr)

    def test_a_plan_trades_weights_against_gradients(self):
        self.make(4)
        profile, plan = self.folder / "profile.json", self.folder / "plan.json"
        candidates = ["--candidate", "quantize bits=2..8 bucket=128", "--candidate",
                      "weight=quantize bits=4..8 bucket=1024 rounding=random_shift scale=f32"]
        subprocess.run([CGX_OPT, self.folder / "step.mlir", "--cgx-instrument=kinds=gradient,weight min-elements=1", "-o",
                        self.folder / "instrumented.mlir"], check=True)
        subprocess.run([CGX_RUN, self.folder / "instrumented.mlir", "--job", self.job, "--transport", "inproc", "--data",
                        self.folder / "data.safetensors", "--repeat", "--steps", "4", "--quiet", "--state",
                        self.folder / "state.safetensors", "--profile", profile, *candidates],
                       check=True, env=self.environment())
        measured = {layer["kind"]: layer for layer in json.loads(profile.read_text())["layers"]}
        self.assertEqual(sorted(measured), ["gradient", "weight"])
        self.assertEqual({one["codec"].get("rounding") for one in measured["weight"]["candidates"]}, {None, "random_shift"})
        self.assertEqual({one["codec"].get("rounding") for one in measured["gradient"]["candidates"]}, {None, "stochastic"})
        subprocess.run([os.environ["CGX_PLAN"], "solve", profile, "--quiet", "--reference",
                        "gradient=quantize bits=4 bucket=128", "--reference",
                        "weight=quantize bits=6 bucket=1024 rounding=random_shift scale=f32", "-o", plan], check=True)
        planned = {layer["kind"]: layer for layer in json.loads(plan.read_text())["layers"]}
        for kind, layer in planned.items():  # the measurements, unchanged by the problem
            (same,) = [one for one in measured[kind]["candidates"] if one["codec"] == layer["codec"]]
            self.assertAlmostEqual(layer["squared_error"] / same["squared_error"], 1)
        # Without kinds=, the kinds for which the plan has codecs are compressed.
        kinds = {row["kind"]: row["codec"] for row in self.report_of(f"plan={plan} min-elements=1")["layers"]}
        self.assertIn("quantize", kinds["weight"])
        self.assertIn("quantize", kinds["gradient"])

    def test_a_study_keeps_what_was_run(self):
        study = [EXAMPLES.parent / "tools/study/sharded", "--steps", "2", "--only", "baseline", "--only", "W8G8", "--out", self.folder,
                 "--tools", pathlib.Path(CGX_RUN).parent]
        tables = []
        for more in (["--seeds", "1"], ["--seeds", "2", "--add"]):
            subprocess.run([*study, *more], capture_output=True, text=True, check=True)
            tables.append((self.folder / "perplexity.csv").read_text().splitlines())
        self.assertEqual(tables[1][:3], tables[0])
        self.assertEqual([line.split(",")[:2] for line in tables[1][1:]], [["baseline", "0"], ["W8G8", "0"], ["baseline", "1"], ["W8G8", "1"]])
        self.assertRegex((self.folder / "perplexity.md").read_text(), r"\| W8G8 \| [\d.]+ ± [\d.]+ \|.*\| 2 \|")
        refused = subprocess.run([*study, "--add", "--steps", "3"], capture_output=True, text=True, check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("expected rows of known settings and 3 steps in perplexity.csv, got baseline, 2 steps", refused.stderr)


if __name__ == "__main__":
    unittest.main()
