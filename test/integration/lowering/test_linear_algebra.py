"""Compares factorizations, complex numbers and Fourier transforms of compiled functions with JAX.

    CGX_COMPILE=build/release/bin/cgx-compile python test_linear_algebra.py [NAME...]

A name is the beginning of a case's, such as eigh or fft/. Complex numbers cross the border of a step as pairs of
real ones in a last dimension of 2.
"""

import os
import sys
import unittest

import jax
import jax.numpy as jnp
import jax.scipy
import numpy as np
from jax import lax

from compiled import compare_together, in_batches

CASES = {}


def case(name, function, *arguments, tolerance=1.0):
    assert name not in CASES, name
    CASES[name] = (function, arguments, tolerance)


def normal(*shape, seed=0, dtype=np.float32):
    random = np.random.default_rng(seed)
    values = random.normal(size=shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * random.normal(size=shape)
    return values.astype(dtype)


def positive(*shape, dtype=np.float32):
    """Returns well-conditioned Hermitian matrices with positive eigenvalues."""
    a = normal(*shape, dtype=dtype)
    return (a @ np.swapaxes(a.conj(), -1, -2) / shape[-1] + np.eye(shape[-1])).astype(dtype)


def grad(function):
    """Returns the gradient, by the first argument, of the weighted sum of a function's real and imaginary parts."""
    def weighted(x):
        values = jnp.ravel(x)
        weights = jnp.cos(jnp.arange(values.size, dtype=values.real.dtype))
        return jnp.sum(values.real * weights) + (jnp.sum(values.imag * weights[::-1]) if jnp.iscomplexobj(values) else 0)
    def total(*arguments):
        return sum(weighted(x) for x in jax.tree.leaves(function(*arguments)))
    return lambda *arguments: jax.grad(total)(*arguments)


def both(name, function, *arguments, tolerance=1.0):
    case(name, function, *arguments, tolerance=tolerance)
    case(f"{name}/gradient", grad(function), *arguments, tolerance=10 * tolerance)


# Unit tests of the runtime cover all four types.
TYPES = {"f32": np.float32, "c128": np.complex128}

# ---- Factorizations --------------------------------------------------------------------------
for name, dtype in TYPES.items():
    square, wide, tall = (normal(3, 5, 5, dtype=dtype), normal(2, 4, 6, dtype=dtype), normal(2, 6, 4, dtype=dtype))
    right = normal(3, 5, 2, seed=1, dtype=dtype)
    both(f"cholesky/{name}", jnp.linalg.cholesky, positive(3, 5, 5, dtype=dtype), tolerance=4)
    both(f"solve/{name}", jnp.linalg.solve, square, right, tolerance=40)
    both(f"inverse/{name}", jnp.linalg.inv, positive(7, 7, dtype=dtype), tolerance=4)
    both(f"slogdet/{name}", lambda a: jnp.linalg.slogdet(a)[1], square, tolerance=20)
    both(f"lu/{name}", lambda a: lax.linalg.lu(a)[0], tall, tolerance=20)
    case(f"lu/{name}/wide", lambda a: lax.linalg.lu(a), wide, tolerance=4)
    both(f"qr/{name}", lambda a: jnp.linalg.qr(a), tall, tolerance=10)
    case(f"qr/{name}/wide", lambda a: jnp.linalg.qr(a), wide, tolerance=4)
    case(f"qr/{name}/complete", lambda a: jnp.linalg.qr(a, mode="complete"), tall, tolerance=4)
    case(f"qr/{name}/pivoted", lambda a: jax.scipy.linalg.qr(a, pivoting=True), tall[0], tolerance=4)
    both(f"eigh/{name}", lambda a: jnp.linalg.eigh(a)[0], positive(3, 5, 5, dtype=dtype), tolerance=10)
    # Vectors have no unique sign or phase, so projections are compared, which do not depend on it.
    both(f"eigh/{name}/vectors", lambda a: (lambda w, v: jnp.einsum("...ij,...j,...kj->...ik", v, jnp.sqrt(w), v.conj()))(*jnp.linalg.eigh(a)),
         positive(3, 5, 5, dtype=dtype), tolerance=20)
    case(f"svd/{name}/values", lambda a: jnp.linalg.svd(a, compute_uv=False), wide, tolerance=4)
    for shape, matrices in ("wide", wide), ("tall", tall):
        both(f"svd/{name}/{shape}", lambda a: (lambda u, s, v: (s, (u * jnp.tanh(s)[..., None, :]) @ v))(*jnp.linalg.svd(a, full_matrices=False)), matrices, tolerance=40)
    case(f"svd/{name}/full", lambda a: jnp.abs(jnp.linalg.svd(a)[0]), wide, tolerance=10)
    both(f"triangular_solve/{name}", lambda a, b: [jax.scipy.linalg.solve_triangular(a, b, lower=low, trans=trans)
         for low in (False, True) for trans in (0, 1, 2)],
         (normal(5, 5, dtype=dtype) + 4 * np.eye(5)).astype(dtype), normal(5, 3, seed=1, dtype=dtype), tolerance=4)
    case(f"triangular_solve/{name}/right", lambda a, b: lax.linalg.triangular_solve(a, b, left_side=False, lower=True, unit_diagonal=True),
         square, normal(3, 2, 5, dtype=dtype), tolerance=20)
    both(f"tridiagonal_solve/{name}", lax.linalg.tridiagonal_solve, normal(2, 6, dtype=dtype), 5 + normal(2, 6, seed=1, dtype=dtype),
         normal(2, 6, seed=2, dtype=dtype), normal(2, 6, 3, seed=3, dtype=dtype), tolerance=10)
    case(f"householder_multiply/{name}", lambda a, c: (lambda h, tau: [lax.linalg.ormqr(h.mT, tau, c, left=True, transpose=t)
         for t in (False, True)] + [lax.linalg.ormqr(h.mT, tau, c.T, left=False)])(*jnp.linalg.qr(a, mode="raw")), normal(6, 4, dtype=dtype), normal(6, 3, seed=1, dtype=dtype), tolerance=4)

# The order of eigenvalues of general matrices is not defined, and vectors have no unique phase, so their products are
# compared.
for name, dtype in {"f32": np.float32, "f64": np.float64, "c64": np.complex64, "c128": np.complex128}.items():
    square = normal(3, 6, 6, dtype=dtype)
    case(f"eig/{name}/values", lambda a: (lambda w: [jnp.sum(w ** k, -1) for k in (1, 2, 3)])(jnp.linalg.eigvals(a)), square, tolerance=100)
    case(f"eig/{name}/vectors", lambda a: (lambda w, v: [jnp.einsum("bij,bj,bjk->bik", v, w, jnp.linalg.inv(v)), jnp.linalg.norm(v, axis=1)])(*jnp.linalg.eig(a)),
         square, tolerance=400)
    case(f"eig/{name}/left", lambda a: (lambda w, l, r: [jnp.sum(w, -1), jnp.eye(6) + jnp.abs(jnp.einsum("bji,bjk->bik", l.conj(), r) * (1 - jnp.eye(6)))])(
        *lax.linalg.eig(a)), square, tolerance=400)
    case(f"eig/{name}/gradient", grad(lambda a: (lambda w: [jnp.sum(w ** k, -1) for k in (1, 2)])(jnp.linalg.eigvals(a))), square, tolerance=400)
    case(f"schur/{name}", lambda a: (lambda t, z: [jnp.einsum("bij,bjk,blk->bil", z, t, z.conj()), jnp.tril(t, -2), jnp.trace(t, axis1=1, axis2=2)])(
        *lax.linalg.schur(a)), square, tolerance=100)
    case(f"schur/{name}/form", lambda a: jnp.trace(lax.linalg.schur(a, compute_schur_vectors=False)[0], axis1=1, axis2=2), square, tolerance=40)
    case(f"hessenberg/{name}", lambda a: jax.scipy.linalg.hessenberg(a, calc_q=True), square[0], tolerance=40)
    case(f"tridiagonal/{name}", lambda a: [lax.linalg.tridiagonal(a, lower=lower) for lower in (False, True)], positive(3, 6, 6, dtype=dtype), tolerance=40)
case("sqrtm", jax.scipy.linalg.sqrtm, positive(5, 5), tolerance=400)
case("roots", lambda p: (lambda r: [jnp.sum(r), jnp.sum(r ** 2), jnp.prod(r)])(jnp.roots(p, strip_zeros=False)), np.array([2, -3, 5, 7, 1], np.float32), tolerance=100)

# These inputs give NaN in JAX: indefinite, singular or not finite; the other matrices of a batch have their factors.
INDEFINITE = positive(3, 4, 4)
INDEFINITE[1] -= 9 * np.eye(4, dtype=np.float32)
case("cholesky/indefinite", jnp.linalg.cholesky, INDEFINITE, tolerance=4)
SINGULAR = normal(3, 4, 4)
SINGULAR[1, :, 2] = 0
case("solve/singular", jnp.linalg.solve, SINGULAR[:2], normal(2, 4, 1), tolerance=40)
case("inverse/singular", jnp.linalg.inv, SINGULAR, tolerance=40)
NOT_FINITE = positive(3, 4, 4)
NOT_FINITE[0, 1, 1], NOT_FINITE[2, 0, 0] = np.nan, np.inf
case("eigh/not_finite", lambda a: jnp.linalg.eigh(a)[0], NOT_FINITE, tolerance=10)
case("eig/not_finite", lambda a: (lambda w: [jnp.sum(w, -1), jnp.sum(w ** 2, -1)])(jnp.linalg.eigvals(a)), NOT_FINITE, tolerance=100)
# jaxlib's LAPACK does not end for an infinity.
case("svd/not_finite", lambda a: jnp.linalg.svd(a)[1], NOT_FINITE[:2], tolerance=10)
for shape in (0, 0), (3, 0, 0), (0, 4, 4):
    case(f"empty/{'x'.join(map(str, shape))}", lambda a: (jnp.linalg.cholesky(a), jnp.linalg.eigh(a), lax.linalg.lu(a), jnp.linalg.qr(a)),
         np.zeros(shape, np.float32))
case("eig/empty", lambda a: (jnp.linalg.eig(a), lax.linalg.schur(a)), np.zeros((2, 0, 0), np.float32))
case("svd/empty", lambda a: jnp.linalg.svd(a), np.zeros((2, 0, 3), np.float32))
case("orthogonal_initializer", lambda: jax.nn.initializers.orthogonal()(jax.random.key(0), (8, 5)), tolerance=4)
case("in_a_loop", lambda a: lax.fori_loop(0, 3, lambda i, x: jnp.linalg.cholesky(x @ x.T + jnp.eye(4)), a), positive(4, 4), tolerance=20)
case("of_a_slice", lambda a: jnp.linalg.cholesky(a[1, :4, 1:5] @ a[1, :4, 1:5].T + jnp.eye(4)), normal(3, 6, 6), tolerance=4)

# ---- Complex numbers -------------------------------------------------------------------------
PARTS = np.array([0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -3.0, 1e-4, -1e-4], np.float32)
PLANE = (PARTS[:, None] + 1j * PARTS[None, :]).astype(np.complex64)
FUNCTIONS = {"exponentials": (jnp.exp, jnp.log, jnp.log1p, jnp.expm1), "roots": (jnp.sqrt, jnp.abs, jnp.square, lambda x: x ** 3),
             "trigonometric": (jnp.sin, jnp.cos, jnp.tan, jnp.sinh, jnp.cosh, jnp.tanh, jax.nn.sigmoid)}
for name, functions in FUNCTIONS.items():
    def every(x, functions=functions):
        return [function(x) for function in functions]
    case(f"complex/{name}/plane", every, PLANE, tolerance=4)
    case(f"complex/{name}/normal", every, 3 * normal(40, dtype=np.complex64), tolerance=4)
    case(f"complex/{name}/f64", every, 3 * normal(40, dtype=np.complex128), tolerance=4)
    case(f"complex/{name}/gradient", grad(every), 2 * normal(30, dtype=np.complex64), tolerance=10)
INVERSE = lambda x: [f(x) for f in (jnp.arcsin, jnp.arccos, jnp.arctan, jnp.arcsinh, jnp.arccosh, jnp.arctanh)]
case("complex/inverse/normal", INVERSE, 3 * normal(40, dtype=np.complex64), tolerance=4)
case("complex/inverse/f64", INVERSE, 3 * normal(40, dtype=np.complex128), tolerance=4)
case("complex/inverse/gradient", grad(INVERSE), 2 * normal(30, dtype=np.complex64), tolerance=20)
case("complex/inverse/cuts", INVERSE, np.array([2, -2, 2j, 0 - 2j, 0.5, 0 - 0.5j, 1 + 1e-3j, 1e-4 + 1e-4j, 1e6 - 1e7j], np.complex64), tolerance=4)
case("complex/signs", lambda x: (jnp.sign(x), jnp.angle(x), -x, jnp.conj(x), jnp.isfinite(x)), PLANE)
case("complex/rsqrt", lax.rsqrt, normal(40, dtype=np.complex64), tolerance=2)
LARGE = np.array([1e20, 1e20j, 1e25 + 1e25j, 1e-25 - 1e-25j, 3e37 + 4e37j], np.complex64)
case("complex/large", lambda x: (jnp.abs(x), jnp.sqrt(x), jnp.log(x), x / x), LARGE, tolerance=4)
case("complex/two", lambda x, y: (x + y, x - y, x * y, x / y, x ** y, x == y, x != y, jnp.maximum(x, y), jnp.minimum(x, y)),
     normal(7, 9, dtype=np.complex64), normal(7, 9, seed=1, dtype=np.complex64), tolerance=4)
case("complex/power/zero", jnp.power, np.zeros(3, np.complex64), np.array([0, 2, 1 + 1j], np.complex64))
case("complex/convert", lambda x: (lax.convert_element_type(x, np.complex64), x + 2j), normal(9))
case("complex/parts", lambda x, y: (lax.complex(x, y).T, lax.real(lax.complex(x, y)), jnp.imag(lax.complex(x, y) ** 3)), normal(3, 4), normal(3, 4, seed=1))
case("complex/constants", lambda x: x * np.array([1 + 2j, 3 - 1j, 0.5j], np.complex64), normal(4, 3, dtype=np.complex64))
case("complex/select", lambda x, y: jnp.where(jnp.abs(x) > 1, x, y), normal(9, dtype=np.complex64), normal(9, seed=1, dtype=np.complex64))
case("complex/moves", lambda x: (x.T.reshape(6, 2)[::-1], jnp.concatenate([x, x[:, :2]], 1), jnp.pad(x, 1), x[1:, ::2], jnp.roll(x, 1, 0)), normal(3, 4, dtype=np.complex64))
case("complex/gather", lambda x, i: (x[i], x.at[i].add(x[i]), x.at[i].set(1j)), normal(8, 3, dtype=np.complex64), np.array([3, 0, 7], np.int32))
case("complex/dynamic_slice", lambda x, i: lax.dynamic_update_slice(x, lax.dynamic_slice(x, (i, 0), (2, 3)) * 1j, (0, i)), normal(5, 4, dtype=np.complex64), np.int32(1))
case("complex/sum", lambda x: (x.sum(), x.mean(0), jnp.cumsum(x, 1), jnp.prod(x, 1)), normal(4, 5, dtype=np.complex64), tolerance=4)
case("complex/sort", lambda x: jnp.sort(x, axis=0), np.round(normal(20, 3, dtype=np.complex64)))
case("complex/loop", lambda x: lax.fori_loop(0, 5, lambda i, c: (c[0] * c[1] + 1, c[1]), (x, x / 4))[0], normal(6, dtype=np.complex64), tolerance=4)
case("complex/scan", lambda x: lax.scan(lambda c, y: (c * 0.5j + y, c), jnp.zeros(3, np.complex64), x), normal(6, 3, dtype=np.complex64), tolerance=4)
case("complex/cond", lambda x: lax.cond(jnp.sum(x.real) > 0, lambda y: y * 1j, lambda y: y.conj(), x), normal(6, dtype=np.complex64))
both("complex/matmul", lambda x, y: x @ y, normal(20, 30, dtype=np.complex64), normal(30, 10, seed=1, dtype=np.complex64), tolerance=4)
both("complex/einsum", lambda x, y: jnp.einsum("bixy,ioxy->boxy", x, y), normal(2, 3, 4, 5, dtype=np.complex64), normal(3, 6, 4, 5, seed=1, dtype=np.complex64), tolerance=4)
case("complex/convolution", lambda x, w: lax.conv_general_dilated(x, w, (1,), "SAME"), normal(2, 3, 9, dtype=np.complex64), normal(4, 3, 3, seed=1, dtype=np.complex64), tolerance=4)


def complex_mlp(w1, w2, x):
    hidden = x @ w1
    hidden = jax.nn.relu(jnp.abs(hidden) - 0.1) * jnp.exp(1j * jnp.angle(hidden))
    return jnp.abs(hidden @ w2) ** 2


both("complex/mlp", complex_mlp, normal(6, 8, dtype=np.complex64), normal(8, 4, seed=1, dtype=np.complex64), normal(5, 6, seed=2, dtype=np.complex64), tolerance=10)

# ---- Fourier transforms ----------------------------------------------------------------------
LENGTHS = (1, 2, 3, 4, 5, 7, 8, 12, 16, 30, 61, 67, 100, 127, 194, 243, 1009, 1024)
case("fft/lengths", lambda x: [f(x[:, :n]) for n in LENGTHS for f in (jnp.fft.fft, jnp.fft.ifft)], normal(2, 1024, dtype=np.complex64), tolerance=4)
case("rfft/lengths", lambda x: [(jnp.fft.rfft(x[:, :n]), jnp.fft.irfft(jnp.fft.rfft(x[:, :n]) * 1j, n)) for n in LENGTHS], normal(2, 1024), tolerance=4)
case("fft/f64", lambda x: (jnp.fft.fft(x), jnp.fft.irfft(x)), normal(3, 131, dtype=np.complex128), tolerance=40)
case("rfft/f64", jnp.fft.rfft, normal(3, 134, dtype=np.float64), tolerance=40)
both("fft/2d", jnp.fft.fft2, normal(2, 6, 9, dtype=np.complex64), tolerance=4)
both("fft/3d", jnp.fft.fftn, normal(4, 3, 5, dtype=np.complex64), tolerance=4)
both("rfft/2d", jnp.fft.rfft2, normal(2, 6, 9), tolerance=4)
both("rfft/3d", lambda x: jnp.fft.rfftn(x, axes=(1, 2, 3)), normal(2, 4, 3, 6), tolerance=4)
both("irfft/2d", lambda x: jnp.fft.irfft2(x, (6, 9)), normal(2, 6, 5, dtype=np.complex64), tolerance=4)
both("irfft/3d", lambda x: jnp.fft.irfftn(x, (3, 4, 6)), normal(2, 3, 4, 4, dtype=np.complex64), tolerance=4)
case("fft/axis", lambda x: jnp.fft.fft(x, axis=1), normal(2, 6, 3))
case("fft/empty", jnp.fft.fft, np.zeros((0, 8), np.complex64))
case("fft/not_finite", lambda x: jnp.isnan(jnp.fft.rfft(x)[1]).any(), np.array([[np.nan] * 8, [1.0] * 8], np.float32))
both("fft/fnet", lambda x: jnp.real(jnp.fft.fft2(x)), normal(2, 8, 12), tolerance=4)
both("fft/long_convolution", lambda k, u: jnp.fft.irfft(jnp.fft.rfft(u, 32) * jnp.fft.rfft(k, 32), 32)[..., :16], normal(3, 16), normal(2, 3, 16, seed=1), tolerance=10)


def fourier_layer(w, x):
    """Computes a layer of a Fourier neural operator: complex weights on the lowest frequencies."""
    spectrum = jnp.fft.rfft2(x, axes=(1, 2))
    mixed = jnp.einsum("bxyi,xyio->bxyo", spectrum[:, :4, :4], w)
    padded = jnp.zeros((*spectrum.shape[:-1], w.shape[-1]), spectrum.dtype).at[:, :4, :4].set(mixed)
    return jax.nn.gelu(jnp.fft.irfft2(padded, x.shape[1:3], axes=(1, 2)))


both("fft/neural_operator", fourier_layer, normal(4, 4, 3, 5, dtype=np.complex64) / 4, normal(2, 8, 9, 3, seed=1), tolerance=10)


def state_space_kernel(a, c, dt):
    """Computes S4D: a diagonal state space model as a long convolution."""
    exponents = a * jnp.exp(dt)[:, None]
    powers = jnp.exp(exponents[..., None] * jnp.arange(16))
    return 2 * jnp.einsum("hn,hnl->hl", c * (jnp.exp(exponents) - 1) / a, powers).real


case("solve/bf16", lambda a, b: lax.linalg.triangular_solve(a, b, left_side=True), (normal(4, 4) + 4 * np.eye(4)).astype(jnp.bfloat16),
     normal(4, 2, seed=1).astype(jnp.bfloat16), tolerance=8000)
case("fft/empty_inside", jnp.fft.fft, np.zeros((3, 0, 4), np.complex64))
both("complex/state_space", state_space_kernel, (-0.5 + 1j * normal(3, 4)).astype(np.complex64), normal(3, 4, dtype=np.complex64), normal(3) - 2, tolerance=10)


# ---- The comparison --------------------------------------------------------------------------
def as_pairs(value):
    value = np.asarray(value)
    return np.stack([value.real, value.imag], -1) if value.dtype.kind == "c" else value


def is_wide(name):
    return any(np.asarray(leaf).dtype in (np.float64, np.complex128) for leaf in jax.tree.leaves(CASES[name][1]))


def compare_all(test, names):
    for wide in (False, True):
        cases = [(name, *CASES[name][:2]) for name in names if is_wide(name) == wide]
        if cases:
            with jax.enable_x64(wide):
                compare_together(test, cases, lambda *case: compare(test, *case), as_pairs)


def compare(test, name, results, expected):
    factor = CASES[name][2]
    for result, value in zip(results, expected, strict=True):
        test.assertEqual((result.shape, result.dtype), (value.shape, value.dtype))
        if value.dtype.kind in "iub":
            np.testing.assert_array_equal(result, value)
            continue
        epsilon = factor * (1e-13 if value.dtype == np.float64 else 2e-6)
        finite = np.abs(value[np.isfinite(value)])
        scale = finite.max() if finite.size else 1.0
        np.testing.assert_allclose(result, value, rtol=epsilon, atol=epsilon * scale)


def load_tests(loader, tests, pattern):
    chosen = sys.argv[1:]
    return in_batches([name for name in CASES if not chosen or name.startswith(tuple(chosen))], compare_all)


if __name__ == "__main__":
    if "CGX_COMPILE" not in os.environ:
        sys.exit("test_linear_algebra: expected CGX_COMPILE to name cgx-compile")
    unittest.main(argv=sys.argv[:1])
