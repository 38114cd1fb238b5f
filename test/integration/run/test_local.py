"""Tests cgx-run --local-steps: ranks train by themselves and synchronize after every so many steps."""

import json
import os
import pathlib
import struct
import subprocess
import unittest
from fractions import Fraction

from harness import CGX_RUN, RunTest, read_safetensors, tensor, write_safetensors

EXAMPLE = pathlib.Path(os.environ["CGX_EXAMPLES"]) / "mlp-digits"
WIDTH = 4

# The step is w' = w - m' / 2 with m' = m / 2 + mean(w - x), where each rank has its own x; numbers have few bits, so
# that nothing is rounded.
STEP = """
#g = #cgx.groups<[[%(group)s]]>
module attributes {cgx.mesh = #cgx.mesh<["data" = %(ranks)d]>, cgx.num_ranks = %(ranks)d : i64} {
  func.func public @main(
      %%m: tensor<4x%(type)s> {cgx.name = "state['m']['w']", cgx.sharding = #cgx.sharding<[[]]>, cgx.global_type = tensor<4x%(type)s>},
      %%w: tensor<4x%(type)s> {cgx.name = "state['params']['w']", cgx.sharding = #cgx.sharding<[[]]>, cgx.global_type = tensor<4x%(type)s>},
      %%x: tensor<1x4xf32> {cgx.name = "x", cgx.sharding = #cgx.sharding<[["data"], []]>, cgx.global_type = tensor<%(ranks)dx4xf32>})
      -> (tensor<4x%(type)s> {cgx.name = "result[0]['m']['w']", cgx.feeds = 0 : i64, cgx.sharding = #cgx.sharding<[[]]>, cgx.global_type = tensor<4x%(type)s>},
          tensor<4x%(type)s> {cgx.name = "result[0]['params']['w']", cgx.feeds = 1 : i64, cgx.sharding = #cgx.sharding<[[]]>, cgx.global_type = tensor<4x%(type)s>},
          tensor<f32> {cgx.name = "result[1]['loss']"}) {
    %%half = stablehlo.constant dense<0.5> : tensor<4x%(type)s>
    %%zero = stablehlo.constant dense<0.0> : tensor<f32>
    %%row = stablehlo.reshape %%x : (tensor<1x4xf32>) -> tensor<4xf32>
    %%sum = stablehlo.reduce(%%row init: %%zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %%loss = cgx.all_reduce mean(%%sum) {id = 1 : i64, groups = #g, codecs = [#cgx.identity], layers = [#cgx.layer<"loss", other>]} : tensor<f32>
    %%own = stablehlo.convert %%row : (tensor<4xf32>) -> tensor<4x%(type)s>
    %%d = stablehlo.subtract %%w, %%own : tensor<4x%(type)s>
    %%g = cgx.all_reduce mean(%%d) {id = 0 : i64, groups = #g, codecs = [#cgx.identity],
        layers = [#cgx.layer<"params/w", gradient, [4]>]} : tensor<4x%(type)s>
    %%m0 = stablehlo.multiply %%m, %%half : tensor<4x%(type)s>
    %%m1 = stablehlo.add %%m0, %%g : tensor<4x%(type)s>
    %%u = stablehlo.multiply %%m1, %%half : tensor<4x%(type)s>
    %%w1 = stablehlo.subtract %%w, %%u : tensor<4x%(type)s>
    return %%m1, %%w1, %%loss : tensor<4x%(type)s>, tensor<4x%(type)s>, tensor<f32>
  }
}
"""


# There are two islands of two ranks: w has a row on each rank of an island, b is whole on all. Both move half of the
# way to the mean of the ranks that train together. The step has sums, means, and groups across islands in another order
# than the mesh's.
ISLANDS = """
#within = #cgx.groups<[[0, 1], [2, 3]]>
#across = #cgx.groups<[[2, 0], [3, 1]]>
#all = #cgx.groups<[[0, 1, 2, 3]]>
module attributes {cgx.mesh = #cgx.mesh<["replica" = 2, "shard" = 2]>, cgx.num_ranks = 4 : i64} {
  func.func public @main(
      %b: tensor<4xf32> {cgx.name = "state['params']['b']", cgx.sharding = #cgx.sharding<[[]]>, cgx.global_type = tensor<4xf32>},
      %w: tensor<2xf32> {cgx.name = "state['params']['w']", cgx.sharding = #cgx.sharding<[["shard"]]>, cgx.global_type = tensor<4xf32>},
      %x: tensor<1x4xf32> {cgx.name = "x", cgx.sharding = #cgx.sharding<[["replica", "shard"], []]>, cgx.global_type = tensor<4x4xf32>})
      -> (tensor<4xf32> {cgx.name = "result[0]['params']['b']", cgx.feeds = 0 : i64, cgx.sharding = #cgx.sharding<[[]]>, cgx.global_type = tensor<4xf32>},
          tensor<2xf32> {cgx.name = "result[0]['params']['w']", cgx.feeds = 1 : i64, cgx.sharding = #cgx.sharding<[["shard"]]>, cgx.global_type = tensor<4xf32>},
          tensor<f32> {cgx.name = "result[1]['loss']"}) {
    %half = stablehlo.constant dense<0.5> : tensor<4xf32>
    %eighth = stablehlo.constant dense<0.125> : tensor<2xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %row = stablehlo.reshape %x : (tensor<1x4xf32>) -> tensor<4xf32>
    %sum = stablehlo.reduce(%row init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %whole = cgx.all_gather(%w) codec(identity) dim(0) groups(#within) id(0) layer("params/w", weight, [2]) : (tensor<2xf32>) -> tensor<4xf32>
    %wd = stablehlo.subtract %whole, %row : tensor<4xf32>
    %ws = cgx.reduce_scatter sum(%wd) codec(identity) dim(0) groups(#within) id(1) layer("params/w", gradient, [2]) : (tensor<4xf32>) -> tensor<2xf32>
    %wg = cgx.all_reduce sum(%ws) codec(identity) groups(#across) id(2) layer("params/w", gradient, [2]) : tensor<2xf32>
    %wu = stablehlo.multiply %wg, %eighth : tensor<2xf32>
    %w1 = stablehlo.subtract %w, %wu : tensor<2xf32>
    %bd = stablehlo.subtract %b, %row : tensor<4xf32>
    %bg, %loss = cgx.all_reduce mean(%bd, %sum) codec(identity, identity) groups(#all) id(3) layer("params/b", gradient, [4]) layer("loss", other) : tensor<4xf32>, tensor<f32>
    %bu = stablehlo.multiply %bg, %half : tensor<4xf32>
    %b1 = stablehlo.subtract %b, %bu : tensor<4xf32>
    return %b1, %w1, %loss : tensor<4xf32>, tensor<2xf32>, tensor<f32>
  }
}
"""


# The parameters have 4, 2 and 1 elements. Each moves half of the way to its own number, which is x's first element
# times its factor.
PARTS = {"a": (4, 1), "b": (2, 2), "c": (1, -1)}


def parts_step(ranks):
    name = "cgx.name = \"%s\", cgx.sharding = #cgx.sharding<[[]]>, cgx.global_type = tensor<%dxf32>"
    lines = []
    for number, (part, (width, factor)) in enumerate(PARTS.items()):
        lines.append(f"""
    %{part}f = stablehlo.constant dense<{factor}.0> : tensor<{width}xf32>
    %{part}x = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<f32>) -> tensor<{width}xf32>
    %{part}t = stablehlo.multiply %{part}x, %{part}f : tensor<{width}xf32>
    %{part}d = stablehlo.subtract %{part}, %{part}t : tensor<{width}xf32>
    %{part}g = cgx.all_reduce mean(%{part}d) {{id = {number} : i64, groups = #g, codecs = [#cgx.identity],
        layers = [#cgx.layer<"params/{part}", gradient, [{width}]>]}} : tensor<{width}xf32>
    %{part}h = stablehlo.constant dense<0.5> : tensor<{width}xf32>
    %{part}u = stablehlo.multiply %{part}g, %{part}h : tensor<{width}xf32>
    %{part}n = stablehlo.subtract %{part}, %{part}u : tensor<{width}xf32>""")
    arguments = ", ".join(f"%{part}: tensor<{width}xf32> {{" + name % (f"state['params']['{part}']", width) + "}"
                          for part, (width, _) in PARTS.items())
    results = ", ".join(f"tensor<{width}xf32> {{" + name % (f"result[0]['params']['{part}']", width) + f", cgx.feeds = {number} : i64}}"
                        for number, (part, (width, _)) in enumerate(PARTS.items()))
    types = ", ".join(f"tensor<{width}xf32>" for width, _ in PARTS.values())
    return f"""
#g = #cgx.groups<[{list(range(ranks))}]>
module attributes {{cgx.mesh = #cgx.mesh<["data" = {ranks}]>, cgx.num_ranks = {ranks} : i64}} {{
  func.func public @main({arguments}, %x: tensor<1x4xf32> {{cgx.name = "x", cgx.sharding = #cgx.sharding<[["data"], []]>,
      cgx.global_type = tensor<{ranks}x4xf32>}}) -> ({results}) {{
    %s = stablehlo.slice %x [0:1, 0:1] : (tensor<1x4xf32>) -> tensor<1x1xf32>
    %one = stablehlo.reshape %s : (tensor<1x1xf32>) -> tensor<f32>{"".join(lines)}
    return {", ".join(f"%{part}n" for part in PARTS)} : {types}
  }}
}}
"""


def model_of_parts(xs, ranks, steps, every, turns, overlaps=False):
    """Returns anchors and the ranks' own values, one element per part, as fractions. `turns` is the outer step of each
    part."""
    anchor, own = {part: Fraction(1) for part in PARTS}, {part: [Fraction(1)] * ranks for part in PARTS}
    for step in range(steps):
        for part, (_, factor) in PARTS.items():
            before = own[part]
            own[part] = [w - (w - factor * xs[step * ranks + rank][0]) / 2 for rank, w in enumerate(own[part])]
            if step % every + 1 == turns[part] and overlaps:
                anchor[part] = sum(before) / ranks
                own[part] = [anchor[part] + now - then for now, then in zip(own[part], before)]
            elif step % every + 1 == turns[part]:
                anchor[part] = sum(own[part]) / ranks
                own[part] = [anchor[part]] * ranks
    return anchor, own


def model(xs, ranks, steps, every, rule, rate, beta, overlaps=False):
    """Returns the anchor, the ranks' own parameters and momenta, and the outer momentum, as fractions."""
    anchor, outer = [Fraction(1)] * WIDTH, [Fraction(0)] * WIDTH
    own, momentum = [list(anchor) for _ in range(ranks)], [[Fraction(0)] * WIDTH for _ in range(ranks)]
    for step in range(steps):
        before = [list(each) for each in own]
        for rank in range(ranks):
            x = xs[step * ranks + rank]
            momentum[rank] = [m / 2 + (w - v) for m, w, v in zip(momentum[rank], own[rank], x)]
            own[rank] = [w - m / 2 for w, m in zip(own[rank], momentum[rank])]
        if (step + 1) % every == 0:
            sent = before if overlaps else own
            progress = [sum(a - sent[r][i] for r in range(ranks)) / ranks for i, a in enumerate(anchor)]
            outer = [beta * m + d for m, d in zip(outer, progress)]
            ahead = {"sgd": progress, "momentum": outer,
                     "nesterov": [beta * m + d for m, d in zip(outer, progress)]}[rule]
            anchor = [a - rate * u for a, u in zip(anchor, ahead)]
            own = [[a + (now - then if overlaps else 0) for a, now, then in zip(anchor, *each)] for each in zip(own, before)]
    return anchor, own, momentum, outer


class OfMembers:
    """A model of Nesterov with lr and momentum 1/2 and ranks that come and go: the state of the model above, advanced
    step by step."""

    def __init__(self, ranks):
        self.anchor, self.outer = [Fraction(1)] * WIDTH, [Fraction(0)] * WIDTH
        self.own, self.momentum = [list(self.anchor) for _ in range(ranks)], [[Fraction(0)] * WIDTH for _ in range(ranks)]

    def advance(self, batches, every):
        half = Fraction(1, 2)
        for number, batch in enumerate(batches):
            self.momentum = [[m / 2 + (w - v) for m, w, v in zip(*each)] for each in zip(self.momentum, self.own, batch)]
            self.own = [[w - m / 2 for w, m in zip(*each)] for each in zip(self.own, self.momentum)]
            if (number + 1) % every == 0:
                progress = [sum(a - own[i] for own in self.own) / len(self.own) for i, a in enumerate(self.anchor)]
                self.outer = [half * m + d for m, d in zip(self.outer, progress)]
                self.anchor = [a - half * (half * m + d) for a, m, d in zip(self.anchor, self.outer, progress)]
                self.own = [list(self.anchor) for _ in self.own]

    def regroup(self, members):
        self.own, self.momentum = ([list(each[member]) for member in members] for each in (self.own, self.momentum))


class LocalSteps(RunTest):
    def make(self, ranks, steps=6, kind="f32"):
        self.program = self.folder / f"step{ranks}{kind}.mlir"
        self.program.write_text(STEP % {"ranks": ranks, "type": kind, "group": ", ".join(map(str, range(ranks)))})
        self.xs = [[Fraction((3 * row + 5 * i) % 8 - 3) for i in range(WIDTH)] for row in range(steps * ranks)]
        self.batches = self.folder / "x.safetensors"
        write_safetensors(self.batches, {"x": tensor("F32", [len(self.xs), WIDTH], map(float, sum(self.xs, [])))})
        self.first = self.folder / "first.safetensors"
        write_safetensors(self.first, {"state['m']['w']": tensor("F32", [WIDTH], [0.0] * WIDTH),
                                       "state['params']['w']": tensor("F32", [WIDTH], [1.0] * WIDTH)})

    def run_local(self, ranks, steps, *arguments, state=None, code=0, name="saved"):
        save, report = self.folder / f"{name}.safetensors", self.folder / f"{name}.json"
        begin = ("--resume", state) if state else ("--state", self.first)
        result = subprocess.run(
            [CGX_RUN, *map(str, (self.program, "--ranks", ranks, *(() if "--transport" in arguments else ("--transport", "inproc")), *begin, "--data", self.batches, "--steps",
                                 steps, "--save", save, "--report", report, *arguments))],
            capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, code, result.stderr)
        if code:
            return result.stderr
        return {key: [Fraction(v) for v in self.floats(value)] for key, value in read_safetensors(save)[0].items()}

    @staticmethod
    def floats(value):
        dtype, _, data = value
        return struct.unpack(f"<{len(data) // 4}{'i' if dtype == 'I32' else 'f'}", data)

    def expect(self, saved, ranks, steps, every, rule, rate, beta, **how):
        anchor, own, momentum, outer = model(self.xs, ranks, steps, every, rule, rate, beta, **how)
        self.assertEqual(saved["state['params']['w']"], anchor)
        self.assertEqual(saved["local['state']['params']['w']"], sum(own, []))
        self.assertEqual(saved["local['state']['m']['w']"], sum(momentum, []))
        if rule != "sgd":
            self.assertEqual(saved["outer_momentum['state']['params']['w']"], outer)
        if every != 1:
            self.assertEqual(saved["local_steps"], [steps % every])

    def test_training_is_that_of_the_model(self):
        for ranks in (1, 2, 4):
            self.make(ranks)
            for every, rule, rate, beta in ((2, "nesterov", 0.5, 0.5), (3, "momentum", 0.25, 0.5), (4, "sgd", 1, 0), (1, "sgd", 1, 0), (2, None, 1, 0)):
                options = f"every={every}" + (f" outer={rule}<lr={rate}{'' if rule == 'sgd' else f' momentum={beta}'}>" if rule else "")
                rule = rule or "sgd"
                with self.subTest(ranks=ranks, options=options):
                    saved = self.run_local(ranks, 5, "--local-steps", options)
                    self.expect(saved, ranks, 5, every, rule, Fraction(rate), Fraction(beta))

    def make_islands(self, steps=6):
        self.make(4, steps)
        self.program.write_text(ISLANDS)
        write_safetensors(self.first, {f"state['params']['{name}']": tensor("F32", [WIDTH], [1.0] * WIDTH) for name in "bw"})

    def expect_islands(self, saved, steps, every, turns=None, overlaps=False):
        """Checks b and w, which differ only in their turns: the outer step of each, by default the last step of
        `every`."""
        for name in "bw":
            turn = turns[name] if turns else every
            anchor, own = [Fraction(1)] * WIDTH, [[Fraction(1)] * WIDTH for _ in range(2)]
            for step in range(steps):
                before = [list(each) for each in own]
                for island in range(2):
                    rows = self.xs[4 * step + 2 * island:4 * step + 2 * island + 2]
                    own[island] = [w - (w - sum(x) / 2) / 2 for w, *x in zip(own[island], *rows)]
                if step % every + 1 == turn:
                    anchor = [sum(w) / 2 for w in zip(*(before if overlaps else own))]
                    own = [[a + (now - then if overlaps else 0) for a, now, then in zip(anchor, *each)] for each in zip(own, before)]
            self.assertEqual(saved[f"state['params']['{name}']"], anchor, name)
            self.assertEqual(saved[f"local['state']['params']['{name}']"], sum(own, []), name)

    def test_ranks_of_an_island_train_together(self):
        self.make_islands()
        for every, steps in ((1, 3), (2, 5), (3, 3)):
            with self.subTest(every=every):
                self.expect_islands(self.run_local(4, steps, "--local-steps", f"every={every} axes=replica"), steps, every)
        layers = json.loads((self.folder / "saved.json").read_text())["layers"]
        self.assertEqual(sorted((layer["layer"], layer["kind"]) for layer in layers),
                         [("loss", "other"), ("params/b", "gradient"), ("params/b", "outer_gradient"), ("params/w", "gradient"),
                          ("params/w", "outer_gradient"), ("params/w", "weight")])
        error = self.run_local(4, 3, "--local-steps", "every=2 axes=replica", "--elastic", 2, "--transport", "shm", code=1)
        self.assertIn("expected --elastic with a mesh of one axis, got 2 in", error)

    def test_outer_steps_between_islands_overlap(self):
        # Gathers and scatters inside an island wait for exchanges between islands, in one process and in several.
        self.make_islands()
        for every, fragments, steps in ((2, 1, 5), (3, 1, 3), (3, 2, 5), (4, 2, 6)):
            for transport in ("inproc", "shm"):
                with self.subTest(every=every, fragments=fragments, transport=transport):
                    saved = self.run_local(4, steps, "--local-steps", f"every={every} fragments={fragments} axes=replica overlap",
                                           "--transport", transport)
                    turns = {"b": every // fragments, "w": every}
                    self.expect_islands(saved, steps, every, turns, overlaps=True)

    def test_a_run_goes_on_from_each_of_its_checkpoints(self):
        # The run is resumed between two outer steps, and right after one.
        for options, overlaps in (("every=3 axes=replica", False), ("every=3 axes=replica overlap", True),
                                  ("every=3 fragments=2 axes=replica overlap", True)):
            self.make_islands()
            turns = {"b": 1, "w": 3} if "fragments" in options else None
            folder = self.folder / options.replace(" ", "-").replace("=", "")
            run = [CGX_RUN, *map(str, (self.program, "--transport", "inproc", "--quiet", "--data", self.batches, "--local-steps", options))]
            subprocess.run([*run, "--state", self.first, "--steps", "5", "--save", f"{folder}/", "--save-every", "1"], check=True)
            checkpoints = sorted(folder.iterdir())
            self.assertEqual(len(checkpoints), 5)
            for steps, checkpoint in enumerate(checkpoints, 1):
                with self.subTest(options=options, steps=steps):
                    saved = {key: [Fraction(v) for v in self.floats(value)] for key, value in read_safetensors(checkpoint)[0].items()}
                    self.expect_islands(saved, steps, 3, turns, overlaps=overlaps)
                    resumed = self.run_local(4, 6 - steps, "--local-steps", options, state=checkpoint, name="resumed")
                    self.expect_islands(resumed, 6, 3, turns, overlaps=overlaps)
        # This repeats the test with ranks that each train alone, with state of the inner and outer optimizers.
        options = "every=2 overlap outer=nesterov<lr=0.5 momentum=0.5>"
        self.make(2)
        folder = self.folder / "alone"
        subprocess.run([CGX_RUN, *map(str, (self.program, "--transport", "inproc", "--quiet", "--data", self.batches, "--local-steps", options,
                                            "--state", self.first, "--steps", 4, "--save", f"{folder}/", "--save-every", 1))], check=True)
        for steps, checkpoint in enumerate(sorted(folder.iterdir()), 1):
            resumed = self.run_local(2, 5 - steps, "--local-steps", options, state=checkpoint, name="resumed")
            self.expect(resumed, 2, 5, 2, "nesterov", Fraction(1, 2), Fraction(1, 2), overlaps=True)

    def run_parts(self, ranks, steps, options, *arguments, **named):
        self.make(ranks, steps=9)
        self.program.write_text(parts_step(ranks))
        write_safetensors(self.first, {f"state['params']['{part}']": tensor("F32", [width], [1.0] * width)
                                       for part, (width, _) in PARTS.items()})
        return self.run_local(ranks, steps, "--local-steps", options, *arguments, **named)

    def expect_parts(self, saved, ranks, steps, every, turns, **how):
        anchor, own = model_of_parts(self.xs, ranks, steps, every, dict(zip(PARTS, turns)), **how)
        for part, (width, _) in PARTS.items():
            self.assertEqual(saved[f"state['params']['{part}']"], [anchor[part]] * width, part)
            self.assertEqual(saved[f"local['state']['params']['{part}']"], [w for w in own[part] for _ in range(width)], part)
        self.assertEqual(saved["local_steps"], [steps % every])

    def test_fragments_take_turns(self):
        # The largest parameter is a fragment of its own. With two fragments, b and c are the other one.
        for ranks in (1, 2, 4):
            for every, fragments, turns in ((4, 1, (4, 4, 4)), (4, 2, (2, 4, 4)), (3, 3, (1, 2, 3)), (5, 3, (1, 3, 5))):
                with self.subTest(ranks=ranks, every=every, fragments=fragments):
                    options = f"every={every} fragments={fragments}"
                    saved = self.run_parts(ranks, 9, options)
                    self.expect_parts(saved, ranks, 9, every, turns)
                    layers = json.loads((self.folder / "saved.json").read_text())["layers"]
                    self.assertEqual([layer["kind"] for layer in layers], ["outer_gradient"] * 3 if ranks > 1 else [])

    def test_fragments_go_on_where_they_were_saved(self):
        options = "every=4 fragments=3"
        self.run_parts(2, 5, options)
        saved = self.run_parts(2, 4, options, state=self.folder / "saved.safetensors", name="resumed")
        self.expect_parts(saved, 2, 9, 4, (1, 2, 4))

    def test_outer_steps_overlap(self):
        # The work of the ranks meanwhile is kept, also after an outer step of fragments.
        for ranks in (1, 2, 4):
            self.make(ranks)
            for every, rule, rate, beta in ((2, "nesterov", 0.5, 0.5), (3, "sgd", 1, 0)):
                with self.subTest(ranks=ranks, rule=rule):
                    options = f"every={every} overlap outer={rule}<lr={rate}{'' if rule == 'sgd' else f' momentum={beta}'}>"
                    saved = self.run_local(ranks, 5, "--local-steps", options)
                    self.expect(saved, ranks, 5, every, rule, Fraction(rate), Fraction(beta), overlaps=True)
            for every, fragments, turns in ((4, 1, (4, 4, 4)), (3, 3, (1, 2, 3)), (5, 3, (1, 3, 5))):
                with self.subTest(ranks=ranks, every=every, fragments=fragments):
                    saved = self.run_parts(ranks, 9, f"every={every} fragments={fragments} overlap")
                    self.expect_parts(saved, ranks, 9, every, turns, overlaps=True)

    def test_overlap_goes_on_where_it_was_saved(self):
        for ranks in (2, 4):
            options = ("--local-steps", "every=2 overlap outer=nesterov<lr=0.5 momentum=0.5>")
            self.make(ranks)
            self.run_local(ranks, 2, *options)
            saved = self.run_local(ranks, 3, *options, state=self.folder / "saved.safetensors", name="resumed")
            self.expect(saved, ranks, 5, 2, "nesterov", Fraction(1, 2), Fraction(1, 2), overlaps=True)
            options = "every=4 fragments=3 overlap"
            self.run_parts(ranks, 5, options)
            saved = self.run_parts(ranks, 4, options, state=self.folder / "saved.safetensors", name="resumed")
            self.expect_parts(saved, ranks, 9, 4, (1, 2, 4), overlaps=True)

    def run_example(self, *arguments, name="example", steps=8, transport="inproc"):
        report = self.folder / f"{name}.json"
        subprocess.run([CGX_RUN, *map(str, (EXAMPLE / "step.mlir", "--ranks", 4, "--transport", transport, "--quiet", "--state", EXAMPLE / "state.safetensors",
                                            "--data", EXAMPLE / "train.safetensors", "--steps", steps, "--report", report, *arguments))],
                       capture_output=True, text=True, check=True)
        return json.loads(report.read_text())

    def test_overlap_sends_the_bytes_of_the_report(self):
        # Ranks agree on the anchor, which cgx-run compares. The codec's residual changes only where something is sent;
        # before the first exchange it is zero.
        compress = "bits=2 error-feedback=f32"
        for fragments in (1, 3):
            steps = f"every=4 fragments={fragments} overlap"
            shown = subprocess.run([os.environ["CGX_OPT"], EXAMPLE / "step.mlir", f"--cgx-local-steps={steps}", f"--cgx-compress={compress}",
                                    "--cgx-report=format=json", "-o", os.devnull], capture_output=True, text=True, check=True)
            saved = self.folder / "trained.safetensors"
            told = {transport: self.run_example("--local-steps", steps, "--compress", compress, "--save", saved, transport=transport)
                    for transport in ("inproc", "shm")}
            self.assertEqual(told["inproc"]["state_hash"], told["shm"]["state_hash"])
            wanted = json.loads(shown.stderr)
            for layer in told["shm"]["layers"]:
                same = [each for each in wanted["layers"] if each["layer"] == layer["layer"] and each["kind"] == layer["kind"]]
                self.assertEqual(len(same), 1)
                for sent, static in zip(layer["wire_bytes_per_step"], same[0]["wire_bytes_by_rank"]):
                    self.assertAlmostEqual(sent, static, delta=1)
            values = read_safetensors(saved)[0]
            self.assertTrue(any(any(value[2]) for key, value in values.items() if key.startswith("cgx.codec_state/")))
        self.run_example("--local-steps", "every=4 overlap", "--compress", compress, "--save", saved, steps=3)
        self.assertFalse(any(any(value[2]) for key, value in read_safetensors(saved)[0].items() if key.startswith("cgx.codec_state/")))

    def test_overlap_exchanges_while_the_step_computes(self):
        trace = self.folder / "trace.json"
        self.run_example("--local-steps", "every=2 overlap", "--trace", trace, steps=20, transport="shm")
        events = [event for event in json.loads(trace.read_text())["traceEvents"] if event["ph"] == "X"]
        for rank in range(4):
            mine = [event for event in events if event["pid"] == rank]

            def outer(kind):
                return [event for event in mine if event["cat"] == kind and
                        any(layer.startswith("params/") for layer in event.get("args", {}).get("layers", []))]
            # The progress thread runs the exchange when it gets a core. The step asks for the result after its
            # computation; load does not change that order.
            self.assertEqual([exchange["tid"] for exchange in outer("exchange")], [1] * 10)
            self.assertEqual(len(outer("wait")), 10)
            steps = [event for event in mine if event["cat"] == "step"]
            computing = [event for event in mine if event["cat"] == "compute"]
            for wait in outer("wait"):
                step, = (step for step in steps if step["ts"] <= wait["ts"] <= step["ts"] + step["dur"])
                before = [span for span in computing if step["ts"] <= span["ts"] and span["ts"] + span["dur"] <= wait["ts"]]
                exchange, = (span for span in outer("exchange") if step["ts"] <= span["ts"] <= step["ts"] + step["dur"])
                self.assertGreater(sum(span["dur"] for span in before), 0)
                self.assertLessEqual(exchange["ts"] + exchange["dur"], wait["ts"] + wait["dur"])

    def test_fragments_of_the_example_send_no_more_at_once(self):
        def shown(options, compress):
            step = subprocess.run([os.environ["CGX_OPT"], EXAMPLE / "step.mlir", f"--cgx-local-steps={options}", f"--cgx-compress={compress}",
                                   "--cgx-report=format=json", "-o", os.devnull], capture_output=True, text=True, check=True)
            return json.loads(step.stderr)
        for compress in ("bits=4", "bits=2 error-feedback=f32"):
            whole, parts = shown("every=10", compress), shown("every=10 fragments=2", compress)
            self.assertAlmostEqual(sum(whole["wire_bytes_by_rank"]), sum(parts["wire_bytes_by_rank"]), delta=4)
            most = [sum(report["most_wire_bytes_in_a_step_by_rank"]) for report in (whole, parts)]
            self.assertLess(most[1], 0.75 * most[0])
            self.assertEqual({layer["turn"] for layer in parts["layers"] if "every" in layer}, {5, 10})

    def test_a_run_goes_on_where_it_was_saved(self):
        self.make(2)
        options = ("--local-steps", "every=2 outer=nesterov<lr=0.5 momentum=0.5>")
        self.run_local(2, 3, *options)
        saved = self.run_local(2, 3, *options, state=self.folder / "saved.safetensors", name="resumed")
        self.expect(saved, 2, 6, 2, "nesterov", Fraction(1, 2), Fraction(1, 2))

    def program_for(self, ranks):
        self.program = self.folder / f"step{ranks}f32.mlir"
        self.program.write_text(STEP % {"ranks": ranks, "type": "f32", "group": ", ".join(map(str, range(ranks)))})

    def batches_of(self, ranks, first, count):
        return [self.xs[number * ranks:(number + 1) * ranks] for number in range(first, first + count)]

    def test_other_ranks_go_on_at_a_boundary(self):
        # The run continues with samples that were not taken: 4 steps of 4 ranks took 6 batches of 3, the last of them
        # partly.
        options = ("--local-steps", "every=2 outer=nesterov<lr=0.5 momentum=0.5>")
        self.make(4, steps=12)
        self.run_local(4, 4, *options, name="before")
        for members, typed, first in (((0, 1, 2), None, 6), ((0, 2, 3), "0,2,3", 6), ((3,), "3", 16), ((0, 1, 2, 3, 0, 0), None, 3), ((0, 3, 2, 3), "0,3,2,3", 4)):
            with self.subTest(members=members):
                ranks = len(members)
                self.program_for(ranks)
                given = ("--members", typed) if typed else ()
                saved = self.run_local(ranks, 2, *options, *given, state=self.folder / "before.safetensors", name="after")
                wanted = OfMembers(4)
                wanted.advance(self.batches_of(4, 0, 4), 2)
                wanted.regroup(members)
                wanted.advance(self.batches_of(ranks, first, 2), 2)
                self.expect_near(saved["state['params']['w']"], wanted.anchor)
                self.expect_near(saved["local['state']['params']['w']"], sum(wanted.own, []))
                self.expect_near(saved["local['state']['m']['w']"], sum(wanted.momentum, []))
                self.expect_near(saved["outer_momentum['state']['params']['w']"], wanted.outer)

    def expect_near(self, got, wanted):
        self.assertEqual(len(got), len(wanted))
        for a, b in zip(got, wanted):
            self.assertAlmostEqual(float(a), float(b), places=5)

    def test_a_run_of_other_ranks_goes_on_where_it_was_saved(self):
        options = ("--local-steps", "every=2 outer=nesterov<lr=0.5 momentum=0.5>")
        self.make(4, steps=12)
        self.run_local(4, 4, *options, name="before")
        self.program_for(3)
        at_once = self.run_local(3, 4, *options, state=self.folder / "before.safetensors", name="once")
        self.run_local(3, 3, *options, state=self.folder / "before.safetensors", name="half")
        twice = self.run_local(3, 1, *options, state=self.folder / "half.safetensors", name="twice")
        self.assertEqual(at_once, twice)

    def test_memory_of_codecs_goes_on_with_the_ranks_that_stay(self):
        options = ("--local-steps", "every=2", "--compress", "bits=2 error-feedback=f32 min-elements=1 min-rank=1")
        self.make(4, steps=12)
        self.run_local(4, 4, *options, name="before")
        self.program_for(3)
        result = subprocess.run([CGX_RUN, *map(str, (self.program, "--transport", "inproc", "--resume", self.folder / "before.safetensors", "--members",
                                                     "0,2,3", "--data", self.batches, "--steps", 0, "--save", self.folder / "after.safetensors", *options))],
                                capture_output=True, text=True, check=True)
        self.assertIn("3 ranks go on behind an outer step of 4, with the state of ranks 0, 2, 3; state of the inner optimizer and memory of codecs of "
                      "rank 1 are dropped", result.stderr)
        memory = {}
        for name in ("before", "after"):
            for key, value in read_safetensors(self.folder / f"{name}.safetensors")[0].items():
                if key.startswith("cgx.codec_state/") and "contribution" in key:
                    memory[name, key.split("/")[1]] = value[2]
        self.assertTrue(any(memory["before", "rank1"]))
        for now, before in enumerate((0, 2, 3)):
            self.assertEqual(memory["after", f"rank{now}"], memory["before", f"rank{before}"])

    def test_other_ranks_are_refused_elsewhere(self):
        options = ("--local-steps", "every=2")
        self.make(4, steps=12)
        self.run_local(4, 3, *options, name="between")
        self.run_local(4, 4, *options, name="before")
        self.program_for(3)
        error = self.run_local(3, 1, *options, state=self.folder / "between.safetensors", code=1)
        self.assertIn("was saved by 4 ranks that train by themselves, between two outer steps, 1 steps behind the last one", error)
        for members, text in (("0,1", "for each of 3 ranks, got 2"), ("0,1,4", "ranks of the checkpoint, 0 to 3, got 4"), ("0,x,1", "got '0,x,1'")):
            error = self.run_local(3, 1, *options, "--members", members, state=self.folder / "before.safetensors", code=1)
            self.assertIn(text, error)
        self.run_parts(2, 4, "every=4 fragments=2", name="parts")
        self.program.write_text(parts_step(1))
        error = self.run_local(1, 1, "--local-steps", "every=4 fragments=2", state=self.folder / "parts.safetensors", code=1)
        self.assertIn("which fragments that take turns, and outer steps that overlap, never do", error)
        self.run_parts(2, 4, "every=4 overlap", name="parts")
        self.program.write_text(parts_step(1))
        error = self.run_local(1, 1, "--local-steps", "every=4 overlap", state=self.folder / "parts.safetensors", code=1)
        self.assertIn("and outer steps that overlap, never do", error)

    def test_set_ranks_before_and_behind_local_steps(self):
        self.make(4, steps=12)
        steps, to = "--cgx-local-steps=every=2 outer=nesterov<lr=0.5 momentum=0.5>", "--cgx-set-ranks={}"
        exported, saved = self.program, {}
        for ranks in (2, 3, 8):
            for order in ((to.format(ranks), steps), (steps, to.format(ranks))):
                self.program = self.folder / "other.mlir"
                subprocess.run([os.environ["CGX_OPT"], exported, *order, "-o", self.program], capture_output=True, text=True, check=True)
                saved[order[0] == steps] = self.run_local(ranks, 4)
            self.assertEqual(saved[True], saved[False])
            wanted = OfMembers(ranks)
            wanted.advance(self.batches_of(ranks, 0, 4), 2)
            self.expect_near(saved[True]["local['state']['m']['w']"], sum(wanted.momentum, []))
            self.expect_near(saved[True]["state['params']['w']"], wanted.anchor)

    def test_set_ranks_of_the_example_in_both_orders(self):
        steps, to = "--cgx-local-steps=every=5", "--cgx-set-ranks=2"
        hashes = set()
        for order in ((steps, to), (to, steps)):
            program, report = self.folder / "two.mlir", self.folder / "two.json"
            subprocess.run([os.environ["CGX_OPT"], EXAMPLE / "step.mlir", *order, "-o", program], capture_output=True, text=True, check=True)
            subprocess.run([CGX_RUN, *map(str, (program, "--quiet", "--transport", "inproc", "--state", EXAMPLE / "state.safetensors", "--data",
                                                EXAMPLE / "train.safetensors", "--steps", 12, "--report", report))], capture_output=True, text=True, check=True)
            hashes.add(json.loads(report.read_text())["state_hash"])
        self.assertEqual(len(hashes), 1)

    def test_ranks_agree_after_a_compressed_outer_step(self):
        self.make(4, steps=8)
        for codec in ("bits=4", "bits=2 error-feedback=f32", "codec=topk density=0.5 error-feedback=f32"):
            saved = self.run_local(4, 8, "--local-steps", "every=4", "--compress", f"{codec} min-elements=1 min-rank=1")
            anchor = saved["state['params']['w']"]
            self.assertEqual(saved["local['state']['params']['w']"], 4 * anchor, codec)
            self.assertNotEqual(anchor, [1] * WIDTH)

    def test_bytes_are_those_of_outer_steps(self):
        self.make(2)
        for every in (1, 2, 3):
            self.run_local(2, 6, "--local-steps", f"every={every}")
            layers = json.loads((self.folder / "saved.json").read_text())["layers"]
            outer = [layer for layer in layers if layer["kind"] == "outer_gradient"]
            self.assertEqual([layer["layer"] for layer in outer], ["params/w"])
            self.assertEqual(outer[0]["raw_bytes_per_step"], [16 // every] * 2)
            self.assertNotIn("gradient", [layer["kind"] for layer in layers])

    def test_the_report_shows_the_mean(self):
        self.make(2)
        result = subprocess.run([CGX_RUN, self.program, "--ranks", "2", "--state", self.first, "--data", self.batches, "--steps", "2",
                                 "--local-steps", "every=2"], capture_output=True, text=True, check=True)
        self.assertRegex(result.stderr, r"params/w +outer_gradient +4xf32 /2 +8 +8 ")

    def test_what_makes_no_sense_is_refused(self):
        self.make(2)
        for options, text in (("every=0", "expected every"), ("evry=2", "evry"), ("outer=nestrov", "did you mean 'nesterov'"),
                              ("outer=sgd<momentum=0.5>", "no momentum"), ("every=2 fragments=3", "fragments to be a number from 1 to every=2"),
                              ("every=1 overlap", "expected every to be 2 or more with overlap, got 1"),
                              ("every=2 fragments=0", "fragments to be a number from 1"),
                              ("every=2 fragments=2", "expected fragments to be at most 1, the parameters")):
            error = self.run_local(2, 1, "--local-steps", options, code=1)
            self.assertIn(text, error)
            self.assertIn(f'--local-steps "{options}"', error)
        error = self.run_local(2, 1, "--local-steps", "every=2", state=self.first, code=1)
        self.assertIn("cgx.", error)

    def test_an_exported_step_trains_and_is_evaluated_by_its_anchor(self):
        save, report = self.folder / "trained.safetensors", self.folder / "trained.json"
        subprocess.run([CGX_RUN, *map(str, (EXAMPLE / "step.mlir", "--ranks", 4, "--quiet", "--state", EXAMPLE / "state.safetensors", "--data",
                                            EXAMPLE / "train.safetensors", "--steps", 110, "--repeat", "--save", save, "--report", report,
                                            "--local-steps", "every=10", "--compress", "bits=4", "--eval", EXAMPLE / "eval.mlir", "--eval-data",
                                            EXAMPLE / "validation.safetensors"))], capture_output=True, text=True, check=True)
        told = json.loads(report.read_text())
        self.assertGreater(told["evaluations"][-1]["metrics"]["accuracy"], 0.9)
        self.assertLess(told["totals"]["wire_bytes_per_step"], 0.02 * 4 * 305000)
        evaluated = subprocess.run([CGX_RUN, *map(str, (EXAMPLE / "eval.mlir", "--ranks", 4, "--quiet", "--state", save, "--data",
                                                        EXAMPLE / "validation.safetensors", "--report", report))], capture_output=True, text=True, check=False)
        self.assertEqual(evaluated.returncode, 0, evaluated.stderr)

    def test_the_study_writes_its_page(self):
        study = EXAMPLE.parents[1] / "tools/study/local"
        subprocess.run([study, "--short", "--tools", pathlib.Path(CGX_RUN).parent, "--page", self.folder], capture_output=True, text=True,
                       check=True)
        page = (self.folder / "README.md").read_text()
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("| 1")]
        self.assertEqual(len(rows), 11)
        sent = {(row[0], row[1], row[2]): float(row[3]) for row in rows}
        self.assertAlmostEqual(sent["1", "", "32"] / sent["10", "sgd", "32"], 10, delta=0.1)
        self.assertLess(sent["10", "nesterov", "4"], sent["10", "nesterov", "32"] / 7)
        self.assertEqual(sent["10", "sgd, 3 fragments", "2"], sent["10", "sgd", "2"])
        self.assertLess(sent["10", "sgd", "top 2 %"], sent["10", "sgd", "2"] / 2)
        self.assertIn("</svg>", (self.folder / "mlp-digits.svg").read_text())


if __name__ == "__main__":
    unittest.main()
