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

from cases import CASES
from compiled import CompileError, Step, lower

# Operations without native code, which are refused by name, and the cases that need them.
MISSING = {
    "stablehlo.rng_bit_generator": ("random/bits",),
}

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


def missing_in(case):
    return next((op for op, starts in MISSING.items() if case.startswith(starts)), None)


def check_refused(test, case):
    function, arguments = CASES[case]
    with test.assertRaisesRegex(CompileError, f"native code is missing for .*{missing_in(case)}"):
        Step(lower(function, *arguments))


for name in CASES:
    def run(self, case=name):
        (check_refused if missing_in(case) else compare)(self, case)
    setattr(Operations, f"test {name}", run)


def load_tests(loader, tests, pattern):
    chosen = sys.argv[1:]
    suite = unittest.TestSuite()
    for name in CASES:
        if not chosen or any(name.startswith(choice) for choice in chosen):
            suite.addTest(Operations(f"test {name}"))
    if not chosen:
        suite.addTests(loader.loadTestsFromTestCase(FloatingPointEnvironment))
    return suite


if __name__ == "__main__":
    if "CGX_COMPILE" not in os.environ:
        sys.exit("test_operations: expected CGX_COMPILE to name cgx-compile")
    unittest.main(argv=sys.argv[:1])
