"""Compares elementwise functions over the whole range of their types with references of more digits.

    CGX_COMPILE=build/release/bin/cgx-compile python test_numbers.py
"""

import os
import sys
import unittest

import numpy as np
import scipy.special

import numbers_reference as reference
from compiled import Step

# The permitted error of compiled code in narrow types, which are computed in f32 and rounded once.
NARROW_ULPS = 0.51


def program(functions, types, result):
    """Returns a step that applies each of the functions to the same arguments."""
    names = [f"%x{i}" for i in range(len(types))]
    signature = ", ".join(f"{name}: {type}" for name, type in zip(names, types))
    lines = [f'  %r{i} = "{op}"({", ".join(names)}){attributes} : ({", ".join(types)}) -> {result}'
             for i, (op, attributes) in enumerate(functions)]
    results = ", ".join(f"%r{i}" for i in range(len(functions)))
    kinds = ", ".join([result] * len(functions))
    return "\n".join([f"func.func public @main({signature}) -> ({kinds}) {{", *lines,
                      f"  return {results} : {kinds}", "}"])


def worst(distances, arguments, result):
    at = np.argmax(np.nan_to_num(distances, nan=np.inf))
    return f"at {[float(x[at]) for x in arguments]} got {float(result[at])}, {float(distances[at]):.3g} ulp off"


class Floats(unittest.TestCase):
    def compare(self, name, table, arguments):
        kind = f"tensor<{arguments[0].size}x{name}>"
        results = Step(program([(op, "") for op in table], [kind] * len(arguments), kind))(*arguments)
        for (op, (function, of_f32, of_f64)), result in zip(table.items(), results):
            bound = {"f32": of_f32, "f64": of_f64}.get(name, min(NARROW_ULPS, of_f32))
            if bound is None:
                continue
            with np.errstate(all="ignore"):
                distances = reference.ulps(result, function(*(reference.widened(x) for x in arguments)))
            with self.subTest(op=op, type=name):
                self.assertLessEqual(np.max(np.nan_to_num(distances, nan=np.inf)), bound,
                                     worst(distances, arguments, result))

    def test_unary(self):
        for name in reference.FLOATS:
            self.compare(name, reference.UNARY, [reference.inputs(name)])

    def test_binary(self):
        for name in reference.FLOATS:
            x, y = reference.inputs(name), np.roll(reference.inputs(name, seed=1), 1777)
            special = x[:2 * len(reference.SPECIAL)]
            pairs = [np.concatenate([values, grid.ravel()])
                     for values, grid in zip((x, y), np.meshgrid(special, special))]
            self.compare(name, reference.BINARY, pairs)

    def test_gamma_functions_of_f64(self):
        x = reference.inputs("f64")
        x = x[~(np.abs(x) > 1e15)]  # SciPy's functions lose digits beyond
        kind = f"tensor<{x.size}xf64>"
        results = Step(program([("chlo.lgamma", ""), ("chlo.digamma", "")], [kind], kind))(x)
        for result, function in zip(results, (reference.lgamma, reference.digamma)):
            # The last digit of the argument matters near poles below 0.
            with np.errstate(all="ignore"):
                expected, far = function(x), ~((x < -0.5) & (np.abs(x - np.rint(x)) < 1e-3))
            np.testing.assert_allclose(result[far], expected[far], rtol=2e-13, atol=1e-13)

    def test_zeta_and_polygamma(self):
        for name, tolerance in (("f64", 1e-12), ("f32", 2e-7)):
            grids = np.meshgrid([1.0, 1.5, 2, 3, 5, 8, 12], [0.01, 0.5, 1, 2.5, 7, 11, 30])
            x, q = (grid.ravel().astype(reference.FLOATS[name]) for grid in grids)
            kind = f"tensor<{x.size}x{name}>"
            zeta, = Step(program([("chlo.zeta", "")], [kind] * 2, kind))(x, q)
            np.testing.assert_allclose(zeta, scipy.special.zeta(x.astype(float), q.astype(float)), rtol=tolerance)
            order = np.floor(x)
            polygamma, = Step(program([("chlo.polygamma", "")], [kind] * 2, kind))(order, q)
            expected = scipy.special.polygamma(order.astype(int), q.astype(float))
            np.testing.assert_allclose(polygamma, expected, rtol=20 * tolerance)

    def test_zeta_below_zero(self):
        x, q = np.array([2.0, 3, 4, 2, 3, 2, 3, 1.5]), np.array([-1.5, -2.5, -0.25, -7.75, -20.5, -2, -2, -1.5])
        kind = "tensor<8xf64>"
        result, = Step(program([("chlo.zeta", "")], [kind] * 2, kind))(x, q)
        whole = -np.floor(q[:5]).astype(int)
        expected = [sum((b + k)**-a for k in range(n)) + scipy.special.zeta(a, b + n)
                    for a, b, n in zip(x, q, whole)]
        np.testing.assert_allclose(result[:5], expected, rtol=1e-11)  # terms cancel
        np.testing.assert_array_equal(result[5:], [np.inf, np.nan, np.nan])

    def test_clamp_and_not_a_number(self):
        values = np.array([np.nan, -np.inf, -1, 0.5, 2], np.float32)
        low, x, high = (grid.ravel() for grid in np.meshgrid(values, values, values))
        kind = f"tensor<{x.size}xf32>"
        result, = Step(program([("stablehlo.clamp", "")], [kind] * 3, kind))(low, x, high)
        np.testing.assert_array_equal(result, np.minimum(np.maximum(low, x), high))


class Formats(unittest.TestCase):
    """reduce_precision gives the values of the format: rounded to nearest even, overflow to infinity, subnormal numbers
    to zero. A format without fraction has no NaN."""

    @staticmethod
    def reduced(x, exponent_bits, mantissa_bits):
        with np.errstate(all="ignore"):
            fraction, exponent = np.frexp(x.astype(np.float64))
            bits = mantissa_bits + 1
            rounded = np.ldexp(np.rint(np.ldexp(fraction, bits)), exponent - bits)
            if mantissa_bits == 0:  # halfway numbers round to the even stored exponent
                below = exponent - 1  # the number is 1.5 times two to this power
                rounded = np.where(np.abs(fraction) == 0.75,
                                   np.copysign(np.ldexp(1.0, below + (below + 127) % 2), x), rounded)
            bias = 2**(exponent_bits - 1) - 1
            magnitude = np.abs(rounded)
            if exponent_bits < 8:
                rounded = np.where(magnitude >= 2.0**(bias + 1), np.copysign(np.inf, x), rounded)
                rounded = np.where(magnitude < 2.0**(1 - bias), np.copysign(0.0, x), rounded)
            rounded = np.where(np.isfinite(x), rounded, x)
            if mantissa_bits == 0:
                rounded = np.where(np.isnan(x), np.copysign(np.inf, x), rounded)
            return rounded.astype(np.float32)

    def test_formats(self):
        x = reference.inputs("f32")
        x = x[~((x != 0) & (np.abs(x) < 2.0**-126))]  # subnormal results are rounded when they are stored
        formats = [(e, m) for e in (1, 2, 3, 4, 5, 8) for m in (0, 1, 2, 3, 7, 10, 23)]
        kind = f"tensor<{x.size}xf32>"
        functions = [("stablehlo.reduce_precision", f" {{exponent_bits = {e} : i32, mantissa_bits = {m} : i32}}")
                     for e, m in formats]
        for (e, m), result in zip(formats, Step(program(functions, [kind], kind))(x)):
            with self.subTest(exponent=e, mantissa=m):
                np.testing.assert_array_equal(result, self.reduced(x, e, m))


class Integers(unittest.TestCase):
    def test_power(self):
        for name, dtype in {"i8": np.int8, "i32": np.int32, "i64": np.int64, "ui8": np.uint8,
                            "ui32": np.uint32}.items():
            limits = np.iinfo(dtype)
            values = np.array([limits.min, limits.max, *range(max(-7, limits.min), 8), 13, 31], dtype)
            base, exponent = (grid.ravel() for grid in np.meshgrid(values, values))
            kind = f"tensor<{base.size}x{name}>"
            result, = Step(program([("stablehlo.power", "")], [kind] * 2, kind))(base, exponent)
            expected = [self.power(int(b), int(e), dtype) for b, e in zip(base, exponent)]
            with self.subTest(type=name):
                np.testing.assert_array_equal(result, expected)

    @staticmethod
    def power(base, exponent, dtype):
        if exponent < 0:
            return {1: 1, -1: -1 if exponent % 2 else 1}.get(base, 0)
        return np.array(pow(base, exponent, 2**np.iinfo(dtype).bits), np.uint64).astype(dtype)


if __name__ == "__main__":
    if "CGX_COMPILE" not in os.environ:
        sys.exit("test_numbers: expected CGX_COMPILE to name cgx-compile")
    unittest.main()
