"""What compiled functions compute, compared with JAX, operation by operation.

    CGX_COMPILE=build/release/bin/cgx-compile python test_operations.py [NAME...]

A name is the beginning of a case's, such as scatter or scatter/add.
"""

import os
import sys
import unittest

import jax
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
    return suite


if __name__ == "__main__":
    if "CGX_COMPILE" not in os.environ:
        sys.exit("test_operations: expected CGX_COMPILE to name cgx-compile")
    unittest.main(argv=sys.argv[:1])
