"""Compares compiled functions with JAX, operation by operation.

    CGX_COMPILE=build/release/bin/cgx-compile python test_operations.py [NAME...]

A name is the beginning of a case's, such as scatter or scatter/add.
"""

import os
import platform
import sys
import unittest

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import io_callback

from cases import CASES
from compiled import CompileError, Step, compare_together, in_batches, lower

# f32 functions are accurate to a few units in the last place; sums differ by their order.
RELATIVE, ABSOLUTE = 2e-5, 4e-6
NARROW = {"float16": 4e-3, "bfloat16": 1.6e-2}


def compare_all(test, names):
    compare_together(test, [(name, *CASES[name]) for name in names],
                     lambda name, results, expected: compare(test, results, expected))


def compare(test, results, expected):
    for result, value in zip(results, expected, strict=True):
        test.assertEqual((result.shape, result.dtype), (value.shape, value.dtype))
        if value.dtype.kind in "iub":
            np.testing.assert_array_equal(result, value)
            continue
        tolerance = NARROW.get(value.dtype.name, RELATIVE)
        finite = np.abs(value.astype(np.float64)[np.isfinite(value.astype(np.float32))])
        finite = finite[finite > 0]  # padding has no meaning for the rest
        scale = np.median(finite) if finite.size else 0.0
        np.testing.assert_allclose(result.astype(np.float64), value.astype(np.float64), rtol=tolerance,
                                   atol=ABSOLUTE * scale if tolerance == RELATIVE else tolerance * scale)


class HalfPrecision(unittest.TestCase):
    """16-bit numbers are rounded after each operation, even if operations share a loop, and once at the end of a sum,
    on any processor. A sum that is rounded after each addition stays at 256, however many ones are added in bf16,
    and at 2048 in f16. XLA on CPUs adds up blocks, some of them in 16 bits, so its bits are no reference for sums."""

    PROCESSORS = ["native", *(["x86-64", "x86-64-v3"] if platform.machine() == "x86_64" else [])]

    def assert_same_bits(self, function, expected, *arguments):
        for processor in self.PROCESSORS:
            with self.subTest(processor):
                results = Step(lower(function, *arguments), f"--mcpu={processor}")(*arguments)
                for result, value in zip(results, jax.tree.leaves(expected), strict=True):
                    self.assertEqual(result.dtype, np.asarray(value).dtype)
                    np.testing.assert_array_equal(result.view(np.uint16), np.asarray(value).view(np.uint16))

    def assert_rounded_once(self, function, *arguments):
        """Tests sums of integers, which f32 represents exactly in any order."""
        exact = jax.jit(function)(*(x.astype(np.float32) for x in arguments))
        rounded = jax.tree.map(lambda x: np.asarray(x).astype(arguments[0].dtype), exact)
        self.assert_same_bits(function, rounded, *arguments)

    def for_each_type(self, check):
        for dtype in (jnp.bfloat16, jnp.float16):
            with self.subTest(dtype.__name__):
                check(dtype)

    def test_sums_round_once(self):
        def sums(x):
            zero, one = np.zeros((), x.dtype), np.ones((), x.dtype)
            return (lax.reduce(x, zero, lax.add, (0,)), lax.reduce(x, zero, lax.add, (1,)),
                    lax.reduce(x, zero, lax.add, (0, 1)), lax.cumsum(x, 0), lax.cumsum(x, 1, reverse=True),
                    lax.reduce_window(x, zero, lax.add, (300, 5), (100, 2), "SAME"),
                    lax.reduce(x[:5] * x[1:6], one, lax.mul, (0,)), lax.reduce(x, zero, lax.max, (0,)))

        self.for_each_type(lambda dtype: self.assert_rounded_once(
            sums, np.random.default_rng(0).integers(-2, 5, (700, 37)).astype(dtype)))

    def test_gradients_of_what_is_added_to_each_row(self):
        def gradient(b, x):
            return jax.grad(lambda b: jnp.sum((x * b + b).astype(jnp.float32)))(b)

        self.for_each_type(lambda dtype: self.assert_rounded_once(
            gradient, np.ones(8, dtype), np.random.default_rng(0).integers(-3, 4, (4096, 8)).astype(dtype)))

    def test_products_round_once(self):
        def products(x, y):
            return x @ y, x[:3, :4] @ y[:4, :2], x[0] @ y[:, 0]

        self.for_each_type(lambda dtype: self.assert_rounded_once(
            products, *(np.random.default_rng(seed).integers(-3, 9, shape).astype(dtype)
                        for seed, shape in ((0, (40, 700)), (1, (700, 30))))))

    def test_elementwise_operations_round_each(self):
        def chain(x, y):
            return (x + y - y, x * y / (y + x), jnp.sqrt(jnp.abs(x)) * y - x * x,
                    jnp.where(x > y, x * x, x - y) + jnp.maximum(x, y), jax.vjp(jnp.tanh, x)[1](y)[0])

        def check(dtype):
            x, y = (np.random.default_rng(seed).normal(0, 2, (64, 33)).astype(dtype) for seed in (0, 1))
            self.assert_same_bits(chain, chain(jnp.asarray(x), jnp.asarray(y)), x, y)  # not jitted, so one after the other
        self.for_each_type(check)


class FloatingPointEnvironment(unittest.TestCase):
    """Compiled steps compute with subnormal numbers by IEEE 754, unlike XLA on CPUs, which flushes them to zero; and
    they restore the modes of the thread."""

    def test_subnormal_numbers(self):
        tiny = np.float32(1e-40) * np.arange(1, 40, dtype=np.float32)
        wide, tall = np.full((20, 30), 1e-30, np.float32), np.full((30, 20), 1e-10, np.float32)  # a product on BLAS
        step = Step(lower(lambda x, a, b: (x * 0.5, jnp.sum(x), a @ b), tiny, wide, tall))
        half, total, product = step(tiny, wide, tall)
        np.testing.assert_array_equal(half, tiny * np.float32(0.5))
        np.testing.assert_array_equal(total, np.sum(tiny))  # exact, because all are multiples of the least number
        np.testing.assert_allclose(product, np.full((20, 20), 3e-39), rtol=1e-5)
        self.assertGreater(np.float32(1e-40) * np.ones(1, np.float32)[0] / np.float32(2), 0)


class Callbacks(unittest.TestCase):
    """Calls of the host are dropped with one warning if no result needs them, and otherwise rejected."""

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


def load_tests(loader, tests, pattern):
    chosen = sys.argv[1:]
    suite = in_batches([name for name in CASES if not chosen or name.startswith(tuple(chosen))], compare_all)
    if not chosen:
        for tests in (HalfPrecision, FloatingPointEnvironment, Callbacks, Refusals):
            suite.addTests(loader.loadTestsFromTestCase(tests))
    return suite


if __name__ == "__main__":
    if "CGX_COMPILE" not in os.environ:
        sys.exit("test_operations: expected CGX_COMPILE to name cgx-compile")
    unittest.main(argv=sys.argv[:1])
