"""Operations that JAX prints only for GPUs and TPUs, and expands for CPUs, have equal results in both forms.

    CGX_COMPILE=build/release/bin/cgx-compile python test_accelerator_forms.py
"""

import os
import sys
import unittest

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.random import threefry2x32_p

from compiled import CompileError, Step

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
        sizes = np.array([3, 0, 4, 1], np.int32)  # one group is empty, and three rows are in none
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


def positive(*shape):
    x = normal(*shape)
    return x @ x.swapaxes(-1, -2) + np.eye(shape[-1], dtype=np.float32)


def as_pairs(value):
    value = np.asarray(value)
    return np.stack([value.real, value.imag], -1) if value.dtype.kind == "c" else value


def of_svd(x, full=False):
    u, s, vt = jnp.linalg.svd(x, full_matrices=full)
    least = s.shape[-1]
    return s, (u[..., :least] * s[..., None, :]) @ vt[..., :least, :]


def of_eigh(x):
    w, v = jnp.linalg.eigh(x)
    return w, (v * w[..., None, :]) @ v.swapaxes(-1, -2).conj()


def of_qr(x, mode="reduced"):
    q, r = jnp.linalg.qr(x, mode=mode)
    return q @ r, q.swapaxes(-1, -2).conj() @ q


class Factorizations(unittest.TestCase):
    """Compares calls of cuSOLVER, hipSOLVER and XLA's own with JAX's results here with LAPACK. The functions do not
    depend on the signs of vectors, which each library chooses."""

    def compare(self, function, *arguments, platforms=("cuda", "rocm", "tpu")):
        expected = [as_pairs(leaf) for leaf in jax.tree.leaves(jax.jit(function)(*arguments))]
        for platform in platforms:
            text = (jax.jit(function, keep_unused=True).trace(*arguments).lower(lowering_platforms=(platform,))
                    .as_text())
            self.assertNotIn("@lapack", text)
            for result, value in zip(Step(text)(*map(as_pairs, arguments)), expected, strict=True):
                with self.subTest(platform=platform):
                    np.testing.assert_allclose(result, value, rtol=1e-4, atol=1e-4)

    def test_cholesky(self):
        for function in (jnp.linalg.cholesky, lambda x: lax.linalg.cholesky(x.T).T):
            self.compare(function, positive(6, 6), platforms=("cuda", "rocm"))

    def test_eigenvalues_of_symmetric_matrices(self):
        self.compare(of_eigh, positive(6, 6))
        self.compare(of_eigh, positive(3, 5, 5), platforms=("tpu",))
        self.compare(of_eigh, (positive(4, 4) + 1j * (lambda x: x - x.T)(normal(4, 4))).astype(np.complex64))

    def test_qr(self):
        for x in (normal(6, 4), normal(4, 6), normal(3, 5, 4)):
            self.compare(of_qr, x)
            self.compare(lambda x: of_qr(x, "complete"), x)
        self.compare(of_qr, (normal(5, 3) + 1j * normal(5, 3)).astype(np.complex64))

    def test_singular_values(self):
        for x in (normal(6, 4), normal(4, 6), normal(3, 5, 4)):
            for full in (False, True):
                self.compare(lambda x, full=full: of_svd(x, full), x, platforms=("cuda", "rocm"))
            self.compare(lambda x: jnp.linalg.svd(x, compute_uv=False), x, platforms=("cuda", "rocm"))
        self.compare(of_svd, (normal(5, 3) + 1j * normal(5, 3)).astype(np.complex64), platforms=("cuda",))
        for algorithm in (lax.linalg.SvdAlgorithm.QR, lax.linalg.SvdAlgorithm.POLAR):
            for x in (normal(6, 4), normal(4, 6)):
                def function(x, algorithm=algorithm):
                    u, s, vt = lax.linalg.svd(x, full_matrices=False, algorithm=algorithm)
                    return s, (u * s) @ vt
                text = jax.jit(function).trace(x).lower(lowering_platforms=("cuda",)).as_text()
                for result, value in zip(Step(text)(x), of_svd(x), strict=True):
                    np.testing.assert_allclose(result, value, rtol=1e-4, atol=1e-4)

    def test_lu(self):
        for x in (normal(6, 6), normal(6, 4), normal(4, 6)):
            self.compare(jax.scipy.linalg.lu, x)
        self.compare(lambda x: lax.linalg.lu(x), normal(3, 5, 5))
        self.compare(jnp.linalg.solve, normal(5, 5), normal(5, 2))
        self.compare(jnp.linalg.slogdet, normal(5, 5))
        self.compare(jnp.linalg.inv, normal(2, 5, 5))

    def test_eigenvalues(self):
        def function(x):
            w, v = jnp.linalg.eig(x)
            return jnp.sum(w), jnp.abs(x @ v - v * w)
        self.compare(function, normal(5, 5), platforms=("cuda", "rocm"))

    def test_tridiagonal_systems(self):
        self.compare(lax.linalg.tridiagonal_solve, normal(6), 4 + normal(6), normal(6), normal(6, 2),
                     platforms=("cuda", "rocm"))

    def test_gradients(self):
        for function in (lambda x: jnp.linalg.slogdet(x)[1], lambda x: jnp.sum(jnp.linalg.cholesky(x) ** 3)):
            self.compare(jax.grad(function), positive(5, 5), platforms=("cuda",))


class Calls(unittest.TestCase):
    def test_memory_without_contents(self):
        def function(x):
            return lax.dynamic_update_slice(lax.empty((4,), np.float32), x, (0,))
        text = jax.jit(function).trace(normal(4)).lower(lowering_platforms=("cuda",)).as_text()
        self.assertIn("@AllocateBuffer", text)
        x = normal(4)
        np.testing.assert_array_equal(Step(text)(x)[0], x)

    def test_threefry(self):
        """Tests the form in which JAX 0.5 to 0.7 printed jax.random for GPUs."""
        words = [RNG.integers(0, 2 ** 32, 7, np.uint32) for _ in range(4)]
        kind = "tensor<7xui32>"
        text = (f"func.func public @main(%k0: {kind}, %k1: {kind}, %x0: {kind}, %x1: {kind}) -> ({kind}, {kind}) {{\n"
                f"  %r:2 = stablehlo.custom_call @cu_threefry2x32_ffi(%k0, %k1, %x0, %x1) "
                f"{{mhlo.backend_config = {{}}}} : ({kind}, {kind}, {kind}, {kind}) -> ({kind}, {kind})\n"
                f"  return %r#0, %r#1 : {kind}, {kind}\n}}")
        for result, value in zip(Step(text)(*words), threefry2x32_p.bind(*words), strict=True):
            np.testing.assert_array_equal(result, value)

    def test_other_libraries_are_refused_with_the_way_out(self):
        text = ("func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %r = stablehlo.custom_call "
                "@__cudnn$fmhaSoftmax(%x) : (tensor<4xf32>) -> tensor<4xf32>\n  return %r : tensor<4xf32>\n}")
        with self.assertRaisesRegex(CompileError, r"@__cudnn\$fmhaSoftmax.*JAX_PLATFORMS=cpu"):
            Step(text)


if __name__ == "__main__":
    if "CGX_COMPILE" not in os.environ:
        sys.exit("test_accelerator_forms: expected CGX_COMPILE to name cgx-compile")
    unittest.main()
