"""Small functions, each about one operation of training steps: name -> (function, arguments)."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax

import random_programs

CASES = {}


def case(name, function, *arguments):
    assert name not in CASES, name
    CASES[name] = (function, arguments)


def normal(*shape, seed=0, dtype=np.float32):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def integers(low, high, *shape, seed=0, dtype=np.int32):
    return np.random.default_rng(seed).integers(low, high, shape).astype(dtype)


SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 1e-30, -1e-30, 1e-10, 3e-4, 20.0, -20.0, 87.0, -87.0,
                    89.0, -110.0, 1e30, -1e30, np.inf, -np.inf, np.nan], np.float32)

# ---- Elementwise, floats ---------------------------------------------------------------------
for name, function in {
        "abs": jnp.abs, "ceil": jnp.ceil, "floor": jnp.floor, "round": jnp.round,
        "round_away": lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO), "sign": jnp.sign,
        "negate": jnp.negative, "exp": jnp.exp, "expm1": jnp.expm1, "tanh": jnp.tanh, "logistic": jax.nn.sigmoid,
        "sin": jnp.sin, "cos": jnp.cos, "tan": jnp.tan, "erf": lax.erf, "is_finite": jnp.isfinite, "cbrt": jnp.cbrt,
        "square": jnp.square, "gelu": lambda x: jax.nn.gelu(x, approximate=False), "gelu_tanh": jax.nn.gelu,
        "silu": jax.nn.silu, "softplus": jax.nn.softplus, "relu": jax.nn.relu}.items():
    case(f"{name}/normal", function, 3 * normal(33, 70))
    if name not in ("sin", "cos", "tan", "gelu", "gelu_tanh", "silu"):  # no digit is correct beyond 1e10 there
        case(f"{name}/special", function, SPECIAL)
case("erf_inv/normal", lax.erf_inv, np.concatenate([np.linspace(-1.1, 1.1, 500), [1 - 1e-6, 1e-30]]).astype(np.float32))
case("erf_inv/special", lax.erf_inv, SPECIAL)
case("erf_inv/bf16", lax.erf_inv, np.linspace(-1, 1, 50).astype(ml_dtypes.bfloat16))
case("lgamma/normal", lax.lgamma, np.concatenate([np.linspace(0.01, 30, 500), np.linspace(-9.3, -0.01, 50)]).astype(np.float32))
case("lgamma/special", lax.lgamma, SPECIAL)
case("digamma/normal", lax.digamma, np.concatenate([np.linspace(0.01, 30, 500), np.linspace(-9.3, -0.1, 50)]).astype(np.float32))
case("digamma/special", lax.digamma, SPECIAL[SPECIAL > -1e20])
case("next_after/special", lambda x, y: lax.bitcast_convert_type(lax.nextafter(x, y), jnp.int32), SPECIAL[:-1, None], SPECIAL[None, :-1])
for name, function in {"isinf": jnp.isinf, "isposinf": jnp.isposinf, "isneginf": jnp.isneginf, "isnan": jnp.isnan}.items():
    case(f"{name}/special", function, SPECIAL)
for name, function in {"log": jnp.log, "log1p": jnp.log1p, "sqrt": jnp.sqrt, "rsqrt": lax.rsqrt}.items():
    case(f"{name}/positive", function, np.exp(3 * normal(33, 70)))
    case(f"{name}/special", function, SPECIAL)
for name, function in {
        "add": jnp.add, "subtract": jnp.subtract, "multiply": jnp.multiply, "divide": jnp.divide,
        "maximum": jnp.maximum, "minimum": jnp.minimum, "atan2": jnp.arctan2, "rem": lax.rem,
        "less": jnp.less, "greater_equal": jnp.greater_equal, "equal": jnp.equal, "not_equal": jnp.not_equal}.items():
    case(f"{name}/f32", function, normal(9, 31), normal(9, 31, seed=1))
    case(f"{name}/special", function, SPECIAL[:, None], SPECIAL[None, :])
case("pow/f32", jnp.power, np.exp(normal(40)), normal(40, seed=1))
case("pow/integer", lambda x: x**3, normal(40))
case("clamp/scalar", lambda x: jnp.clip(x, -0.5, 0.5), normal(7, 9))
case("clamp/tensors", lax.clamp, normal(40) - 1, normal(40, seed=1), normal(40, seed=2) + 1)
case("select", jnp.where, integers(0, 2, 7, 9).astype(bool), normal(7, 9), normal(7, 9, seed=1))
case("select/scalar", lambda p, x, y: lax.select(p, x, y), np.bool_(True), normal(7, 9), normal(7, 9, seed=1))
case("reduce_precision", lambda x: lax.reduce_precision(x, 8, 7), normal(100))
case("reduce_precision/e5m2", lambda x: lax.reduce_precision(x, 5, 2), np.exp(4 * normal(200)) * np.sign(normal(200, seed=1)))
case("totalorder", lambda x: jnp.sort(x), SPECIAL[:-1])
case("next_after_bits", lambda x: lax.bitcast_convert_type(lax.bitcast_convert_type(x, jnp.int32) + 1, jnp.float32), normal(50))

# ---- Elementwise, integers and booleans --------------------------------------------------------
for dtype in (np.int32, np.uint32, np.int8, np.uint8):
    low, high = (-100, 100) if np.dtype(dtype).kind == "i" else (0, 200)
    x, y = integers(low, high, 60, dtype=dtype), integers(low, high, 60, seed=1, dtype=dtype)
    y[:5], x[10:12] = 0, np.iinfo(dtype).min
    y[10] = -1 if np.dtype(dtype).kind == "i" else 1
    for name, function in {"add": lax.add, "sub": lax.sub, "mul": lax.mul, "div": lax.div, "rem": lax.rem,
                           "max": lax.max, "min": lax.min, "and": lax.bitwise_and, "or": lax.bitwise_or,
                           "xor": lax.bitwise_xor, "lt": lax.lt, "ge": lax.ge, "eq": lax.eq}.items():
        case(f"{name}/{np.dtype(dtype).name}", function, x, y)
    shift = integers(0, 40, 60, seed=2, dtype=dtype)
    for name, function in {"shl": lax.shift_left, "shr": lax.shift_right_arithmetic,
                           "shrl": lax.shift_right_logical}.items():
        case(f"{name}/{np.dtype(dtype).name}", function, x, shift)
    for name, function in {"not": lax.bitwise_not, "sign": lax.sign, "popcount": lax.population_count,
                           "clz": lax.clz, "abs": jnp.abs}.items():
        case(f"{name}/{np.dtype(dtype).name}", function, x)
BITS = integers(0, 2, 50).astype(bool), integers(0, 2, 50, seed=1).astype(bool)
for name, function in {"and": jnp.logical_and, "or": jnp.logical_or, "xor": jnp.logical_xor, "eq": jnp.equal}.items():
    case(f"{name}/bool", function, *BITS)
case("not/bool", jnp.logical_not, BITS[0])
case("any/bool", lambda x: (jnp.any(x, 0), jnp.all(x, 1)), integers(0, 4, 6, 9).astype(bool))

# ---- Conversions -------------------------------------------------------------------------------
CONVERTIBLE = {"float32": np.concatenate([SPECIAL, 50 * normal(40)]), "bfloat16": (50 * normal(40)).astype(ml_dtypes.bfloat16),
               "float16": (50 * normal(40)).astype(np.float16), "int32": integers(-2**31, 2**31, 40, dtype=np.int64).astype(np.int32),
               "uint32": integers(0, 2**32, 40, dtype=np.int64).astype(np.uint32), "int8": integers(-128, 128, 40, dtype=np.int8),
               "uint8": integers(0, 256, 40, dtype=np.uint8), "bool": BITS[0]}
for source, values in CONVERTIBLE.items():
    for target in CONVERTIBLE:
        if source != target:
            case(f"convert/{source}-{target}", lambda x, t=target: lax.convert_element_type(x, t), values)
case("bf16/arithmetic", lambda x, y: jnp.tanh(x * y + x) / (1 + jnp.exp(y)),
     normal(50, dtype=ml_dtypes.bfloat16), normal(50, seed=1, dtype=ml_dtypes.bfloat16))
case("f16/arithmetic", lambda x, y: x * y + jnp.maximum(x, y), normal(50, dtype=np.float16), normal(50, seed=1, dtype=np.float16))

# ---- Shapes --------------------------------------------------------------------------------------
case("constant/dense", lambda x: x + np.arange(12, dtype=np.float32).reshape(3, 4), normal(3, 4))
case("constant/unsigned", lambda x: x + np.arange(12, dtype=np.uint32) * np.uint32(2**28), integers(0, 9, 12, dtype=np.uint32))
case("constant/bool", lambda x: jnp.where(np.arange(12) % 3 == 0, x, 0), normal(12))
case("iota/f32", lambda x: x + lax.broadcasted_iota(jnp.float32, (4, 5), 1), normal(4, 5))
case("iota/u32", lambda x: x + lax.broadcasted_iota(jnp.uint32, (4, 5), 0), integers(0, 9, 4, 5, dtype=np.uint32))
case("broadcast/unit", lambda x: jnp.broadcast_to(x[:, None, :], (4, 7, 5)), normal(4, 5))
case("broadcast/grow", lambda x: jnp.broadcast_to(x, (4, 7, 5)), normal(4, 1, 5))
case("broadcast/scalar", lambda x: jnp.full((3, 5), x), np.float32(3.5))
case("transpose", lambda x: jnp.transpose(x, (2, 0, 3, 1)), normal(3, 4, 5, 6))
case("reshape", lambda x: (x.reshape(5, 24), x.reshape(2, 2, 30), x.reshape(120), x.reshape(1, 4, 1, 5, 6)), normal(4, 5, 6))
case("reshape/scalar", lambda x: (x.reshape(()), x.reshape(1, 1)), normal(1))
case("reverse", lambda x: (x[::-1], x[:, ::-1], lax.rev(x, (0, 1))), normal(5, 7))
case("concatenate", lambda x, y, z: jnp.concatenate([x, y, z, x], 1), normal(3, 4), normal(3, 1, seed=1), normal(3, 6, seed=2))
case("slice", lambda x: (x[1:4, 2:9:3], x[-1], x[:, 3]), normal(5, 11))
case("slice/used", lambda x: jnp.tanh(x[1:4, 2:9:3]) @ x[:3, :2], normal(5, 11))
case("split", lambda x: jnp.split(x, 3, axis=1), normal(4, 9))
case("pad", lambda x: jnp.pad(x, ((1, 2), (0, 3)), constant_values=7), normal(4, 5))
case("pad/interior", lambda x: lax.pad(x, np.float32(2), ((1, 2, 1), (0, 3, 2))), normal(4, 5))
case("pad/negative", lambda x: lax.pad(x, np.float32(2), ((-1, 2, 0), (1, -2, 0))), normal(4, 5))
case("pad/negative_interior", lambda x: lax.pad(x, np.float32(2), ((-2, 1, 1), (1, -3, 2))), normal(4, 5))
case("pad/all", lambda x: lax.pad(x, np.float32(2), ((-4, 6, 0), (0, 0, 0))), normal(4, 5))
for start in ((0, 0), (2, 3), (9, -4), (-1, 100)):
    case(f"dynamic_slice/{start}", lambda x, i, j: lax.dynamic_slice(x, (i, j), (3, 2)), normal(6, 7),
         np.int32(start[0]), np.int32(start[1]))
    case(f"dynamic_update/{start}", lambda x, u, i, j: lax.dynamic_update_slice(x, u, (i, j)), normal(6, 7),
         normal(3, 2, seed=1), np.int32(start[0]), np.int32(start[1]))
case("roll", lambda x: jnp.roll(x, 2, axis=1), normal(3, 7))
case("tril", lambda x: jnp.where(jnp.tril(jnp.ones((6, 6), bool)), x, -1e9), normal(6, 6))
case("empty", lambda x: jnp.concatenate([x[:0], x]), normal(5, 2))

# ---- Nothing at all --------------------------------------------------------------------------------
case("empty/slices", lambda x: (x[5:], x[5:5], x[2:2, 1:], x[::2][3:], lax.slice(x, (5, 2), (5, 2))), normal(5, 2))
case("empty/concatenate", lambda x: jnp.concatenate([x[5:], x, x[:0], x[5:]]), normal(5, 2))
case("empty/pad", lambda x: (lax.pad(x[5:], np.float32(2), ((1, 2, 1), (0, 1, 0))), lax.pad(x, np.float32(2), ((-5, 0, 0), (0, 0, 3))),
                             lax.pad(x, np.float32(2), ((0, -5, 0), (0, -1, 0)))), normal(5, 2))
case("empty/elementwise", lambda x: (jnp.tanh(x[5:]) * 2, x[5:] > 1, x[5:].astype(jnp.int32)), normal(5, 2))
case("empty/reduce", lambda x: (jnp.sum(x[5:]), jnp.sum(x[5:], 0), jnp.sum(x[5:], 1), jnp.prod(x[:, 2:]), jnp.max(x[5:], 0, initial=-3)), normal(5, 2))
case("empty/dot", lambda x: (x[:, 2:] @ x[2:4, 2:].T, x[5:] @ x.T, x @ x[5:].T, jnp.einsum("ij,ij->i", x[:, 2:], x[:, 2:])), normal(5, 2))
case("empty/batched_dot", lambda x: (jnp.einsum("bij,bjk->bik", x, x)[2:], jnp.einsum("bij,bjk->bik", x[2:], x[2:]),
                                     jnp.einsum("bij,bjk->bik", x[:, :, 3:], x[:, 3:])), normal(2, 3, 3))
case("empty/large_dot", lambda x: (x[:, 64:] @ x[:, 64:].T, x[64:] @ x), normal(64, 64))
case("empty/gather", lambda x: (x[jnp.zeros(0, jnp.int32)], jnp.take(x[:, 2:], jnp.array([1, 3]), 0)), normal(5, 2))
case("empty/scatter", lambda x: (x.at[jnp.zeros(0, jnp.int32)].add(x[5:]), x[:, 2:].at[jnp.array([1, 3])].add(x[:2, 2:])), normal(5, 2))
case("empty/scatter_gradient", lambda x: jax.grad(lambda x: jnp.sum(jnp.sin(x[jnp.zeros(0, jnp.int32)])))(x), normal(5, 2))
case("empty/sort", lambda x: (jnp.sort(x[5:], 0), jnp.sort(x[5:], 1), jnp.sort(x[:, 2:], 1), jnp.argsort(x[5:], 0)), normal(5, 2))
case("empty/top_k", lambda x: (lax.top_k(x, 0), lax.top_k(x[5:], 1)), normal(5, 2))
case("empty/dynamic", lambda x, i: (lax.dynamic_slice(x, (i, 0), (0, 2)), lax.dynamic_update_slice(x, x[5:], (i, 0))), normal(5, 2), np.int32(3))
case("empty/shapes", lambda x: (x[5:].T, x[5:].reshape(2, 0), x[5:].reshape(0), jnp.broadcast_to(x[:0, None], (0, 4, 2)), x[5:][::-1],
                                jnp.tile(x[5:], (2, 3)), jnp.zeros((0, 3)) + x[0, 0]), normal(5, 2))
case("empty/cumulative", lambda x: (jnp.cumsum(x[5:], 1), jnp.cumprod(x[5:], 0), lax.cummax(x[:, 2:], 1)), normal(5, 2))
case("empty/window", lambda x: (lax.reduce_window(x[:, 2:], np.float32(0), lax.add, (2, 1), (1, 1), "VALID"),
                                lax.reduce_window(x[4:], np.float32(0), lax.add, (2, 1), (1, 1), "VALID")), normal(5, 2))
case("empty/convolution", lambda x, w: (lax.conv(x[:0], w, (1, 1), "SAME"), lax.conv(x[:, :0], w[:, :0], (1, 1), "SAME"),
                                        lax.conv(x, w[:0], (1, 1), "SAME"), lax.conv(x[:, :, :1], w, (1, 1), "VALID")),
     normal(2, 3, 5, 5), normal(4, 3, 3, 3, seed=1))
case("empty/select", lambda x: jnp.where(x[5:] > 0, x[5:], 1), normal(5, 2))
case("empty/loop", lambda x: lax.fori_loop(0, 3, lambda i, c: (c[0] * 2, c[1] + 1), (x[5:], x)), normal(5, 2))
case("empty/scan", lambda x: lax.scan(lambda c, v: (c + v, c * v), x[0], x[5:]), normal(5, 2))
case("empty/cond", lambda x, p: lax.cond(p, lambda x: x[5:] * 2, lambda x: x[:0] + 1, x), normal(5, 2), np.bool_(True))
case("empty/iota", lambda x: (jnp.arange(0) + x[0, 0], lax.broadcasted_iota(jnp.float32, (0, 3), 1) + x[0, 0]), normal(5, 2))
for extent in (1, 2, 3, 8, 13):
    case(f"associative_scan/{extent}", lambda a, b: lax.associative_scan(lambda s, t: (s[0] * t[0], s[1] * t[0] + t[1]), (a, b)),
         normal(extent, 3), normal(extent, 3, seed=1))
    case(f"associative_scan/gradient_{extent}", lambda a, b: jax.grad(lambda a, b: jnp.sum(jnp.sin(lax.associative_scan(
        lambda s, t: (s[0] * t[0], s[1] * t[0] + t[1]), (a, b), reverse=True)[1])), (0, 1))(a, b), normal(extent, 3), normal(extent, 3, seed=1))
    case(f"cumulative_gradients/{extent}", lambda x: jax.grad(lambda x: jnp.sum(jnp.sin(
        jnp.cumprod(x, 0) + lax.cummax(x, 0) + lax.cummin(x, 1) + lax.cumlogsumexp(x, 0))))(x), normal(extent, 4))

# ---- Reductions ----------------------------------------------------------------------------------
for axes in (0, 1, 2, (0, 1), (1, 2), (0, 2), None):
    case(f"sum/{axes}", lambda x, a=axes: jnp.sum(x, a), normal(9, 31, 17))
case("sum/long", lambda x: jnp.sum(x), np.abs(normal(1 << 20)))
for extent in (0, 1, 15, 16, 17, 32, 47, 100):
    case(f"sum/rows_{extent}", lambda x: (jnp.sum(x, 1), jnp.sum(x), jnp.sum(jnp.exp(x) * x, 1), jnp.mean(x[:, ::-1], 1)), normal(5, extent))
    case(f"sum/bool_{extent}", lambda x: jnp.mean(x > 0, 1), normal(5, extent))
    case(f"max/rows_{extent}", lambda x: (jnp.max(x, 1, initial=-1), jnp.min(x, initial=1), jnp.max(jnp.where(x > 0, jnp.nan, x), 1, initial=-1)),
         normal(5, extent))
case("sum/f16", lambda x: jnp.sum(x, 1), normal(19, 33, dtype=np.float16))
case("sum/slices", lambda x: (jnp.sum(x[:, 1:40], 1), jnp.sum(x[:, ::2], 1), jnp.sum(x.T, 1)), normal(19, 83))
case("max", lambda x: (jnp.max(x, 0), jnp.max(x, 1), jnp.min(x)), normal(19, 33))
case("max/nan", lambda x: jnp.max(x), SPECIAL)
case("prod", lambda x: jnp.prod(x, 1), normal(19, 33))
case("argmax", lambda x: (jnp.argmax(x, 0), jnp.argmin(x, 1)), normal(19, 33))
case("argmax/ties", lambda x: jnp.argmax(x, 1), integers(0, 3, 19, 33).astype(np.float32))
case("sum/int", lambda x: jnp.sum(x, 0), integers(-99, 99, 19, 33))
case("sum/bf16", lambda x: jnp.sum(x, 0), normal(19, 33, dtype=ml_dtypes.bfloat16))
case("variance", lambda x: (jnp.var(x, -1), jnp.std(x, 0)), normal(19, 33))
case("softmax", jax.nn.softmax, 5 * normal(19, 33))
case("log_softmax", jax.nn.log_softmax, 5 * normal(19, 33))
case("logsumexp", lambda x: jax.nn.logsumexp(x, 0), 5 * normal(19, 33))
case("cumsum", lambda x: jnp.cumsum(x, 1), normal(5, 33))
case("cumsum/reverse", lambda x: (lax.cumsum(x, 0, reverse=True), lax.cumsum(x, 1, reverse=True)), normal(5, 33))
case("cumsum/gradient", lambda x: jax.grad(lambda x: jnp.sum(jnp.sin(jnp.cumsum(x, 1))))(x), normal(5, 33, 3))
case("cumsum/int", lambda x: jnp.cumsum(x, 0), integers(-99, 99, 19, 3))
case("cumsum/one", lambda x: jnp.cumsum(x, 1), normal(5, 1))
case("cumsum/empty", lambda x: jnp.cumsum(x, 1), normal(0, 3))
case("cumsum/bool", lambda x: jnp.cumsum(x), BITS[0])
case("cumsum/long", lambda x: jnp.cumsum(x), integers(-9, 9, 100000).astype(np.float32))
case("cumprod", lambda x: jnp.cumprod(x, 0), normal(9, 5))
case("cummax", lambda x: (lax.cummax(x, 0), lax.cummin(x, 1)), normal(9, 5))
case("cummax/nan", lambda x: lax.cummax(x), SPECIAL)
case("cumlogsumexp", lambda x: lax.cumlogsumexp(x, 0), normal(9, 5))

# ---- Results that begin with one value ----------------------------------------------------------
case("results/fill", lambda x: (jnp.sum(x[:, 1:40], 1), jnp.sum(x[:, ::2], 1)), normal(19, 83))
case("results/update", lambda x, u: (lambda f: (lax.dynamic_update_slice(f, u, (0, 0)), f, lax.dynamic_update_slice(f, u, (7, 0))))(jnp.sin(x)),
     normal(19, 83), normal(3, 83, seed=1))
case("results/scatter", lambda x, u: (lambda f: (f.at[1].add(u), f.at[2].add(u), f))(jnp.zeros_like(x)), normal(19, 83), normal(83, seed=1))
case("results/chain", lambda x, u: (lambda f: (lambda g: (g.at[2].add(u), g, f))(f.at[1].add(u)))(jnp.sin(x)), normal(19, 83), normal(83, seed=1))
case("results/loops", lambda x: (lambda f: (lax.fori_loop(0, 3, lambda i, c: c + x, f), lax.fori_loop(0, 4, lambda i, c: c * x + 1, f)))(
    jnp.zeros_like(x)), normal(7, 5))
case("results/same", lambda x: (lambda f: (f, f, -f))(jnp.sin(x)), normal(7, 5))
case("results/matmul", lambda a, b: (lambda c: (c, c.at[0].add(1.0), c * 2))(a @ b), normal(32, 48), normal(48, 16, seed=1))

for seed in (*range(100), 1077, 1185, 1257):
    case(f"results/seed_{seed}", random_programs.program(seed), *(np.tanh(normal(*random_programs.SHAPE, seed=i)) for i in range(3)))

# ---- Products ------------------------------------------------------------------------------------
case("matmul/small", jnp.matmul, normal(3, 4), normal(4, 5, seed=1))
case("matmul/large", jnp.matmul, normal(65, 130), normal(130, 33, seed=1))
case("matmul/vector", lambda a, x: (a @ x, x[:65] @ a), normal(65, 130), normal(130, seed=1))
case("matmul/outer", jnp.outer, normal(65), normal(130, seed=1))
case("matmul/inner", jnp.dot, normal(6500), normal(6500, seed=1))
for equation, shapes in {
        "ij,kj->ik": ((65, 130), (33, 130)), "ji,jk->ik": ((130, 65), (130, 33)), "ji,kj->ik": ((130, 65), (33, 130)),
        "ij,jk->ki": ((65, 130), (130, 33)), "ji,kj->ki": ((130, 65), (33, 130)),
        "bij,bjk->bik": ((4, 20, 30), (4, 30, 25)), "bij,bkj->bik": ((4, 20, 30), (4, 25, 30)),
        "bij,bkj->bki": ((4, 20, 30), (4, 25, 30)),
        "bthd,bshd->bhts": ((2, 16, 4, 8), (2, 16, 4, 8)), "bhts,bshd->bthd": ((2, 4, 16, 16), (2, 16, 4, 8)),
        "btc,cd->btd": ((4, 16, 32), (32, 48)), "btc,btd->cd": ((4, 16, 32), (4, 16, 48)), "btd,cd->btc": ((4, 16, 48), (32, 48)),
        "abij,cbjak->abcik": ((2, 3, 4, 5), (6, 3, 5, 2, 7)), "ijk,jkl->il": ((10, 12, 14), (12, 14, 9)),
        "ijk,kjl->il": ((10, 12, 14), (14, 12, 9)), "i,i->": ((9,), (9,))}.items():
    case(f"einsum/{equation}", lambda a, b, e=equation: jnp.einsum(e, a, b), normal(*shapes[0]), normal(*shapes[1], seed=1))
case("matmul/bf16", jnp.matmul, normal(65, 130, dtype=ml_dtypes.bfloat16), normal(130, 33, seed=1, dtype=ml_dtypes.bfloat16))
case("matmul/mixed", lambda a, b: jnp.matmul(a, b, preferred_element_type=jnp.float32),
     normal(65, 130, dtype=ml_dtypes.bfloat16), normal(130, 33, seed=1, dtype=ml_dtypes.bfloat16))
case("matmul/f16", jnp.matmul, normal(65, 130, dtype=np.float16), normal(130, 33, seed=1, dtype=np.float16))
case("matmul/bf16_small", jnp.matmul, normal(3, 4, dtype=ml_dtypes.bfloat16), normal(4, 5, seed=1, dtype=ml_dtypes.bfloat16))
case("matmul/bf16_gradients", lambda a, b: jax.grad(lambda a, b: jnp.sum(jnp.tanh(a @ b).astype(jnp.float32)), (0, 1))(a, b),
     normal(65, 130, dtype=ml_dtypes.bfloat16) / 8, normal(130, 33, seed=1, dtype=ml_dtypes.bfloat16) / 8)
case("matmul/int", jnp.matmul, integers(-9, 9, 20, 30), integers(-9, 9, 30, 10, seed=1))
case("matmul/zero", jnp.matmul, normal(3, 0), normal(0, 5))

# ---- Gather and scatter -----------------------------------------------------------------------------
TABLE, IDS = normal(50, 16), integers(-60, 60, 4, 9)
for mode in ("clip", "fill", "wrap"):
    case(f"take/{mode}", lambda t, i, m=mode: jnp.take(t, i, axis=0, mode=m), TABLE, IDS)
case("index", lambda t, i: t[i], TABLE, np.abs(IDS) % 50)
case("take/axis1", lambda t, i: jnp.take(t, i, axis=1), TABLE, integers(0, 16, 5))
case("take_along_axis", lambda t, i: jnp.take_along_axis(t, i, 1), TABLE, integers(0, 16, 50, 3))
case("index/two", lambda t, i, j: t[i, j], TABLE, integers(0, 50, 7), integers(0, 16, 7, seed=1))
case("index/middle", lambda t, i: t[:, i, :], normal(3, 8, 5), integers(0, 8, 2, 3))
case("gather/window", lambda t, i: jax.vmap(lambda k: lax.dynamic_slice(t, (k, 0), (3, 4)))(i), TABLE, integers(-5, 60, 6))
case("embedding/gradient", lambda t, i, g: jax.vjp(lambda t: t[i], t)[1](g)[0], TABLE, integers(0, 50, 4, 9), normal(4, 9, 16, seed=1))
case("scatter/add", lambda t, i, u: t.at[i].add(u), TABLE, IDS, normal(4, 9, 16, seed=1))
case("scatter/set", lambda t, i, u: t.at[i].set(u, unique_indices=True), TABLE, np.arange(0, 50, 7), normal(8, 16, seed=1))
case("scatter/multiply", lambda t, i, u: t.at[i].multiply(u), TABLE, integers(0, 50, 6), normal(6, 16, seed=1))
case("scatter/max", lambda t, i, u: t.at[i].max(u), TABLE, integers(0, 50, 6), normal(6, 16, seed=1))
case("scatter/elements", lambda t, i, j, u: t.at[i, j].add(u), TABLE, integers(0, 50, 7), integers(0, 16, 7, seed=1), normal(7))
case("scatter/clip", lambda t, i, u: t.at[i].add(u, mode="clip"), TABLE, IDS, normal(4, 9, 16, seed=1))
case("scatter/batched", lambda t, i, g: jax.vjp(lambda t: jnp.take_along_axis(t, i, 1), t)[1](g)[0], TABLE,
     integers(0, 16, 50, 3), normal(50, 3, seed=1))
case("scatter/window", lambda t, i, u: lax.scatter_add(
    t, i, u, lax.ScatterDimensionNumbers((1, 2), (), (0, 1))), TABLE, np.array([[0, 0], [47, 3], [48, 0], [-1, 2], [5, 13]]), normal(5, 3, 4, seed=1))
case("one_hot", lambda i: jax.nn.one_hot(i, 12), integers(0, 12, 9))
case("cross_entropy", lambda x, y: jax.value_and_grad(
    lambda x: -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(x), y[:, None], 1)))(x), normal(19, 12), integers(0, 12, 19))

# ---- Control flow ---------------------------------------------------------------------------------
case("while/count", lambda x: lax.while_loop(lambda c: c[0] < 5, lambda c: (c[0] + 1, c[1] * 1.5), (0, x)), normal(7))
case("while/swap", lambda x, y: lax.fori_loop(0, 3, lambda i, c: (c[1], c[0]), (x, y)), normal(7), normal(7, seed=1))
case("while/rotate", lambda x, y, z: lax.fori_loop(0, 4, lambda i, c: (c[1], c[2], c[0] + c[1]), (x, y, z)), normal(7), normal(7, seed=1), normal(7, seed=2))
case("while/never", lambda x: lax.while_loop(lambda c: c[0] > 5, lambda c: (c[0] + 1, c[1] * 1.5), (0, x)), normal(7))
case("while/newton", lambda x: lax.while_loop(lambda y: jnp.max(jnp.abs(y * y - x)) > 1e-3, lambda y: 0.5 * (y + x / y), x), np.abs(normal(7)) + 1)
case("while/flag", lambda x: lax.while_loop(lambda c: c[0], lambda c: (jnp.sum(c[1]) < 50, c[1] * 2), (True, x))[1], np.abs(normal(7)))
case("while/nested", lambda x: lax.fori_loop(0, 3, lambda i, c: lax.fori_loop(0, i, lambda j, d: (d[1] + j, d[0]), c), (x, x + 1)), normal(7))
case("while/slices", lambda x: lax.fori_loop(0, 3, lambda i, c: jnp.concatenate([c[1:], c[:1]]) * 1.5, x), normal(7))
case("while/shared", lambda x: (lax.fori_loop(0, 3, lambda i, c: c * x + 1, x), x * 2), normal(7))
case("scan", lambda x: lax.scan(lambda c, v: (jnp.tanh(c + v), c * v), jnp.zeros(5), x), normal(11, 5))
case("scan/gradient", lambda x: jax.grad(lambda x: jnp.sum(lax.scan(lambda c, v: (jnp.tanh(c + v), c * v), jnp.zeros(5), x)[1]))(x), normal(11, 5))
case("scan/matmul", lambda w, x: lax.scan(lambda c, v: (jnp.tanh(c @ w + v), None), x[0], x)[0], normal(32, 32) / 6, normal(6, 20, 32, seed=1))
case("cond/true", lambda p, x: lax.cond(p, lambda x: x + 1, lambda x: x * 2, x), np.bool_(True), normal(7))
case("cond/false", lambda p, x: lax.cond(p, lambda x: (x + 1, x), lambda x: (x, x * 2), x), np.bool_(False), normal(7))
for index in (-3, 0, 1, 2, 9):
    case(f"switch/{index}", lambda i, x: lax.switch(i, [lambda x: x + 1, lambda x: x * 2, lambda x: -x], x), np.int32(index), normal(7))
case("composite", lambda x, y: lax.composite(lambda x, y, *, scale: jnp.sin(x) @ y * scale, "user.scaled")(x, y, scale=2.0) + 1,
     normal(7, 5), normal(5, 3, seed=1))
case("remat", lambda x: jax.grad(lambda x: jnp.sum(jax.checkpoint(lambda x: jnp.sin(jnp.tanh(x)))(x)))(x), normal(7))

# ---- Sorting and random numbers -----------------------------------------------------------------------
case("sort", lambda x: (jnp.sort(x, 0), jnp.sort(x, 1)), normal(9, 31))
case("sort/middle", lambda x: jnp.sort(x, 1), normal(4, 17, 3))
case("sort/special", jnp.sort, np.concatenate([SPECIAL[::-1], -SPECIAL]))
for extent in (0, 1, 2, 3, 4, 5, 8, 64, 65, 1000):
    case(f"sort/{extent}", jnp.sort, normal(extent))
    case(f"sort/{extent}_rows", lambda x: jnp.sort(x, 0), integers(-9, 9, extent, 2))
case("sort/equal", lambda x, y: lax.sort((x, y), num_keys=1), integers(0, 3, 100), np.arange(100, dtype=np.int32))
case("sort/keys", lambda x, y, z: lax.sort((x, y, z), num_keys=2), integers(0, 3, 100), integers(0, 3, 100, seed=1).astype(np.float32),
     np.arange(100, dtype=np.int32))
case("sort/bf16", lambda x: jnp.sort(x), normal(50, dtype=ml_dtypes.bfloat16))
case("sort/bool", lambda x: jnp.sort(x), BITS[0])
case("sort/same", lambda x: lax.sort((x, x, x + 1), num_keys=1), normal(50))
case("sort/gradient", lambda x, g: jax.vjp(jnp.sort, x)[1](g), normal(50), normal(50, seed=1))
case("sort/argument_kept", lambda x: (x + 1, jnp.sort(x), x * 2), normal(50))
case("sort/loop", lambda x: lax.fori_loop(0, 3, lambda i, x: jnp.sort(jnp.sin(x * 9)), x), normal(50))
case("argsort", lambda x: jnp.argsort(x, 1), integers(0, 9, 4, 31).astype(np.float32))
case("argsort/descending", lambda x: jnp.argsort(-x), normal(1000))
case("sort/unsigned", jnp.sort, integers(0, 2**32, 40, dtype=np.int64).astype(np.uint32))
case("sort/quantile", lambda x: jnp.quantile(x, 0.9, axis=0), normal(50, 3))
case("searchsorted", lambda x, y: jnp.searchsorted(jnp.sort(x), y), normal(50), normal(20, seed=1))
case("top_k", lambda x: lax.top_k(x, 5), normal(6, 40))
case("top_k/equal", lambda x: lax.top_k(x, 5), integers(0, 4, 6, 40))
case("top_k/special", lambda x: lax.top_k(x, 23), SPECIAL)
case("top_k/all", lambda x: lax.top_k(x, 7), normal(7))
case("top_k/unsigned", lambda x: lax.top_k(x, 3), integers(0, 256, 40, dtype=np.uint8))
case("top_k/bf16", lambda x: lax.top_k(x, 3), normal(40, dtype=ml_dtypes.bfloat16))
case("top_k/approx", lambda x: lax.approx_max_k(x, 4) + lax.approx_min_k(x, 3), normal(6, 40))
case("top_k/gradient", lambda x: jax.grad(lambda x: jnp.sum(jnp.sin(lax.top_k(x, 3)[0])))(x), normal(6, 40))
case("median", lambda x: jnp.median(x, 0), normal(9, 6))
case("random/uniform", lambda k: jax.random.uniform(jax.random.wrap_key_data(k), (40,)), np.array([3, 4], np.uint32))
case("random/normal", lambda k: jax.random.normal(jax.random.wrap_key_data(k), (40,)), np.array([3, 4], np.uint32))
for name, function in {"truncated_normal": lambda k: jax.random.truncated_normal(k, -2, 2, (500,)),
                       "orthogonal_seed": lambda k: jax.random.normal(k, (50, 3), jnp.bfloat16),
                       "categorical": lambda k: jax.random.categorical(k, jnp.arange(6.0), shape=(50,)),
                       "gumbel": lambda k: jax.random.gumbel(k, (50,)), "laplace": lambda k: jax.random.laplace(k, (50,)),
                       "exponential": lambda k: jax.random.exponential(k, (50,)), "randint": lambda k: jax.random.randint(k, (50,), -5, 90),
                       "choice": lambda k: jax.random.choice(k, 50, (7,), replace=False), "gamma": lambda k: jax.random.gamma(k, 2.5, (20,)),
                       "fold_in": lambda k: jax.random.uniform(jax.random.fold_in(k, 7), (20,))}.items():
    case(f"random/{name}", lambda k, f=function: f(jax.random.wrap_key_data(k)), np.array([3, 4], np.uint32))
RBG = np.array([3, 4, 5, 6], np.uint32)
case("random/bits", lambda k: jax.random.bits(jax.random.wrap_key_data(k, impl="rbg"), (20,)), RBG)
case("random/rbg_uniform", lambda k: jax.random.uniform(jax.random.wrap_key_data(k, impl="rbg"), (5, 9)), RBG)
case("random/rbg_split", lambda k: jax.random.bits(jax.random.split(jax.random.wrap_key_data(k, impl="unsafe_rbg"), 3)[1], (7,)), RBG)
# The counter carries into its upper half.
for algorithm in (lax.RandomAlgorithm.RNG_DEFAULT, lax.RandomAlgorithm.RNG_PHILOX, lax.RandomAlgorithm.RNG_THREE_FRY):
    case(f"random/{algorithm.name}", lambda k, a=algorithm: [lax.rng_bit_generator(k, shape, dtype, a) for dtype in (np.uint8, np.uint16, np.uint32)
         for shape in ((), (1,), (4,), (5,), (3, 5), (4, 3), (3, 4, 7), (1, 1), (0, 3))], np.array([3, 2**32 - 4, 2**32 - 1, 2**32 - 1], np.uint32))
case("random/bernoulli", lambda k: jax.random.bernoulli(jax.random.wrap_key_data(k), 0.3, (5, 9)), np.array([3, 4], np.uint32))
case("random/split", lambda k: jax.random.key_data(jax.random.split(jax.random.wrap_key_data(k), 3)), np.array([3, 4], np.uint32))
case("random/permutation", lambda k: jax.random.permutation(jax.random.wrap_key_data(k), 50), np.array([3, 4], np.uint32))
case("dropout", lambda k, x: jnp.where(jax.random.bernoulli(jax.random.wrap_key_data(k), 0.5, x.shape), x * 2, 0), np.array([3, 4], np.uint32), normal(7, 9))

# ---- Windows and convolutions -----------------------------------------------------------------------
IMAGE, FILTER = normal(2, 9, 8, 3), normal(3, 3, 3, 5, seed=1) / 5


def conv(x, w, strides=(1, 1), padding="SAME", **options):
    return lax.conv_general_dilated(x, w, strides, padding, dimension_numbers=("NHWC", "HWIO", "NHWC"), **options)


case("conv/same", conv, IMAGE, FILTER)
case("conv/valid", lambda x, w: conv(x, w, padding="VALID"), IMAGE, FILTER)
case("conv/strided", lambda x, w: conv(x, w, (2, 3)), IMAGE, FILTER)
case("conv/dilated", lambda x, w: conv(x, w, rhs_dilation=(2, 1)), IMAGE, FILTER)
case("conv/transposed", lambda x, w: conv(x, w, padding=((1, 1), (1, 1)), lhs_dilation=(2, 2)), IMAGE, FILTER)
case("conv/depthwise", lambda x, w: conv(x, w, feature_group_count=3), IMAGE, normal(3, 3, 1, 6, seed=1))
case("conv/1d", lambda x, w: lax.conv_general_dilated(x, w, (1,), "SAME"), normal(2, 3, 20), normal(4, 3, 5, seed=1))
case("conv/nchw", lambda x, w: lax.conv(x, w, (1, 1), "SAME"), normal(2, 3, 9, 8), normal(5, 3, 3, 3, seed=1))
case("conv/gradients", lambda x, w, g: jax.vjp(conv, x, w)[1](g), IMAGE, FILTER, normal(2, 9, 8, 5, seed=2))
case("conv/strided_gradients", lambda x, w, g: jax.vjp(lambda x, w: conv(x, w, (2, 2)), x, w)[1](g), IMAGE, FILTER, normal(2, 5, 4, 5, seed=2))
case("conv/depthwise_gradients", lambda x, w, g: jax.vjp(lambda x, w: conv(x, w, feature_group_count=3), x, w)[1](g), IMAGE, normal(3, 3, 1, 6, seed=1), normal(2, 9, 8, 6, seed=2))
case("conv/strided_odd", lambda x, w, g: jax.vjp(lambda x, w: conv(x, w, (3, 2), ((2, 0), (-1, 3))), x, w)[1](g), IMAGE, FILTER,
     normal(2, 3, 4, 5, seed=2))
case("conv/dilated_gradients", lambda x, w, g: jax.vjp(lambda x, w: conv(x, w, (1, 2), rhs_dilation=(2, 1)), x, w)[1](g), IMAGE, FILTER,
     normal(2, 9, 4, 5, seed=2))
case("conv/negative_padding", lambda x, w: conv(x, w, padding=((-2, 1), (3, -4))), IMAGE, FILTER)
case("conv/negative_padding_dilated", lambda x, w: conv(x, w, padding=((-3, 1), (3, -4)), lhs_dilation=(3, 2), rhs_dilation=(2, 3)), IMAGE, FILTER)
case("conv/1x1", conv, IMAGE, normal(1, 1, 3, 5, seed=1))
case("conv/1x1_gradients", lambda x, w, g: jax.vjp(conv, x, w)[1](g), IMAGE, normal(1, 1, 3, 5, seed=1), normal(2, 9, 8, 5, seed=2))
case("conv/1x1_strided", lambda x, w: conv(x, w, (2, 2)), IMAGE, normal(1, 1, 3, 5, seed=1))
case("conv/1x1_nchw", lambda x, w: lax.conv(x, w, (1, 1), "SAME"), normal(2, 3, 9, 8), normal(5, 3, 1, 1, seed=1))
case("conv/whole", lambda x, w: conv(x, w, padding="VALID"), IMAGE, normal(9, 8, 3, 5, seed=1))
case("conv/groups", lambda x, w: conv(x, w, (2, 1), feature_group_count=2), normal(2, 9, 8, 4), normal(3, 3, 2, 6, seed=1))
case("conv/groups_gradients", lambda x, w, g: jax.vjp(lambda x, w: conv(x, w, (2, 1), feature_group_count=2), x, w)[1](g),
     normal(2, 9, 8, 4), normal(3, 3, 2, 6, seed=1), normal(2, 5, 8, 6, seed=2))
case("conv/groups_nchw", lambda x, w, g: jax.vjp(lambda x, w: lax.conv_general_dilated(x, w, (1, 2), "SAME", feature_group_count=2), x, w)[1](g),
     normal(2, 4, 9, 8), normal(6, 2, 3, 3, seed=1), normal(2, 6, 9, 4, seed=2))
case("conv/batch_groups", lambda x, w: conv(x, w, batch_group_count=2), normal(4, 9, 8, 3), normal(3, 3, 3, 6, seed=1))
case("conv/batch_groups_gradients", lambda x, w, g: jax.vjp(lambda x, w: conv(x, w, batch_group_count=2), x, w)[1](g),
     normal(4, 9, 8, 3), normal(3, 3, 3, 6, seed=1), normal(2, 9, 8, 6, seed=2))
case("conv/3d", lambda x, w, g: jax.vjp(lambda x, w: lax.conv_general_dilated(x, w, (1, 2, 1), "SAME"), x, w)[1](g),
     normal(2, 3, 5, 6, 4), normal(4, 3, 3, 2, 3, seed=1), normal(2, 4, 5, 3, 4, seed=2))
case("conv/0d", lambda x, w: lax.conv_general_dilated(x, w, (), ()), normal(4, 3), normal(5, 3, seed=1))
for numbers in ("HNWC,OHIW->CHNW", "CWHN,IWHO->WNCH", "NHCW,WIOH->NHWC"):
    left, right = {"N": 2, "H": 9, "W": 8, "C": 3}, {"H": 3, "W": 2, "I": 3, "O": 5}
    case(f"conv/{numbers}", lambda x, w, n=(numbers[:4], numbers[5:9], numbers[11:]): lax.conv_general_dilated(
        x, w, (1, 2), "SAME", dimension_numbers=n), normal(*(left[c] for c in numbers[:4])), normal(*(right[c] for c in numbers[5:9]), seed=1))
case("conv/bf16", conv, IMAGE.astype(ml_dtypes.bfloat16), FILTER.astype(ml_dtypes.bfloat16))
case("conv/bf16_groups", lambda x, w: conv(x, w, feature_group_count=3), IMAGE.astype(ml_dtypes.bfloat16), normal(3, 3, 1, 6, seed=1, dtype=ml_dtypes.bfloat16))
case("conv/int", conv, integers(-9, 9, 2, 9, 8, 3), integers(-9, 9, 3, 3, 3, 5, seed=1))
case("conv/int_groups", lambda x, w: conv(x, w, feature_group_count=3), integers(-9, 9, 2, 9, 8, 3), integers(-9, 9, 3, 3, 1, 6, seed=1))
case("conv/empty", lambda x, w: conv(x, w), normal(0, 9, 8, 3), FILTER)
case("conv/no_features", lambda x, w: conv(x, w), normal(2, 9, 8, 0), normal(3, 3, 0, 5))
case("conv/relu", lambda x, w, v: conv(jax.nn.relu(conv(x, w)), v), IMAGE, FILTER, normal(3, 3, 5, 4, seed=3))
case("conv/scan", lambda x, w: lax.scan(lambda c, _: (jnp.tanh(conv(c, w)), None), x, None, 3)[0], IMAGE, normal(3, 3, 3, 3, seed=1))


def random_convolution(seed):
    """Returns a convolution with its gradients, large enough for a library, with random strides, padding, dilations,
    groups and layouts."""
    rng = np.random.default_rng(seed)
    rank = int(rng.integers(1, 4))

    def draw(low, high):
        return tuple(int(x) for x in rng.integers(low, high, rank))
    window, strides, inner, outer = draw(1, 5), draw(1, 4), draw(1, 3), draw(1, 3) if seed % 3 == 0 else (1,) * rank
    if seed % 4 == 3:
        strides, inner = (1,) * rank, (1,) * rank
    # XLA on CPUs reads wrong places where one end of a dimension is cut and the other padded, so both ends are cut or
    # padded.
    padding = [tuple(int(x) for x in (rng.integers(0, 4, 2) if seed % 5 else rng.integers(-2, 1, 2))) for _ in range(rank)]
    covered = [(w - 1) * d + 1 for w, d in zip(window, inner)]
    size = [int(rng.integers(c + 4, c + {1: 60, 2: 14, 3: 7}[rank])) for c in covered]
    groups = (1, 1, 1, 2, 1, 1, 8, 1)[seed % 8]
    channels, features, batch = groups * int(rng.integers(1 if groups > 1 else 9, 18)), groups * int(rng.integers(1, 18)), int(rng.integers(1, 5))
    dtype = ml_dtypes.bfloat16 if seed % 7 == 6 else np.float32
    orders = [rng.permutation(rank + 2) for _ in range(3)]
    letters = [np.array(list(two + "DHW"[:rank])) for two in ("NC", "OI", "NC")]
    lhs, rhs = np.array([batch, channels, *size]), np.array([features, channels // groups, *window])

    def function(x, w, cotangent_scale):
        def run(x, w):
            return lax.conv_general_dilated(x, w, strides, padding, outer, inner, feature_group_count=groups,
                                            dimension_numbers=tuple("".join(names[order]) for names, order in zip(letters, orders)))
        result, pull = jax.vjp(run, x, w)
        return result, pull(cotangent_scale * jnp.cos(jnp.arange(result.size).reshape(result.shape)).astype(result.dtype))
    scale = np.prod(rhs[1:]) ** -0.5
    case(f"conv/random_{seed}", function, normal(*lhs[orders[0]], seed=seed, dtype=dtype),
         (normal(*rhs[orders[1]], seed=seed + 1) * scale).astype(dtype), np.asarray(0.05, dtype))


for seed in range(32):
    random_convolution(seed)
for name, init, function in (("max", -np.inf, lax.max), ("sum", 0.0, lax.add)):
    case(f"pool/{name}", lambda x, i=init, f=function: lax.reduce_window(x, np.float32(i), f, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), IMAGE)
    case(f"pool/{name}_overlapping", lambda x, i=init, f=function: lax.reduce_window(x, np.float32(i), f, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"), IMAGE)
    case(f"pool/{name}_gradient", lambda x, i=init, f=function: jax.grad(lambda x: jnp.sum(jnp.sin(lax.reduce_window(x, np.float32(i), f, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"))))(x), IMAGE)
    case(f"pool/{name}_nchw", lambda x, i=init, f=function: lax.reduce_window(x, np.float32(i), f, (1, 1, 3, 2), (1, 1, 2, 1), "SAME"), IMAGE)
    case(f"pool/{name}_dilated", lambda x, i=init, f=function: lax.reduce_window(
        x, np.float32(i), f, (1, 3, 2, 1), (1, 2, 1, 1), ((0, 0), (3, 1), (-1, 2), (0, 0)), (1, 2, 3, 1), (1, 2, 1, 1)), IMAGE)
    case(f"pool/{name}_negative_padding", lambda x, i=init, f=function: lax.reduce_window(
        x, np.float32(i), f, (1, 3, 2, 2), (1, 2, 1, 1), ((0, 0), (-2, -1), (-1, 2), (0, 0))), IMAGE)
    case(f"pool/{name}_global", lambda x, i=init, f=function: lax.reduce_window(x, np.float32(i), f, (1, 9, 8, 1), (1, 1, 1, 1), "VALID"), IMAGE)
    case(f"pool/{name}_nothing", lambda x, i=init, f=function: lax.reduce_window(x, np.float32(i), f, (1, 1, 1, 1), (1, 2, 3, 1), "VALID"), IMAGE)
    case(f"pool/{name}_empty", lambda x, i=init, f=function: lax.reduce_window(x, np.float32(i), f, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), normal(0, 9, 8, 3))
    case(f"pool/{name}_windows_in_gaps", lambda x, i=init, f=function: jax.grad(lambda x: jnp.sum(jnp.sin(lax.reduce_window(
        x, np.float32(i), f, (1, 2, 3, 1), (1, 3, 4, 1), ((0, 0), (1, 2), (0, 3), (0, 0))))))(x), IMAGE)
    case(f"pool/{name}_bf16", lambda x, i=init, f=function: lax.reduce_window(
        x, ml_dtypes.bfloat16(i), f, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), IMAGE.astype(ml_dtypes.bfloat16))
case("pool/int", lambda x: lax.reduce_window(x, np.int32(-2**31), lax.max, (3, 3), (1, 2), "SAME"), integers(-99, 99, 9, 8))
case("pool/unsigned", lambda x: lax.reduce_window(x, np.uint8(0), lax.max, (3, 3), (1, 2), "SAME"), integers(0, 256, 9, 8, dtype=np.uint8))
case("pool/ties", lambda x: jax.grad(lambda x: jnp.sum(jnp.sin(lax.reduce_window(
    x, np.float32(-np.inf), lax.max, (3, 3), (1, 2), "SAME"))))(x), integers(0, 3, 9, 8).astype(np.float32))
case("pool/pairs", lambda x, i: lax.reduce_window((x, i), (np.float32(-np.inf), np.int32(0)), lambda a, b: (
    jnp.maximum(a[0], b[0]), jnp.where(a[0] >= b[0], a[1], b[1])), (2, 2), (2, 2), "VALID"), normal(8, 6), np.arange(48, dtype=np.int32).reshape(8, 6))

# ---- Whole networks ---------------------------------------------------------------------------------
case("layer_norm/gradient", lambda x, g: jax.grad(lambda x: jnp.sum(jnp.sin((x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * g)))(x), normal(4, 6, 16), normal(16, seed=1))


def attention(x, w):
    q, k, v = jnp.split(x @ w, 3, axis=-1)
    q, k, v = (t.reshape(2, 16, 4, 8) for t in (q, k, v))
    scores = jnp.einsum("bthd,bshd->bhts", q, k) / np.sqrt(8).astype(np.float32)
    scores = jnp.where(jnp.tril(jnp.ones((16, 16), bool)), scores, -jnp.inf)
    return jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(scores), v).reshape(2, 16, 32)


case("attention", attention, normal(2, 16, 32), normal(32, 96, seed=1) / 6)
case("attention/gradient", lambda x, w: jax.grad(lambda x, w: jnp.sum(jnp.sin(attention(x, w))), (0, 1))(x, w), normal(2, 16, 32), normal(32, 96, seed=1) / 6)
