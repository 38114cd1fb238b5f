"""For a table of layers the runtime decides like the compiler for a program with equal collectives."""

import os
import pathlib
import random
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(os.environ["CGX_SOURCE"]) / "tools" / "python"))
from cgx_core import compiler, layers, libraries

ROUNDS = 400


def quoted(name):
    return '"' + "".join(chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\' else f"\\{byte:02X}" for byte in name.encode()) + '"'


def program_of(ranks, collectives):
    """Returns a step that only communicates."""
    lines, arguments, results, types = [], [], [], []
    everyone = f"#cgx.groups<[[{', '.join(map(str, range(ranks)))}]]>"
    for each in collectives:
        kind, operands = each["kind"], each["operands"]
        taken, given = [], []
        for operand in operands:
            shape = list(operand["shape"])
            taken.append(tensor(shape, operand["dtype"]))
            if kind == "all_gather":
                shape[0] *= ranks
            elif kind == "reduce_scatter":
                shape[0] //= ranks
            given.append(tensor(shape, operand["dtype"]))
        names = [f"%arg{len(arguments) + index}" for index in range(len(operands))]
        described = ", ".join(f"#cgx.layer<{quoted(one['layer'])}, {one['kind']}"
                              + (f", {one['layer_shape']}>" if "layer_shape" in one else ">") for one in operands)
        attributes = (f"{{origins = array<i64: {', '.join(str(number) for one in operands for number in one['origin'])}>, "
                      f"id = {each['id']} : i64, groups = {everyone}, codecs = [{', '.join(['#cgx.identity'] * len(operands))}], "
                      f"layers = [{described}]" + (f", dim = {each['dim']} : i64}}" if "dim" in each else "}"))
        signature = f"({', '.join(taken)}) -> ({', '.join(given)})" if "dim" in each else ", ".join(taken)
        result = f"%{each['id']}"
        lines.append(f"{result if len(operands) == 1 else f'{result}:{len(operands)}'} = cgx.{kind} {each.get('reduction', '')}"
                     f"({', '.join(names)}) {attributes} : {signature}")
        arguments += [f"{name}: {type_}" for name, type_ in zip(names, taken)]
        results += [result] if len(operands) == 1 else [f"{result}#{index}" for index in range(len(operands))]
        types += given
    return "\n".join([f"module attributes {{cgx.num_ranks = {ranks} : i64}} {{",
                      f"func.func public @main({', '.join(arguments)}) -> ({', '.join(types)}) {{", *lines,
                      f"return {', '.join(results)} : {', '.join(types)} }} }}"])


def tensor(shape, dtype):
    return f"tensor<{'x'.join([*map(str, shape), dtype])}>"


def random_collective(chance, number, ranks):
    kind = chance.choice(["all_reduce"] * 3 + ["all_gather", "reduce_scatter"]) if ranks > 1 else "all_reduce"
    operands = []
    for position in range(chance.randint(1, 3)):
        if kind == "all_reduce":
            shape = [chance.choice([1, 2, 3, 8, 16, 33, 64, 100]) for _ in range(chance.randint(0, 3))]
        else:
            shape = [chance.choice([1, 5, 64, 512, 4000]) * (ranks if kind == "reduce_scatter" else 1)]
        own = [chance.choice([1, 2, 8, 64, 100]) for _ in range(chance.randint(0, 3))] if chance.random() < .5 else None
        name = chance.choice(["fc", "a/b", "embed", "x.weight", "é", 'q"q', "\\", "\t"])
        operands.append(layers.operand(f"{name}{number}{position}", chance.choice(["gradient"] * 5 + ["weight", "weight", "other"]),
                                       chance.choice(["f32"] * 5 + ["bf16", "f16", "f64"]), shape,
                                       (chance.randint(0, 9), chance.randint(0, 9)), own))
    more = {} if kind == "all_reduce" else {"dim": 0}
    if kind != "all_gather":
        more["reduction"] = chance.choice(["sum", "mean", "mean", "max"] if kind == "all_reduce" else ["sum", "mean"])
    return layers.collective(number, kind, operands, **more)


# Each option, with the probability that it is given, and its values.
OPTIONS = {
    "bits": (.4, [1, 2, 3, 4, 8, 9, 0, "x", "4.5"]), "bucket": (.15, [32, 128, 1000, 0, -3]),
    "codec": (.3, ["quantize", "topk", "natural", "lowrank", "cast", "mxfp4", "sign", "ternary", "identity", "lossless", "foo", "gcomp",
                   "quantize<bits=3>", "topk<density=0.1>", "randk", "threshold", "quantise", "fp8_e4m3", "topk<bits=4 density=0.5>",
                   "quantize<bits=$>", "quantize<bits=4>x", "quantize<bits", "adaptive_threshold"]),
    "density": (.15, [0.5, 0.01, "1e-3", 2, "x"]), "rounding": (.1, ["nearest", "random_shift", "foo", 5]),
    "rotate": (.1, ["hadamard", "none", "x"]), "checksum": (.1, [True]), "optimizer": (.05, ["adam"]), "scale": (.05, ["f32"]),
    "error_feedback": (.2, ["f32", "bf16", "int8", "none", "f64"]), "error_feedback_decay": (.1, [0.5, 2, 1, "x"]),
    "back_codec": (.1, ["natural", "topk", "identity", "lowrank", "quantize<bits=8>"]),
    "exclude": (.3, ["*fc*", ["emb*", "*x.*"], "zzz", "[a", "{a,b}*", "?c1", "[!a]*", "embd", "*{fc,em}*", "[z-a]"]),
    "min_elements": (.3, [0, 1, 100, 10000, "0x10", "many"]), "min_rank": (.3, [0, 1, 2, 3]),
    "kinds": (.2, [["gradient"], ["weight", "gradient"], ["weight"], ["other"], ["foo"]]),
    "gradient": (.25, ["bits=2", "topk density=0.1", "topk", "identity", "bits=9", "quantize<bits=4 bucket=64> error-feedback=f32",
                       "bits=4 delta=f32", "lowrank rank=2", "bits=4 delta=f32 samples=3", "topk back-codec=natural"]),
    "weight": (.25, ["bits=8", "bits=8 delta=bf16", "identity", "bits=4 rounding=random_shift", "quantize bits=8 bucket=row",
                     "natural delta=int8"]),
    "other": (.05, ["bits=8"]), "activation": (.05, ["bits=8"]), "dispatch": (.03, ["bits=8"]), "qsdp": (.1, [True]),
    "along": (.1, ["rank<gradient=bits=2>", "rank<weight=bits=2>", "host<gradient=bits=2>", "x", 'rank<gradient="topk density=0.5">']),
    "algorithm": (.2, ["ring", "tree", "one_shot", "halving_doubling", "hierarchical", "scatter_reduce_allgather", "foo", "auto"]),
    "local": (.1, [1, 2, 3, -1]), "inside": (.1, ["identity", "quantize<bits=8>", "lowrank", "foo"]), "leaders": (.1, ["one", "all", "x"]),
    "split_layers": (.05, ["fc*", "["]), "reuse_gathers": (.05, ["64MiB", "all", "5Q"]), "sample_ids": (.03, ["ids"]),
    "divergent_collectives": (.05, ["error", "x"]), "bitz": (.02, [4]), "nothing_like_this": (.02, [4]), "plan": (.02, ["/nowhere"]),
}


def random_options(chance):
    return {name: chance.choice(values) for name, (share, values) in OPTIONS.items() if chance.random() < share / 2}


def made(compilation):
    return {"manifest": compilation.manifest_text, "report": compilation.report, "json": compilation.report_json,
            "said": [(each.severity, each.message) for each in compilation.diagnostics], "options": compilation.options}


def by_compiler(ranks, collectives, options):
    try:
        # The groups are those of the table.
        passes = [compiler.pipeline("cgx-compress", dict(options, group_bytes=0)), "--cgx-report", "--cgx-emit-manifest"]
        return made(compiler.run(program_of(ranks, collectives), passes, name="<table>")) | {"options": None}
    except compiler.CompileError as error:
        return re.sub(r"(?m)^(?:<table>:\d+:\d+: )?(?:error|note): ", "", str(error))


def by_runtime(ranks, collectives, options):
    try:
        return made(layers.decide(ranks, collectives, options)) | {"options": None}
    except compiler.CompileError as error:
        return str(error)


class LayersTest(unittest.TestCase):
    maxDiff = None

    def test_the_runtime_decides_as_the_compiler_does(self):
        first = int(os.environ.get("CGX_TEST_SEED", random.randrange(1 << 30)))
        kinds = {"refused": 0, "compressed": 0}
        for seed in range(first, first + ROUNDS):
            chance = random.Random(seed)
            ranks = chance.choice([1, 2, 2, 3, 4, 4, 5, 8])
            collectives = [random_collective(chance, number, ranks) for number in range(chance.randint(1, 5))]
            options = random_options(chance)
            expected = by_compiler(ranks, collectives, options)
            with self.subTest(f"CGX_TEST_SEED={seed}", ranks=ranks, options=options):
                self.assertEqual(by_runtime(ranks, collectives, options), expected)
            kinds["refused" if isinstance(expected, str) else "compressed"] += 1
        self.assertGreater(min(kinds.values()), ROUNDS // 10, kinds)

    def test_a_plan_of_either_is_one_for_both(self):
        ranks, names = 3, ["a", "b", "c"]
        collectives = [layers.collective(number, "all_reduce", [layers.operand(name, "gradient", "f32", [64, 64], (number, 0))],
                                         reduction="mean") for number, name in enumerate(names)]
        codecs = [{"family": "quantize", "bits": 3, "bucket": 64, "rounding": "stochastic", "scale": "bf16"}, {"family": "identity"},
                  {"family": "topk", "density": 0.1, "error_feedback": "bf16", "decay": 0.5}]
        for wrong, change in (("", {}), ("was 4096 elements of f16", {"dtype": "f16"}), ("was 7 elements", {"elements": 7}),
                              ("is not in the module", {"layer": "d"}), ("expected bits in 1..8", {"codec": dict(codecs[0], bits=9)})):
            listed = [{"layer": name, "kind": "gradient", "dtype": "f32", "elements": 4096, "codec": codec} for name, codec in zip(names, codecs)]
            listed[0] |= change
            with self.plan_of(listed) as path:
                for more in ({}, {"error_feedback": "f32"}, {"exclude": "a"}, {"gradient": "bits=4"}, {"kinds": ["weight"]}):
                    options = dict(more, plan=path)
                    answer = by_compiler(ranks, collectives, options)
                    self.assertEqual(by_runtime(ranks, collectives, options), answer)
                    if wrong and not more:
                        self.assertIn(wrong, answer)

    @staticmethod
    def plan_of(listed):
        from cgx_core.plans import plan_file
        return plan_file({"cgx_plan": 1, "program": "0" * 16, "solver": "exact", "objective": "bytes", "layers": listed})

    def test_what_is_no_table_is_refused_with_its_place(self):
        good = layers.operand("w", "gradient", "f32", [8, 8], (0, 0))
        for expected, collective in (("'id'|id: expected a whole number", {"id": -1, "kind": "all_reduce", "reduction": "sum", "operands": [good]}),
                                     ("as 'reduction'", layers.collective(0, "all_reduce", [good])),
                                     ("all_reduce, all_gather or reduce_scatter, got permute", layers.collective(0, "permute", [good])),
                                     ("layer 'w': expected an element type such as f32", layers.collective(0, "all_gather", [good | {"dtype": "f33"}])),
                                     ("'operands'", layers.collective(0, "all_gather", []))):
            with self.assertRaisesRegex(compiler.CompileError, expected):
                layers.decide(2, [collective], {})


class LibraryTest(unittest.TestCase):
    def test_one_of_another_version_is_named(self):
        with self.assertRaisesRegex(libraries.LibraryError, r"libcgx_runtime\.so.* has no cgx_of_tomorrow: it is of another version of cgx"):
            libraries.open_library("cgx_runtime").cgx_of_tomorrow()


if __name__ == "__main__":
    unittest.main()
