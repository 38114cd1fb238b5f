"""Compiles JAX functions with cgx, and compares them with JAX.

Takes from the environment CGX_COMPILE, the path of cgx-compile.
"""

import ctypes
import itertools
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import jax
import ml_dtypes
import numpy as np

DTYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
          "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
          "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "bool": np.bool_,
          "i4": np.int8, "i2": np.int8, "u4": np.uint8, "u2": np.uint8}  # one byte each
# f8e4m3fn is float8_e4m3fn
DTYPES |= {f"f{name[5:].replace('_', '')}": getattr(ml_dtypes, name)
           for name in dir(ml_dtypes) if name.startswith(("float8_", "float6_", "float4_"))}
ALIGNMENT = 64  # required by compiled steps


class CompileError(Exception):
    """An error of cgx-compile; the message is its output."""


def aligned(shape, dtype):
    """Returns an uninitialized array on a cache line of its own."""
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    memory = np.empty(size + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start:start + size].view(dtype).reshape(shape)


def addresses(arrays):
    return (ctypes.c_void_p * max(1, len(arrays)))(*[array.ctypes.data for array in arrays])


class Step:
    """A program for one rank that communicates nothing."""

    def __init__(self, text, *options):
        with tempfile.TemporaryDirectory() as folder:
            source, library = pathlib.Path(folder, "step.mlir"), pathlib.Path(folder, "step.so")
            source.write_text(text)
            done = subprocess.run([os.environ["CGX_COMPILE"], source, "-o", library, *options],
                                  capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise CompileError(done.stderr)
            self.messages = done.stderr
            self.library = ctypes.CDLL(str(library))
        self.manifest = json.loads(ctypes.string_at(ctypes.addressof(
            ctypes.c_char.in_dll(self.library, "cgx_program_manifest"))))

    def __call__(self, *arguments):
        inputs = []
        for value, entry in zip(arguments, self.manifest["arguments"], strict=True):
            array = aligned(entry["shape"], DTYPES[entry["dtype"]])
            array[...] = value
            inputs.append(array)
        # Buffers are filled so that a result that is not, or only partly, written cannot look right by chance.
        results = [aligned(entry["shape"], DTYPES[entry["dtype"]]) for entry in self.manifest["results"]]
        for result in results:
            result.reshape(-1).view(np.uint8)[...] = 1 if result.dtype == np.bool_ else 0xA5
        self.library.cgx_program_step(None, addresses(inputs), addresses(results))
        return results


def lower(function, *arguments):
    """Returns the text of a function as JAX exports it, with all of its arguments."""
    return jax.jit(function, keep_unused=True).lower(*arguments).as_text()


# The number of functions that are compiled as one step. A step for each takes four times as long, mostly to start a
# compiler and a linker.
BATCH = 24


def compare_together(test, cases, compare, cross=np.asarray):
    """Calls compare(name, results, expected) with the results of a step and of JAX for each case (name, function,
    arguments), in a subtest of that name. All are one step, or one step each if that does not compile. `cross`
    converts a value at the border of a step."""
    functions, arguments = zip(*((function, arguments) for _, function, arguments in cases))

    def together(*arguments):
        return [function(*own) for function, own in zip(functions, arguments)]

    expected = [[cross(leaf) for leaf in jax.tree.leaves(part)] for part in jax.jit(together)(*arguments)]
    try:
        results = iter(Step(lower(together, *arguments))(*map(cross, jax.tree.leaves(arguments))))
    except CompileError:
        if len(cases) == 1:
            raise
        for case in cases:
            with test.subTest(case[0]):
                compare_together(test, [case], compare, cross)
        return
    for (name, _, _), values in zip(cases, expected):
        own = list(itertools.islice(results, len(values)))
        with test.subTest(name):
            test.assertEqual(len(own), len(values))
            compare(name, own, values)
    test.assertEqual(list(results), [])


def in_batches(names, run):
    """Returns a suite with one test per few names, run(test, names)."""
    suite = unittest.TestSuite()
    for start in range(0, len(names), BATCH):
        batch = names[start:start + BATCH]
        suite.addTest(Batch(f"{batch[0]} to {batch[-1]}", lambda test, batch=batch: run(test, batch)))
    return suite


class Batch(unittest.TestCase):
    """A test with that title."""

    def __init__(self, title, run):
        super().__init__("run_batch")
        self.title, self.body = title, run

    def run_batch(self):
        self.body(self)

    def __str__(self):
        return self.title
