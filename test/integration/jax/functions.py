"""Small functions that between them lower to every op of stablehlo, chlo and sdy that training steps
use: each row is a name, the function, and its arguments."""

import jobs  # first, because it sets the number of devices

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy import special
from jax.sharding import Mesh, PartitionSpec as P

VECTOR = np.linspace(-1, 1, 8, dtype=np.float32)
MATRIX = np.linspace(-1, 1, 64, dtype=np.float32).reshape(8, 8)
POSITIVE = MATRIX + 1.5
COUNTS = np.arange(64, dtype=np.int32).reshape(8, 8)
INDICES = np.array([[0], [3], [9]], np.int32)
IMAGE = np.zeros((2, 8, 8, 3), np.float32)
KERNEL = np.zeros((3, 3, 3, 4), np.float32)
COMPLEX = MATRIX.astype(np.complex64)
KEY = np.array([1, 2], np.uint32)
STATE = np.array([1, 2, 3, 4], np.uint32)


def each_of(*functions):
    """Returns a function with the results of all functions."""
    return lambda *arguments: [function(*arguments) for function in functions]


def on_four_devices(function, inputs=P("x"), outputs=P("x"), check=True):
    """Returns shard_map of `function` over an axis x."""
    mesh = Mesh(np.array(jax.devices()[:4]), ("x",))
    return jax.shard_map(function, mesh=mesh, in_specs=inputs, out_specs=outputs, check_vma=check)


def on_two_by_two(function, inputs, outputs):
    """Returns shard_map of `function` over axes x and y, without the check of varying values."""
    mesh = Mesh(np.array(jax.devices()[:4]).reshape(2, 2), ("x", "y"))
    return jax.shard_map(function, mesh=mesh, in_specs=inputs, out_specs=outputs, check_vma=False)


def groups_of_two(x):
    return lax.psum(x, "x", axis_index_groups=[[0, 1], [2, 3]])


def countdown(x):
    """Loops over a number and a tensor, with a condition of its own."""
    return lax.while_loop(lambda carry: jnp.logical_and(carry[0] > 0, carry[1].sum() < 100),
                          lambda carry: (carry[0] - 1, carry[1] * 2), (jnp.int32(5), x))


def scattered(mode):
    return lambda x, i: (x.at[i[:, 0]].set(1.0, mode=mode), x.at[i[:, 0], 2].add(3.0, mode=mode))


def select_in_place(x):
    with jax.named_scope("outer"):
        return jnp.where(x > 0, x, jnp.zeros_like(x))


FUNCTIONS = {
    # Element by element.
    "unary_of_floats": (each_of(*(getattr(jnp, name) for name in """abs cbrt ceil cos exp expm1 floor log log1p negative
        sign sin sqrt tan tanh isfinite round rint square reciprocal""".split()), lax.rsqrt, jax.nn.sigmoid,
        lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO)), (POSITIVE,)),
    "unary_of_integers": (each_of(lax.clz, lax.population_count, lax.bitwise_not, jnp.sign), (COUNTS,)),
    "binary_of_floats": (each_of(lax.add, lax.sub, lax.mul, lax.div, lax.rem, lax.max, lax.min, lax.pow, lax.atan2,
                                 jnp.mod, jnp.floor_divide, lax.nextafter), (POSITIVE, MATRIX)),
    "binary_of_integers": (each_of(lax.bitwise_and, lax.bitwise_or, lax.bitwise_xor, lax.shift_left, lax.div,
                                   lax.shift_right_arithmetic, lax.shift_right_logical, lax.rem), (COUNTS, COUNTS)),
    "powers": (each_of(lambda x: x ** 2, lambda x: x ** 3.5, lambda x: lax.integer_pow(x, -3), jnp.exp2), (POSITIVE,)),
    "complex_numbers": (each_of(jnp.real, jnp.imag, jnp.conj, jnp.abs, lambda x: lax.complex(x.real, x.imag), jnp.angle),
                        (COMPLEX,)),
    "comparisons": (each_of(lax.eq, lax.ne, lax.ge, lax.gt, lax.le, lax.lt), (MATRIX, MATRIX)),
    "comparisons_of_integers": (each_of(lax.eq, lax.lt, lambda x, y: x.astype(np.uint8) < y.astype(np.uint8),
                                        lambda x, y: (x > 3) == (y > 3)), (COUNTS, COUNTS)),
    "choices": (each_of(select_in_place, lambda x: lax.clamp(-0.5, x, 0.5), lambda x: lax.clamp(x, x + 1, x + 2),
                        lambda x: lax.select_n(x[0, 0] > 0, x, -x)), (MATRIX,)),
    "conversions": (each_of(*(functools.partial(lambda kind, x: x.astype(kind), kind) for kind in
                              (np.int8, np.uint32, np.float16, jnp.bfloat16, bool, jnp.float8_e4m3fn, jnp.int4)),
                            lambda x: lax.bitcast_convert_type(x, np.uint8), lambda x: lax.reduce_precision(x, 8, 7)),
                    (MATRIX,)),
    "accuracy": (each_of(lambda x: lax.exp(x, accuracy=lax.AccuracyMode.HIGHEST),
                         lambda x: lax.tanh(x, accuracy=lax.Tolerance(atol=1e-5, rtol=0.0, ulps=2))), (MATRIX,)),
    "chlo_functions": (each_of(*(getattr(jnp, name) for name in """arccos arccosh arcsin arcsinh arctan arctanh cosh sinh
        isinf isposinf isneginf""".split()), lax.erf, lax.erfc, lax.erf_inv, lax.lgamma, lax.digamma, lax.bessel_i1e,
        special.i0e, lambda x: lax.polygamma(1.0, x), lambda x: lax.zeta(x + 1, x)), (POSITIVE,)),
    "gamma_functions": (each_of(lambda x: lax.igamma(x, x), lambda x: lax.igammac(x, x),
                                lambda x: special.betainc(x, x, x / 3)), (POSITIVE,)),
    "activations": (each_of(jax.nn.relu, jax.nn.gelu, jax.nn.silu, jax.nn.softplus, jax.nn.elu, jax.nn.softmax,
                            jax.nn.log_softmax, jax.nn.swish, functools.partial(jax.nn.gelu, approximate=False)),
                    (MATRIX,)),
    # Shapes and places.
    "shapes": (each_of(jnp.transpose, jnp.ravel, lambda x: x[::-1], lambda x: x[1:5, ::2], lambda x: x[:, None] + x,
                       lambda x: jnp.pad(x, ((1, 2), (0, 1))), lambda x: lax.pad(x, 0.0, [(0, -1, 2), (-1, 0, 0)]),
                       lambda x: jnp.concatenate([x, x, x[:2]]), lambda x: jnp.stack([x, x], 1),
                       lambda x: jnp.tile(x, 2), lambda x: jnp.roll(x, 3, 1), jnp.tril, jnp.diag), (MATRIX,)),
    "constants": (each_of(lambda x: x + np.arange(8, dtype=np.float32), lambda x: jnp.arange(8) * 2,
                          lambda x: jnp.full((2, 0), np.inf), lambda x: jnp.array([True, False]),
                          lambda x: x + np.float32(np.nan), lambda x: lax.iota(np.uint16, 5)), (VECTOR,)),
    "dynamic_slices": (lambda x, i: (lax.dynamic_slice(x, (i, 0), (2, 8)), lax.dynamic_update_slice(x, x[:2], (i, 1)),
                                     x[i]), (MATRIX, np.int32(2))),
    "take_and_put": (lambda x, i: (jnp.take(x, i[:, 0], axis=1), jnp.take_along_axis(x, x.astype(np.int32), axis=1, mode="clip"),
                                   x[i[:, 0], i[:, 0]], jnp.take(x, i, mode="fill")), (MATRIX, INDICES)),
    "gradient_of_take": (jax.grad(lambda x, i: jnp.take(x, i[:, 0], axis=0).sum()), (MATRIX, INDICES)),
    "batched_gather": (jax.vmap(lambda x, i: x[i]), (MATRIX, np.arange(8, dtype=np.int32))),
    "scatter_clip": (scattered("clip"), (MATRIX, INDICES)),
    "scatter_drop": (scattered("drop"), (MATRIX, INDICES)),
    "scatter_promised": (scattered("promise_in_bounds"), (MATRIX, INDICES)),
    "scatter_other": (lambda x, i: (x.at[i[:, 0]].max(0.0), x.at[i[:, 0]].min(0.0), x.at[i[:, 0]].multiply(2.0),
                                    x.at[i[:, 0]].apply(jnp.sin)), (MATRIX, INDICES)),
    "embedding": (jax.grad(lambda table, i: (table[i] ** 2).sum()), (MATRIX, INDICES[:, 0])),
    "optimization_barrier": (lambda x: lax.optimization_barrier((x, x + 1)), (VECTOR,)),
    # Contractions.
    "dots": (each_of(jnp.dot, lambda x, y: x @ y.T, lambda x, y: jnp.einsum("ij,ij->i", x, y), jnp.outer, jnp.kron,
                     lambda x, y: x[0] @ y, lambda x, y: jnp.einsum("ij,kl->ijkl", x, y)), (MATRIX, MATRIX)),
    "batched_dot": (lambda x, y: jnp.einsum("bij,bjk->bik", x, y), (np.zeros((2, 3, 4), np.float32),
                                                                    np.zeros((2, 4, 5), np.float32))),
    "dot_precisions": (lambda x, y: (jnp.dot(x, y, precision="highest"),
                                     jnp.dot(x.astype(jnp.bfloat16), y.astype(jnp.bfloat16),
                                             preferred_element_type=np.float32),
                                     lax.dot(x, y, precision=lax.DotAlgorithmPreset.BF16_BF16_F32_X3),
                                     lax.dot(x, y, precision=lax.DotAlgorithmPreset.F32_F32_F32)), (MATRIX, MATRIX)),
    "ragged_dot": (lax.ragged_dot, (MATRIX, np.zeros((2, 8, 4), np.float32), np.array([3, 5], np.int32))),
    "convolution": (lambda x, w: lax.conv_general_dilated(
        x, w, (2, 1), ((1, 1), (0, 2)), lhs_dilation=(1, 2), rhs_dilation=(2, 1), dimension_numbers=("NHWC", "HWIO", "NHWC")),
                    (IMAGE, KERNEL)),
    "convolution_gradients": (jax.grad(lambda x, w: lax.conv_general_dilated(
        x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")).sum(), argnums=(0, 1)), (IMAGE, KERNEL)),
    "grouped_convolution": (lambda x, w: lax.conv_general_dilated(
        x, w, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=3,
        precision=lax.Precision.HIGH), (IMAGE, np.zeros((3, 3, 1, 6), np.float32))),
    "convolution_of_vectors": (lambda x: (jnp.convolve(x, x), jnp.correlate(x, x)), (VECTOR,)),
    # Reductions.
    "reductions": (each_of(*(functools.partial(getattr(jnp, name), axis=1) for name in
                             "sum max min prod mean var any all argmax argmin".split()), jnp.linalg.norm,
                           jax.nn.logsumexp, lambda x: jnp.sum(x, keepdims=True)), (MATRIX,)),
    "reduction_of_two": (lambda x, i: lax.reduce(
        (x, i), (-np.inf, np.int32(0)), lambda a, b: tuple(jnp.where(a[0] > b[0], p, q) for p, q in zip(a, b)), (1,)),
                         (MATRIX, COUNTS)),
    "bitwise_reductions": (lambda x: (jnp.bitwise_and.reduce(x), lax.reduce_xor(x, (0,)), lax.reduce_or(x, (1,))),
                           (COUNTS,)),
    "pooling": (lambda x: (lax.reduce_window(x, -np.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"),
                           lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "SAME")), (IMAGE,)),
    "gradient_of_pooling": (jax.grad(lambda x: lax.reduce_window(
        x, -np.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID").sum()), (IMAGE,)),
    "cumulative": (each_of(jnp.cumsum, jnp.cumprod, lambda x: lax.cummax(x), lambda x: lax.cumlogsumexp(x),
                           lambda x: lax.associative_scan(jnp.add, x)), (VECTOR,)),
    "batch_statistics": (lambda x: (x - x.mean((0, 1, 2))) * lax.rsqrt(x.var((0, 1, 2)) + 1e-5), (IMAGE,)),
    # Order.
    "sorts": (each_of(jnp.sort, jnp.argsort, lambda x: lax.sort((x, x), num_keys=2), lambda x: lax.top_k(x, 3),
                      jnp.median, lambda x: jnp.searchsorted(x[0], x[1]), lambda x: lax.approx_max_k(x, 2)), (MATRIX,)),
    # Control.
    "while_loop": (countdown, (VECTOR,)),
    "fori_loop": (lambda x: lax.fori_loop(0, 10, lambda i, x: x + i, x), (VECTOR,)),
    "scan": (lambda x: lax.scan(lambda carry, row: (carry + row, carry.sum()), jnp.zeros(8), x), (MATRIX,)),
    "gradient_of_scan": (jax.grad(lambda x: lax.scan(lambda carry, row: (jnp.tanh(carry * row), None), x[0], x)[0].sum()),
                         (MATRIX,)),
    "cond": (lambda x: lax.cond(x[0] > 0, jnp.sin, jnp.cos, x), (VECTOR,)),
    "switch": (lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, lambda x: x * 2], x), (np.int32(1), VECTOR)),
    "remat": (jax.grad(jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)).sum())), (VECTOR,)),
    "outlined": (lambda x: jax.jit(jnp.sin)(x) + jax.jit(jnp.sin)(x * 2), (VECTOR,)),
    "custom_gradient": (jax.grad(lambda x: jax.nn.relu6(x).sum()), (VECTOR,)),
    # Random numbers, and calls of other code.
    "random_bits": (lambda s: lax.rng_bit_generator(s, (4, 2), np.uint32), (STATE,)),
    "random_philox": (lambda s: lax.rng_bit_generator(s, (4,), np.uint64 if jax.config.x64_enabled else np.uint32,
                                                      algorithm=lax.RandomAlgorithm.RNG_PHILOX), (STATE,)),
    "random_uniform": (lambda: lax.rng_uniform(np.float32(0), np.float32(1), (4,)), ()),
    "random_numbers": (lambda k: (jax.random.normal(k, (4,)), jax.random.bernoulli(k, 0.5, (4,)),
                                  jax.random.permutation(k, 8), jax.random.categorical(k, jnp.zeros((2, 3)))), (KEY,)),
    "fourier": (each_of(jnp.fft.fft, jnp.fft.ifft, jnp.fft.rfft2, lambda x: jnp.fft.irfft(x)), (MATRIX,)),
    "linear_algebra": (each_of(jnp.linalg.cholesky, lambda x: lax.linalg.triangular_solve(x, x), jnp.linalg.inv,
                               jnp.linalg.eigh, jnp.linalg.qr, jnp.linalg.svd), (POSITIVE,)),
    "callback": (lambda x: jax.pure_callback(np.sin, jax.ShapeDtypeStruct((8,), np.float32), x), (VECTOR,)),
    "print_of_values": (lambda x: jax.debug.print("x = {}", x, ordered=True) or x, (VECTOR,)),
    # Collectives.
    "psum": (on_four_devices(lambda x: (lax.psum(x, "x"), lax.pmean(x, "x")), outputs=P()), (MATRIX,)),
    "pmax": (on_four_devices(lambda x: (lax.pmax(x, "x"), lax.pmin(x, "x")), outputs=P()), (MATRIX,)),
    "psum_in_groups": (on_four_devices(groups_of_two, check=False), (MATRIX,)),
    "psum_of_two_axes": (on_two_by_two(lambda x: lax.psum(lax.psum(x, "y"), ("x", "y")), P("x", "y"), P()), (MATRIX,)),
    "all_gather": (on_four_devices(lambda x: (lax.all_gather(x, "x"), lax.all_gather(x, "x", tiled=True)), check=False),
                   (MATRIX,)),
    "psum_scatter": (on_four_devices(lambda x: (lax.psum_scatter(x[0, :4], "x", tiled=True),
                                                lax.psum_scatter(x[0, :4], "x"))[0]), (MATRIX,)),
    "ppermute": (on_four_devices(lambda x: lax.ppermute(x, "x", [(i, (i + 1) % 4) for i in range(4)])), (MATRIX,)),
    "all_to_all": (on_four_devices(lambda x: lax.all_to_all(x[:, :4], "x", 1, 0, tiled=True)), (MATRIX,)),
    "axis_index": (on_four_devices(lambda x: x + lax.axis_index("x")), (MATRIX,)),
    "gradient_in_shards": (on_four_devices(jax.grad(lambda w, x: lax.pmean(((x @ w) ** 2).mean(), "x")),
                                           (P(), P("x")), P()), (MATRIX, MATRIX)),
    "sharded_in_part": (lambda x: lax.with_sharding_constraint(
        x * 2, jax.NamedSharding(Mesh(np.array(jax.devices()[:4]).reshape(2, 2), ("x", "y")), P("x", "y"))), (MATRIX,)),
    "pmap": (jax.pmap(lambda x: lax.pmean(x, "i"), axis_name="i"), (MATRIX[:4],)),
}
