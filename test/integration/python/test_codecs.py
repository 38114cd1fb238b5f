"""cgx.Codec as a value equals the codec of its text, and editors know the parameters of the functions that take one."""

import ast
import inspect
import os
import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path(os.environ["CGX_SOURCE"])
sys.path.insert(0, str(SOURCE / "tools" / "python"))

import cgx  # noqa: E402
from cgx_core import compiler  # noqa: E402
from cgx_core.codecs import FAMILIES, in_words  # noqa: E402

Codec = cgx.Codec
# These attributes apply to any codec, so the table of families does not have them.
AROUND = {"error_feedback", "error_feedback_decay", "back_codec", "delta", "samples"}
STEP = """module attributes {cgx.num_ranks = 2 : i64} {
  func.func public @main(%g: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %0 = cgx.all_reduce mean(%g) {origins = array<i64: 0, 0>, id = 0 : i64, groups = #cgx.groups<[[0, 1]]>, codecs = [#cgx.identity],
                                  layers = [#cgx.layer<"w", gradient>]} : tensor<64x64xf32>
    return %0 : tensor<64x64xf32>
  }
}
"""


def compiled(**options):
    """Returns the codec that the compiler makes from options."""
    operand, = compiler.run(STEP, [compiler.pipeline("cgx-compress", options), "--cgx-emit-manifest"]).manifest["collectives"][0]["operands"]
    return operand["codec"]


class CodecTest(unittest.TestCase):
    def test_it_has_the_families_and_parameters_of_the_table(self):
        table = (SOURCE / "docs" / "codecs.md").read_text()
        self.assertEqual(set(FAMILIES), set(re.findall(r"^\| `(\w+)` \| \d+ \|", table, re.M)))
        parameters = {name for _, name in re.findall(r"^\| `(\w+)` \| `(\w+)` \|", table, re.M)}
        self.assertEqual(parameters, set(inspect.signature(Codec).parameters) - AROUND - {"family"})

    def test_its_words_are_its_parameters(self):
        self.assertEqual(str(Codec()), "quantize")
        self.assertEqual(str(Codec(bits=8, bucket=1024, rounding="random_shift")), "quantize bits=8 bucket=1024 rounding=random_shift")
        self.assertEqual(str(Codec("topk", density=0.01, error_feedback="f32", checksum=True)),
                         "topk density=0.01 checksum error-feedback=f32")
        self.assertEqual(Codec(bits=8), Codec("quantize", bits=8))

    def test_the_compiler_takes_it_wherever_it_takes_words(self):
        for codec, words in ((Codec("topk", density=0.05, error_feedback="bf16"), "topk density=0.05 error-feedback=bf16"),
                             (Codec(bits=3, back_codec=Codec(bits=8, error_feedback=None)), "quantize bits=3 back-codec=quantize<bits=8>"),
                             (Codec("cast", format="fp8_e4m3"), "fp8_e4m3"), (Codec(), "quantize")):
            with self.subTest(codec=str(codec)):
                self.assertEqual(compiled(gradient=codec), compiled(gradient=words))
                self.assertEqual(compiled(codec=codec), compiled(gradient=words))

    def test_what_is_wrong_is_refused_where_it_is_written(self):
        with self.assertRaisesRegex(ValueError, "expected family to be one of .*, got 'quantise': did you mean \"quantize\""):
            Codec("quantise")
        with self.assertRaisesRegex(TypeError, "bitz"):
            Codec(bitz=4)
        with self.assertRaisesRegex(TypeError, "expected bits in the codec or beside it, got both: quantize bits=4, bits=8"):
            in_words({"codec": Codec(bits=4), "bits": 8})
        with self.assertRaisesRegex(compiler.CompileError, "bits.*1.*8.*got 9"):
            compiled(codec=Codec(bits=9))


def parameters_of(path, function):
    """Returns the names of the parameters of each function of that name in a file, in order."""
    found = [node.args for node in ast.walk(ast.parse((SOURCE / "tools" / path).read_text()))
             if isinstance(node, ast.FunctionDef) and node.name == function]
    return [{each.arg for each in (*arguments.args, *arguments.kwonlyargs)} for arguments in found]


class StubTest(unittest.TestCase):
    def test_editors_know_what_the_functions_take(self):
        torch, = parameters_of("torch/cgx_torch/sharded.py", "compress")
        jax, = parameters_of("jax/cgx_jax/compress.py", "compress")
        expected = [torch - {"model"} | {"what", "config"}] * 2 + [jax - {"step"} | {"what", "config"}]
        self.assertEqual(parameters_of("python/cgx/__init__.pyi", "compress"), expected)
        torch, = parameters_of("torch/cgx_torch/install.py", "install")
        jax, = parameters_of("jax/cgx_jax/install.py", "install")
        self.assertEqual(parameters_of("python/cgx/__init__.pyi", "install"), [torch | jax | {"config"}])


if __name__ == "__main__":
    unittest.main()
