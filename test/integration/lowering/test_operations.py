"""What compiled functions compute, compared with JAX, operation by operation.

    CGX_COMPILE=build/release/bin/cgx-compile python test_operations.py [NAME...]

A name is the beginning of a case's, such as scatter or scatter/add.
"""

import os
import sys
import unittest

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import io_callback

from cases import CASES
from compiled import CompileError, Step, lower

# f32 functions are within a few units in the last place; sums differ by their order.
RELATIVE, ABSOLUTE = 2e-5, 4e-6
NARROW = {"float16": 4e-3, "bfloat16": 1.6e-2}


def compare(test, case):
    function, arguments = CASES[case]
    expected = [np.asarray(leaf) for leaf in jax.tree.leaves(jax.jit(function)(*arguments))]
    results = Step(lower(function, *arguments))(*jax.tree.leaves(arguments))
    test.assertEqual(len(results), len(expected))
    for result, value in zip(results, expected):
        test.assertEqual((result.shape, result.dtype), (value.shape, value.dtype))
        if value.dtype.kind in "iub":
            np.testing.assert_array_equal(result, value)
            continue
        tolerance = NARROW.get(value.dtype.name, RELATIVE)
        finite = np.abs(value.astype(np.float64)[np.isfinite(value.astype(np.float32))])
        scale = np.median(finite) if finite.size else 1.0
        np.testing.assert_allclose(result.astype(np.float64), value.astype(np.float64), rtol=tolerance,
                                   atol=ABSOLUTE * scale if tolerance == RELATIVE else tolerance * scale)


class Operations(unittest.TestCase):
    pass


class FloatingPointEnvironment(unittest.TestCase):
    """Compiled steps compute with subnormal numbers, as IEEE 754 has it and unlike XLA on CPUs, which takes them
    for zero; and they leave the modes of the thread as they were."""

    def test_subnormal_numbers(self):
        tiny = np.float32(1e-40) * np.arange(1, 40, dtype=np.float32)
        wide, tall = np.full((20, 30), 1e-30, np.float32), np.full((30, 20), 1e-10, np.float32)  # a product on BLAS
        step = Step(lower(lambda x, a, b: (x * 0.5, jnp.sum(x), a @ b), tiny, wide, tall))
        half, total, product = step(tiny, wide, tall)
        np.testing.assert_array_equal(half, tiny * np.float32(0.5))
        np.testing.assert_array_equal(total, np.sum(tiny))  # exact, as all are multiples of the least number
        np.testing.assert_allclose(product, np.full((20, 20), 3e-39), rtol=1e-5)
        self.assertGreater(np.float32(1e-40) * np.ones(1, np.float32)[0] / np.float32(2), 0)


class Callbacks(unittest.TestCase):
    """Calls of the host are dropped, with one warning, where no result needs them, and else refused."""

    X = np.arange(12, dtype=np.float32).reshape(4, 3)

    @staticmethod
    def several(x):
        jax.debug.print("{}", x.sum())
        jax.debug.print("{}", x.sum(), ordered=True)
        io_callback(lambda v: np.float32(v), jax.ShapeDtypeStruct((), np.float32), x.sum())
        return x * 2

    @staticmethod
    def in_scan(x):
        def body(carry, row):
            def noisy(carry):
                jax.debug.callback(lambda v: None, carry, ordered=True)
                return carry * 0.5 + 1
            jax.debug.print("row {}", row, ordered=True)
            io_callback(lambda v: None, None, carry, ordered=True)
            return lax.cond(carry[0] > 1, lambda carry: carry + row, noisy, carry), carry
        return lax.scan(body, x[0], x)

    def test_dropped(self):
        for function in (self.several, self.in_scan):
            with self.subTest(function=function.__name__):
                step = Step(lower(function, self.X))
                self.assertEqual(step.messages.count("warning:"), 1, step.messages)
                self.assertIn("native code does without calls of the host", step.messages)
                self.assertEqual(len(step.manifest["arguments"]), 1)
                expected = jax.tree.leaves(jax.jit(function)(self.X))
                for result, value in zip(step(self.X), expected, strict=True):
                    np.testing.assert_allclose(result, value, rtol=1e-6)

    def test_refused(self):
        def used(x):
            return x * jax.pure_callback(lambda v: np.float32(v), jax.ShapeDtypeStruct((), np.float32), x.sum())
        with self.assertRaisesRegex(CompileError, r"native code is missing for stablehlo\.custom_call @xla_ffi_python"
                                    r"(.|\n)*the step uses what Python returns"):
            Step(lower(used, self.X))


class Refusals(unittest.TestCase):
    def test_name_the_line_of_python(self):
        def step(x):
            first = jax.pure_callback(lambda v: v, x, x)
            return first + jax.pure_callback(lambda v: v, x, x).sum()
        here = step.__code__.co_firstlineno + 1
        text = jax.jit(step).lower(np.eye(3, dtype=np.float32)).as_text(debug_info=True)
        with self.assertRaises(CompileError) as refused:
            Step(text)
        message = str(refused.exception)
        self.assertEqual(message.count("error:"), 1, message)
        self.assertIn("@xla_ffi_python_cpu_callback (2)", message)
        self.assertRegex(message, rf"test_operations\.py:{here}:")


for name in CASES:
    def run(self, case=name):
        compare(self, case)
    setattr(Operations, f"test {name}", run)


def load_tests(loader, tests, pattern):
    chosen = sys.argv[1:]
    suite = unittest.TestSuite()
    for name in CASES:
        if not chosen or any(name.startswith(choice) for choice in chosen):
            suite.addTest(Operations(f"test {name}"))
    if not chosen:
        for tests in (FloatingPointEnvironment, Callbacks, Refusals):
            suite.addTests(loader.loadTestsFromTestCase(tests))
    return suite


if __name__ == "__main__":
    if "CGX_COMPILE" not in os.environ:
        sys.exit("test_operations: expected CGX_COMPILE to name cgx-compile")
    unittest.main(argv=sys.argv[:1])
