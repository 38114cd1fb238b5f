"""Compares all values of floats of at most eight bits, and of integers of two and four bits, with JAX and ml_dtypes.

    CGX_COMPILE=build/release/bin/cgx-compile python test_narrow_types.py
"""

import os
import sys
import unittest

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax

from compiled import CompileError, Step, lower

FLOATS = {"f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2, "f8E4M3": ml_dtypes.float8_e4m3,
          "f8E4M3B11FNUZ": ml_dtypes.float8_e4m3b11fnuz, "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
          "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz, "f8E3M4": ml_dtypes.float8_e3m4,
          "f8E8M0FNU": ml_dtypes.float8_e8m0fnu, "f4E2M1FN": ml_dtypes.float4_e2m1fn}
INTEGERS = {"i4": ml_dtypes.int4, "ui4": ml_dtypes.uint4, "i2": ml_dtypes.int2, "ui2": ml_dtypes.uint2}
WIDE = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}


def elements(dtype):
    """Returns each value of a narrow type once."""
    dtype = np.dtype(dtype)
    bits = {"float4_e2m1fn": 4, "int4": 4, "uint4": 4, "int2": 2, "uint2": 2}.get(dtype.name, 8)
    return np.arange(1 << bits, dtype=np.uint8).view(dtype)


def between(dtype):
    """Returns numbers at, next to and in the middle between the values of a narrow float."""
    numbers = elements(dtype).astype(np.float32)
    numbers = np.unique(numbers[np.isfinite(numbers)])
    numbers = np.concatenate([numbers, (numbers[1:].astype(np.float64) + numbers[:-1]) / 2, 1.04 * numbers[[0, -1]],
                              2 * numbers[[0, -1]].astype(np.float64)]).astype(np.float32)
    return np.concatenate([numbers, np.nextafter(numbers, np.float32(np.inf)),
                           np.nextafter(numbers, np.float32(-np.inf)),
                           np.array([np.nan, -np.nan, np.inf, -np.inf, 0, -0.0, 3e38, -3e38, 1e-40], np.float32)])


def wide_numbers(name, dtype):
    if name in ("f16", "bf16"):
        return np.arange(1 << 16, dtype=np.uint16).view(WIDE[name])
    numbers = between(dtype)
    if name == "f64":  # next to numbers that round to the middle in f32
        numbers = numbers.astype(np.float64)
        return np.concatenate([numbers, np.nextafter(numbers, np.inf), np.nextafter(numbers, -np.inf)])
    drawn = np.random.default_rng(0).integers(0, 1 << 32, 200000, np.uint64).astype(np.uint32).view(np.float32)
    return np.concatenate([numbers, drawn])


def converted(conversions):
    """Returns the results of one program for a list of (op, type, array, type of the result)."""
    arguments = ", ".join(f"%x{i}: tensor<{array.size}x{of}>" for i, (_, of, array, _) in enumerate(conversions))
    results = [f"tensor<{array.size}x{to}>" for _, _, array, to in conversions]
    lines = [f"  %r{i} = stablehlo.{op} %x{i} : (tensor<{array.size}x{of}>) -> {results[i]}"
             for i, (op, of, array, _) in enumerate(conversions)]
    names, kinds = ", ".join(f"%r{i}" for i in range(len(results))), ", ".join(results)
    text = "\n".join([f"func.func public @main({arguments}) -> ({kinds}) {{", *lines, f"  return {names} : {kinds}", "}"])
    return Step(text)(*[array for _, _, array, _ in conversions])


def as_bytes(array):
    return np.asarray(array).view(np.uint8)


class NarrowFloats(unittest.TestCase):
    def assert_same(self, result, expected, inputs):
        """Expects equal bits, where NaN equals NaN."""
        result, expected = np.asarray(result), np.asarray(expected)
        self.assertEqual((result.shape, result.dtype), (expected.shape, expected.dtype))
        width = np.dtype(f"u{result.dtype.itemsize}")
        same = (result.view(width) == expected.view(width)) | (np.isnan(result) & np.isnan(expected))
        wrong = np.flatnonzero(~same)[:3]
        self.assertEqual(wrong.size, 0, [(inputs.ravel()[i], result.ravel()[i], expected.ravel()[i]) for i in wrong])

    def test_to_wide_types(self):
        for name, dtype in FLOATS.items():
            values = elements(dtype)
            results = converted([("convert", name, values, wide) for wide in WIDE])
            for (wide, wide_dtype), result in zip(WIDE.items(), results, strict=True):
                with self.subTest(type=name, to=wide), np.errstate(all="ignore"):
                    self.assert_same(result, values.astype(wide_dtype), values)

    def test_from_wide_types(self):
        for name, dtype in FLOATS.items():
            inputs = {wide: wide_numbers(wide, dtype) for wide in WIDE}
            if name == "f8E8M0FNU":  # XLA flushes f32 to zero there
                inputs["f64"] = inputs["f64"][(np.abs(inputs["f64"]) > 1e-37) | (inputs["f64"] == 0)]
            results = converted([("convert", wide, values, name) for wide, values in inputs.items()])
            for (wide, values), result in zip(inputs.items(), results, strict=True):
                with self.subTest(type=name, of=wide), np.errstate(all="ignore"), jax.enable_x64(True):
                    # ml_dtypes goes through f32, and maps NaN to another value in a type without it.
                    expected = np.asarray(jax.jit(lambda x, to=dtype: x.astype(to))(values))
                    if wide != "f64" and name != "f4E2M1FN":
                        self.assert_same(expected, values.astype(dtype), values)
                    self.assert_same(result, expected, values)

    def test_between_narrow_types_and_integers(self):
        kinds = {"f8E5M2": FLOATS["f8E5M2"], "f8E3M4": FLOATS["f8E3M4"], "i32": np.int32, "ui8": np.uint8,
                 "i4": np.int8, "i1": np.bool_}
        integers = np.arange(-300, 300, dtype=np.int32)
        for name, dtype in FLOATS.items():
            values, others = elements(dtype), [other for other in kinds if other != name]
            *results, of_integers = converted([("convert", name, values, other) for other in others]
                                              + [("convert", "i32", integers, name)])
            for other, result in zip(others, results, strict=True):
                with self.subTest(type=name, to=other), np.errstate(all="ignore"):
                    wide = values.astype(np.float32)
                    if other == "i4":
                        expected = np.clip(np.trunc(np.nan_to_num(wide, nan=0, posinf=7, neginf=-8)), -8, 7)
                    elif other == "i1":
                        expected = wide != 0
                    else:
                        expected = np.asarray(jax.jit(lambda x, to=kinds[other]: x.astype(to))(wide))
                    if other in FLOATS:
                        self.assert_same(result, expected, values)
                    else:
                        np.testing.assert_array_equal(result, expected)
            with self.subTest(type=name, of="i32"), np.errstate(all="ignore"):
                self.assert_same(of_integers, integers.astype(np.float32).astype(dtype), integers)

    def test_bits(self):
        for name in FLOATS:
            values = elements(FLOATS[name])
            bits = "ui4" if name == "f4E2M1FN" else "ui8"
            with self.subTest(type=name):
                integers, back = converted([("bitcast_convert", name, values, bits),
                                            ("bitcast_convert", bits, as_bytes(values), name)])
                np.testing.assert_array_equal(integers, as_bytes(values))
                np.testing.assert_array_equal(as_bytes(back), as_bytes(values))

    def test_constants(self):
        for name, dtype in FLOATS.items():
            values = elements(dtype)
            payload = as_bytes(values).tobytes().hex().upper()
            text = (f'func.func public @main() -> (tensor<{values.size}x{name}>, tensor<3x{name}>) {{\n'
                    f'  %r = stablehlo.constant dense<"0x{payload}"> : tensor<{values.size}x{name}>\n'
                    f'  %one = stablehlo.constant dense<1.0> : tensor<3x{name}>\n'
                    f'  return %r, %one : tensor<{values.size}x{name}>, tensor<3x{name}>\n}}')
            with self.subTest(type=name):
                result, ones = Step(text)()
                np.testing.assert_array_equal(as_bytes(result), as_bytes(values))
                np.testing.assert_array_equal(ones.astype(np.float32), np.ones(3))

    def test_arithmetic_of_all_pairs(self):
        """Tests one operation in f32 that is rounded once, as XLA computes it."""
        def function(x, y):
            return (x + y, x - y, x * y, x / y, jnp.maximum(x, y), jnp.minimum(x, y), lax.rem(x, y), -x, lax.abs(x),
                    lax.floor(x), jnp.where(x > y, x, y), x == y, x < y, lax.is_finite(x), lax.clamp(y, x, x))
        for name in ("f8E4M3FN", "f8E5M2", "f8E4M3B11FNUZ", "f8E3M4"):
            values = elements(FLOATS[name])
            x, y = (grid.copy() for grid in np.meshgrid(values, values))
            with np.errstate(all="ignore"):
                expected = jax.tree.leaves(jax.jit(function)(x, y))
            results = Step(lower(function, x, y))(x, y)
            for number, (result, value) in enumerate(zip(results, expected, strict=True)):
                with self.subTest(type=name, result=number):
                    value = np.asarray(value)
                    if value.dtype == np.bool_:
                        np.testing.assert_array_equal(result, value)
                    else:  # with two zeros, either is the greatest
                        both_zero = (result == 0) & (value == 0) & (number in (4, 5))
                        self.assert_same(np.where(both_zero, value, result), value, x)


class NarrowIntegers(unittest.TestCase):
    def test_arithmetic_of_all_pairs(self):
        def function(x, y):
            return (x + y, x - y, x * y, lax.div(x, y), lax.rem(x, y), jnp.maximum(x, y), x & y, x ^ y, ~x, x << y,
                    lax.shift_right_logical(x, y), lax.shift_right_arithmetic(x, y), x.astype(jnp.float32),
                    x.astype(jnp.int8), x.astype(jnp.uint8), x < y, jnp.where(x == y, x, y),
                    lax.population_count(x), lax.clz(x))
        for name, dtype in INTEGERS.items():
            values = elements(dtype)
            x, y = (grid.copy() for grid in np.meshgrid(values, values))
            results = Step(lower(function, x, y))(x, y)
            wide, other, bits = x.astype(np.int32), y.astype(np.int32), int(name[-1])

            def wrapped(numbers):
                numbers = numbers & ((1 << bits) - 1)
                return numbers if name.startswith("u") else numbers - ((numbers >> (bits - 1)) << bits)
            checked = {0: wrapped(wide + other), 1: wrapped(wide - other), 2: wrapped(wide * other),
                       5: np.maximum(wide, other), 6: wrapped(wide & other), 7: wrapped(wide ^ other),
                       8: wrapped(~wide), 12: wide, 13: wide, 14: wide & 255, 15: wide < other,
                       16: np.where(wide == other, wide, other)}
            for number, value in checked.items():
                with self.subTest(type=name, result=number):
                    np.testing.assert_array_equal(results[number], value)
            nonzero = other != 0
            quotient = np.trunc(wide / np.where(nonzero, other, 1)).astype(np.int32)
            np.testing.assert_array_equal(results[3][nonzero], wrapped(quotient)[nonzero])
            np.testing.assert_array_equal(results[4][nonzero], np.fmod(wide, other, where=nonzero)[nonzero])

    def test_bits(self):
        values = np.arange(-128, 128, dtype=np.int8)
        for name, dtype in INTEGERS.items():
            parts = 2 if name.endswith("4") else 4
            text = (f"func.func public @main(%x: tensor<256xi8>) -> (tensor<256x{parts}x{name}>, tensor<256xi8>) {{\n"
                    f"  %p = stablehlo.bitcast_convert %x : (tensor<256xi8>) -> tensor<256x{parts}x{name}>\n"
                    f"  %r = stablehlo.bitcast_convert %p : (tensor<256x{parts}x{name}>) -> tensor<256xi8>\n"
                    f"  return %p, %r : tensor<256x{parts}x{name}>, tensor<256xi8>\n}}")
            with self.subTest(type=name):
                split, back = Step(text)(values)
                np.testing.assert_array_equal(back, values)
                bits = 8 // parts
                expected = (values.view(np.uint8)[:, None] >> (bits * np.arange(parts))) & ((1 << bits) - 1)
                np.testing.assert_array_equal(split.view(np.uint8) & ((1 << bits) - 1), expected)

    def test_constants(self):
        text = ("func.func public @main() -> (tensor<3xi4>, tensor<2xui4>, tensor<2xi2>) {\n"
                "  %a = stablehlo.constant dense<[-8, 7, -1]> : tensor<3xi4>\n"
                '  %b = stablehlo.constant dense<"0x0F01"> : tensor<2xui4>\n'
                "  %c = stablehlo.constant dense<-2> : tensor<2xi2>\n"
                "  return %a, %b, %c : tensor<3xi4>, tensor<2xui4>, tensor<2xi2>\n}")
        for result, expected in zip(Step(text)(), ([-8, 7, -1], [15, 1], [-2, -2]), strict=True):
            np.testing.assert_array_equal(result, expected)


def quantized(x, scale, dtype, largest):
    """Converts to a narrow float and back, as flax's fp8 does: clipped, so that nothing becomes NaN."""
    return jnp.clip(x / scale, -largest, largest).astype(dtype).astype(x.dtype) * scale


@jax.custom_vjp
def gradient_quantized(x, scale):
    return x


gradient_quantized.defvjp(lambda x, scale: (x, scale),
                          lambda scale, g: (quantized(g, scale, jnp.float8_e5m2, 57344.0), jnp.zeros_like(scale)))


def delayed_scaling(params, history, x, y):
    """Runs a training step of flax's Fp8DirectDotGeneralOp: scales come from the greatest values of earlier steps."""
    scales = [jnp.maximum(jnp.max(history[name]), 1e-3) / largest
              for name, largest in (("x", 448.0), ("w", 448.0), ("g", 57344.0))]

    def loss(params):
        xq = (jnp.clip(x / scales[0], -448, 448)).astype(jnp.float8_e4m3fn)
        wq = (jnp.clip(params["w"] / scales[1], -448, 448)).astype(jnp.float8_e4m3fn)
        out = lax.dot_general(xq, wq, (((1,), (0,)), ((), ())), preferred_element_type=jnp.float32)
        out = gradient_quantized(out * scales[0] * scales[1] + params["b"], scales[2])
        exact = quantized(x, scales[0], jnp.float8_e4m3fn, 448.0) @ quantized(params["w"], scales[1],
                                                                               jnp.float8_e4m3fn, 448.0)
        return jnp.mean((jnp.tanh(out) + 0.1 * exact - y) ** 2)
    value, grads = jax.value_and_grad(loss)(params)
    rolled = {name: jnp.roll(history[name], -1).at[-1].set(jnp.max(jnp.abs(now)))
              for name, now in (("x", x), ("w", params["w"]), ("g", grads["b"]))}
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), rolled, value


class ComplexNumbers(unittest.TestCase):
    def test_bits(self):
        """Tests a conversion that StableHLO has between complex numbers and JAX has not."""
        values = (np.arange(12) + 1j * np.arange(12, 24)).astype(np.complex64).reshape(3, 2, 2)
        text = ("func.func public @main(%x: tensor<3x2x2xcomplex<f32>>)\n"
                "    -> (tensor<3x2x2xcomplex<f32>>, tensor<3x2xcomplex<f64>>, tensor<3x2x2xcomplex<f32>>) {\n"
                "  %a = stablehlo.bitcast_convert %x : (tensor<3x2x2xcomplex<f32>>) -> tensor<3x2x2xcomplex<f32>>\n"
                "  %b = stablehlo.bitcast_convert %x : (tensor<3x2x2xcomplex<f32>>) -> tensor<3x2xcomplex<f64>>\n"
                "  %c = stablehlo.bitcast_convert %b : (tensor<3x2xcomplex<f64>>) -> tensor<3x2x2xcomplex<f32>>\n"
                "  return %a, %b, %c : tensor<3x2x2xcomplex<f32>>, tensor<3x2xcomplex<f64>>, tensor<3x2x2xcomplex<f32>>\n}")
        same, wide, back = Step(text)(values.view(np.float32).reshape(3, 2, 2, 2))
        np.testing.assert_array_equal(same.view(np.complex64)[..., 0], values)
        np.testing.assert_array_equal(wide.view(np.uint8).ravel(), values.view(np.uint8).ravel())
        np.testing.assert_array_equal(back, same)


class Programs(unittest.TestCase):
    RNG = np.random.default_rng(0)

    def compare(self, function, *arguments, rtol=1e-5, atol=1e-6):
        expected = [np.asarray(leaf) for leaf in jax.tree.leaves(jax.jit(function)(*arguments))]
        results = Step(lower(function, *arguments))(*jax.tree.leaves(arguments))
        for result, value in zip(results, expected, strict=True):
            self.assertEqual(result.shape, value.shape)
            np.testing.assert_allclose(result.astype(np.float64), value.astype(np.float64), rtol=rtol, atol=atol)

    def test_products(self):
        a, b = self.RNG.standard_normal((2, 33, 17)), self.RNG.standard_normal((2, 17, 20))
        for dtype in (jnp.float8_e4m3fn, jnp.float8_e5m2):
            for result in (jnp.float32, jnp.bfloat16):
                self.compare(lambda a, b, to=result: lax.dot_general(a, b, (((2,), (1,)), ((0,), (0,))),
                                                                     preferred_element_type=to),
                             a.astype(dtype), b.astype(dtype), rtol=1e-5 if result == jnp.float32 else 1e-2)
        self.compare(lambda a, b: lax.dot_general(a[0], b[0], (((1,), (0,)), ((), ())),
                                                  preferred_element_type=jnp.float32),
                     a.astype(jnp.float8_e4m3fn), b.astype(jnp.float8_e5m2))
        i, j = self.RNG.integers(-8, 8, (9, 17)), self.RNG.integers(-8, 8, (17, 5))
        narrow = i.astype(ml_dtypes.int4), j.astype(ml_dtypes.int4)  # XLA does not compile it for CPUs
        result, = Step(lower(lambda a, b: lax.dot(a, b, preferred_element_type=jnp.int32), *narrow))(*narrow)
        np.testing.assert_array_equal(result, i @ j)
        self.compare(lambda a, b: (a.astype(jnp.float32) * 0.1) @ b, i.astype(ml_dtypes.int4),
                     j.astype(np.float32), atol=1e-4)

    def test_sums_are_rounded_once(self):
        ones = np.ones(200, ml_dtypes.float8_e4m3fn)
        text = lower(lambda x: lax.reduce(x, np.zeros((), x.dtype), lax.add, (0,)), ones)
        self.assertEqual(Step(text)(ones)[0], np.float32(200).astype(ml_dtypes.float8_e4m3fn))

    def test_data_movement(self):
        for dtype in (ml_dtypes.float8_e4m3fn, ml_dtypes.int4, ml_dtypes.uint2, ml_dtypes.float4_e2m1fn):
            x = np.arange(24).astype(np.float32).reshape(4, 6).astype(np.int32)
            x = (x % 4).astype(np.float32).astype(dtype) if dtype != ml_dtypes.int4 else (x % 16 - 8).astype(dtype)

            def function(x):
                return [leaf.astype(jnp.float32) for leaf in
                        (x.T, x[1:3, ::2], jnp.concatenate([x, x]), jnp.pad(x, 1), x[::-1], jnp.take(x, jnp.array([2, 0]), 0),
                         jnp.broadcast_to(x, (2, 4, 6)), lax.dynamic_slice(x, (1, 1), (2, 2)),
                         x.at[0].set(x[1]), jnp.where(jnp.arange(6) > 2, x, x[::-1]))]
            with self.subTest(type=np.dtype(dtype).name):
                self.compare(function, x)
                result, = Step(lower(lambda x: jnp.sort(x, 1), x))(x)  # XLA does not sort integers of two bits
                np.testing.assert_array_equal(result.astype(np.float32), np.sort(x.astype(np.float32), 1))

    def test_loops_and_state(self):
        def function(x, cache):
            def body(carry, row):
                cache, i = carry
                return (lax.dynamic_update_slice(cache, row.astype(cache.dtype)[None], (i, 0)), i + 1), row.sum()
            (cache, _), sums = lax.scan(body, (cache, 0), x)
            return lax.cond(sums[0] > 0, lambda c: c, lambda c: -c, cache).astype(jnp.float32), sums
        x = self.RNG.standard_normal((5, 7)).astype(np.float32)
        self.compare(function, x, np.zeros((5, 7), ml_dtypes.float8_e5m2))

    def test_training_with_delayed_scaling(self):
        params = {"w": self.RNG.standard_normal((8, 6)).astype(np.float32), "b": np.zeros(6, np.float32)}
        history = {name: np.full(4, 2.0, np.float32) for name in "xwg"}
        x, y = self.RNG.standard_normal((16, 8)).astype(np.float32), self.RNG.standard_normal((16, 6)).astype(np.float32)
        self.compare(delayed_scaling, params, history, x, y, rtol=1e-5)

    def test_quantized_types_are_refused(self):
        text = ("func.func public @main(%x: tensor<4x!quant.uniform<i8:f32, 0.5>>) -> tensor<4xf32> {\n"
                "  %r = stablehlo.uniform_dequantize %x : (tensor<4x!quant.uniform<i8:f32, 0.5>>) -> tensor<4xf32>\n"
                "  return %r : tensor<4xf32>\n}")
        with self.assertRaises(CompileError):
            Step(text)


if __name__ == "__main__":
    if "CGX_COMPILE" not in os.environ:
        sys.exit("test_narrow_types: expected CGX_COMPILE to name cgx-compile")
    unittest.main()
