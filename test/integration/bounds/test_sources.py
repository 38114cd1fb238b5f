"""The tools that read modules end by themselves whatever a file holds, and report its error in one line."""

import gzip
import json
import os
import pathlib
import random
import struct
import subprocess
import threading
import time
import unittest

from tools import CGX_COMPILE, CGX_OPT, VECTOR, ToolTest

DEEP = 10000
EMPTY_STEP = f"func.func @main(%x: {VECTOR}) -> {VECTOR} {{\n  return %x : {VECTOR}\n}}\n"


class Nesting(ToolTest):
    def test_regions_attributes_and_types_in_each_other_are_refused(self):
        regions = '"a.op"() ({\n' * DEEP + "}) : () -> ()\n" * DEEP
        attributes = f'"a.op"() {{a = {"[" * DEEP}{"]" * DEEP}}} : () -> ()\n'
        types = f'func.func private @f({"tuple<" * DEEP}{">" * DEEP})\n'
        locations = f'func.func private @f() loc({"callsite(" * DEEP}"a" at "b"{")" * DEEP})\n'
        expressions = f"#a = affine_map<(d0) -> ({'(' * DEEP}d0{')' * DEEP})>\n"
        for name, text in dict(regions=regions, attributes=attributes, types=types, locations=locations,
                               expressions=expressions).items():
            with self.subTest(name):
                self.refused(self.write(text), "nested at most 1000 deep")

    def test_what_nests_by_name_or_by_signs_is_refused(self):
        names = "#a0 = [1]\n" + "".join(f"#a{i + 1} = [#a{i}]\n" for i in range(DEEP)) + f'"a.op"() {{a = #a{DEEP}}} : () -> ()\n'
        types = "!t0 = tuple<f32>\n" + "".join(f"!t{i + 1} = tuple<!t{i}>\n" for i in range(DEEP)) + f"func.func private @f(!t{DEEP})\n"
        signs = f"#a = affine_map<(d0) -> ({'-' * 100000}d0)>\n"
        for name, text in dict(names=names, types=types, signs=signs).items():
            with self.subTest(name):
                self.refused(self.write(text), "nested at most 1000 deep")

    def test_brackets_in_strings_and_comments_and_signs_of_comparison_do_not_nest(self):
        compared = "".join(f"#s{i} = affine_set<(d0) : (d0 >= 0, d0 - 4 <= 0)>\n" for i in range(2 * DEEP))
        text = f'// {"(" * DEEP}\n"a.op"() {{a = "{"[" * DEEP}", b = "\\"{"<" * DEEP}"}} : () -> ()\n' + compared
        result = self.run_tool(CGX_OPT, self.write(text), "--allow-unregistered-dialect", "-o", self.folder / "out.mlir")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_what_is_not_too_deep_is_read_with_any_stack(self):
        text = '"a.op"() ({\n' * 490 + "}) : () -> ()\n" * 490
        path = self.write(text)
        result = self.run_tool("sh", "-c", 'ulimit -s 512 && exec "$@"', "sh", CGX_OPT, path, "--allow-unregistered-dialect", "-o",
                               self.folder / "out.mlir")
        self.assertEqual(result.returncode, 0, result.stderr[-1000:])

    def test_the_steps_of_the_examples_are_read(self):
        for step in sorted(pathlib.Path(os.environ["CGX_EXAMPLES"]).glob("*/*.mlir")):
            with self.subTest(step=step.name):
                result = self.run_tool(CGX_OPT, step, "-o", self.folder / "out.mlir")
                self.assertEqual(result.returncode, 0, result.stderr[-1000:])


class Bytecode(ToolTest):
    def bytecode(self):
        text = """module attributes {mhlo.num_partitions = 2 : i32} {
func.func @main(%x: tensor<4x4xf32>, %c: tensor<i1>) -> tensor<4x4xf32> {
  %w = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<4x4xf32> loc("train.py":3:1)
  %r = "stablehlo.if"(%c) ({
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    stablehlo.return %y : tensor<4x4xf32>
  }, {
    stablehlo.return %x : tensor<4x4xf32>
  }) : (tensor<i1>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
}
"""
        path = self.folder / "step.mlirbc"
        result = self.run_tool(CGX_OPT, self.write(text), "--emit-bytecode", "-o", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        return path, text

    def test_bytecode_is_the_module_that_was_written(self):
        path, _ = self.bytecode()
        texts = [self.run_tool(CGX_OPT, source, "--mlir-print-debuginfo", "--mlir-print-local-scope").stdout
                 for source in (path, self.folder / "step.mlir")]
        self.assertIn('loc("train.py":3:1)', texts[0])
        code = [[line.split(" loc(")[0] for line in text.splitlines()] for text in texts]
        self.assertEqual(*code)
        result = self.run_tool(CGX_COMPILE, path, "--no-cache", "-o", self.folder / "step.so")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_no_change_of_bytecode_ends_a_tool_by_a_signal(self):
        path, _ = self.bytecode()
        good = path.read_bytes()
        seed = int(os.environ.get("CGX_TEST_SEED", "20261128"))
        rng = random.Random(seed)
        for round in range(150):
            bad = bytearray(good)
            for _ in range(rng.choice((1, 1, 2, 8))):
                bad[rng.randrange(4, len(bad))] = rng.choice((0, 1, 0x7f, 0x80, 0xff, rng.randrange(256)))
            if rng.random() < 0.2:
                del bad[rng.randrange(5, len(bad)):]
            path.write_bytes(bad)
            result = self.run_tool(CGX_OPT, path, "-o", self.folder / "out.mlir")
            with self.subTest(seed=seed, round=round):
                self.assertIn(result.returncode, (0, 1), result.stderr[-1000:])
                self.assertNotIn("Stack dump", result.stderr)
                if result.returncode:
                    self.assertIn("error: ", result.stderr)


class Files(ToolTest):
    def test_what_is_no_module_is_said_by_its_name(self):
        header = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
        for name, content, kind in (
                ("state.safetensors", struct.pack("<Q", len(header)) + header + bytes(4), "a safetensors file"),
                ("train.py", "# trains\nimport jax\n\nprint(jax.devices())\n", "a program in Python"),
                ("train.py", '"""Trains."""\n', "a program in Python"),
                ("train.py", "from jax import numpy as jnp\n", "a program in Python"),
                ("plan.json", '{\n  "version": 1\n}\n', "JSON"),
                ("weights.npz", b"PK\3\4" + bytes(30), "a zip archive"),
                ("weights.npy", b"\x93NUMPY\1\0" + bytes(30), "an array of NumPy"),
                ("step.mlir.gz", gzip.compress(EMPTY_STEP.encode()), "compressed by gzip"),
                ("step.hlo", "HloModule jit_step\n", "text of HLO"),
                ("zeros", bytes(100), "zeros")):
            with self.subTest(name):
                self.refused(self.write(content, name), f"this is {kind}", "expected a step", name)
        result = self.run_tool(CGX_OPT, CGX_OPT)
        self.assertIn("this is a library or a program", result.stderr)

    def test_resources_before_a_module_and_names_like_words_of_python_are_no_other_file(self):
        for text in ("{-#\n  dialect_resources: {\n  }\n#-}\n", "", "// import jax\n" + EMPTY_STEP):
            result = self.run_tool(CGX_OPT, self.write(text))
            self.assertEqual(result.returncode, 0, result.stderr)

    def test_a_device_without_end_is_refused(self):
        for device in ("/dev/zero", "/dev/urandom"):
            result = self.run_tool(CGX_OPT, device, timeout=20)
            self.assertEqual(result.returncode, 1)
            self.assertIn("of a device, got more", result.stderr)
        with open("/dev/zero", "rb") as zeros:
            result = self.run_tool(CGX_COMPILE, "-", "-o", self.folder / "out.so", stdin=zeros, timeout=20)
        self.assertEqual(result.returncode, 1)
        self.assertIn("of a device, got more", result.stderr)

    def test_a_pipe_that_nobody_writes_to_is_refused_and_a_late_writer_is_awaited(self):
        pipe = self.folder / "pipe.mlir"
        os.mkfifo(pipe)
        result = self.run_tool(CGX_OPT, pipe, timeout=20)
        self.assertEqual(result.returncode, 1)
        self.assertIn("expected somebody to write to this pipe, and nobody does", result.stderr)

        def write():
            with open(pipe, "w", encoding="utf-8") as file:  # opens when the tool reads it
                file.write(EMPTY_STEP[:20])
                file.flush()
                time.sleep(0.5)
                file.write(EMPTY_STEP[20:])

        writer = threading.Thread(target=write)
        writer.start()
        result = self.run_tool(CGX_OPT, pipe, timeout=20)
        writer.join()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("@main", result.stdout)

    def test_a_folder_and_no_file_are_refused(self):
        self.refused(self.folder, "cannot")
        self.refused(self.folder / "none.mlir", "cannot", "none.mlir")

    def test_standard_input_is_read_to_its_end(self):
        result = subprocess.run([CGX_OPT, "-"], input=EMPTY_STEP, capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("@main", result.stdout)


class Lowering(ToolTest):
    def test_an_exported_step_that_is_lowered_at_once_is_sent_to_the_import(self):
        text = f"""func.func @main(%x: {VECTOR}) -> {VECTOR} {{
  return %x : {VECTOR}
}}
func.func @relu(%x: {VECTOR}) -> {VECTOR} {{
  return %x : {VECTOR}
}}
"""
        result = self.run_tool(CGX_OPT, self.write(text), "--cgx-destination-passing")
        self.assertIn("expected @main alone, got @relu too: run --cgx-import first", result.stderr)


if __name__ == "__main__":
    unittest.main()
