"""Operations that JAX prints for GPUs and TPUs only, and expands for CPUs: both forms compute the same.

    CGX_COMPILE=build/release/bin/cgx-compile python test_accelerator_forms.py
"""

import os
import sys
import unittest

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from compiled import Step

RNG = np.random.default_rng(0)


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def ragged(lhs_contracted, rhs_contracted, lhs_ragged, rhs_group, batch=((), ())):
    numbers = lax.RaggedDotDimensionNumbers(
        dot_dimension_numbers=((lhs_contracted, rhs_contracted), batch),
        lhs_ragged_dimensions=lhs_ragged, rhs_group_dimensions=rhs_group)
    return lambda x, y, sizes: lax.ragged_dot_general(x, y, sizes, numbers)


class RaggedDot(unittest.TestCase):
    def compare(self, function, *arguments):
        text = jax.jit(function, keep_unused=True).trace(*arguments).lower(lowering_platforms=("tpu",)).as_text()
        self.assertIn("chlo.ragged_dot", text)
        expected = jax.tree.leaves(jax.jit(function)(*arguments))
        for result, value in zip(Step(text)(*arguments), expected, strict=True):
            np.testing.assert_allclose(result, value, rtol=1e-5, atol=1e-5)

    def test_free_dimension(self):
        sizes = np.array([3, 0, 4, 1], np.int32)  # an empty group, and three rows in none
        self.compare(lax.ragged_dot, normal(11, 5), normal(4, 5, 7), sizes)

    def test_contracted_dimension(self):
        self.compare(ragged([0], [0], [0], []), normal(11, 5), normal(11, 7), np.array([3, 4, 4], np.int32))

    def test_batch_dimension(self):
        self.compare(ragged([2], [1], [0], [], ([0], [0])), normal(6, 4, 5), normal(6, 5, 3),
                     np.array([2, 4], np.int32))

    def test_batches(self):
        sizes = np.array([[3, 4, 4], [0, 11, 0]], np.int32)
        self.compare(ragged([2], [2], [1], [0], ([0], [1])), normal(2, 11, 5), normal(3, 2, 5, 7), sizes)
        self.compare(ragged([1], [1], [1], [], ([0], [0])), normal(2, 11, 5), normal(2, 11, 7), sizes)

    def test_gradients(self):
        sizes = np.array([3, 2, 6], np.int32)

        def loss(x, w, sizes):
            return jnp.sum(jnp.tanh(lax.ragged_dot(x, w, sizes)))
        self.compare(jax.grad(loss, (0, 1)), normal(11, 5), normal(3, 5, 7), sizes)


class HighProducts(unittest.TestCase):
    def test_mulhi(self):
        for name, dtype in (("i8", np.int8), ("ui8", np.uint8), ("i32", np.int32), ("ui64", np.uint64),
                            ("i64", np.int64)):
            limits = np.iinfo(dtype)
            values = np.concatenate([np.array([limits.min, limits.max, 0, 1], dtype),
                                     RNG.integers(limits.min, limits.max, 20, dtype)])
            x, y = (grid.ravel().copy() for grid in np.meshgrid(values, values))
            kind = f"tensor<{x.size}x{name}>"
            result, = Step(f"func.func public @main(%x: {kind}, %y: {kind}) -> {kind} {{\n"
                           f"  %r = chlo.mulhi %x, %y : {kind}, {kind} -> {kind}\n  return %r : {kind}\n}}")(x, y)
            expected = [(int(a) * int(b)) >> limits.bits for a, b in zip(x, y)]
            with self.subTest(type=name):
                np.testing.assert_array_equal(result, np.array(expected, dtype))


if __name__ == "__main__":
    if "CGX_COMPILE" not in os.environ:
        sys.exit("test_accelerator_forms: expected CGX_COMPILE to name cgx-compile")
    unittest.main()
