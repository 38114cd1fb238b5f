"""Gives the expected results of elementwise functions: references with more digits than the type has, and inputs that are
critical for implementations. Distances are in units in the last place (ulp)."""

import ml_dtypes
import numpy as np
import scipy.special

FLOATS = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}

SPECIAL = [0.0, 1, 2, 3, 0.5, 1.5, 2.5, 3.5, 4.5, 1e-5, 1e-3, 3e-4, 20, 87, 88, 88.5, 88.8, 89, 100, 103, 103.9, 104, 110,
           700, 709.7, 710, 745, 746, 1e10, 1e30, np.pi, np.pi / 2, np.pi / 4, 0.49999997, 8388609, 16777217,
           4503599627370497, 0.25, 0.75, 0.9999999, 1.0000001, 0.9998, np.inf, np.nan]


def inputs(name, seed=0, random=3000):
    """Returns special values, all magnitudes of the type, and the neighborhoods of 0, 1 and -1."""
    dtype = np.dtype(FLOATS[name])
    limits = ml_dtypes.finfo(dtype)
    generator = np.random.default_rng(seed)
    bits = generator.integers(0, 2**(8 * dtype.itemsize), random, dtype=np.uint64)
    special = [*SPECIAL, float(limits.max), float(limits.tiny), float(limits.smallest_subnormal), float(limits.eps)]
    near = [center + sign * 10**generator.uniform(-9, 0, 100) for center in (0, 1, -1) for sign in (1, -1)]
    values = [np.array([*special, *(-x for x in special)]), *near, generator.normal(size=1000),
              20 * generator.normal(size=1000), 700 * generator.normal(size=500), np.arange(-50, 50, 0.5)]
    with np.errstate(all="ignore"):
        return np.concatenate([*(v.astype(dtype) for v in values), bits.astype(f"u{dtype.itemsize}").view(dtype)])


def widened(values):
    """Returns values in a wider type, with quiet NaNs: glibc's pow(1, x) is NaN for a signaling NaN, which conversions
    preserve on some processors, and arithmetic on none."""
    return values.astype(np.longdouble if values.dtype == np.float64 else np.float64) * 1


def ulps(result, reference):
    """Returns how far `result` is from `reference`, which has a wider type. NaN and the sign of zero have to agree."""
    limits = ml_dtypes.finfo(result.dtype)
    with np.errstate(all="ignore"):
        rounded, wide = reference.astype(result.dtype).astype(reference.dtype), result.astype(reference.dtype)
        least, greatest = np.frexp(np.array([float(limits.tiny), float(limits.max)]))[1] - 1
        magnitude = np.abs(np.where(np.isfinite(reference), reference, 0))
        exponent = np.clip(np.where(magnitude > 0, np.frexp(magnitude)[1] - 1, least), least, greatest)
        unit = np.ldexp(reference.dtype.type(1), exponent - limits.nmant)
        beyond = np.ldexp(reference.dtype.type(1), greatest + 1)  # where infinity is compared with numbers
        numbers = [np.where(np.isinf(x.astype(result.dtype)), np.copysign(beyond, x), x) for x in (wide, reference)]
        distance = np.abs(numbers[0] - numbers[1]) / unit
    distance[np.isnan(wide) & np.isnan(reference)] = 0
    distance[np.isnan(wide) != np.isnan(reference)] = np.inf
    distance[(wide == 0) & (rounded == 0) & (np.signbit(wide) != np.signbit(reference))] = np.inf
    return distance


def round_away(x):
    whole = np.floor(np.abs(x))
    return np.copysign(np.where(np.abs(x) - whole >= 0.5, whole + 1, whole), x)


def logistic(x):
    return np.where(x >= 0, 1, np.exp(x)) / (1 + np.exp(-np.abs(x)))


def maximum(x, y):
    return np.where((x == 0) & (y == 0), np.where(np.signbit(x) & np.signbit(y), -0.0, 0.0), np.maximum(x, y))


def minimum(x, y):
    return np.where((x == 0) & (y == 0), np.where(np.signbit(x) | np.signbit(y), -0.0, 0.0), np.minimum(x, y))


def in_double(function):
    """Computes in double, for functions of SciPy, which has no long doubles."""
    return lambda *x: function(*(v.astype(np.float64) for v in x)).astype(x[0].dtype)


def odd(function):
    """Restores the sign of zero, which SciPy drops."""
    return lambda x: np.copysign(function(np.abs(x)), x)


def lgamma(x):
    """Replaces SciPy's function, which is infinite for subnormal numbers."""
    return np.where(np.isinf(x), np.inf, np.where(np.abs(x) < 1e-300, -np.log(np.abs(x)), scipy.special.gammaln(x)))


def digamma(x):
    return np.where((x <= 0) & (x == np.floor(x)), np.nan, scipy.special.digamma(x))


# Name: reference, and the permitted ulps of f32 and f64; f16 and bf16 are computed in f32.
UNARY = {
    "stablehlo.abs": (np.abs, 0, 0), "stablehlo.negate": (np.negative, 0, 0), "stablehlo.ceil": (np.ceil, 0, 0),
    "stablehlo.floor": (np.floor, 0, 0), "stablehlo.round_nearest_even": (np.rint, 0, 0),
    "stablehlo.round_nearest_afz": (round_away, 0, 0),
    "stablehlo.sign": (lambda x: np.where((x == 0) | np.isnan(x), x, np.copysign(1, x)), 0, 0),
    "stablehlo.exponential": (np.exp, 1.5, 1), "stablehlo.exponential_minus_one": (np.expm1, 1.6, 1),
    "stablehlo.log": (np.log, 1.5, 1), "stablehlo.log_plus_one": (np.log1p, 1.6, 1),
    "stablehlo.logistic": (logistic, 3, 2), "stablehlo.tanh": (np.tanh, 5, 3),
    "stablehlo.sine": (np.sin, 1, 1), "stablehlo.cosine": (np.cos, 1, 1), "stablehlo.tan": (np.tan, 1.5, 1),
    "stablehlo.sqrt": (np.sqrt, 0.5, 0.5), "stablehlo.rsqrt": (lambda x: 1 / np.sqrt(x), 1.5, 1.5),
    "stablehlo.cbrt": (np.cbrt, 1.5, 3.5), "chlo.square": (np.square, 0.5, 0.5),
    "chlo.acos": (np.arccos, 1.5, 1), "chlo.acosh": (np.arccosh, 2.5, 2), "chlo.asin": (np.arcsin, 1.5, 1),
    "chlo.asinh": (np.arcsinh, 2.5, 2), "chlo.atan": (np.arctan, 1.5, 1), "chlo.atanh": (np.arctanh, 2.5, 2),
    "chlo.cosh": (np.cosh, 2, 2), "chlo.sinh": (np.sinh, 2.5, 2.5),
    "chlo.erf": (in_double(scipy.special.erf), 4, 3),
    "chlo.erfc": (in_double(scipy.special.erfc), 3, None),  # SciPy loses digits where the value is small
    "chlo.erf_inv": (in_double(odd(scipy.special.erfinv)), 8, 20),
    "chlo.bessel_i1e": (in_double(odd(scipy.special.i1e)), 1, 20),
    "chlo.lgamma": (in_double(lgamma), 1, None), "chlo.digamma": (in_double(digamma), 1, None),
}

BINARY = {
    "stablehlo.add": (np.add, 0.5, 0.5), "stablehlo.subtract": (np.subtract, 0.5, 0.5),
    "stablehlo.multiply": (np.multiply, 0.5, 0.5), "stablehlo.divide": (np.divide, 0.5, 0.5),
    "stablehlo.remainder": (np.fmod, 0, 0), "stablehlo.power": (np.power, 1, 1),
    "stablehlo.atan2": (np.arctan2, 2, 1),
    "stablehlo.maximum": (maximum, 0, 0), "stablehlo.minimum": (minimum, 0, 0),
}
